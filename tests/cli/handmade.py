# SPDX-License-Identifier: MIT
# handmade.py KIND BASE FILE [NUMBER…]: writes FILE, a trace of one kind, with the file header and the buffer header of BASE,
# which is sawbuck/process_data_64_v2.etl of the corpus. Its buffers say 12 | 8 << 8: processor 12, aligned to 8.
import struct, sys

BUFFER = 65536
HEAD = 0x48
CPU_AND_ALIGNMENT = 12 | 8 << 8
PID, TID = 7644, 6452
base = open(sys.argv[2], "rb").read()
START = struct.unpack_from("<Q", base, BUFFER + HEAD + 16)[0]


def write(path, records):
    buffers = [b""]
    for r in records:
        r += b"\xff" * (-len(r) % 8)
        if len(buffers[-1]) + len(r) > BUFFER - HEAD:
            buffers.append(b"")
        buffers[-1] += r
    out = bytearray(base[:BUFFER])
    for i, b in enumerate(buffers):
        h = bytearray(base[BUFFER:BUFFER + HEAD])
        struct.pack_into("<I", h, 4, HEAD + len(b))
        struct.pack_into("<I", h, 8, HEAD + len(b))
        struct.pack_into("<I", h, 0x30, HEAD + len(b))
        struct.pack_into("<Q", h, 16, START + 10 * len(records))
        struct.pack_into("<Q", h, 24, i + 1)
        if struct.unpack_from("<H", h, 0x28)[0] != CPU_AND_ALIGNMENT:
            sys.exit("the base is another file")
        struct.pack_into("<HH", h, 0x34, 0, 0)
        out += h + b + b"\xff" * (BUFFER - HEAD - len(b))
    open(path, "wb").write(out)


def system(at, hook, version, payload):
    return struct.pack("<HHHHIIQ", version, 0xC004, 24 + len(payload), hook, TID, PID, START + at) + payload


def perfinfo(at, hook, version, payload):
    return struct.pack("<HHHHQ", version, 0xC011, 16 + len(payload), hook, START + at) + payload


def switch(at, comes, goes, state):
    return perfinfo(at, 0x524, 2, struct.pack("<IIbbBbbbbbII", comes, goes, 8, 8, 0, 0, 0, 0, state, 0, 0, 0))


def item(kind, data, more):
    size = 8 + len(data) + 7 & ~7
    return struct.pack("<HHHH", size, kind, more, len(data)) + data + b"\0" * (size - 8 - len(data))


# fields: name, type of TraceLogging, bytes
def logged(at, name, fields, opcode=0):
    meta = b"\0" + name + b"\0" + b"".join(n + b"\0" + bytes([t]) for n, t, _ in fields)
    meta = struct.pack("<H", len(meta) + 2) + meta
    items = item(12, struct.pack("<H", 4) + b"P\0", 1) + item(11, meta, 0)
    payload = b"".join(v for _, _, v in fields)
    body = struct.pack("<IIQ", TID, PID, START + at) + bytes(range(16))
    body += struct.pack("<HBBBBHQ", 0, 0, 11, 5, opcode, 0, 0) + b"\0" * 8 + b"\0" * 16
    return struct.pack("<HHHH", 0x50 + len(items) + len(payload), 0xC013, 1, 0) + body + items + payload


def cpu():
    sample = struct.pack("<QIHH", 0x1000, TID, 1, 0)
    yield perfinfo(0, 0xF2E, 2, sample)
    yield logged(10, b"act", [], 1)
    yield switch(20, TID, 0, 0)
    yield switch(30, 0, TID, 5)
    yield switch(50020, TID, 0, 0)
    yield logged(50030, b"act", [], 2)


# Thread 9 of process 9 could run, and 7 had its processor. Before the last switch one is missing.
def neighbour():
    for n in 7, 9:
        yield system(n, 0x503, 3, struct.pack("<II7QIBBBB", n, n, 0, 0, 0, 0, 0, 0x1000, 0, 0, 8, 5, 2, 0))
    at = 100
    yield switch(at, 9, 0, 0)
    for i in range(40):
        yield switch(at + 10000, 7, 9, 1)
        yield switch(at + 100000, 9, 7, 1)
        at += 100000
    yield switch(at + 10000, 7, 5, 1)


# P/e with one field x each
def numbers():
    for i, text in enumerate(sys.argv[4:]):
        yield logged(10 * i, b"e", [(b"x", 12, struct.pack("<d", float(text)))])


