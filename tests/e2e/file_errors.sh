# SPDX-License-Identifier: MIT
# Log files that cannot be had: a clear error, or a counted loss; the session survives.
. "$(dirname "$0")/lib.sh"
openetw start x -o "$T/no/such/dir/x.etl" 2>"$T/e" && fail "a missing directory was accepted"
grep -q PATH_NOT_FOUND "$T/e" || fail "$(cat "$T/e")"
openetw start x -o / 2>"$T/e" && fail "a directory was accepted"
openetw start x 2>"$T/e" && fail "no file and not real-time was accepted"
grep -q BAD_PATHNAME "$T/e" || fail "$(cat "$T/e")"
openetw start x -o "$T/x.etl" >/dev/null || fail "start"
openetw start y -o "$T/x.etl" 2>"$T/e" && fail "the log file of another session was accepted"
grep -q ERROR_ "$T/e" || fail "no reason: $(cat "$T/e")"
openetw stop x >/dev/null || fail "stop"
# more sessions than there may be: a clear refusal, and what runs goes on (a thousand commands: not where each takes a
# tenth of a second)
if [ "${ROUNDS:-50}" -ge 50 ]; then
	i=0
	while openetw start "many$i" -r >/dev/null 2>"$T/e"; do
		i=$((i + 1))
		[ $i -lt 2000 ] || fail "2000 sessions were accepted"
	done
	grep -q ERROR_NO_SYSTEM_RESOURCES "$T/e" || fail "after $i sessions: $(cat "$T/e")"
	expect "the sessions" "$(openetw list --json | wc -l)" "$i"
	n=$i
	while [ $i -gt 0 ]; do
		i=$((i - 1))
		openetw stop "many$i" >/dev/null || fail "stop of session $i of $n"
	done
	openetw start again -r >/dev/null || fail "no session can be started after $n were stopped"
	openetw stop again >/dev/null
fi
[ "$(id -u)" -eq 0 ] || skip "needs root to mount a small file system"
# as somebody else, who may not write there
if command -v setpriv >/dev/null && [ -r "$OPENETW_ETWD" ]; then
	mkdir "$T/ro" "$T/nobody"
	chmod 755 "$T" "$T/ro"
	chown 65534 "$T/nobody"
	as_nobody() {
		env OPENETW_RUNTIME_DIR="$T/nobody/run" setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	}
	if as_nobody sh -c 'command -v openetw' >/dev/null; then
		as_nobody openetw start ro -o "$T/ro/x.etl" >/dev/null 2>"$T/e" && fail "a read-only directory was accepted"
		grep -q ERROR_ACCESS_DENIED "$T/e" || fail "read-only directory: $(cat "$T/e")"
		# root's etwd is not theirs
		env OPENETW_RUNTIME_DIR="$T/run" setpriv --reuid 65534 --regid 65534 --clear-groups \
			openetw list >/dev/null 2>"$T/e" && fail "nobody may list the sessions of root"
		grep -q . "$T/e" || fail "no reason was given"
		kill "$(cat "$T/nobody/run/pid")"
	fi
fi
mkdir "$T/small"
mount -t tmpfs -o size=1m tmpfs "$T/small" 2>/dev/null || skip "cannot mount a tmpfs here"
openetw start full -o "$T/small/full.etl" -p Test.Full -b 64 >/dev/null || { umount "$T/small"; fail "start"; }
"$HELPERS/emit" Test.Full 40000 wait keywords=1 size=64 pace=0 >/dev/null
sleep 1
openetw query full --json >"$T/q" || { umount "$T/small"; fail "etwd did not survive a full disk"; }
timeout 60 openetw stop full >"$T/stop" || { umount "$T/small"; fail "stop: $(cat "$T/stop")"; }
v=$("$HELPERS/verify" "$T/small/full.etl")
umount "$T/small"
case $v in *bad=0\ duplicate=0*) ;; *) fail "$v" ;; esac
grep -q 'lost: 0 events' "$T/stop" && fail "the loss was not shown: $(cat "$T/stop")"
exit 0
