# SPDX-License-Identifier: MIT
"""Event traces of Windows and Linux (.etl) in Python.

    import openetw

    for e in openetw.events("web.etl", filter="level <= warning"):
        print(e.time, e.provider, e.name, e.fields)

    with openetw.Trace("web.etl") as trace:
        print(len(trace), trace.facets("provider"))
        columns = trace.columns("time", "process_name", "Status", filter="event == Request")

    with openetw.Session("shop", file="shop.etl", providers=["MyCompany.Shop"]):
        subprocess.run(["./shop"])

docs/python.md describes all of it.
"""
import collections as _collections
import datetime
import json as _json

from . import _openetw
from ._openetw import load_schema

try:
    import numpy as _numpy
except ImportError:
    _numpy = None

__all__ = ["Answer", "Columns", "Error", "Event", "Facet", "Group", "Histogram", "Process", "Reader", "Session", "StackNode",
           "Symbols", "Thread", "Trace", "Type", "datetime_of", "events", "filetime_of", "live", "load_schema", "read",
           "__version__"]
__version__ = _openetw.version()


class Error(Exception):
    """What failed: `code` is a Win32 code, the text a sentence."""

    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code

    def __str__(self):
        return self.args[1]


_openetw.set_error(Error)
_EPOCH = datetime.datetime(1601, 1, 1, tzinfo=datetime.timezone.utc)
_RAW, _JSON, _NAMES, _EVENTS = 1, 2, 4, 8
_ORIGIN, _STACKS, _CPU = 1, 2, 4
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_RESULTS = {0: "decoded", 1168: "no_schema", 15005: "partly"}


def datetime_of(filetime):
    """The date of a FILETIME (100 ns since 1601), in UTC; cut to microseconds."""
    return _EPOCH + datetime.timedelta(microseconds=filetime // 10)


def filetime_of(when):
    """A FILETIME of a datetime (one without a time zone is UTC), or of a FILETIME."""
    if isinstance(when, int):
        return when
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.timezone.utc)
    return (when - _EPOCH) // datetime.timedelta(microseconds=1) * 10


# ---- events -----------------------------------------------------------------------------------------------


class Event:
    """One event. `fields` is a dict of the payload, read when it is asked for; `payload` its bytes as they were recorded, None
    without the option `payload`."""

    __slots__ = ("filetime", "provider", "name", "id", "version", "level", "pid", "tid", "cpu", "process", "file", "stack",
                 "_result", "json", "payload", "_fields")

    def __init__(self, parts):
        (self.filetime, self.provider, self.name, self.id, self.version, self.level, self.pid, self.tid, self.cpu,
         self.process, self.file, self.stack, self._result, self.json, self.payload) = parts
        self._fields = None

    @property
    def time(self):
        """The date, in UTC; `filetime` has all of its digits."""
        return datetime_of(self.filetime)

    @property
    def fields(self):
        if self._fields is None:
            self._fields = _json.loads(self.json) if self.json else {}
        return self._fields

    @property
    def decoded(self):
        """"decoded", "no_schema" (fields has _raw and _reason) or "partly"."""
        return _RESULTS.get(self._result, "failed")

    def __getitem__(self, name):
        return self.fields[name]

    def get(self, name, default=None):
        return self.fields.get(name, default)

    def __repr__(self):
        return f"<Event {self.provider}/{self.name} {self.time:%Y-%m-%dT%H:%M:%S.%fZ}>"