# P/e with x and y: normal, 100 and 10 wide, x moved by a number. The last one is far off where a third number says so.
def spread():
    import random
    moved, seed, last = float(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6]) if len(sys.argv) > 6 else 0
    r, n = random.Random(seed), 400
    for i in range(n):
        x, y = r.gauss(100 + moved, 10), r.gauss(100, 10)
        yield logged(10000 * i, b"e", [(b"x", 12, struct.pack("<d", x + (last if i == n - 1 else 0))), (b"y", 12, struct.pack("<d", y))])


# Versions of P/e, and an event with more fields of one name than a table has columns
def fields():
    versions = [["a", "b"], ["b", "b"], ["B", "Time", "b"], ["b_2", "b", "b"]]
    value = 0
    for i, names in enumerate(versions):
        row = []
        for n in names:
            value += 1
            row.append((n.encode(), 4, bytes([value])))
        yield logged(10 * i, b"e", row)
    for i in range(100):
        yield logged(1000 + i, b"many", [(b"a", 4, bytes([n % 250])) for n in range(2500)])


# Processor 12: idle in state 1 for 20 ticks, in state 2 for 30, in 1 without an end; an end without a beginning before. Speeds of
# processor 3, and one of two together.
def power():
    def speed(at, new, old, mask):
        return perfinfo(at, 0x1233, 2, struct.pack("<IIIIQ", 0, new, old, 0, mask))
    yield perfinfo(0, 0x123A, 2, struct.pack("<II", 1, 0))
    for at, state in (10, 1), (40, 2):
        yield perfinfo(at, 0x1239, 2, struct.pack("<IHBBQ", state, 0, 0, 0, 0))
        yield perfinfo(at + 10 + 10 * state, 0x123A, 2, struct.pack("<II", state, 0))
    yield speed(100, 800, 2400, 8)
    yield speed(150, 3000, 800, 8)
    yield speed(160, 1000, 0, 3)
    yield perfinfo(200, 0x1239, 2, struct.pack("<IHBBQ", 1, 0, 0, 0, 0))
    yield perfinfo(210, 0x1239, 2, b"\1")


# Thread 100 waits until 200 ends it. Meanwhile 200 waited nine times for 300, which waited for a DPC; then 100 waits while 200
# could run and did not; then 200 runs; and at last events pretend that two threads that wait end each other's waits.
def chains():
    def ready(at, tid, by, flag=0):
        return struct.pack("<HHHHIIQ", 2, 0xC004, 32, 0x532, by, by, START + at) + struct.pack("<Ibbbb", tid, 0, 0, flag, 0)

    def off(at, tid, state=5):
        return switch(at, 0, tid, state)

    def on(at, tid):
        return switch(at, tid, 0, 0)
    for n in 100, 200, 300:
        yield system(n, 0x503, 3, struct.pack("<II7QIBBBB", n, n, 0, 0, 0, 0, 0, 0x1000, 0, 0, 8, 5, 2, 0))
    at = 1000
    for n in 100, 200, 300:
        yield on(at + n, n)
    at = 2000
    yield off(at, 100)
    for i in range(9):
        yield off(at + 100, 300)
        yield off(at + 200, 200)
        yield ready(at + 900, 300, 0, 1)
        yield on(at + 900, 300)
        yield ready(at + 1000, 200, 300)
        yield on(at + 1000, 200)
        at += 1000
    yield ready(at, 100, 200)
    yield on(at, 100)
    yield off(at + 1000, 100)
    yield off(at + 2000, 200, 1)
    yield on(at + 9000, 200)
    yield ready(at + 10000, 100, 200)
    yield on(at + 10000, 100)
    yield off(at + 11000, 100)
    yield ready(at + 12000, 100, 200)
    yield on(at + 12000, 100)
    at += 20000
    for i in range(20):
        yield off(at, 100)
        yield off(at + 10, 200)
        yield ready(at + 1000, 200, 100)
        yield on(at + 1000, 200)
        yield ready(at + 1100, 100, 200)
        yield on(at + 1100, 100)
        at += 1100


# Blocks of a heap at one address, which is a constant of map_mix()
def heaps(n=4000):
    for i in range(n):
        yield system(i, 0x1021, 2, struct.pack("<QQQI4x", 0x10000 + i * 16, 64, 0x9E3779B97F4A7C15, 2))
    for i in range(n):
        yield system(n + i, 0x1024, 2, struct.pack("<QQI4x", 0x10000 + i * 16, 0x9E3779B97F4A7C15, 2))


kinds = {"cpu": cpu, "neighbour": neighbour, "numbers": numbers, "spread": spread, "fields": fields, "power": power, "chains": chains, "heaps": heaps}
write(sys.argv[3], list(kinds[sys.argv[1]]()))
