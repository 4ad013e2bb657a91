# SPDX-License-Identifier: MIT
# Packets of known traffic are in the trace, and in the capture file made of it.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "packets take root, or CAP_NET_RAW"
[ -d /sys/class/net/lo ] || skip "no /sys/class/net says what the interfaces are"
f=$T/a.etl
openetw record --packets lo --only-command -o "$f" -- "$HELPERS/net_acts" >"$T/said" 2>"$T/err" ||
	fail "openetw record: $(cat "$T/err")"
! grep 'not recorded' "$T/err" || skip "this kernel or build lacks it"
grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
openetw pcapng "$f" -o "$T/a.pcapng" 2>"$T/err" || fail "openetw pcapng: $(cat "$T/err")"
openetw dump --quiet --json "$f" >"$T/json" || fail "the file cannot be read"
python3 - "$T/said" "$T/json" "$T/a.pcapng" <<'END' || fail "the packets are not those that were sent"
import json, struct, sys
said = [json.loads(l) for l in open(sys.argv[1])]
data = open(sys.argv[3], "rb").read()
at, links, names, packets = 0, [], [], []
while at < len(data):
    kind, size = struct.unpack_from("<II", data, at)
    assert size % 4 == 0 and struct.unpack_from("<I", data, at + size - 4)[0] == size, (at, kind, size)
    body = data[at + 8:at + size - 4]
    if at == 0:
        assert kind == 0x0A0D0D0A and struct.unpack_from("<IHH", body) == (0x1A2B3C4D, 1, 0)
    elif kind == 1:
        links.append(struct.unpack_from("<H", body)[0])
        code, n = struct.unpack_from("<HH", body, 8)
        names.append(body[12:12 + n].decode())
    elif kind == 6:
        which, high, low, kept, long = struct.unpack_from("<IIIII", body)
        packets.append((which, high << 32 | low, body[20:20 + kept], long))
    at += size
assert links == [1] and names == ["lo"], (links, names)
assert all(len(p[2]) == p[3] for p in packets), "cut"
assert [p[1] for p in packets] == sorted(p[1] for p in packets), "not in order"
# the same packets as events
events = []
for line in open(sys.argv[2]):
    e = json.loads(line)
    if e["meta"]["provider"] == "Microsoft-Windows-NDIS-PacketCapture":
        assert e["meta"]["event"] == "PacketFragment" and e["meta"]["id"] == 1001, e
        assert e["MiniportIfIndex"] == e["LowerIfIndex"], e
        events.append(e)
assert sum(e["FragmentSize"] for e in events) == sum(len(p[2]) for p in packets)
# bytes of each direction of each connection, and each datagram
ends = [s["local"].split() for s in said if "local" in s] + [s["remote"].split() for s in said if "remote" in s]
ports = {int(p) for _, p in ends}
tcp, udp = {}, []
for _, _, b, _ in packets:
    kind = b[12] << 8 | b[13]
    if kind == 0x0800:
        head, protocol = (b[14] & 15) * 4, b[23]
        total = b[16] << 8 | b[17]
    elif kind == 0x86DD:
        head, protocol = 40, b[20]
        total = 40 + (b[18] << 8 | b[19])
    else:
        continue
    t = 14 + head
    if protocol not in (6, 17):
        continue
    source, target = struct.unpack_from(">HH", b, t)
    if source not in ports or target not in ports:
        continue
    if protocol == 6:
        n = total - head - (b[t + 12] >> 4) * 4
        key = (kind, source, target)
        seq = struct.unpack_from(">I", b, t + 4)[0]
        if n:
            tcp.setdefault(key, set()).add((seq, n))
    else:
        udp.append((kind, source, target, total - head - 8))
want_tcp, want_udp = {}, []
for s in said:
    if "local" not in s:
        continue
    kind = 0x86DD if s["event"].endswith("V6") else 0x0800
    key = (kind, int(s["local"].split()[1]), int(s["remote"].split()[1]))
    if s["event"].startswith("TcpIp/Send"):
        want_tcp[key] = want_tcp.get(key, 0) + s["size"]
    elif s["event"].startswith("UdpIp/Send"):
        want_udp.append(key + (s["size"],))
got_tcp = {k: sum(n for _, n in v) for k, v in tcp.items()}
assert got_tcp == want_tcp, (got_tcp, want_tcp)
assert sorted(udp) == sorted(want_udp), (udp, want_udp)
END
openetw record --packets nowhere -d 10ms -o "$T/b.etl" 2>"$T/err"
grep -q "no interface 'nowhere'" "$T/err" || fail "no word about an interface that is not there: $(cat "$T/err")"
