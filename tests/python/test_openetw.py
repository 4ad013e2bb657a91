# SPDX-License-Identifier: MIT
"""The Python package against what the command says of the same files."""
import collections
import datetime
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import unittest

import openetw
from openetw import _openetw

OPENETW = os.environ["OPENETW_COMMAND"]
CORPUS = os.environ.get("OPENETW_CORPUS", "")
NET = os.path.join(CORPUS, "perfview/net.4.5.2.x86.etl")
PRIMITIVE = os.path.join(CORPUS, "perfview/primitive-types.etl")
HELLO = os.environ.get("OPENETW_HELLO")


def dump(*words):
    out = subprocess.run([OPENETW, "dump", "-q", "--json", *words], check=True, capture_output=True).stdout
    return [json.loads(line) for line in out.decode().splitlines()]


def traces():
    for folder, _, names in sorted(os.walk(CORPUS)):
        for name in sorted(names):
            if name.endswith(".etl"):
                yield os.path.join(folder, name)


class Events(unittest.TestCase):
    def test_every_file_has_as_many_events_of_each_provider_and_id_as_dump_prints(self):
        for path in traces():
            with self.subTest(path):
                wanted = collections.Counter((e["meta"]["provider"], e["meta"].get("id", 0)) for e in dump(path))
                found = openetw.events(path, fields=False, origin=True)  # read ahead, as dump does
                self.assertEqual(collections.Counter((e.provider, e.id) for e in found), wanted)
                with openetw.Trace(path) as t:
                    self.assertEqual(len(t), sum(wanted.values()))
                    self.assertEqual(sum(f.count for f in t.facets("type", most=10000)), len(t))

    def test_payloads_and_times_are_those_of_dump(self):
        for path in (PRIMITIVE, NET):
            for e, line in zip(openetw.events(path), dump(path)):
                meta = line.pop("meta")
                self.assertEqual(e.fields, line)
                self.assertEqual(e.time.strftime("%Y-%m-%dT%H:%M:%S.%f"), meta["time"][:26])
                self.assertEqual((e.provider, e.name), (meta["provider"], meta["event"]))

    def test_a_filter_gives_the_events_that_dump_gives(self):
        words = "provider == Microsoft-Windows-DotNETRuntime and event ~ GarbageCollection"
        wanted = dump("--filter", words, NET)
        found = list(openetw.events(NET, filter=words))
        self.assertGreater(len(found), 0)
        self.assertEqual([e.fields for e in found], [{k: v for k, v in w.items() if k != "meta"} for w in wanted])
        self.assertEqual([e.filetime for e in found], sorted(e.filetime for e in found))

    def test_two_files_are_merged_by_time(self):
        with openetw.Reader(NET, PRIMITIVE, fields=False) as reader:
            times = [e.filetime for e in reader]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(times), len(dump(NET)) + len(dump(PRIMITIVE)))

    def test_origin_stacks_and_cpu_come_when_they_are_wanted(self):
        with openetw.Reader(NET, fields=False, origin=True, stacks=True, cpu=True) as reader:
            found = list(reader)
        self.assertTrue(any(e.process for e in found))
        self.assertTrue(any(e.stack for e in found))
        self.assertTrue(all(e.cpu is not None for e in found))
        with openetw.Reader(PRIMITIVE, fields=False, headers=True) as reader:
            self.assertEqual([e.name for e in reader][0], "EventTrace/Header")
        self.assertTrue(all(e.cpu is None and not e.stack for e in openetw.events(PRIMITIVE, fields=False)))

    def test_frames_of_stacks_have_the_names_that_dump_shows(self):
        symbols = openetw.Symbols(NET)
        names = set()
        for e in openetw.events(NET, fields=False, origin=True, stacks=True):
            found = symbols.stack_names(e)
            self.assertEqual(len(found), len(e.stack))
            names.update(n for n in found if n)
        text = subprocess.run([OPENETW, "dump", "-q", "--stacks", NET], check=True, capture_output=True).stdout.decode()
        self.assertTrue(any(n.startswith("System.TimeSpan.") for n in names))  # made at run time
        self.assertTrue(any(n.startswith("ntoskrnl.exe+0x") for n in names))
        self.assertEqual([n for n in names if n not in text][:5], [])
        self.assertIsNone(symbols.name(1, None, 0))
        with self.assertRaises(openetw.Error):
            openetw.Symbols("/no/such.etl")

    def test_a_range_of_dates_selects(self):
        all_ = list(openetw.events(NET, fields=False))
        middle = all_[len(all_) // 2].filetime
        self.assertEqual(sum(1 for _ in openetw.events(NET, fields=False, start=middle)),
                         sum(e.filetime >= middle for e in all_))
        self.assertEqual(openetw.filetime_of(openetw.datetime_of(middle)), middle // 10 * 10)

    def test_payload_bytes_come_when_they_are_wanted(self):
        # What a known event of the file says, found in its bytes.
        for words in ({}, {"filter": "event == PrimitiveTypesTest"}):
            found = [e for e in openetw.events(PRIMITIVE, payload=True, **words) if e.name == "PrimitiveTypesTest"]
            self.assertGreater(len(found), 0)
            for e in found:
                self.assertTrue(e.payload.startswith(e["string_type"].encode() + b"\0"))
                self.assertIn((e["int32_type"] & 0xFFFFFFFF).to_bytes(4, "little"), e.payload)
        # What nobody can decode is shown as these bytes.
        raw = [e for e in openetw.events(os.path.join(CORPUS, "tx/WsRm01.etl"), payload=True) if e.decoded == "no_schema"]
        self.assertTrue(any(e.payload for e in raw))
        for e in raw:
            self.assertEqual(e["_raw"].lower(), e.payload.hex()[:len(e["_raw"])])
        with openetw.Trace(NET) as t:
            of_index = sorted((e.filetime, e.payload) for e in t.events(payload=True))
        self.assertEqual(of_index, sorted((e.filetime, e.payload) for e in openetw.events(NET, payload=True, origin=True)))
        self.assertTrue(all(e.payload is None for e in openetw.events(PRIMITIVE)))
        self.assertTrue(all(e.payload is None for e in openetw.events(PRIMITIVE, filter="id >= 0")))

    def test_a_callback_gets_the_events_until_it_says_no(self):
        found = []
        wanted = [e.filetime for e in openetw.events(NET, PRIMITIVE, fields=False)]
        self.assertEqual(openetw.read(NET, PRIMITIVE, lambda e: found.append(e.filetime), fields=False), len(wanted))
        self.assertEqual(found, wanted)
        self.assertEqual(openetw.read(NET, lambda e: False), 1)
        self.assertEqual(openetw.read(NET, lambda e: False, filter="id >= 0"), 1)
        with self.assertRaises(ZeroDivisionError):
            openetw.read(NET, lambda e: 1 // 0)
        for wrong in ((), (NET,), (NET, PRIMITIVE)):
            with self.assertRaises(TypeError):
                openetw.read(*wrong)

    def test_a_reader_that_is_closed_early_ends(self):
        reader = openetw.Reader(NET)
        next(reader)
        reader.close()
        reader.close()
        self.assertEqual(list(reader), [])
        reader = openetw.Reader(NET)
        next(reader)
        del reader
        gc.collect()

    def test_stop_by_another_thread_ends_the_reading(self):
        with openetw.Reader(NET) as reader:
            threading.Timer(0.0, reader.stop).start()
            for _ in reader:
                pass

    def test_mistakes_say_what_is_wrong(self):
        for wrong in ("/no/such.etl", os.path.join(CORPUS, "README.md")):
            with self.assertRaises(openetw.Error) as caught:
                list(openetw.events(wrong))
            self.assertIn(os.path.basename(wrong), caught.exception.args[1])
            with self.assertRaises(openetw.Error):
                openetw.Trace(wrong)
        with self.assertRaises(openetw.Error):
            openetw.Reader()
        with self.assertRaises(openetw.Error) as caught:
            openetw.Trace(NET).count("provider = = x")
        self.assertIn("column 12", str(caught.exception))
        self.assertEqual(caught.exception.code, 87)
        with self.assertRaises(TypeError):
            openetw.Trace()
        with self.assertRaises(TypeError):
            openetw.Trace(5)
        with self.assertRaises(ValueError):
            openetw.Trace("a\0b")
        with self.assertRaises(openetw.Error):
            openetw.load_schema("/no/such.man")


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = openetw.Trace(NET)
        cls.dump = dump(NET)

    @classmethod
    def tearDownClass(cls):
        cls.trace.close()

    def test_counts_and_facets_are_those_of_dump(self):
        t = self.trace
        self.assertEqual(t.count().matched, len(self.dump))
        wanted = collections.Counter(e["meta"]["provider"] for e in self.dump)
        self.assertEqual({f.value: f.count for f in t.facets("provider")}, wanted)
        field = {str(f.value): f.count for f in t.facets("Reason") if f.value is not None}
        self.assertGreater(len(field), 0)

    def test_groups_add_up(self):
        groups = self.trace.group(["provider", "type"], most=10000)
        outer = [g for g in groups if len(g.path) == 1]
        self.assertEqual(sum(g.count for g in outer), len(self.dump))
        for g in outer:
            self.assertEqual(sum(x.count for x in groups if len(x.path) == 2 and x.path[0] == g.path[0]), g.count)
        with self.assertRaises(ValueError):
            self.trace.group(["a", "b"])

    def test_the_histogram_has_every_event(self):
        h = self.trace.histogram(13)
        self.assertEqual(sum(int(n) for n in h.series[None]), len(self.dump))
        h = self.trace.histogram(13, by="provider")
        wanted = collections.Counter(e["meta"]["provider"] for e in self.dump)
        self.assertEqual({name: sum(int(n) for n in counts) for name, counts in h.series.items()}, wanted)

    def test_columns_are_the_rows(self):
        words = "provider == Microsoft-Windows-DotNETRuntime and event ~ GarbageCollection"
        names = ("time", "provider", "event", "pid", "tid", "cpu", "Count", "NoSuchField")
        c = self.trace.columns(*names, filter=words)
        found = list(self.trace.events(filter=words))
        self.assertEqual(list(c), list(names))
        self.assertEqual((c.rows, c.answer.matched), (len(found), len(found)))
        self.assertEqual([int(t) for t in c["time"]], sorted(int(t) for t in c["time"]))
        self.assertEqual(list(c["event"]), [e.name for e in found])
        self.assertEqual([int(p) for p in c["pid"]], [e.pid for e in found])
        self.assertEqual(list(c["Count"]), [e.get("Count") for e in found])
        self.assertEqual(list(c["NoSuchField"]), [None] * len(found))
        part = self.trace.columns("time", filter=words, position=3, count=4)
        self.assertEqual(list(part["time"]), list(c["time"])[3:7])
        self.assertEqual(self.trace.columns("time", filter="level == 77").rows, 0)
        self.assertEqual(self.trace.columns().rows, len(self.dump))

    def test_columns_are_numpys_where_it_is(self):
        c = self.trace.columns("time", "cpu")
        try:
            import numpy
        except ImportError:
            self.assertIsInstance(c["time"], memoryview)
            self.assertEqual((c["time"].format, c["cpu"].format), ("q", "I"))
        else:
            self.assertEqual((c["time"].dtype, c["cpu"].dtype), (numpy.int64, numpy.uint32))

    def test_times_may_be_dates_seconds_or_nanoseconds(self):
        t = self.trace
        first, last = t.about["first"], t.about["last"]
        half = (first + last) // 2 // 1000 * 1000
        wanted = t.count(start=half).matched
        self.assertEqual(t.count(start=half / 1e9).matched, wanted)
        self.assertEqual(t.count(start=t.start + datetime.timedelta(microseconds=half // 1000)).matched,
                         t.count(start=t.time_of(t.start + datetime.timedelta(microseconds=half // 1000))).matched)
        self.assertEqual(wanted + t.count(stop=half - 1).matched, len(self.dump))

    def test_processes_types_and_stacks_have_what_the_numbers_mean(self):
        t = self.trace
        self.assertTrue(any(p.name for p in t.processes()))
        self.assertEqual(sum(x.events for x in t.types()), len(self.dump))
        stacks = t.columns("stack")["stack"]
        number = next((int(s) for s in stacks if s), 0)
        self.assertTrue(number and t.stack(number))
        nodes = t.stacks()
        self.assertTrue(nodes and all(n.parent is None or n.parent < i for i, n in enumerate(nodes)))
        with self.assertRaises(IndexError):
            t.type(1 << 31)
        with self.assertRaises(IndexError):
            t.type(-1)

    def test_threads_ask_at_the_same_time(self):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.trace.count("event ~ a").matched)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(set(answers)), 1)

    def test_a_trace_with_an_open_query_is_not_closed_under_it(self):
        with openetw.Trace(PRIMITIVE) as t:
            events = t.events()
            next(events)
            with self.assertRaises(RuntimeError):
                t.close()
            events.close()
        with self.assertRaises(ValueError):
            t.count()


class Closing:
    """An argument that closes what it is given to, while it is taken apart."""

    def __init__(self, what, value=0):
        self.what, self.value = what, value

    def __index__(self):
        self.what.close()
        return self.value

    def __float__(self):
        self.what.close()
        return float(self.value)

    def __fspath__(self):
        self.what.close()
        return PRIMITIVE


class Interference(unittest.TestCase):
    """What is asked of the extension itself, with code that runs in between."""

    def index(self):
        index = _openetw.Index()
        index.open((PRIMITIVE,), 1)
        return index

    def test_arguments_that_close_a_query_are_told_so(self):
        index = self.index()
        for name, position, args in (("stacks", 1, [0, 0]), ("histogram", 0, [0, 100, 5, 1, 5]),
                                     ("histogram", 1, [0, 100, 5, 1, 5]), ("position", 0, [0])):
            query = _openetw.Query(index, None, -(1 << 63), (1 << 63) - 1, None)
            args[position] = Closing(query, args[position])
            with self.subTest(name, position=position), self.assertRaisesRegex(ValueError, "closed"):
                getattr(query, name)(*args)
        query = _openetw.Query(index, None, -(1 << 63), (1 << 63) - 1, None)
        with self.assertRaisesRegex(ValueError, "closed"):
            query.group((Closing(query, 1),), 5)
        index.close()

    def test_arguments_that_close_an_index_are_told_so(self):
        index = self.index()
        with self.assertRaisesRegex(ValueError, "closed"):
            _openetw.Query(index, None, Closing(index), 5, None)

    def test_arguments_that_close_a_reader_are_told_so(self):
        reader = _openetw.Reader()
        with self.assertRaisesRegex(ValueError, "closed"):
            reader.add_file(Closing(reader))
        reader = _openetw.Reader()
        reader.add_file(PRIMITIVE)
        reader.start()
        with self.assertRaisesRegex(ValueError, "closed"):
            reader.next(Closing(reader, -1))

    def close_while(self, make, ask):
        """Asks again and again, and closes what is asked in a collection of garbage: in the first, the second, … of them.
        How often that was refused."""
        refused = []

        def collecting(phase, info):
            nonlocal left
            left -= phase == "start"
            if left == 0 and phase == "start":
                try:
                    thing.close()
                except RuntimeError as e:
                    refused.append(str(e))

        for number in range(2, 40):
            thing, left = make(), number // 2
            # Python keeps lists and tuples that it can use again, which collect nothing: take them all. And every second
            # allocation collects: begin with the first or the second one.
            kept = [[] for _ in range(200)], [tuple([n] * 14) for n in range(2100)], [tuple([n] * 4) for n in range(2100)]
            thresholds = gc.get_threshold()
            gc.callbacks.append(collecting)
            gc.set_threshold(1)
            try:
                if number % 2:
                    kept[0].append([])
                ask(thing)
            except ValueError as e:  # it was closed before C was asked
                self.assertIn("closed", str(e))
            finally:
                gc.set_threshold(*thresholds)
                gc.callbacks.remove(collecting)
            thing.close()
        return refused

    @unittest.skipIf(sys.version_info >= (3, 12), "garbage is not collected while C runs")
    def test_nothing_is_closed_while_an_answer_is_copied(self):
        def reader():
            r = _openetw.Reader()
            r.set(None, 6, 0, (), (), (), 0, (1 << 64) - 1)
            r.add_file(NET)
            r.start()
            return r

        self.assertIn("the reader is in use", self.close_while(reader, lambda r: r.next(-1)))
        index = self.index()
        self.assertIn("the query is in use",
                      self.close_while(lambda: _openetw.Query(index, None, -(1 << 63), (1 << 63) - 1, None),
                                       lambda q: q.histogram(0, 1 << 40, 1000, 1, 1000)))
        index.close()

    def test_an_index_that_is_made_in_the_background_is_closed_at_once(self):
        program = ("import sys; from openetw import _openetw\n"
                   "for _ in range(200):\n"
                   "    index = _openetw.Index(); index.open((sys.argv[1],), 1 | 4 | 8)\n"
                   "    if _ % 2: index.close()\n")
        subprocess.run([sys.executable, "-c", program, NET], check=True, timeout=60)

    def test_more_buckets_than_a_histogram_can_have_are_refused(self):
        with openetw.Trace(PRIMITIVE) as t:
            with self.assertRaises(ValueError):
                t.histogram((1 << 32) + 5)

    def test_columns_of_payloads_are_the_fields_of_the_events(self):
        def value_of(e, name):
            value = e.fields
            for part in name.split(".") if name not in value else (name,):
                value = value.get(part) if isinstance(value, dict) else None
            return value

        compared = 0
        for path in traces():
            with openetw.Trace(path, write_index=False) as t:
                events = list(t.events(count=500))
                names = {k for e in events for k in e.fields} - {"time", "level", "id", "provider", "event", "process", "cpu"}
                names |= {f"{k}.{inner}" for e in events for k, v in e.fields.items() if isinstance(v, dict) for inner in v}
                for name in sorted(names)[:20]:
                    self.assertEqual(list(t.columns(name, count=500)[name]), [value_of(e, name) for e in events], (path, name))
                    compared += 1
                self.assertEqual(list(t.columns("No.Such", count=3)["No.Such"]), [None] * min(3, len(t)))
        self.assertGreater(compared, 100)

    def test_two_real_files_as_one_have_what_each_has(self):
        keys = ("provider", "type", "level", "cpu", "process_name")

        def answers(*paths):
            """Types of one name are told apart by their versions, so names may come twice."""
            with openetw.Trace(*paths, write_index=False) as t:
                said = collections.Counter({"events": len(t), "of a filter": t.count("level <= warning or pid == 4").matched})
                for by in keys:
                    for f in t.facets(by, most=100000):
                        said[by, f.value] += f.count
                said["stacks"] = sum(n.total for n in t.stacks(least=0) if n.parent is None)
                times = list(t.columns("time")["time"])
                self.assertEqual(times, sorted(times))
                self.assertEqual(sum(sum(map(int, s)) for s in t.histogram(10).series.values()), len(t))
                events = collections.Counter((e.filetime, e.provider, e.name, e.pid, e.json) for e in t.events(count=1000))
                return said, t.about["start_filetime"], events if len(t) <= 1000 else None

        alone = {path: answers(path) for path in traces() if os.path.getsize(path) < 4 << 20}
        paths = list(alone)
        self.assertGreater(len(paths), 10)
        for i, first in enumerate(paths):
            for second in (paths[(i + 1) % len(paths)], paths[(i + 7) % len(paths)]):
                with self.subTest(first=first, second=second):
                    said, start, events = answers(first, second)
                    self.assertEqual(said, alone[first][0] + alone[second][0])
                    self.assertEqual(start, min(alone[first][1], alone[second][1]))
                    if events is not None and alone[first][2] is not None and alone[second][2] is not None:
                        self.assertEqual(events, alone[first][2] + alone[second][2])

    def test_ctrl_c_ends_a_question_in_its_middle(self):
        def interrupted(index, words, ask):
            query, in_use = _openetw.Query(index, f"text has {words}", -(1 << 63), (1 << 63) - 1, None), []

            def on_signal(*_):
                try:
                    query.position(0)
                except RuntimeError:  # the question goes on
                    in_use.append(True)
                    raise KeyboardInterrupt from None

            old = signal.signal(signal.SIGALRM, on_signal)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                ask(query)
            except KeyboardInterrupt:
                self.assertTrue(in_use)
                query.position(0)  # it can be asked again
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, old)
                query.close()
            return bool(in_use)

        wanted = {"count": lambda q: q.count(), "rows": lambda q: q.rows(0, 1 << 63),
                  "histogram": lambda q: q.histogram(0, 1 << 40, 10, 0, 1)}
        for copies in (4, 8, 32, 128):  # a fast machine answers before it looks for the first time
            with openetw.Trace(*[NET] * copies, write_index=False) as t:
                wanted = {name: ask for name, ask in wanted.items() if not interrupted(t._index, name + "-is-nowhere", ask)}
            if not wanted:
                break
        self.assertEqual(list(wanted), [])



class Memory(unittest.TestCase):
    def work(self):
        with openetw.Trace(PRIMITIVE) as t:
            t.count("level <= 5")
            t.facets("provider")
            t.facets("int16_type")
            t.group(["provider", "type"], field="int16_type")
            t.histogram(5, by="type")
            t.columns("time", "provider", "string_type")
            t.stacks()
            t.types(), t.processes(), list(t.events())
            for wrong in ("a == = b", "x =~ /(/"):
                with self.assertRaises(openetw.Error):
                    t.count(wrong)
            with self.assertRaises(IndexError):
                t.thread(1 << 20)
            try:
                for _ in t.events():
                    raise KeyError
            except KeyError:
                pass
        with openetw.Reader(PRIMITIVE, origin=True, stacks=True, cpu=True) as reader:
            for e in reader:
                e.fields, e.stack, repr(e)
        with self.assertRaises(openetw.Error):
            openetw.Trace("/no/such.etl")
        with self.assertRaises(openetw.Error):
            openetw.Reader("/no/such.etl").close()
        with self.assertRaises(openetw.Error):
            openetw.Session("x").start()

    def test_nothing_is_kept(self):
        """References that are not given back show as blocks of Python's memory, those of the library in the process's."""

        def held():
            gc.collect()
            with open("/proc/self/statm") as f:
                return sys.getallocatedblocks(), int(f.read().split()[1]) * 4

        for _ in range(100):  # what Python caches
            self.work()
        none = sys.getrefcount(None), sys.getrefcount(True), sys.getrefcount(False)
        before = held()
        for _ in range(200):
            self.work()
        after = held()
        self.assertLess(after[0] - before[0], 150)
        self.assertLess(after[1] - before[1], 4096)  # KiB; 20 for each round
        for old, now in zip(none, (sys.getrefcount(None), sys.getrefcount(True), sys.getrefcount(False))):
            self.assertLess(abs(now - old), 200)


@unittest.skipUnless(HELLO, "no sample provider")
class Sessions(unittest.TestCase):
    def test_a_session_records_while_its_with_statement_lasts(self):
        path = os.path.join(os.environ["OPENETW_TEST_FOLDER"], "session.etl")
        for _ in range(5):  # a busy machine: the program does not wait until somebody listens
            with openetw.Session("python-file", file=path, providers=["OpenETW.Sample.Hello"], replace=True):
                subprocess.run([HELLO, "20", "1"], check=True, stdout=subprocess.DEVNULL)
            found = [e for e in openetw.events(path)]
            if any(e.name == "Order" for e in found):
                break
        self.assertEqual(len(found), len(dump(path)))
        self.assertTrue(any(e.name == "Order" and e["Number"] >= 1 for e in found))
        listed = subprocess.run([OPENETW, "list"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("python-file", listed)

    def test_a_live_session_is_read_while_it_runs(self):
        with openetw.Session("python-live", live=True, providers=[("OpenETW.Sample.Hello", 0, 0, 0, None)],
                             replace=True) as session:
            with session.events() as reader:
                self.assertEqual(reader.poll(0.01), [])
                program = subprocess.Popen([HELLO, "1000", "20"], stdout=subprocess.DEVNULL)
                try:
                    for e in reader:
                        self.assertEqual(e.provider, "OpenETW.Sample.Hello")
                        break
                finally:
                    program.kill()
                    program.wait()

    def test_a_callback_gets_the_events_of_a_live_session(self):
        found = []

        def callback(event):
            found.append(event)
            return len(found) < 3

        with openetw.Session("python-listen", live=True, providers=["OpenETW.Sample.Hello"], replace=True) as session:
            program = subprocess.Popen([HELLO, "1000", "20"], stdout=subprocess.DEVNULL)
            try:
                self.assertEqual(session.listen(callback, payload=True), 3)
            finally:
                program.kill()
                program.wait()
        self.assertEqual({e.provider for e in found}, {"OpenETW.Sample.Hello"})
        self.assertTrue(all(e.payload for e in found))

    def test_mistakes_are_said_before_anything_starts(self):
        with self.assertRaises(openetw.Error) as caught:
            openetw.Session("x").start()
        self.assertEqual(caught.exception.args[0], 87)
        with self.assertRaises(openetw.Error):
            openetw.Session("x", live=True, kernel="NO_SUCH_FLAG").start()


if __name__ == "__main__":
    print(f"openetw {openetw.__version__}, Python {sys.version.split()[0]}, "
          f"{'NumPy' if openetw._numpy is not None else 'no NumPy'}")
    unittest.main(verbosity=2)
