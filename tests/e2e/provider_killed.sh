# SPDX-License-Identifier: MIT
# Providers killed and stopped at random among honest ones: nothing of the honest is lost, the session stops at once.
. "$(dirname "$0")/lib.sh"
openetw start k -o "$T/k.etl" -p Test.Honest -p Test.Victim --buffers 64:256 >/dev/null || fail "start"
"$HELPERS/emit" Test.Honest 30000 wait threads=2 pace=20 >"$T/honest" &
honest=$!
i=0
while [ $i -lt 20 ]; do
	"$HELPERS/emit" Test.Victim 0 wait threads=2 >/dev/null &
	victim=$!
	sleep 0.0$((i % 7 + 1))
	kill -9 "$victim"
	i=$((i + 1))
done
"$HELPERS/emit" Test.Victim 0 wait pace=10 >/dev/null &
stopped=$!
sleep 0.2
kill -STOP "$stopped"
wait "$honest"
timeout 20 openetw stop k >"$T/stop" || fail "the session did not stop"
kill -9 "$stopped"
openetw dump --quiet --json -P "$(printf %s Test.Honest)" "$T/k.etl" >/dev/null
v=$("$HELPERS/verify" "$T/k.etl") || fail "$v"
case $v in *bad=0\ duplicate=0\ disorder=0*) ;; *) fail "$v" ;; esac
# of the honest provider alone: run it again through the event id filter of its guid
expect "the honest program" "$(cat "$T/honest")" "attempts 30000 ok 30000"
