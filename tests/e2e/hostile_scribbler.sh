# SPDX-License-Identifier: MIT
# Providers that attack all the memory they can reach, among honest ones: what must be refused is refused,
# nothing of the honest ones is lost, doubled or changed, and the session stops at once. (In the session
# that the attackers flood, everybody may find no free buffer; so the honest have one of their own, too.)
. "$(dirname "$0")/lib.sh"
openetw start s -o "$T/s.etl" -p Test.Honest -p Test.Evil --buffers 64:512 >/dev/null || fail "start"
openetw start h -o "$T/h.etl" -p Test.Honest --buffers 64:512 >/dev/null || fail "start"
"$HELPERS/emit" Test.Honest 20000 wait threads=2 pace=100 >"$T/honest" &
honest=$!
i=0
while [ $i -lt 6 ]; do
	i=$((i + 1))
	"$HELPERS/scribbler" Test.Evil 0.8 $((i * 7919 + $(date +%N | sed 's/^0*//'))) >"$T/evil$i" 2>&1 &
	[ $((i % 2)) -eq 0 ] && wait $!
done
wait "$honest" || fail "the honest program failed"
honest_lines "$T/honest" 20000
t=$(date +%s)
timeout 20 openetw stop s >"$T/stop" || fail "the session did not stop"
[ $(($(date +%s) - t)) -le 10 ] || fail "the session took $(($(date +%s) - t)) s to stop"
cat "$T"/evil* >"$T/evil"
grep BREACH "$T/evil" && fail "an attack succeeded"
grep -q ' areas' "$T/evil" || fail "no scribbler came to its work: $(cat "$T/evil")"
openetw stop h >>"$T/stop" || fail "the honest session did not stop"
verify_exactly 20000 "$T/h.etl" Test.Honest
v=$("$HELPERS/verify" "$T/s.etl" provider=Test.Honest) || fail "Test.Honest among the attackers: $v"
case $v in
*" bad=0 duplicate=0 disorder=0 "*) ;;
*) fail "Test.Honest among the attackers: $v; $(cat "$T/stop")" ;;
esac
