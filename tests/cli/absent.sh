# SPDX-License-Identifier: MIT
# What is asked for and does not occur is said, with the name that comes nearest and a status of its own.
. "$(dirname "$0")/lib.sh"
cd "$T" || fail "cd"
record_hello a.etl 2

# absent STATUS PATTERN COMMAND…: that status, and on stderr that pattern
absent() {
	status=$1 pattern=$2
	shift 2
	run_status "$status" "$@"
	grep -q -e "$pattern" "$T/err" || fail "'$*': no '$pattern' in: $(cat "$T/err")"
}

# ---- selections of files
absent 1 "no event of a provider 'OpenETW.Sampel.Hello'; did you mean 'OpenETW.Sample.Hello'" openetw dump -p OpenETW.Sampel.Hello a.etl
absent 1 "no event of a provider 'Nothing.Near'; there is OpenETW.Sample.Hello" openetw dump -p Nothing.Near a.etl
absent 1 "no event that is called 'Ordr'; did you mean 'Order'" openetw dump -e Ordr a.etl
absent 1 "no event that is called '999'" openetw dump -e 999 a.etl
absent 1 "no event with a field 'Numbr'; did you mean 'Number'? (--filter, column 1)" openetw dump --filter 'Numbr == 3' a.etl
absent 1 "no property 'providr'; did you mean 'provider'? (--filter, column 1)" openetw dump --filter 'providr ~ x' a.etl
absent 1 "no event with a field 'nosuch'" openetw dump --fields nosuch a.etl
absent 0 "no event with a field 'nosuch'" openetw dump --fields nosuch,Number a.etl
absent 1 "no event of process 4000000000" openetw dump --pid 4000000000 a.etl
absent 1 "no event of thread 4000000000" openetw dump --tid 4000000000 a.etl
absent 1 "no event of a process 'nobody'" openetw dump --process nobody a.etl
absent 1 "no event fits .*" openetw dump --filter 'Number == 123456' a.etl
absent 1 "those that are there: from 20" openetw dump --from +1h a.etl
absent 0 "no event that is called 'Ordr'; did you mean 'Order'" openetw dump -e Order -e Ordr a.etl
absent 1 "no event that is shown has a field 'Line', others have" openetw dump -e Order --fields Line a.etl
absent 1 "did you mean 'Order'" openetw dump --json -q -e Ordr a.etl
absent 1 "did you mean 'Order'" openetw stats -e Ordr a.etl
absent 1 "did you mean 'Order'" openetw relog -e Ordr a.etl -o none.etl
absent 1 "there is nothing of process\|no CPU samples" openetw report --pid 4000000000 a.etl
absent 1 "there are no packets in a.etl" openetw pcapng a.etl
[ ! -e a.pcapng ] || fail "an empty capture file"
absent 0 "no event fits the query" openetw wevtutil qe a.etl /lf:true '/q:*[System[EventID=4711]]'
# what occurs is not talked about
for words in "-e Order" "--filter Number" "--fields Number" "-p OpenETW.Sample.Hello" "--to +1h"; do
	run_status 0 openetw dump -q $words a.etl
	[ ! -s err ] || fail "dump $words: $(cat err)"
done
run_status 0 openetw dump a.etl

# ---- sessions
openetw start web -r >/dev/null || fail "start"
for verb in query stop live flush; do absent 1 "did you mean 'web'" openetw $verb weeb; done
absent 1 "did you mean 'web'" openetw enable weeb X
absent 1 "no such trace session is running" openetw live nothing
grep -q WMI.data err && fail "live answers in WMI's words"
openetw stop web >/dev/null

# ---- events that come
rm -f err
openetw live -p OpenETW.Sample.Hello --filter 'Numbr == 3 and Number == 3 or provder == x' >live.out 2>live.err &
p=$!
wait_for 30 grep -qs watching live.err || fail "live does not begin"
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null
wait_for 30 has_events "openetw-live-$p" || fail "no events came"
sleep 1
kill -INT $p
wait $p
says "no event with a field 'Numbr' (--filter, column 1)" live.err "live"
grep -q "'Number'" live.err && fail "live says what it never looked for: $(cat live.err)"
says "no property 'provder'; did you mean 'provider'? (--filter, column 31) It is taken" live.err "at the beginning"

# ---- this machine
absent 2 "there is no operation 'FileReed'; did you mean 'FileRead'" openetw monitor --op FileReed -d 1s
absent 2 "there is no column 'pathh'; did you mean 'path'" openetw monitor --columns time,pathh -d 1s
absent 2 "column 1: no property 'proces'; did you mean 'process'" openetw monitor --filter 'proces == x' -d 1s
for verb in "record -o m.etl -d 100ms" "monitor -d 100ms" "top -n 1 -d 100ms"; do
	absent 1 "there is no process 4000000" openetw $verb --pid 4000000
done
absent 1 "there is no process 4000000" openetw record -o m.etl -d 100ms --heap 4000000
if [ -d /sys/class/net/lo ]; then
	absent 1 "there is no interface 'loo'; did you mean 'lo'" openetw record -o m.etl -d 100ms --packets loo
fi
[ ! -e m.etl ] || fail "something was recorded"
absent 2 "there is no source 'TotalCycels'\|no source" openetw record --pmc TotalCycels -d 100ms -o m.etl
absent 2 "is .* meant" openetw start k -o k.etl --kernel PROFIL
absent 1 "NOT_SUPPORTED" openetw start k -o k.etl --kernel REGISTRY
# the names that monitor knows are those of kernel_event.c
kevent=$(dirname "$0")/../../tools/tables/kernel_event.c
if [ -r "$kevent" ]; then
	sed -n 's/.*KOP_[A-Z_]*, "\([A-Za-z]*\)".*/&/p' "$kevent" | grep -o 'KOP_[A-Z_]*, "[A-Za-z]*"' | grep -o '"[A-Za-z]*"' |
		tr -d '"' | grep -v '^Thread' | sort -u >names
	[ "$(wc -l <names)" -gt 30 ] || fail "names in kernel_event.c: $(cat names)"
	while read -r name; do
		! openetw monitor --op "$name" --columns nothing 2>&1 | grep -q 'no operation' || fail "monitor does not know $name"
	done <names
fi

# ---- outputs and options
absent 1 "name one with -o FILE" openetw start nowhere -p X
run_status 0 openetw start z -o z.etl --compress
run_status 0 openetw stop z
run_status 0 openetw merge --compress a.etl -o ca.etl
run_status 0 openetw merge --compress=xpress a.etl -o cb.etl
run_status 0 openetw relog -c a.etl -o cc.etl
absent 2 "merge compresses with xpress" openetw merge a.etl --compress zstd -o cd.etl
exit 0
