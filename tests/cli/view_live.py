# SPDX-License-Identifier: MIT
"""A session that is followed: what its program wrote is in the answers, is kept as a file, and the session goes with its trace."""
import json
import os
import shutil
import subprocess
import sys
import time

from view_client import Server

folder, emitter = sys.argv[1:3]


def openetw(*words):
    return subprocess.run(["openetw", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def until(what, question):
    for _ in range(200):
        answer = question()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(what)


s = Server(folder, "--root", folder + "/roots")
s.enter()
assert s.get("traces")["traces"] == []
assert openetw("start", "followed", "-r", "-p", "OpenETW.Sample.Hello:::stack").returncode == 0
s.post("attach", {"session": "nobody"}, want=400)
tr = s.post("attach", {"session": "followed", "bytes": 1 << 22})["tr"]
subprocess.run([emitter, "5", "1"], stdout=subprocess.DEVNULL, check=True)
rows = until("no event came", lambda: (lambda a: a["types"] and "Goodbye" in [t[1] for t in a["types"].values()] and a)(
    s.get("rows", tr=tr, n=500)))
names = {t[1] for t in rows["types"].values()}
assert "Hello" in names and "Order" in names, names
info = s.get("info", tr=tr)
assert info["live"] and info["live_state"]["lost"] == 0, info
facets = s.get("facets", tr=tr, by="type")
assert sum(r["count"] for r in facets["rows"]) == facets["answer"]["matched"], facets
table = s.get("table", tr=tr, name="events", group_by="event", columns="count(*)")  # of a copy of what is there
counts = {}
for r in facets["rows"]:
    counts[r["text"].split("/")[1]] = counts.get(r["text"].split("/")[1], 0) + r["count"]
assert dict(table["rows"]) == counts, (table["rows"], counts, rows["types"])
both = s.get("compare", a=tr, b=tr, name="events", group_by="event", columns="count(*)")
assert both["a"] == both["b"] and len(both["a"]) == len(table["rows"]), both
s.get("diag", tr=tr)
event = s.get("row", tr=tr, row=[r for r in rows["rows"] if rows["types"][str(r[6])][1] == "Hello"][0][0])
named = [f["name"] for f in event["stack"] if "name" in f]
assert "main" in named, event["stack"]
kept = s.post("keep", {"tr": tr, "f": "event == Order"})
dump = openetw("dump", "-q", kept["path"], "--filter", "event == Order").stdout.splitlines()
assert len(dump) == kept["events"] > 0, (kept, dump[:3])
whole = s.post("keep", {"tr": tr})  # what describes events is in it once, too
dump = openetw("dump", "-q", whole["path"]).stdout.splitlines()
live = s.get("rows", tr=tr, n=1)["total"]
assert len(dump) == live == whole["events"], (len(dump), live, whole)

# A rule keeps what happened around an event, as often as it may.
s.post("rules", {"tr": tr, "f": "event == == Goodbye"}, want=400)
s.post("rules", {"tr": tr, "f": "event == Goodbye", "folder": folder + "/elsewhere"}, want=400)
s.post("rules", {"tr": tr, "f": "event == Goodbye", "before": 60, "after": 0, "files": 1, "folder": folder + "/roots"})
subprocess.run([emitter, "2", "1"], stdout=subprocess.DEVNULL, check=True)
rule = until("the rule kept nothing", lambda: [r for r in s.get("rules", tr=tr)["rules"] if r["files"] == 1])[0]
assert rule["last"].startswith(folder + "/roots/") and rule["problem"] and rule["bytes"] > 0, rule
kept = openetw("dump", "-q", rule["last"], "--filter", "event == Goodbye").stdout.splitlines()
assert len(kept) == 2, kept  # the one before is less than a minute ago
s.post("rules", {"tr": tr, "remove": rule["id"]})
# Another event that fits, when the first one's file is not written yet, has a file as well.
s.post("rules", {"tr": tr, "f": "event == Goodbye", "before": 0, "after": 0, "files": 2})
for _ in range(2):
    subprocess.run([emitter, "2", "1"], stdout=subprocess.DEVNULL, check=True)
rule = until("the rule kept one event of two", lambda: [r for r in s.get("rules", tr=tr)["rules"] if r["files"] == 2])[0]
s.post("rules", {"tr": tr, "remove": rule["id"]})
s.post("rules", {"tr": tr, "f": "event == Timeout", "after": 0, "files": 3})

# A session that goes away says so; one that is started again is followed again, and its rules go on.
assert openetw("stop", "followed").returncode == 0
until("nobody said that it ended", lambda: s.get("info", tr=tr)["live_state"]["ended"])
assert s.get("rows", tr=tr, n=1)["total"] >= 20  # what was there stays
assert openetw("start", "followed", "-r", "-p", "OpenETW.Sample.Hello").returncode == 0
again = until("it is not followed again", lambda: s.get("info", tr=tr)["live_state"].get("next"))
assert [t["tr"] for t in s.get("traces")["traces"]] == [tr, again]
subprocess.run([emitter, "5", "1"], stdout=subprocess.DEVNULL, check=True)
until("no event came again", lambda: s.get("rows", tr=again, n=1)["total"] >= 20)
until("the rule did not go on", lambda: [r for r in s.get("rules", tr=again)["rules"] if r["files"]])
assert s.get("rules", tr=tr)["rules"] == []
assert openetw("stop", "followed").returncode == 0
s.post("close", {"tr": again})
s.post("close", {"tr": tr})
s.get("info", 404, tr=tr)

# A session of one's own, of an application: narrowed at the source, and taken away again.
s.post("live", {"providers": ["-x"]}, want=400)
own = s.post("live", {"providers": ["OpenETW.Sample.Hello"]})
tr = own["tr"]
for level, wanted in ((3, {"Timeout"}), (0, {"Timeout", "Hello", "Goodbye"})):
    before = s.get("rows", tr=tr, n=1)["total"]
    assert ("--level 3" in s.post("source", {"tr": tr, "level": level})["command"]) == (level == 3)
    assert s.get("info", tr=tr)["live_state"]["source_level"] == level
    subprocess.run([emitter, "5", "1"], stdout=subprocess.DEVNULL, check=True)
    rows = until("no event came", lambda: (lambda a: a["total"] > before and a)(s.get("rows", tr=tr, at=before, n=500)))
    until("not all came", lambda: wanted <= {rows["types"][str(r[6])][1] for r in rows["rows"]} or rows.update(
        s.get("rows", tr=tr, at=before, n=500)))
    assert level == 0 or all(r[7] <= 3 for r in rows["rows"]), rows
s.post("source", {"tr": tr, "pids": [1]})
assert s.get("info", tr=tr)["live_state"]["source"] == [1]
s.post("close", {"tr": tr})
assert own["session"] not in [x["name"] for x in s.get("sessions")["sessions"]]

# What processes do, where this user may watch the machine.
status, _, answer = s.ask("POST", "/api/live", None, json.dumps({"kinds": ["file", "image"], "stacks": True}))
if status == 200:
    tr = json.loads(answer)["tr"]
    missing = folder + "/none-such"
    script = "cat %s; exit 3" % missing
    until("nobody is there", lambda: any(p["name"] for p in s.get("ops_processes", tr=tr)["processes"]))
    child = subprocess.Popen(["sh", "-c", script], stderr=subprocess.DEVNULL)
    child.wait()
    fails = 'process == cat and path == "%s" and op == FileCreate' % missing
    ops = until("cat did nothing", lambda: (lambda a: a["total"] and a)(s.get("ops", tr=tr, kinds="file", f=fails)))
    assert ops["rows"][0][8] == "NAME NOT FOUND" and ops["rows"][0][12] is True, ops
    assert s.get("ops", tr=tr)["total"] > ops["total"]
    assert s.get("ops", tr=tr, kinds="network", f=fails)["total"] == 0
    s.get("ops", 400, tr=tr, f="pth == x")
    s.get("ops", 400, tr=tr, kinds="registry")
    shell = until("the shell does not end", lambda: [p for p in s.get("ops_processes", tr=tr)["processes"]
                                                     if p["pid"] == child.pid and "end" in p])[0]
    assert shell["exit_code"] == 3 and script in shell["command"] and shell["user"], shell
    s.post("close", {"tr": tr})
else:
    print("the machine cannot be watched: %s" % answer[:200])

# Sessions and recipes: verbs of openetw.
assert {"cpu", "disk", "network"} <= {r["id"] for r in s.get("recipes")["recipes"]}
s.post("sessions", {"do": "start", "recipe": "../../x"}, want=404)
s.get("recipe", 404, id="../x.wprp!Name")
about = s.get("recipe", id="cpu")
assert "--kernel" in about["lines"][0] and "root" in about["needs"], about
own = os.environ["XDG_CONFIG_HOME"] + "/openetw/recipes"
os.makedirs(own)
shutil.copy(os.path.dirname(os.path.abspath(__file__)) + "/wpr-two.wprp", own)
open(own + "/broken.wprp", "w").write("<nothing")
recipes = {r["id"]: r for r in s.get("recipes")["recipes"]}
assert recipes["wpr-two.wprp!One"]["question"] == "first" and recipes["wpr-two.wprp!Two"]["title"] == "Two", recipes
assert not recipes["broken.wprp"]["possible"] and recipes["broken.wprp"]["why"], recipes["broken.wprp"]
assert "ca11bac0" in "".join(s.get("recipe", id="wpr-two.wprp!One")["lines"])
s.post("sessions", {"do": "stop", "session": "nobody"}, want=400)
assert openetw("start", "listed", "-r", "-p", "OpenETW.Sample.Hello").returncode == 0
assert openetw("start", "box", "-m", "buffering", "-p", "OpenETW.Sample.Hello").returncode == 0
assert {x["name"] for x in s.get("sessions")["sessions"]} == {"listed", "box"}
s.post("sessions", {"do": "stop", "session": "listed"})
subprocess.run([emitter, "2", "1"], stdout=subprocess.DEVNULL, check=True)
saved = s.post("sessions", {"do": "save", "session": "box"})  # what is in memory; it goes on
assert "Goodbye" in openetw("dump", "-q", saved["path"]).stdout and saved["tr"] > 0, saved
s.post("sessions", {"do": "stop", "session": "box"})
assert s.get("sessions")["sessions"] == []
assert any(p["name"] == "Microsoft-Windows-DotNETRuntime" for p in s.get("providers", q="dotnetruntime")["providers"])
s.child.send_signal(2)
assert s.child.wait(20) == 0, "Ctrl-C"
print(json.dumps(sorted(names)))
