# SPDX-License-Identifier: MIT
# What waits for a consumer of a real-time autologger outlives etwd, killed or ended: the next etwd starts the session
# again and delivers everything once. Other sessions end with theirs.
. "$(dirname "$0")/lib.sh"
mkdir -p "$XDG_CONFIG_HOME/openetw/autologger.d"
cat >"$XDG_CONFIG_HOME/openetw/autologger.d/Web Shop.conf" <<END
Start = 1
LogFileMode = 0x100
BufferSize = 16
MaximumBuffers = 8

[Test.Kept]
EnableLevel = 5
END
events() { openetw query "Web Shop" --json | sed -n 's/.*"events":\([0-9]*\).*/\1/p'; }
has() { [ "$(events)" -ge "$1" ]; }
total=0
for how in -9 -15; do
	etwd --idle-exit 0 && wait_for 20 openetw query "Web Shop" || fail "the autologger does not run: $(openetw list)"
	"$HELPERS/emit" Test.Kept 6000 wait pace=2 size=100 keywords=1 >"$T/said" || fail "emit"
	honest_lines "$T/said" 6000
	wait_for 20 has 6000 || fail "etwd has $(events) events"
	total=$((total + 6000))
	p=$(etwd_pid)
	kill $how "$p"
	gone() { ! kill -0 "$p"; }
	wait_for 20 gone || fail "etwd does not end"
done
etwd && wait_for 20 openetw query "Web Shop" || fail "the autologger does not run again"
grep -q "Web Shop.*$total events of an earlier etwd wait for a consumer, 0 were lost" "$OPENETW_RUNTIME_DIR/etwd.log" ||
	fail "etwd does not say what it found"
openetw live "Web Shop" --json >"$T/live" 2>"$T/live.err" &
live=$!
all() { [ "$(grep -c '"id"' "$T/live")" -ge "$total" ]; }
wait_for 30 all || fail "delivered: $(wc -l <"$T/live")"
openetw stop "Web Shop" >"$T/stop" || fail "stop"
wait "$live" || fail "live: $(cat "$T/live.err")"
expect "events delivered" "$(grep -c '"id"' "$T/live")" "$total"
grep -q 'nothing was lost' "$T/live.err" || fail "$(cat "$T/live.err")"
[ -z "$(ls "$XDG_STATE_HOME/openetw/realtime")" ] || fail "the backlog outlived its session"
[ -z "$(ls "$OPENETW_RUNTIME_DIR" | grep EtwRT)" ] || fail "$(ls "$OPENETW_RUNTIME_DIR")"

# One that is removed takes along what waited.
"$HELPERS/emit" Test.Kept 100 pace=0 keywords=1 >/dev/null || fail "emit"
p=$(etwd_pid)
kill -9 "$p" && wait_for 20 gone || fail "etwd does not end"
etwd && wait_for 20 openetw query "Web Shop" || fail "the autologger does not run again"
p=$(etwd_pid)
kill -9 "$p" && wait_for 20 gone || fail "etwd does not end"
[ -n "$(ls "$OPENETW_RUNTIME_DIR" | grep EtwRT)" ] || fail "nothing is kept"
openetw autologger remove "Web Shop" >/dev/null || fail "remove"
[ -z "$(ls "$OPENETW_RUNTIME_DIR" | grep EtwRT)" ] || fail "$(ls "$OPENETW_RUNTIME_DIR")"
