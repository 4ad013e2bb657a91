# SPDX-License-Identifier: MIT
# Providers killed and stopped at every named point of a write, among honest ones: nothing of the honest
# ones is lost, doubled or changed; the session stops at once, with the stopped ones still there.
. "$(dirname "$0")/lib.sh"
openetw start p -o "$T/p.etl" -p Test.Honest -p Test.Victim:0x1 --buffers 64:512 >/dev/null || fail "start"
"$HELPERS/emit" Test.Honest 20000 wait threads=2 pace=100 >"$T/honest" &
honest=$!
points=$(cd "$(dirname "$0")/../../src/pool" && sed -n 's/.*POOL_TESTPOINT("\(writer-[a-z-]*\)").*/\1/p' *.c *.h | sort -u)
[ "$(echo "$points" | wc -l)" -ge 10 ] || fail "test points are missing: $points"
reached=0
for point in $points; do
	for sig in 9 19; do
		after=$(( $(od -An -N1 -tu1 /dev/urandom) % 30))
		set -- 300000
		# The bell rings once, when etwd is far behind: big events, faster than any daemon.
		[ "$point" = writer-before-bell ] && after=0 && set -- 30000 size=3000 threads=2
		OPENETW_TESTPOINT=$point:$after:$sig timeout -s KILL 60 \
			"$HELPERS/emit" Test.Victim "$@" wait keywords=1 >"$T/out.$point.$sig" 2>/dev/null &
		victim=$!
		if [ $sig -eq 9 ]; then
			# kill must have come from the point: the program prints when it comes to its end
			wait "$victim"
			[ $? -gt 128 ] && [ ! -s "$T/out.$point.9" ] && reached=$((reached + 1)) || echo "not reached: $point"
		fi
	done
done
[ "$reached" -gt 0 ] || skip "this build has no test points"
[ "$reached" -eq "$(echo "$points" | wc -l)" ] || fail "only $reached points were reached"
wait "$honest" || fail "the honest program failed"
honest_lines "$T/honest" 20000
t=$(date +%s)
timeout 30 openetw stop p >"$T/stop" || fail "the session did not stop"
[ $(($(date +%s) - t)) -le 10 ] || fail "the session took $(($(date +%s) - t)) s to stop"
verify_exactly 20000 "$T/p.etl" Test.Honest
v=$("$HELPERS/verify" "$T/p.etl" provider=Test.Victim) || fail "of the victims: $v"
