# SPDX-License-Identifier: MIT
# Disks that fail, are full or slow: etwd goes on, every event is in the file or counted, and the file is
# readable. When the disk recovers, so does the session.
. "$(dirname "$0")/lib.sh"
export FAILING_IO="$T/mode"
# with: an etwd of its own under the failing disk
preload() {
	pre=$HELPERS/failing_io.so
	LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$pre" openetw "$@"
}
for mode in eio enospc edquot short "slow 100"; do
	name=$(echo "$mode" | tr -d ' ')
	: >"$T/mode"
	preload start "$name" -o "$T/$name.etl" -p Test.Disk -b 16 --buffers 4:64 >/dev/null || fail "$mode: start"
	grep -q failing_io "/proc/$(etwd_pid)/maps" || fail "etwd runs without failing_io.so"
	"$HELPERS/emit" Test.Disk 1000 wait keywords=1 pace=0 >"$T/one"
	openetw flush "$name" || fail "$mode: flush"
	echo "$mode" >"$T/mode"
	"$HELPERS/emit" Test.Disk 20000 wait keywords=1 threads=4 size=300 pace=1 >"$T/two"
	openetw query "$name" --json >/dev/null || fail "$mode: etwd did not survive"
	[ "$mode" = "slow 100" ] || : >"$T/mode"
	"$HELPERS/emit" Test.Disk 1000 wait keywords=1 >"$T/three"
	openetw flush "$name" || fail "$mode: second flush"
	openetw query "$name" --json >"$T/q" || fail "$mode: query"
	timeout 100 openetw stop "$name" >"$T/stop" || fail "$mode: stop: $(cat "$T/stop")"
	echo "$mode: $(cat "$T/stop")"
	conserved 22000 "$T/$name.etl" "$T/q" "$T/stop" "$mode"
done
# failing until the very end: the stop is bounded, the loss is told
: >"$T/mode"
openetw start end -o "$T/end.etl" -p Test.Disk -b 16 --buffers 4:64 >/dev/null || fail "end: start"
echo eio >"$T/mode"
"$HELPERS/emit" Test.Disk 20000 wait keywords=1 >"$T/one"
timeout 60 openetw stop end >"$T/stop" 2>&1
code=$?
[ $code -lt 124 ] || fail "stop with a broken disk took more than 60 s"
grep -q 'lost: 0 events' "$T/stop" && fail "the loss was not told: $(cat "$T/stop")"
[ "$(openetw list --json | wc -l)" -eq 0 ] || fail "the session is still there"
exit 0
