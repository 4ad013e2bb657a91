#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plain_etl.py [--described] FILE: the TraceLogging events of an uncompressed .etl file as JSON lines, in plain Python
as one would write it without C: what bench/read_compare measures us against. It does what has to be
done and no more: buffers, record headers, extended items, metadata (parsed once for each kind), payload,
a merge by time. No regular expressions, no classes on the way of an event; whole headers at once.

--described: headers are read field by field from a description, as parsers do that are written from a
table of a format (and as libraries for that purpose do); the rest is the same."""
import datetime
import heapq
import json
import struct
import sys

buffer_header = struct.Struct("<I44xI H H")
event_header = struct.Struct("<HHHHIIq16sHBBBBHQ")
item_header = struct.Struct("<HHHH")
simple = {3: "b", 4: "B", 5: "h", 6: "H", 7: "i", 8: "I", 9: "q", 10: "Q", 11: "f", 12: "d", 13: "I", 20: "I",
          21: "Q"}
simple = {k: struct.Struct("<" + v) for k, v in simple.items()}


def cstr(b, at):
    end = b.index(0, at)
    return b[at:end].decode("utf-8", "replace"), end + 1


def parse_metadata(m):
    at = 2
    while m[at] & 0x80:
        at += 1
    name, at = cstr(m, at + 1)
    fields = []
    while at < len(m):
        field, at = cstr(m, at)
        kind = m[at]
        at += 1
        count = None
        if kind & 0x80:
            out = m[at]
            at += 1
            while out & 0x80:
                out = m[at]
                at += 1
        if kind & 0x60 == 0x20:
            count = m[at] | m[at + 1] << 8
            at += 2
        fields.append((field, kind & 0x1F, kind & 0x60, count))
    return name, fields


def guid(b):
    a, c, d = struct.unpack_from("<IHH", b)
    return "%08x-%04x-%04x-%s-%s" % (a, c, d, b[8:10].hex(), b[10:16].hex())


def value(kind, b, at):
    s = simple.get(kind)
    if s:
        return s.unpack_from(b, at)[0], at + s.size
    if kind == 1:
        end = at
        while b[end] or b[end + 1]:
            end += 2
        return b[at:end].decode("utf-16-le", "replace"), end + 2
    if kind == 2:
        return cstr(b, at)
    if kind in (22, 23, 14, 25):
        n = b[at] | b[at + 1] << 8
        raw = b[at + 2:at + 2 + n]
        text = raw.decode("utf-16-le", "replace") if kind == 22 else raw.decode("latin-1") if kind == 23 else raw.hex()
        return text, at + 2 + n
    if kind == 15:
        return guid(b[at:at + 16]), at + 16
    raise ValueError("type %d" % kind)


def records(data, start, size, cpu):
    used = struct.unpack_from("<I", data, start + 0x30)[0]
    at, end = start + 0x48, start + used
    while at + 8 <= end:
        marker = struct.unpack_from("<I", data, at)[0]
        if marker == 0xFFFFFFFF:
            return
        kind = marker >> 16 & 0xFF
        n = marker & 0xFFFF if kind in (0x12, 0x13, 0x0A, 0x14) else struct.unpack_from("<H", data, at + 4)[0]
        if kind in (0x12, 0x13):
            yield struct.unpack_from("<q", data, at + 0x10)[0], cpu, at, n
        at += n + 7 & ~7


HEADER = [("size", "<H"), ("type", "<H"), ("flags", "<H"), ("property", "<H"), ("tid", "<I"), ("pid", "<I"),
          ("time", "<q"), ("provider", "guid"), ("id", "<H"), ("version", "<B"), ("channel", "<B"), ("level", "<B"),
          ("opcode", "<B"), ("task", "<H"), ("keyword", "<Q"), ("kernel", "<I"), ("user", "<I"), ("activity", "guid")]
ITEM = [("size", "<H"), ("type", "<H"), ("linkage", "<H"), ("length", "<H")]


def describe(fields, data, at):
    found = {}
    for name, form in fields:
        if form == "guid":
            found[name] = guid(data[at:at + 16])
            at += 16
        else:
            found[name] = struct.unpack_from(form, data, at)[0]
            at += struct.calcsize(form)
    return found, at


def split_described(data, at):
    h, pos = describe(HEADER, data, at)
    metadata, traits, more = b"", b"", h["flags"] & 1
    while more:
        item, body = describe(ITEM, data, pos)
        if item["type"] == 11:
            metadata = data[body:body + item["length"]]
        elif item["type"] == 12:
            traits = data[body:body + item["length"]]
        more = item["linkage"] & 1
        pos += item["size"]
    return h["tid"], h["pid"], h["provider"], h["id"], h["level"], h["keyword"], metadata, traits, pos


def split(data, at):
    (_, _, flags, _, tid, pid, _, provider, ident, version, channel, level, opcode, task,
     keyword) = event_header.unpack_from(data, at)
    pos = at + 0x50
    metadata, traits, more = b"", b"", flags & 1
    while more:
        total, kind, more, length = item_header.unpack_from(data, pos)
        if kind == 11:
            metadata = data[pos + 8:pos + 8 + length]
        elif kind == 12:
            traits = data[pos + 8:pos + 8 + length]
        more &= 1
        pos += total
    return tid, pid, provider, ident, level, keyword, metadata, traits, pos


def main(path, split):
    data = open(path, "rb").read()
    size = struct.unpack_from("<I", data)[0]
    frequency, start_time = struct.unpack_from("<qq", data, 0x68 + 0x100)
    start_raw = struct.unpack_from("<q", data, 0x58)[0]
    by_cpu = {}
    for at in range(size, len(data) - 0x48, size):
        cpu = struct.unpack_from("<H", data, at + 0x28)[0]
        by_cpu.setdefault(cpu, []).append(at)

    def of_cpu(cpu):
        for at in by_cpu[cpu]:
            yield from records(data, at, size, cpu)

    known = {}
    epoch = datetime.datetime(1601, 1, 1)
    write = sys.stdout.write
    for raw, cpu, at, n in heapq.merge(*[of_cpu(c) for c in by_cpu]):
        tid, pid, provider, ident, level, keyword, metadata, traits, pos = split(data, at)
        if metadata not in known:
            known[metadata] = parse_metadata(metadata)
        name, fields = known[metadata]
        event = {}
        for field, kind, array, count in fields:
            if array:
                if array == 0x40:
                    count = data[pos] | data[pos + 1] << 8
                    pos += 2
                values = []
                for _ in range(count):
                    v, pos = value(kind, data, pos)
                    values.append(v)
                event[field] = values
            else:
                event[field], pos = value(kind, data, pos)
        ticks = start_time + (raw - start_raw) * 10000000 // frequency
        when = epoch + datetime.timedelta(microseconds=ticks // 10)
        meta = {"provider": cstr(traits, 2)[0] if traits else str(provider), "event": name,
                "time": when.isoformat() + "Z", "cpu": cpu, "pid": pid, "tid": tid, "level": level}
        if ident:
            meta["id"] = ident
        if keyword:
            meta["keywords"] = hex(keyword)
        event["meta"] = meta
        write(json.dumps(event) + "\n")


main(sys.argv[-1], split_described if sys.argv[1] == "--described" else split)
