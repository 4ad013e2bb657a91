#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The payload of every event as Windows itself decoded it.

evtx.py OPENETW CORPUS_DIR: HTTP_Server.evtx is what Windows made of HTTP_Server.etl. Each of its events must
be among ours at the same time, with the same fields and values, decoded with HTTP_Server.man, and with the
built-in catalogue alone."""
import collections
import datetime
import ipaddress
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


class Chunk:
    """64 KiB of an event log; the offsets in its binary XML count from its start."""

    def __init__(self, data):
        self.data = data

    def get(self, form, at):
        return struct.unpack_from("<" + form, self.data, at)

    def text(self, at, units):
        return self.data[at:at + 2 * units].decode("utf-16-le")

    def records(self):
        at = 512
        end = min(self.get("I", 48)[0], len(self.data))  # free space begins there
        while at < end and self.data[at:at + 4] == b"**\0\0":
            size, number = self.get("IQ", at + 4)
            yield number, Parser(self, at + 24, []).fragment()
            at += size


class Parser:
    """Binary XML to (name, {attribute: value}, [child or value])."""

    def __init__(self, chunk, at, values):
        self.c, self.at, self.values = chunk, at, values

    def take(self, form):
        got = self.c.get(form, self.at)
        self.at += struct.calcsize("<" + form)
        return got[0]

    def name(self):
        offset = self.take("I")
        units = self.c.get("H", offset + 6)[0]
        if offset == self.at:
            self.at += 8 + 2 * units + 2
        return self.c.text(offset + 8, units)

    def fragment(self):
        out = []
        while True:
            token = self.c.data[self.at]
            if token == 0x00:
                self.at += 1
                return out
            if token == 0x0F:
                self.at += 4
            elif token == 0x0C:
                return out + self.template()
            else:
                out.append(self.element())

    def template(self):
        self.at += 6
        definition = self.take("I")
        size = self.c.get("I", definition + 20)[0]
        if definition == self.at:
            self.at += 24 + size
        specs = []
        for _ in range(self.take("I")):
            specs.append((self.take("H"), self.take("B")))
            self.at += 1
        values = []
        for size_, kind in specs:
            values.append(self.value(kind, self.at, size_))
            self.at += size_
        return Parser(self.c, definition + 24, values).fragment()

    def value(self, kind, at, size):
        raw = self.c.data[at:at + size]
        forms = {3: "b", 4: "B", 5: "h", 6: "H", 7: "i", 8: "I", 9: "q", 0xA: "Q", 0x14: "I", 0x15: "Q"}
        if kind in forms:
            return struct.unpack("<" + forms[kind], raw)[0]
        if kind == 0x01:
            return raw.decode("utf-16-le", "replace").split("\0")[0]
        if kind == 0x02:
            return raw.decode("latin-1").split("\0")[0]
        if kind == 0x0D:
            return struct.unpack("<i", raw)[0] != 0
        if kind == 0x11:
            return struct.unpack("<Q", raw)[0]
        if kind == 0x10:
            return int.from_bytes(raw, "little")
        if kind == 0x0F:
            a, b, c = struct.unpack_from("<IHH", raw)
            return f"{a:08x}-{b:04x}-{c:04x}-{raw[8:10].hex()}-{raw[10:].hex()}"
        if kind == 0x21:
            return Parser(self.c, at, []).fragment()
        return raw

    def content(self):
        token = self.take("B")
        if token in (0x05, 0x45):
            kind, units = self.take("B"), self.take("H")
            self.at += 2 * units
            return self.c.text(self.at - 2 * units, units)
        if token in (0x0D, 0x0E):
            index = self.take("H")
            self.at += 1
            return self.values[index]
        raise ValueError(f"token {token:#x} at {self.at - 1:#x}")

    def element(self):
        token = self.take("B")
        if token not in (0x01, 0x41):
            raise ValueError(f"token {token:#x} at {self.at - 1:#x}")
        self.at += 6
        name, attributes, children = self.name(), {}, []
        if token == 0x41:
            end = self.at + 4 + self.c.get("I", self.at)[0]
            self.at += 4
            while self.at < end:
                self.at += 1
                key = self.name()
                attributes[key] = self.content()
        if self.take("B") == 0x03:
            return name, attributes, children
        while self.c.data[self.at] != 0x04:
            if self.c.data[self.at] in (0x01, 0x41):
                children.append(self.element())
            else:
                children.append(self.content())
        self.at += 1
        return name, attributes, children


def flatten(nodes):
    """Elements behind values that are binary XML themselves."""
    for n in nodes:
        if isinstance(n, list):
            yield from flatten(n)
        else:
            yield n


def event_of(event):
    """(event id, FILETIME), [(name, value)] of EventData."""
    out, key = [], [None, None]
    for name, _, children in (n for n in flatten(event[2]) if isinstance(n, tuple)):
        for child in (c for c in children if name == "System" and isinstance(c, tuple)):
            if child[0] == "EventID":
                key[0] = child[2][0]
            elif child[0] == "TimeCreated":
                key[1] = child[1]["SystemTime"]
        if name == "ProcessingErrorData":
            # The address of a request has no NUL: Windows kept the bytes, we show the rest as text.
            parts = {child[0]: child[2][0] for child in children}
            if (parts["ErrorCode"], parts["DataItemName"]) == (15005, "Url"):
                raw = parts["EventPayload"]
                out += zip(("RequestObj", "HttpVerb"), struct.unpack_from("<QI", raw))
                out.append(("Url", raw[12:].decode("utf-16-le")))
        if name == "EventData":
            for child in flatten(children):
                if isinstance(child, tuple):
                    values = list(flatten(child[2]))
                    out.append((child[1].get("Name", child[0]), values[0] if values else None))
    return tuple(key), out


def maps_of(manifest):
    """What numbers are called: {text: {values}} over all value maps; Windows' event log keeps the numbers."""
    root = xml.etree.ElementTree.parse(manifest).getroot()
    local = {}
    names = collections.defaultdict(set)
    for node in root.iter():
        if node.tag.endswith("}string"):
            local[node.get("id")] = node.get("value")
    for node in root.iter():
        if node.tag.endswith("}map"):
            text = node.get("message")
            text = local.get(text[9:-1], text) if text.startswith("$(string.") else text
            names[text.strip()].add(int(node.get("value"), 0))
    return names


