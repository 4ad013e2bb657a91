# SPDX-License-Identifier: MIT
"""Tables of openetw view are made beside each other and beside other questions, kept while there is room, and given up when
somebody says so. Arguments: a folder with web/; the trace."""
import json
import subprocess
import sys
import threading
import time

from view_client import Server

folder, trace = sys.argv[1:3]
names = ["processes", "threads", "cpu", "samples", "waits", "io", "files", "net", "faults", "images", "memory"]


def counts(s, order):
    """Rows of each table, all asked at the same time."""
    found = {}

    def ask(name):
        found[name] = s.get("table", name=name, group_by="", columns="count(*)")["rows"][0][0]

    threads = [threading.Thread(target=ask, args=(name,)) for name in order]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):  # other questions are answered meanwhile
        assert s.get("rows", n=5)["total"] > 0
        time.sleep(0.01)
    assert len(found) == len(order), (found, order)
    return found


def start(**environment):
    s = Server(folder, trace, environment=environment)
    s.enter()
    while not s.get("info")["progress"]["whole"]:
        time.sleep(0.05)
    return s


s = start()
found = counts(s, names)
for name in "samples", "io", "processes":
    out = subprocess.run(["openetw", "report", trace, "--table", name, "--group-by", "", "--columns", "count(*)", "--json"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    assert list(json.loads(out.splitlines()[0]).values())[-1] == found[name], (name, out, found[name])
# What is kept is what was answered.
for path in "cards", "functions", "stacks":
    assert s.get(path) == s.get(path), path
whole = s.get("table", name="functions", top=5)
info = s.get("info")
half = dict(t0=info["first"], t1=(info["first"] + info["last"]) // 2)
assert s.get("table", name="functions", **half)["rows"] != [] or whole["rows"] == []
s.post("cancel", {"tr": 0, "table": "waits"}, want=404)  # it is there already
s.end()

# Without room each table goes as soon as nobody reads it, and is made again.
s = start(OPENETW_VIEW_TABLE_BYTES="1")
assert counts(s, names) == found and counts(s, list(reversed(names))) == found
s.end()

# Whoever waits for a table that is given up hears it; it is made when it is asked for later.
s = start()
heard = []


def ask_once(name):
    status, _, body = s.ask("GET", "/api/table?name=" + name)
    while status == 202:
        time.sleep(0.01)
        status, _, body = s.ask("GET", "/api/table?name=" + name)
    heard.append((status, json.loads(body)))


threads = [threading.Thread(target=ask_once, args=(name,)) for name in names]
for t in threads:
    t.start()
s.ask("POST", "/api/cancel", None, json.dumps({"tr": 0, "table": ""}))
for t in threads:
    t.join()
for status, body in heard:
    assert status == 200 or (status == 400 and "cancelled" in body["error"]), (status, body)
patience = time.monotonic() + 30
while time.monotonic() < patience:
    status, _, body = s.ask("GET", "/api/table?name=net")
    if status == 200:
        break
    time.sleep(0.1)
assert status == 200, body
s.end()