class Reader:
    """Iterates over the events of trace files, merged by time, or of a running session. Use it in a with statement, or close
    it; it is closed at the end of the events, too. With `headers` come the records that a file has for itself, too."""

    def __init__(self, *files, session=None, fields=True, origin=False, stacks=False, cpu=False, headers=False, pids=(),
                 processes=(), providers=(), start=None, stop=None, payload=False):
        self._reader = _openetw.Reader()
        self._losses = (0, 0, 0)
        for path in files:
            self._reader.add_file(path)
        self._reader.set(session, (_RAW if payload else 0) | (_JSON if fields else 0) | _NAMES | (0 if headers else _EVENTS),
                         (_ORIGIN if origin else 0) | (_STACKS if stacks else 0) | (_CPU if cpu else 0), tuple(pids),
                         tuple(processes), tuple(providers), 0 if start is None else filetime_of(start),
                         (1 << 64) - 1 if stop is None else filetime_of(stop))
        self._reader.start()
        self._batch = iter(())
        self._ended = False

    def __iter__(self):
        return self

    def __next__(self):
        for parts in self._batch:
            return Event(parts)
        while not self._ended:
            batch = self._reader.next(-1)
            if batch is None:
                self._end()
                break
            self._batch = iter(batch)
            for parts in self._batch:
                return Event(parts)
        raise StopIteration

    def poll(self, timeout=0.0):
        """The next events, as a list: [] when none came within `timeout` seconds, None at the end."""
        waiting = [Event(parts) for parts in self._batch]
        if waiting or self._ended:
            return waiting or None
        batch = self._reader.next(int(timeout * 1000))
        if batch is None:
            self._end()
            return None
        return [Event(parts) for parts in batch]

    def _end(self):
        self._losses = self._reader.losses()
        self._ended = True
        self._reader.close()

    def stop(self):
        """No more events; what was read already still comes. Any thread may call it."""
        self._reader.stop()

    def close(self):
        if not self._ended:
            self._end()
        self._batch = iter(())

    @property
    def lost(self):
        """Events that were lost when they were recorded, as far as that is known: lost_unknown."""
        return (self._losses if self._ended else self._reader.losses())[0]

    @property
    def dropped(self):
        """Events for which a live reader had no room."""
        return (self._losses if self._ended else self._reader.losses())[1]

    @property
    def lost_unknown(self):
        return bool((self._losses if self._ended else self._reader.losses())[2])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def events(*files, filter=None, start=None, stop=None, payload=False, **options):
    """The events of trace files, in the order of time. With a filter (docs/filters.md) the trace's index answers; `start` and
    `stop` are dates."""
    if filter is None:
        with Reader(*files, start=start, stop=stop, payload=payload, **options) as reader:
            yield from reader
        return
    if options:
        raise TypeError("a filter cannot be combined with " + ", ".join(sorted(options)))
    with Trace(*files) as trace:
        yield from trace.events(filter=filter, start=start, stop=stop, payload=payload)


def read(*args, **options):
    """read(file, …, callback): calls callback(event) for each event of trace files, in the order of time, until it returns
    False. `options` are those of events(). Returns how many events it was called for; what it raises ends the reading."""
    *files, callback = args or (None,)
    return _call(events(*files, **options), callback)


def _call(found, callback):
    if not callable(callback):
        found.close()
        raise TypeError("the last argument has to be a function that takes an event")
    count = 0
    try:
        for event in found:
            count += 1
            if callback(event) is False:
                break
    finally:
        found.close()
    return count


def live(session, **options):
    """A Reader of a running session."""
    return Reader(session=session, **options)


class Symbols:
    """Names of the code that stacks of a trace file lie in. It reads the file once, for its modules."""

    def __init__(self, file):
        self._symbols = _openetw.Symbols(file)

    def name(self, address, pid, filetime):
        """"module!function+0x10"; "module+0x1234" where no function is known; code that was
        made at run time has no module; None where nothing is known."""
        return self._symbols.name(0xFFFFFFFF if pid is None else pid, filetime, address)

    def stack_names(self, event):
        """The names of an event's stack, innermost first, as long as `event.stack`."""
        return tuple(self.name(address, event.pid, event.filetime) for address in event.stack)


# ---- questions --------------------------------------------------------------------------------------------


def _record(name, fields, doc):
    made = _collections.namedtuple(name, fields)
    made.__doc__ = doc
    made.__module__ = __name__
    return made


Answer = _record("Answer", "matched scanned decoded undecided exact partial", "What an answer says of itself.")
Type = _record("Type", "provider name id version level opcode task channel keyword events", "A type of events.")
Process = _record("Process", "pid parent_pid name command_line start end exit_code file",
                  "A process. start and end are None where it ran when the trace began or ended.")
