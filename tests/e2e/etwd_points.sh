# SPDX-License-Identifier: MIT
# etwd killed at every named point of its drain: the program goes on, the file is readable, nothing stands
# in it twice or changed, and the next etwd gets the provider back.
. "$(dirname "$0")/lib.sh"
points=$(cd "$(dirname "$0")/../../src/pool" && sed -n 's/.*POOL_TESTPOINT("\(drain-[a-z-]*\)").*/\1/p' *.c *.h | sort -u)
[ "$(echo "$points" | wc -l)" -ge 3 ] || fail "test points are missing: $points"
grep -q "$(echo "$points" | head -1)" "$OPENETW_ETWD" || skip "this build has no test points"
"$HELPERS/emit" Test.Points 0 threads=2 pace=20 size=200 book="$T/book" >/dev/null &
program=$!
tried=0 died=0
for point in $points; do
	for after in 0 7; do
		tried=$((tried + 1))
		f=$T/$point.$after.etl
		OPENETW_TESTPOINT=$point:$after OPENETW_TESTPOINT_PROGRAM=etwd \
			openetw start k -o "$f" -p Test.Points -b 16 -f 1 >/dev/null 2>&1
		p=$(etwd_pid)
		gone() { [ -z "$(ls "/proc/$p/fd" 2>/dev/null)" ]; }
		wait_for 60 gone && died=$((died + 1))
		gone || fail "$point was not reached"
		if [ -f "$f" ]; then # it may have died before the answer
			v=$("$HELPERS/verify" "$f") || fail "$point: the file is damaged: $v"
		fi
		kill -0 "$program" || fail "$point: the program died with etwd"
		before=$(od -An -tu8 -N8 "$T/book")
		moved() { [ "$(od -An -tu8 -N8 "$T/book")" -gt "$before" ]; }
		wait_for 60 moved || fail "$point: the program is blocked"
	done
done
openetw start last -o "$T/last.etl" -p Test.Points >/dev/null || fail "start after the kills"
wait_for 60 has_events last || fail "the provider did not come back"
openetw stop last >/dev/null || fail "stop"
v=$("$HELPERS/verify" "$T/last.etl") || fail "$v"
case $v in events=0*) fail "the provider did not come back: $v" ;; esac