def socket_address(raw):
    """A SOCKADDR of Windows."""
    if len(raw) < 16:
        return None
    family, port = struct.unpack_from("<H", raw)[0], struct.unpack_from(">H", raw, 2)[0]
    if family == 2:
        return f"{ipaddress.ip_address(raw[4:8])}:{port}"
    return f"[{ipaddress.ip_address(raw[8:24])}]:{port}" if family == 23 and len(raw) >= 24 else None


def same(ours, theirs, maps):
    if isinstance(theirs, int) and ours in maps and theirs in maps[ours]:
        return True
    if theirs is None:
        return ours in ("", None)
    if isinstance(theirs, bool) or isinstance(theirs, str):
        return str(ours).lower().strip("{}") == str(theirs).lower()
    if isinstance(theirs, bytes):
        return str(ours).lower() in (theirs.hex(), socket_address(theirs))
    if isinstance(ours, str):
        try:
            ours = int(ours, 0)
        except ValueError:
            return False
    return ours == theirs


def filetime(text):
    """2011-01-23T21:47:27.2257591Z"""
    seconds, fraction = text.rstrip("Z").split(".")
    then = datetime.datetime.strptime(seconds, "%Y-%m-%dT%H:%M:%S")
    since = then - datetime.datetime(1601, 1, 1)
    return (since.days * 86400 + since.seconds) * 10000000 + int(fraction.ljust(7, "0"))


def compare(tool, corpus, theirs, count, maps, manifests):
    """What Windows' events have must be in ours, decoded with what is known and these manifests."""
    left = {key: list(events) for key, events in theirs.items()}
    lines = subprocess.run([tool, "dump", "--quiet", "--json", corpus / "HTTP_Server.etl"], check=True,
                           env={**os.environ, "OPENETW_CATALOGUE": manifests},
                           capture_output=True, text=True).stdout.splitlines()
    events = values = wrong = 0
    for mine in map(json.loads, lines):
        meta = mine.pop("meta")
        if meta["event"] == "EventTrace/Header":
            continue
        events += 1
        same_key = left.get((meta["id"], filetime(meta["time"])), [])
        problems = []
        for i, fields in enumerate(same_key):  # several at one time: the one that fits
            bad = [f"{n}: Windows {v!r}, we {mine.get(n)!r}" for n, v in fields
                   if n not in mine or not same(mine[n], v, maps)]
            bad += [f"{n} is not in Windows' event" for n in mine if n not in dict(fields)]
            if not bad:
                values += len(fields)
                del same_key[i]
                break
            problems.append(bad)
        else:
            wrong += 1
            if wrong < 20:
                print(meta, *(problems or ["Windows has no such event"]), sep="\n    ")
    print(f"{count} events of Windows, {events} of ours, {values} values alike, {wrong} events differ")
    return 1 if wrong or events != count or count != 2041 or values < 5000 else 0


def main():
    tool, corpus = sys.argv[1], pathlib.Path(os.environ.get("OPENETW_CORPUS") or sys.argv[2]) / "tx"
    if not corpus.exists():
        print(f"skipped: no real trace files at {corpus}")
        return 77
    maps = maps_of(corpus / "HTTP_Server.man")
    log = (corpus / "HTTP_Server.evtx").read_bytes()
    theirs = collections.defaultdict(list)
    count = 0
    for at in range(4096, len(log), 65536):
        if log[at:at + 8] == b"ElfChnk\0":
            for _, x in Chunk(log[at:at + 65536]).records():
                key, fields = event_of(x[0])
                theirs[key].append(fields)
                count += 1
    with tempfile.TemporaryDirectory() as manifests:
        print("without a manifest: ", end="")
        failed = compare(tool, corpus, theirs, count, maps, manifests)
        shutil.copy(corpus / "HTTP_Server.man", manifests)
        print("with its manifest: ", end="")
        return compare(tool, corpus, theirs, count, maps, manifests) or failed


sys.exit(main())
