# SPDX-License-Identifier: MIT
"""The answers of openetw view about a trace are those of dump and report. Arguments: a folder with web/; the trace."""
import json
import os
import subprocess
import sys
import time

from view_client import Server

folder, trace = sys.argv[1:3]


def lines(*words):
    out = subprocess.run(["openetw", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return out.splitlines()


def dumped(*words):
    return [json.loads(line) for line in lines("dump", "-q", "--json", *words, trace)]


s = Server(folder, trace)
s.enter()
info = s.get("info")
patience = time.monotonic() + 120  # the index is made while we ask
while not info["progress"]["whole"] and time.monotonic() < patience:
    time.sleep(0.05)
    info = s.get("info")
assert info["progress"]["whole"], info
everything = dumped()
assert info["rows"] == len(everything), (info["rows"], len(everything))
assert ("1 event " in info["sentence"]) == (info["rows"] == 1), info["sentence"]
filters = ["", "pid > 1000", "level <= warning", "event ~ Start", 'process ~ "e"', "not cpu == 0"] + info["examples"]
if info["rows"] > 50000:  # dump takes a second for each
    filters = [filters[0], filters[3]]
# The machine is the one that its records of the system's configuration name.
machines = [e["ComputerName"] for e in everything if e["meta"]["event"] == "SystemConfig/CPU"]
assert info["host"] == (machines[0] if machines else None), (info["host"], machines)
for part in info["host"], info["os"]:
    assert part is None or part in info["sentence"], info
# Fields say which bytes they take, one behind the other; a whole number stands there as its text says.
whole = {3: 1, 4: 1, 5: 2, 6: 2, 7: 4, 8: 4, 9: 8, 10: 8}
checked = 0
for at in range(0, info["rows"], max(1, info["rows"] // 40)):
    e = s.get("row", row=s.get("rows", at=at, n=1)["rows"][0][0])
    payload, end = bytes.fromhex(e["hex"]), 0
    assert e["schema"]["source"] or e["not_decoded"], e
    for f in e["fields"]:
        if "from" not in f:
            continue
        assert end <= f["from"] < f["to"] <= e["bytes"], (f, e)
        end = f["to"]
        part_end = f["from"]
        for part in f.get("parts", []):
            assert part_end <= part["from"] <= part["to"] <= f["to"], (f, e)
            part_end = part["to"]
        if f["in_type"] in whole and f["out_type"] != 7 and "parts" not in f and f["value"].lstrip("-").isdigit():
            size = whole[f["in_type"]]
            assert f["to"] - f["from"] == size, f
            v = int(f["value"]) % (1 << 8 * size)
            assert payload[f["from"]:f["to"]] == v.to_bytes(size, "little"), (f, e)
            checked += 1
assert checked > 10, checked
first, last = info["first"], info["last"]
middle = (first + last) // 2
for f in filters:
    sel = {"f": f} if f else {}
    wanted = dumped("--filter", f) if f else everything
    rows = s.get("rows", n=50, **sel)
    n = rows["total"]
    assert n == len(wanted), (f, n, len(wanted))
    for row, event in zip(rows["rows"], wanted):
        kind = rows["types"][str(row[6])]
        assert event["meta"]["provider"] in (kind["provider"] if isinstance(kind, dict) else kind), (row, event)
    # One truth: the histogram, rows and facets count the same events.
    for by in "nothing", "type", "process", "cpu":
        h = s.get("hist", px=333, by=by, top=5, **sel)
        assert sum(h["counts"]) == n, (f, by, sum(h["counts"]), n)
        assert sum(x["total"] for x in h["series"]) == n, (f, by)
    for by in "type", "provider", "process", "process_name", "level", "cpu", "thread":
        facets = s.get("facets", by=by, top=10000, **sel)["rows"]
        assert sum(x["count"] for x in facets) == n, (f, by)
        for x in facets[:2]:  # each says a filter that is true for just this value
            if x.get("filter"):
                both = "(%s) and (%s)" % (f, x["filter"]) if f else x["filter"]
                got = s.get("rows", n=1, f=both)["total"]
                assert got >= x["count"] if by == "process" else got == x["count"], (by, x, got)
    groups = s.get("group", by="provider,type", top=10000, **sel)["rows"]
    assert sum(g["count"] for g in groups if g["depth"] == 1) == n, f
    assert sum(g["count"] for g in groups if g["depth"] == 2) == n, f
    parts = [s.get("rows", n=1, t0=a, t1=b, **sel)["total"] for a, b in ((first, middle), (middle + 1, last))]
    assert sum(parts) == n, (f, parts, n)
    if n:
        at = s.get("position", t=middle, **sel)["position"]
        assert at == s.get("rows", n=1, t0=first, t1=middle - 1, **sel)["total"], (f, at)
# Pages of rows join.
pages, at = [], 0
while at < min(info["rows"], 700):
    page = s.get("rows", at=at, n=123)["rows"]
    pages += page
    at += len(page)
assert [r[0] for r in pages] == sorted({r[0] for r in pages})
assert [r[1] for r in pages] == sorted(r[1] for r in pages)
# One event, whole.
row = s.get("row", row=pages[0][0])
assert len(row["hex"]) == 2 * row["bytes"] or len(row["hex"]) == 131072, row
s.get("row", 404, row=10 ** 14)
# Tables.
for table in "cpu", "waits", "io", "samples", "net", "processes", "lost":
    mine = s.get("table", name=table, top=20)
    theirs = [json.loads(line) for line in lines("report", "--table", table, "--json", "-n", "20", trace)]
    assert len(mine["rows"]) == len(theirs), (table, len(mine["rows"]), len(theirs))
    for a, b in zip(mine["rows"], theirs):
        for column, value in zip(mine["columns"], a):
            if column["unit"] != "address":
                assert value == b[column["name"]], (table, column, value, b)
s.get("table", 400, name="oi")
assert len(s.get("hist", px=1)["lost"]) == s.get("table", name="lost", top=1000)["all"]
# What is typed.
p = s.get("parse", f="level <= er", cursor=11)
assert [(x["from"], x["to"], x["kind"]) for x in p["spans"]][:2] == [(0, 5, "name"), (6, 8, "operator")], p
assert any(c["text"] == "error" and c["from"] == 9 for c in p["completions"]), p
assert p["error"]["column"] == 10, p
# The shells offer the same, when they have read the whole trace: of the page's answer the first 60.
os.environ["OPENETW_COMPLETION_MS"] = "60000"
for typed in "prov", "provider == ", "process == ", "event == ", "pid == 1 and not A", "":
    p = s.get("parse", f=typed, cursor=len(typed))
    page = [typed[: c["from"]] + c["text"] for c in p["completions"]]
    assert lines("completion", "filter", "--", typed, "dump", trace, "--filter", typed)[:60] == page, (typed, page)
for path in "cards", "columns", "threads", "processes", "tables", "diag", "kinds", "queries", "jobs", "marks", "files":
    s.get(path)
for weight in "samples", "blocked", "events":
    tree = s.get("stacks", weight=weight)
    for i, node in enumerate(tree["nodes"]):
        assert node[0] < i, (i, node)
    s.get("functions", weight=weight)
s.get("lanes", list="cpus", px=500)
s.get("counters", list="cpu,ready,disk_bytes", px=100)
s.get("area", t0=first, t1=middle)
s.end()