Thread = _record("Thread", "tid process name start end", "A thread. `process` is a number of Trace.process().")
Facet = _record("Facet", "value count first last", "A value of a key; None: all others together.")
Group = _record("Group", "path count values sum min max average p50 p99",
                "A group: the values of its keys, how many events, and the numbers of the field.")
Histogram = _record("Histogram", "start bucket series", "Counts over time: of each value of a key an array of counts.")
StackNode = _record("StackNode", "depth parent process address self_ total", "A node of a call tree.")

_KEYS = {"type": 1, "provider": 2, "level": 3, "process": 4, "process_name": 5, "thread": 6, "cpu": 7, "stack": 8, "file": 9,
         "container": 10}
_FIXED = ("time", "row", "type", "process", "thread", "cpu", "stack")
_NAMED = ("provider", "event", "id", "level", "pid", "process_name", "tid")
_LETTERS = {"time": "q", "row": "Q", "type": "I", "process": "I", "thread": "I", "cpu": "I", "stack": "I"}


def _array(data, letter):
    """NumPy's array where NumPy is, else a memoryview: both without a copy."""
    if _numpy is not None:
        return _numpy.frombuffer(data, dtype={"q": "<i8", "Q": "<u8", "I": "<u4"}[letter])
    return memoryview(data).cast(letter)


def _as_column(values):
    """Numbers become an array of NumPy where it is there; all else stays a list."""
    if _numpy is None or not values:
        return values
    kinds = {type(v) for v in values}
    if kinds == {int}:
        for type_ in ("i8", "u8"):
            try:
                return _numpy.array(values, dtype=type_)
            except OverflowError:
                pass
        return values
    if kinds <= {int, float}:
        return _numpy.array(values, dtype="f8")
    if kinds == {bool}:
        return _numpy.array(values, dtype="?")
    return values


class Columns(dict):
    """Columns by their names; `answer` says how many events matched."""

    answer = None

    @property
    def rows(self):
        for column in self.values():
            return len(column)
        return 0


