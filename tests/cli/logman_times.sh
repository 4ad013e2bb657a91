# SPDX-License-Identifier: MIT
# logman -b, -r, -rf, -rc: etwd starts a saved collector when it is due, ends it, and runs its command.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
P=OpenETW.Sample.Hello
C=$XDG_CONFIG_HOME/openetw/collectors
logman() { run_status 0 openetw logman "$@"; }
at() { date -d "@$(($(date +%s) + $1))" '+%Y-%m-%d %H:%M:%S'; }

for ahead in 2 5 20 60; do # a busy machine may take longer than that to read it
	# shellcheck disable=SC2046
	! openetw logman create trace "soon one" -p $P -b $(at $ahead) -rf 1 -o soon.etl \
		-rc "echo \"\$OPENETW_COLLECTOR \$OPENETW_LOG_FILE\" >'$T/ran'" >out 2>err || break
	says 'is over already' err "create"
done
says 'openetw-user.service' out "what it takes"
[ -n "$(etwd_pid)" ] || fail "etwd was not started"
log=$OPENETW_RUNTIME_DIR/etwd.log
wait_for 90 grep -q 'Started session "soon one"' "$log" || fail "it did not start: $(cat "$C"/*)"
wait_for 30 test -s ran || fail "its command did not run"
expect "what the command was told" "$(cat ran)" "soon one $T/soon_000001.etl"
[ -f soon_000001.etl ] || fail "no file: $(ls)"
says 'is due' "$log" "the log"
expect "runs" "$(grep -c 'Started session "soon one"' "$log")" 1
# By hand it has the command, too; another session of the same command line has not.
rm ran
logman start "soon one"
logman stop "soon one"
wait_for 30 test -s ran || fail "the command after a run by hand"
[ -f soon_000002.etl ] || fail "no second file: $(ls)"
# Every day: the next time is tomorrow's, and is kept in the file.
# shellcheck disable=SC2046
logman create trace daily -p $P -b $(at -60) -e $(at 3600) -r -o daily.etl
says '^Daily = 1$' "$C/daily.conf" "-r"
logman update daily -m
! grep -q 'BeginTime\|EndTime\|Daily' "$C/daily.conf" || fail "-m left: $(cat "$C/daily.conf")"
logman delete daily
logman update "soon one" --rc
rm ran
logman start "soon one"
logman stop "soon one"
logman delete "soon one"
expect "a command taken back" "$(ls ran 2>/dev/null)" ""
