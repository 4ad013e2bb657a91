# SPDX-License-Identifier: MIT
# First lines of report, over made traces that no scheduler writes: they end, and nothing is divided by zero.
. "$(dirname "$0")/lib.sh"
A=$CORPUS/sawbuck/process_data_64_v2.etl
[ -e "$A" ] || skip "no corpus in $CORPUS"
[ -n "$HAVE_PYTHON" ] || skip "no python3"
cat >"$T/make.py" <<'PY'
# Buffers of the headers of a real file, with records of ours.
import struct, sys, uuid
like, out, what = open(sys.argv[1], "rb").read(), sys.argv[2], sys.argv[3]
SIZE = struct.unpack_from("<I", like)[0]
START = struct.unpack_from("<Q", like, SIZE + 16)[0]
def build(records):
    buffers, now = [], b""
    for r in records:
        r += b"\xff" * (-len(r) % 8)
        if len(now) + len(r) > SIZE - 0x48:
            buffers.append(now)
            now = b""
        now += r
    made = bytearray(like[:SIZE])
    for i, b in enumerate(buffers + [now]):
        h = bytearray(like[SIZE:SIZE + 0x48])
        for at in (4, 8, 0x30):
            struct.pack_into("<I", h, at, 0x48 + len(b))
        struct.pack_into("<QQ", h, 16, START + 10 * len(records), i + 1)
        struct.pack_into("<HH", h, 0x34, 0x20, 0)  # BUFFER_FLAG of an index: processors are plain numbers
        made += h + b + b"\xff" * (SIZE - 0x48 - len(b))
    open(out, "wb").write(made)
def compact(hook, t, pid, tid, payload, version):
    return struct.pack("<HHHHIIQ", version, 0xC004, 24 + len(payload), hook, tid, pid, START + t) + payload
def perf(hook, t, payload, version=2):
    return struct.pack("<HHHHQ", version, 0xC011, 16 + len(payload), hook, START + t) + payload
def thread(t, pid, tid):
    return compact(0x0503, t, pid, tid, struct.pack("<II7QIBBBB", pid, tid, 0, 0, 0, 0, 0, 0x1000, 0, 0, 8, 5, 2, 0), 3)
def switch(t, new, old, state):
    return perf(0x0524, t, struct.pack("<IIbbBbbbbbII", new, old, 8, 8, 0, 0, 0, 0, state, 0, 0, 0))
def ready(t, tid, by_pid, by_tid):
    return compact(0x0532, t, by_pid, by_tid, struct.pack("<Ibbbb", tid, 0, 0, 0, 0), 2)
def stack(t, pid, tid, *addresses):
    return perf(0x1820, t, struct.pack(f"<QII{len(addresses)}Q", START + t, pid, tid, *addresses))
def text(s):
    return (s + "\0").encode("utf-16le")
def method(t, pid, space, name):  # the code at 0x1000 is a method that .NET compiled
    payload = struct.pack("<QQQIII", 1, 1, 0x1000, 0x100, 0, 1) + text(space) + text(name) + text("") + struct.pack("<H", 1)
    provider = uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4").bytes_le
    body = struct.pack("<IIQ", 100, pid, START + t) + provider + struct.pack("<HBBBBHQ", 143, 1, 16, 5, 37, 9, 0) + bytes(24)
    return struct.pack("<HHHH", 0x50 + len(payload), 0xC013, 0, 0) + body + payload
if what == "early":
    # Two waits for a lock: who ended one of them is not told, the other one was ended before it began.
    LONG = 5_000_000
    t, r = 1100, [thread(0, 50, 100), thread(1, 50, 200), method(2, 50, "System.Threading.Monitor", "Enter"), switch(100, 100, 0, 0)]
    r += [switch(t, 0, 100, 5), switch(t + LONG, 100, 0, 0), stack(t + LONG, 50, 100, 0x1010, 0x1020)]
    t += LONG + LONG // 100
    r += [ready(t, 100, 50, 200), switch(t + 50, 0, 100, 5)]
    t += 50 + LONG
    r += [switch(t, 100, 0, 0), stack(t, 50, 100, 0x1010, 0x1020), switch(t + 1000, 0, 100, 5)]
else:
    # A thousand processes that take one processor from each other.
    count = 1000
    t, r = count + 10, [thread(i, 1000 + 4 * i, 100000 + 4 * i) for i in range(count)]
    for i in range(count):
        r += [switch(t, 100000 + 4 * i, 0, 0), switch(t + 5, 0, 100000 + 4 * i, 1)]
        t += 10
    t += 5_000_000
    for i in range(count):
        r += [switch(t, 100000 + 4 * i, 0, 0), switch(t + 50, 0, 100000 + 4 * i, 4)]
        t += 55
build(r)
PY
make() { py 'exec(open(__import__("sys").argv.pop(1)).read())' "$T/make.py" "$A" "$T/$1.etl" "$1" || fail "$1 was not made"; }
make early
run_status 0 openetw report "$T/early.etl"
says '^lock contention: thread 100 of process 50 waited .* for a lock in .*Monitor.Enter, 2 times$' "$T/out" "a wait that was over before it began"
make crowd
run_status 0 openetw report "$T/crowd.etl"
says '^nothing stands out' "$T/out" "everybody waits for everybody"
