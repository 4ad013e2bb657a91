# SPDX-License-Identifier: MIT
# What a program with known traffic did is in the file: each event, its process, bytes, addresses, ports.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"
f=$T/a.etl
record() {
	out=$1
	shift
	openetw record --net --no-stacks --only-command -o "$f" -- "$HELPERS/net_acts" "$@" >"$T/said" 2>"$T/err" ||
		fail "openetw record: $(cat "$T/err")"
	! grep 'not recorded' "$T/err" || skip "this kernel or build lacks it"
	grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
	openetw dump --quiet --json "$f" >"$T/$out" || fail "the file cannot be read"
}
cat >"$T/check.py" <<'END'
import json, sys
said = [json.loads(l) for l in open(sys.argv[1])]
pids = {s["pid"] for s in said}
seen = []
for line in open(sys.argv[2]):
    e = json.loads(line)
    name = e["meta"]["event"]
    if name.split("/")[0] not in ("TcpIp", "UdpIp"):
        continue
    if name == "TcpIp/Fail":
        seen.append((e["meta"]["pid"], name, e["Proto"], e["FailureCode"]))
        continue
    assert e["PID"] in pids, e
    assert e["seqnum"] == 0 and int(str(e["connid"]), 0) == 0, e
    destination = "%s %d" % (e["daddr"], e["dport"])
    source = "%s %d" % (e["saddr"], e["sport"])
    if name.startswith("UdpIp/Recv"):  # of the datagram, not of the socket
        destination, source = source, destination
    if "Connect" in name or "Accept" in name:
        if not name.startswith("TcpIp/Disconnect"):
            assert e["mss"] > 0 and e["rcvwin"] > 0, e
    seen.append((e["PID"], name, e["size"], source, destination))
done = [(s["pid"], s["event"], s["proto"], s["code"]) if "code" in s else
        (s["pid"], s["event"], s["size"], s["local"], s["remote"]) for s in said]
# Two processes: each one's own order is known.
unknown = []
for pid in pids:
    a = [d for d in done if d[0] == pid]
    b = [d for d in seen if d[0] == pid]
    for x, y in zip(a, b):
        if y[1].startswith("UdpIp/Recv") and y[4].endswith(" 0"):
            unknown.append(y)  # taken by another processor between its arrival and the word of it
            x, y = x[:3], y[:3]
        assert x == y, ("done", x, "recorded", y)
    assert len(a) == len(b), (len(a), len(b), a[len(b):], b[len(a):])
assert len(done) == len(seen)
assert len(unknown) <= 1, unknown
END
record traffic
python3 "$T/check.py" "$T/said" "$T/traffic" || fail "what was recorded is not what was done"
# As before Linux 6.3, where sockets do not say it.
OPENETW_TEST_WITHOUT=kbpf_net_send,kbpf_net_recv
export OPENETW_TEST_WITHOUT
record calls
python3 "$T/check.py" "$T/said" "$T/calls" || fail "what calls moved is not what was done"
unset OPENETW_TEST_WITHOUT
record lossy lossy
python3 - "$T/said" "$T/lossy" <<'END' || fail "what was sent again is not what was recorded"
import json, sys
s = json.loads(open(sys.argv[1]).readline())
count = {}
for line in open(sys.argv[2]):
    e = json.loads(line)
    name = e["meta"]["event"]
    if name in ("TcpIp/ReconnectIPV4", "TcpIp/RetransmitIPV4"):
        assert e["PID"] == s["pid"], e
        assert "%s %d" % (e["saddr"], e["sport"]) == s["local"], (e, s)
        assert "%s %d" % (e["daddr"], e["dport"]) == s["remote"], (e, s)
        assert e["size"] == (500 if "Retransmit" in name else 0), e
        count[name] = count.get(name, 0) + 1
assert count == {"TcpIp/ReconnectIPV4": s["reconnects"], "TcpIp/RetransmitIPV4": s["retransmits"]}, (count, s)
END
