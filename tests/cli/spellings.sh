# SPDX-License-Identifier: MIT
# What people paste from Windows does what it can, or says the command that does.
. "$(dirname "$0")/lib.sh"
cd "$T" || fail "cd"
export LD_LIBRARY_PATH="$OPENETW_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
O=$OPENETW_BUILD/tools/openetw
MANIFEST=$(dirname "$0")/../../samples/manifest-style.man
record_hello a.etl 2
# instead PATTERN COMMAND…: it fails, and says that
instead() {
	pattern=$1
	shift
	run_status 1 "$@"
	grep -q -- "$pattern" "$T/err" || fail "'$*': no '$pattern' in: $(cat "$T/err")"
}

# ---- names with .exe, in any case
run_status 0 openetw wpr.exe -status
run_status 0 openetw TraceFmt.EXE a.etl -o exe.txt
[ -s exe.txt ] || fail "tracefmt.exe wrote nothing"
run_status 2 openetw dump.exe a.etl
for name in wpr.exe WPR.exe; do
	ln -s "$O" "$name"
	"./$name" -status >out 2>err || fail "$name: $(cat err)"
done
for name in mc.exe rc.exe; do
	ln -s "$O" "$name"
	"./$name" --help >out 2>err || fail "$name --help: $(cat err)"
	says "^Usage: openetw ${name%.exe}" out "$name"
done

# ---- tracelog -ft, tracefmt -max
run_status 0 openetw tracelog -start s -f s.etl -ft 100ms -guid '*OpenETW.Sample.Hello'
run_status 0 openetw tracelog -q s
says '100.*ms' out "tracelog -ft 100ms"
run_status 0 openetw tracelog -stop s
run_status 2 openetw tracelog -start s -f s.etl -ft 100xs -guid '*X'
run_status 0 openetw tracefmt a.etl -max 3 -o three.txt
expect "tracefmt -max 3" "$(grep -c 'OpenETW\|Hello' three.txt)" 3
says '^3 events' err "tracefmt -max"
run_status 2 openetw tracefmt a.etl -max none -o three.txt

# ---- etl2pcapng, pktmon
CAPTURE=$CORPUS/demikernel/PktMon.etl
if [ -r "$CAPTURE" ]; then
	run_status 0 openetw pcapng "$CAPTURE" -o want.pcapng
	run_status 0 openetw etl2pcapng "$CAPTURE" one.pcapng
	run_status 0 openetw pktmon etl2pcap "$CAPTURE" --out two.pcapng
	cp "$CAPTURE" three.etl
	run_status 0 openetw pktmon etl2pcap three.etl
	says "^pktmon is here: openetw pcapng three.etl -o three.pcapng" err "the line that did it"
	for f in one two three; do cmp want.pcapng $f.pcapng || fail "$f.pcapng"; done
	run_status 0 openetw pktmon etl2txt three.etl -o four.txt
	[ -s four.txt ] || fail "pktmon etl2txt wrote nothing"
fi
instead 'openetw record --packets -o PktMon.etl' openetw pktmon start --capture
instead 'openetw record --packets -o x.etl' openetw pktmon start -c --pkt-size 0 -f x.etl
instead 'openetw record --packets' openetw pktmon start --etw -p 0 -c 13
instead 'ip -s link' openetw pktmon counters
instead '.' openetw pktmon filter add -p 80
run_status 2 openetw pktmon nothing
run_status 0 openetw pktmon start --trace -p OpenETW.Sample.Hello -k 0x1 -l 4 -f pm.etl
"$SAMPLES/hello-tracelogging" 1 1 >/dev/null
run_status 0 openetw pktmon status
says OpenETW.Sample.Hello out "pktmon status"
run_status 0 openetw pktmon stop
[ -s pm.etl ] || fail "pktmon start --trace wrote nothing"

# ---- netsh trace
instead 'openetw record --packets -o .*x.etl' openetw netsh trace start capture=yes 'tracefile=c:\temp\x.etl'
instead "Windows' own" openetw netsh trace start scenario=InternetClient
instead 'autologger' openetw netsh trace start persistent=yes provider=X
run_status 2 openetw netsh interface show
run_status 0 openetw netsh trace start provider=OpenETW.Sample.Hello level=5 'traceFile=nt.etl' maxsize=10 overwrite=yes report=no
run_status 0 openetw netsh trace show status
says OpenETW.Sample.Hello out "netsh trace show status"
wait_for 30 sh -c '"$0" 1 1 >/dev/null; ! openetw query NetTrace --json | grep -q "\"events\":0,"' "$SAMPLES/hello-tracelogging" ||
	fail "netsh trace records nothing"
run_status 0 openetw netsh trace stop
run_status 0 openetw dump -q -e Order nt.etl
for dump in TXT CSV XML; do
	run_status 0 openetw netsh trace convert input=nt.etl dump=$dump
	[ -s "nt.$(echo $dump | tr A-Z a-z)" ] || fail "convert dump=$dump wrote nothing"
	instead 'overwrite=yes' openetw netsh trace convert nt.etl dump=$dump
	run_status 0 openetw netsh trace convert nt.etl dump=$dump overwrite=yes
done
run_status 0 openetw netsh trace merge a.etl nt.etl both.etl
[ -s both.etl ] || fail "netsh trace merge"
instead 'openetw relog' openetw netsh trace correlate a.etl

# ---- xperf FILE, logman create counter
instead 'openetw report' openetw xperf a.etl
run_status 2 openetw logman create counter X -c '\Memory\*'
says 'openetw record --meminfo' err "logman create counter"

# ---- tracerpt -export: with the manifest alone all decodes as before
(cd "$OPENETW_BUILD" && openetw run -p OpenETW.Sample.Manifest -o "$T/m.etl" -- "$SAMPLES/manifest-style" >/dev/null 2>&1) || fail "run"
run_status 0 openetw dump --json m.etl --manifest "$MANIFEST"
mv out want
says '"File":"report.txt"' want "the manifest sample"
run_status 0 openetw tracerpt m.etl -import "$MANIFEST" -export m.man
run_status 0 openetw dump --json m.etl --manifest m.man
cmp want out || fail "decoded with the exported manifest: $(diff want out | head -5)"
mkdir mc
run_status 0 openetw mc -h mc -r mc m.man
run_status 0 openetw tracerpt a.etl -export
[ -s schema.man ] || fail "no schema.man"
says 'TraceLogging' err "what is not in a manifest"
run_status 1 openetw tracerpt a.etl -export # which is there
if [ -r "$CORPUS/krabsetw/powershell.etl" ]; then
	for f in krabsetw/powershell perfview/gcevents demikernel/PktMon tx/Process; do
		run_status 0 openetw tracerpt "$CORPUS/$f.etl" -export c.man -y
		run_status 0 openetw mc -h mc -r mc c.man
		run_status 0 openetw dump -q --json "$CORPUS/$f.etl"
		mv out want
		run_status 0 openetw dump -q --json --manifest c.man "$CORPUS/$f.etl"
		cmp want out || fail "$f with its exported manifest: $(diff want out | head -5)"
	done
fi
exit 0