class Trace:
    """One or more trace files as one, behind the index that answers questions (docs/query.md)."""

    def __init__(self, *files, write_index=None):
        """`write_index`: True: keep the index beside the trace however small it is; False: write none."""
        if not files:
            raise TypeError("which file?")
        self._index = _openetw.Index()
        self._index.open(tuple(files), 0 if write_index is None else 2 if write_index else 1)
        self.about = self._index.about()
        self._types, self._processes, self._threads = {}, {}, {}

    def close(self):
        self._index.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return self.about["events"]

    @property
    def start(self):
        """The date of time 0."""
        return datetime_of(self.about["start_filetime"])

    def time_of(self, when):
        """Nanoseconds from time 0: of a datetime, of seconds as a float, or of nanoseconds as an int."""
        if isinstance(when, float):
            return round(when * 1e9)
        if isinstance(when, int):
            return when
        return (filetime_of(when) - self.about["start_filetime"]) * 100

    def date_of(self, ns):
        return datetime_of(self.about["start_filetime"] + ns // 100)

    # -- who is in it

    def type(self, number):
        if number not in self._types:
            self._types[number] = Type(*self._index.type(number))
        return self._types[number]

    def process(self, number):
        if number not in self._processes:
            p = self._index.process(number)
            self._processes[number] = Process(*p[:4], None if p[4] == _LOWEST else p[4], None if p[5] == _HIGHEST else p[5],
                                              *p[6:])
        return self._processes[number]

    def thread(self, number):
        if number not in self._threads:
            t = self._index.thread(number)
            self._threads[number] = Thread(*t[:3], None if t[3] == _LOWEST else t[3], None if t[4] == _HIGHEST else t[4])
        return self._threads[number]

    def stack(self, number):
        """Addresses, innermost first."""
        return self._index.stack(number)

    def types(self):
        return [t for t in map(self.type, range(self.about["types"])) if t.events]

    def processes(self):
        return [p for p in map(self.process, range(self.about["processes"])) if p.pid is not None]

    # -- questions

    def _query(self, filter, start, stop, field=None):
        return _Query(self._index, filter, _LOWEST if start is None else self.time_of(start),
                      _HIGHEST if stop is None else self.time_of(stop), field)

    @staticmethod
    def _key(by):
        """The number of a key, and the field when it is one of the payload."""
        return (_KEYS[by], None) if by in _KEYS else (11, by)

    def count(self, filter=None, start=None, stop=None):
        with self._query(filter, start, stop) as q:
            return Answer(*q.count())

    def facets(self, by, filter=None, start=None, stop=None, most=100):
        """Values of a key (type, provider, level, process, process_name, thread, cpu, stack, file, container, or a field of
        the payload) with their counts, most first."""
        key, field = self._key(by)
        with self._query(filter, start, stop, field) as q:
            found, _ = q.facets(key, most)
        return [Facet(text, count, first, last) for _, text, count, first, last in found]

    def group(self, keys, filter=None, start=None, stop=None, field=None, most=100):
        """Groups by several keys, with count, sum, min, max, average, p50 and p99 of a field. A list: parents before their
        children."""
        keys = [keys] if isinstance(keys, str) else list(keys)
        numbers = []
        for by in keys:
            number, own = self._key(by)
            if own is not None:
                if field not in (None, own):
                    raise ValueError("only one field of the payload, as a key or as a measure")
                field = own
            numbers.append(number)
        with self._query(filter, start, stop, field) as q:
            found, _ = q.group(tuple(numbers), most)
        paths, groups = [], []
        for depth, parent, _, text, *numbers in found:
            path = (() if parent is None else paths[parent]) + (text,)
            paths.append(path)
            groups.append(Group(path, *numbers))
        return groups

    def histogram(self, buckets=100, by=None, filter=None, start=None, stop=None, most=20):
        """Counts over time, of each value of a key (None: of all events). The arrays are NumPy's where it is there."""
        key, field = (0, None) if by is None else self._key(by)
        first = self.about["first"] if start is None else self.time_of(start)
        end = self.about["last"] + 1 if stop is None else self.time_of(stop)
        with self._query(filter, None, None, field) as q:
            ids, _, counts, _ = q.histogram(first, end, buckets, key, most)
            names = self._names(q, key, ids, most)
        series = {}
        for i, name in enumerate(names):
            series[name] = _array(counts[i * buckets * 8:(i + 1) * buckets * 8], "Q")
        return Histogram(first, (end - first) / buckets, series)

    def _names(self, q, key, ids, most):
        """What the ids of a histogram mean: the facets say it."""
        if key == 0:
            return [None] * len(ids)
        texts = {id: text for id, text, *_ in q.facets(key, max(most, 1000))[0]}
        return [None if id is None else texts.get(id, str(id)) for id in ids]

    def stacks(self, filter=None, start=None, stop=None, field=None, inverted=False, kernel=True, least=0.0):
        """A call tree of the events that have stacks: StackNode, parents before their children."""
        with self._query(filter, start, stop, field) as q:
            nodes, _ = q.stacks((1 if inverted else 0) | (0 if kernel else 2), least)
        return [StackNode(*n) for n in nodes]

    def columns(self, *names, filter=None, start=None, stop=None, position=0, count=None):
        """Columns of the events of a result: time (nanoseconds), row, type, process, thread, cpu, stack (numbers); provider,
        event, id, level, pid, process_name, tid; and fields of the payload, which are None where an event has none."""
        names = names or _FIXED
        with self._query(filter, start, stop) as q:
            *data, answer = q.rows(position, (1 << 63) if count is None else count)
            fixed = {name: _array(d, _LETTERS[name]) for name, d in zip(_FIXED, data)}
            made = Columns()
            made.answer = Answer(*answer)
            wanted = [n for n in names if n not in _FIXED and n not in _NAMED]
            payload = self._payload(q, fixed["row"], wanted)
            for name in names:
                made[name] = (fixed[name] if name in fixed else payload[name] if name in payload
                              else self._named(name, fixed))
        return made

    @staticmethod
    def _payload(q, rows, wanted):
        values = {name: [] for name in wanted}
        step = 65536
        rows = memoryview(rows)
        for name, list_ in values.items():
            for at in range(0, len(rows), step):
                for said in _json.loads(q.field(bytes(rows[at:at + step]), name)):
                    whole = [v for is_whole, v in said if is_whole]
                    value = whole[-1] if whole else said[-1][1] if said else None
                    for part in () if whole or not said else name.split(".")[1:]:
                        value = value.get(part) if isinstance(value, dict) else None
                    list_.append(value)
        return {name: _as_column(list_) for name, list_ in values.items()}

    def _named(self, name, fixed):
        of, look = {"provider": ("type", lambda i: self.type(i).provider), "event": ("type", lambda i: self.type(i).name),
                    "id": ("type", lambda i: self.type(i).id), "level": ("type", lambda i: self.type(i).level),
                    "pid": ("process", lambda i: self.process(i).pid), "tid": ("thread", lambda i: self.thread(i).tid),
                    "process_name": ("process", lambda i: self.process(i).name or None)}[name]
        known = {}
        values = []
        for i in fixed[of]:
            i = int(i)
            if i not in known:
                known[i] = look(i)
            values.append(known[i])
        return _as_column(values)

    def events(self, filter=None, start=None, stop=None, position=0, count=None, payload=False):
        """The events of a result, one after the other; with `payload` with their bytes."""
        step = 4096
        end = None if count is None else position + count
        with self._query(filter, start, stop) as q:
            while end is None or position < end:
                n = step if end is None else min(step, end - position)
                times, rows, types, processes, threads, cpus, stacks, _ = q.rows(position, n)
                rows = memoryview(rows).cast("Q")
                columns = [memoryview(c).cast("I") for c in (types, processes, threads, cpus, stacks)]
                for i, time in enumerate(memoryview(times).cast("q")):
                    yield self._event(q, payload, time, rows[i], *(c[i] for c in columns))
                if len(rows) < n:
                    return
                position += n

    def _event(self, q, payload, time, row, type_, process, thread, cpu, stack):
        t, p = self.type(type_), self.process(process)
        text, result, raw = q.json(row, payload)
        return Event((self.about["start_filetime"] + time // 100, t.provider, t.name, t.id, t.version, t.level, p.pid,
                      self.thread(thread).tid, cpu, p.name or None, None, self.stack(stack) if stack else (), result, text, raw))


class _Query:
    """A query that ends with its with statement."""

    def __init__(self, *args):
        self._q = _openetw.Query(*args)

    def __enter__(self):
        return self._q

    def __exit__(self, *_):
        self._q.close()


# ---- recording --------------------------------------------------------------------------------------------


class Session:
    """A recording that runs as long as its with statement.

    `providers`: names, "{GUID}", or tuples (name, level, any_keyword, all_keywords, filter), of which the last ones may be left
    out. `kernel`: flags as xperf has them, "PROC_THREAD+CSWITCH"; `stacks`: kernel events with stacks, "CSwitch"."""

    def __init__(self, name, file=None, providers=(), live=False, max_mib=0, circular=False, kernel=None, stacks=None, pids=(),
                 replace=False):
        self.name = name
        self._recorder = _openetw.Recorder(name)
        if file is not None:
            self._recorder.set_file(file, max_mib, circular)
        if live:
            self._recorder.set_live(True)
        if replace:
            self._recorder.set_replace(True)
        for provider in providers:
            parts = (provider,) if isinstance(provider, str) else tuple(provider)
            self._recorder.add_provider(*(parts + (0, 0, 0, None)[len(parts) - 1:]))
        if kernel:
            self._recorder.add_kernel(kernel, stacks)
        for pid in pids:
            self._recorder.add_pid(pid)
        self._running = False

    def start(self):
        self._recorder.start()
        self._running = True
        return self

    def stop(self):
        if self._running:
            self._running = False
            self._recorder.stop()

    def events(self, **options):
        """A Reader of what comes while it runs; the session has to be live. `options` are those of Reader."""
        return live(self.name, **options)

    def listen(self, callback, **options):
        """Calls callback(event) for each event that comes, until it returns False or the session ends. Returns how many events
        it was called for. The session has to be live; `options` are those of Reader."""
        return _call(self.events(**options), callback)

    @property
    def note(self):
        """What of the kernel's events is not recorded, and why; "" when nothing is missing."""
        return self._recorder.note()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
