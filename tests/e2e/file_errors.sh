# SPDX-License-Identifier: MIT
# Log files that cannot be had: a clear error, or a counted loss; the session survives.
. "$(dirname "$0")/lib.sh"
openetw start x -o "$T/no/such/dir/x.etl" 2>"$T/e" && fail "a missing directory was accepted"
grep -q PATH_NOT_FOUND "$T/e" || fail "$(cat "$T/e")"
openetw start x -o / 2>"$T/e" && fail "a directory was accepted"
openetw start x 2>"$T/e" && fail "no file and not real-time was accepted"
grep -q BAD_PATHNAME "$T/e" || fail "$(cat "$T/e")"
[ "$(id -u)" -eq 0 ] || skip "needs root to mount a small file system"
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
