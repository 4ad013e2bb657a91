# SPDX-License-Identifier: MIT
# Paths as people paste them from Windows: inputs are found, outputs go where it is said.
. "$(dirname "$0")/lib.sh"
cd "$T" || fail "cd"
record_hello in.etl 2
openetw relog in.etl -o 'traces\r.etl' 2>err && fail "there is no folder traces"
says 'traces.r.etl is traces/r.etl here' err "where it goes"
mkdir traces
openetw relog 'in.etl' -o 'traces\r.etl' 2>err || fail "relog: $(cat err)"
[ -s traces/r.etl ] || fail "no traces/r.etl"
openetw start win -o 'traces\s.etl' >out 2>err || fail "start: $(cat err)"
says 'traces/s.etl here' err "where the session writes"
says "writing $T/traces/s.etl" out "where the session writes"
openetw stop win >/dev/null
run_status 0 openetw dump 'traces\r.etl'
run_status 0 openetw stats 'traces\r.etl'
run_status 0 openetw info 'traces\r.etl'
run_status 0 openetw merge 'traces\r.etl' 'traces\s.etl' -o 'traces\m.etl'
run_status 0 openetw tracerpt 'traces\m.etl' -o 'traces\m.csv' -of CSV
[ -s traces/m.csv ] || fail "no traces/m.csv"
# every tool, by the name of a file that it makes
rm -rf traces/*
made() { # made FILE COMMAND…: the file is there, and where it went was said once
	made=$1
	shift
	run_status 0 "$@"
	[ -s "traces/$made" ] || fail "'$*' made no traces/$made: $(cat out err)"
	expect "where traces\\$made went ($*)" "$(grep -c "traces.$made is traces/$made here" err)" 1
	! grep -q 'to traces\\\|Etl: traces\\' out err || fail "'$*' names a file that is not there: $(cat out err)"
}
made u.etl openetw run -o 'traces\u.etl' -p OpenETW.Sample.Hello -- "$SAMPLES/hello-tracelogging" 1 1
made l.etl openetw logman start l -ets -o 'traces\l.etl' -p OpenETW.Sample.Hello
run_status 0 openetw logman stop l -ets
made t.etl openetw tracelog -start t -f 'traces\t.etl' -guid '*OpenETW.Sample.Hello'
run_status 0 openetw tracelog -stop t
made x.etl openetw xperf -start x -on OpenETW.Sample.Hello -f 'traces\x.etl'
made y.etl openetw xperf -stop x -d 'traces\y.etl'
made z.etl openetw xperf -merge 'traces\x.etl' 'traces\y.etl' 'traces\z.etl'
made d.txt openetw xperf -i 'traces\u.etl' -o 'traces\d.txt'
made f.txt openetw tracefmt 'traces\u.etl' -o 'traces\f.txt'
made p.xml openetw tracerpt 'traces\u.etl' -o 'traces\p.xml' -y
run_status 0 openetw wevtutil qe 'traces\u.etl' /lf:true /c:1
printf '71e4037d-56b7-5e7c-163b-9a48a5792f88;0xff;5\n' >traces/guids.txt
run_status 0 openetw tracelog -start t -rt -guid 'traces\guids.txt'
run_status 0 openetw tracelog -stop t
run_status 0 openetw dump "c:\\$(echo "${T#/}" | tr / '\\')\\traces\\u.etl"
cp in.etl 'odd\name.etl'
run_status 0 openetw dump 'odd\name.etl' # a name that is there is meant
exit 0
