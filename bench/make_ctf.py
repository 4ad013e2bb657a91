#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_ctf.py DIRECTORY EVENTS: a CTF 1.8 trace of so many events of u32 + u64 + 16 bytes with cpu, pid and tid,
on 8 streams, as read_bench makes them in .etl: for babeltrace2 to read."""
import os
import struct
import sys

where, events = sys.argv[1], int(sys.argv[2])
os.makedirs(where, exist_ok=True)
open(where + "/metadata", "w").write("""/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
	major = 1; minor = 8; byte_order = le;
	packet.header := struct { uint32_t magic; uint32_t stream_id; };
};
clock { name = monotonic; freq = 1000000000; offset = 1355526400000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clock_t;
stream {
	id = 0;
	packet.context := struct {
		clock_t timestamp_begin; clock_t timestamp_end; uint64_t content_size; uint64_t packet_size;
		uint32_t cpu_id;
	};
	event.header := struct { uint32_t id; clock_t timestamp; };
	event.context := struct { uint32_t pid; uint32_t tid; };
};
event {
	name = "Bench_Reader:Event"; id = 1; stream_id = 0;
	fields := struct { uint32_t a; uint64_t b; uint8_t c[16]; };
};
""")
per_packet, body = 400, struct.Struct("<IQIIIQ16s")
streams = [open("%s/stream_%d" % (where, i), "wb") for i in range(8)]
n = packet = 0
while n < events:
    cpu, out = packet % 8, []
    base = 1000 + packet // 8 * 1000000 + cpu
    count = min(per_packet, events - n)
    for i in range(count):
        out.append(body.pack(1, base + i * 1000, 50, 100 + i % 8, i, i, bytes([i & 255]) * 16))
    data = b"".join(out)
    size = (8 + 36 + len(data)) * 8
    streams[cpu].write(struct.pack("<IIQQQQI", 0xC1FC1FC1, 0, base, base + count * 1000, size, size, cpu) + data)
    n += count
    packet += 1
