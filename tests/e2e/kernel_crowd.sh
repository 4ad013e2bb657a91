# SPDX-License-Identifier: MIT
# A user who maps thousands of files, has big maps of code, or puts a pipe where the recorder looks: it goes on,
# other sessions have what they want, and what was not kept is said.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "takes root, to be somebody else"
command -v setpriv >/dev/null || skip "there is no setpriv"
has_switches || skip "the kernel cannot be recorded here: $(cat "$T/switches")"
chmod 755 "$T"
mkdir -m 755 "$OPENETW_RUNTIME_DIR"
etwd --foreground --idle-exit=0 --system --runtime-dir "$OPENETW_RUNTIME_DIR" >"$T/log" 2>&1 &
etwd=$!
wait_for 30 test -S "$OPENETW_RUNTIME_DIR/control" || fail "etwd: $(cat "$T/log")"
as_user="setpriv --reuid 4242 --regid 4242 --clear-groups" # not a function: cleanup kills children
cp "$HELPERS/crowd" "$T/crowd"
$as_user "$T/crowd" >/dev/null 2>&1
[ $? -eq 2 ] || skip "others may not run what is in $T"
small=$T/crowd
mkdir "$T/links" "$T/copies" "$T/libc"
chown 4242 "$T/links" "$T/copies" "$T/libc"

openetw start one -o "$T/one.etl" --kernel PROC_THREAD+LOADER+PROFILE --stackwalk Profile >/dev/null || fail "start"
collector() { openetw list --daemon --json | sed -n 's/.*"kernel_collector":\([0-9]*\).*/\1/p'; }
collector=$(collector)
descriptors() { ls "/proc/$collector/fd" | wc -l; }
before=$(descriptors)

# ---- thousands of files ----------------------------------------------------------------------------
$as_user "$T/crowd" links "$T/links" 18000 "$small" >"$T/links.out" 2>&1 &
$as_user "$T/crowd" copies "$T/copies" 1500 "$small" >"$T/copies.out" 2>&1 &
wait_for 120 grep -q done "$T/links.out" || fail "links: $(cat "$T/links.out")"
wait_for 120 grep -q done "$T/copies.out" || fail "copies: $(cat "$T/copies.out")"
[ $(($(descriptors) - before)) -le 600 ] || fail "the collector holds $(descriptors) descriptors"
openetw start two -o "$T/two.etl" --kernel PROC_THREAD+LOADER+CSWITCH --stackwalk CSwitch >"$T/said" 2>&1 || fail "$(cat "$T/said")"
! grep -q 'not recorded' "$T/said" || fail "$(cat "$T/said")"
wait_for 30 has_events two || fail "no events"
cp "$(command -v sleep)" "$T/roots"
"$T/roots" 0.1
openetw stop two >"$T/said" || fail "$(cat "$T/said")"
openetw dump --quiet --stacks "$T/two.etl" >"$T/dump" || fail "dump"
grep -q 'Thread/CSwitch' "$T/dump" || fail "there are no switches"
openetw stop one >"$T/said" || fail "$(cat "$T/said")"
openetw stats "$T/one.etl" >"$T/stats"
grep -q '^not kept: [0-9]* mappings .* too many' "$T/stats" || fail "nothing says that something was not kept: $(head -8 "$T/stats")"
openetw report "$T/one.etl" >"$T/report" || fail "report"
grep -q '^not kept: ' "$T/report" || fail "report does not say it"
openetw report --json "$T/one.etl" >"$T/report" || fail "report --json"
grep -q '^{"table":"notKept","what":' "$T/report" || fail "report does not say it in JSON"
! grep -qv '^{"table":' "$T/report" || fail "a row of no table: $(grep -v '^{"table":' "$T/report" | head -2)"
# What root runs is known by its build, in spite of all that.
openetw dump --quiet --json -e Image/Load "$T/one.etl" | grep '/roots"' >"$T/roots.json"
grep -q '"TimeDateStamp":"\?0\?x\?[1-9a-f]' "$T/roots.json" || fail "root's own program is not known: $(cat "$T/roots.json")"

# ---- maps of code ------------------------------------------------------------------------------------
if [ "$(uname -m)" = x86_64 ]; then
	awk 'BEGIN { for (i = 0; i < 400000; i++) printf "%x 10 function_with_a_longer_name_%d\n", 1099511627776 + 16 * i, i
		printf "200000000 6 made_at_run_time\n" }' >"$T/names"
	bytes=$(wc -c <"$T/names")
	for owner in 4242 4243; do
		cp "$T/names" "$T/links/names$owner"
		chown "$owner" "$T/links/names$owner"
		chmod 644 "$T/links/names$owner"
		openetw start jit -o "$T/jit$owner.etl" --kernel PROC_THREAD+LOADER+PROFILE --stackwalk Profile >/dev/null || fail "start"
		collector=$(collector)
		mkfifo "$T/end$owner"
		# Links to a stranger's file take the rights of root in some systems: root makes them.
		$as_user --inh-caps +dac_override,+fowner --ambient-caps +dac_override,+fowner \
			"$T/crowd" jit 20 "$T/links/names$owner" <"$T/end$owner" >"$T/jit.out" 2>&1 &
		exec 9>"$T/end$owner"
		wait_for 60 grep -q done "$T/jit.out" || fail "jit: $(cat "$T/jit.out")"
		sleep 1
		was=$(sed -n 's/rchar: //p' "/proc/$collector/io")
		openetw start other -o "$T/other.etl" --kernel PROC_THREAD >/dev/null || fail "start"
		openetw stop jit >/dev/null || fail "stop"
		is=$(sed -n 's/rchar: //p' "/proc/$collector/io")
		openetw stop other >/dev/null
		exec 9>&-
		for pid in $(grep -v done "$T/jit.out"); do rm -f "/tmp/perf-$pid.map"; done
		# Twenty processes have it: it is read once. What else is read is programs of whoever works here, and the kernel's names.
		[ $((is - was)) -lt $((bytes * 10)) ] || fail "$((is - was)) bytes were read, of a map with $bytes"
		openetw dump --quiet --json "$T/jit$owner.etl" >"$T/dump" || fail "dump"
		if [ "$owner" = 4242 ]; then
			grep -q made_at_run_time "$T/dump" || fail "the user's own map is not believed: $(cat "$T/jit.out" | tail -3)"
		else
			! grep -q made_at_run_time "$T/dump" || fail "a stranger's map is believed"
		fi
	done
fi

# ---- a connection that takes long to close -----------------------------------------------------------
openetw start marks -o "$T/marks.etl" --kernel PROC_THREAD >/dev/null || fail "start"
$as_user "$T/crowd" linger "$(collector)" >"$T/linger.out" 2>&1 &
wait_for 30 grep -q done "$T/linger.out" || fail "linger: $(cat "$T/linger.out")"
openetw start others -o "$T/others.etl" --kernel PROC_THREAD >"$T/said" 2>&1 || fail "somebody's socket holds the collector up: $(cat "$T/said")"
# Where the kernel refuses such messages, marks are received as before.
if [ "$(uname -r | awk -F. '{ print ($1 * 100 + $2 >= 616) }')" -eq 1 ]; then
	openetw mark after >/dev/null || fail "no mark can be sent"
	wait_for 30 sh -c 'openetw dump --quiet "$1" | grep -q "Mark Message=after"' sh "$T/marks.etl" || fail "no marks are received any more"
fi
openetw stop others >/dev/null && openetw stop marks >/dev/null || fail "stop"

# ---- a pipe where the recorder looks -----------------------------------------------------------------
$as_user "$T/crowd" libc "$T/libc" "$small" >"$T/libc.out" 2>&1 &
wait_for 30 grep -q done "$T/libc.out" || fail "libc: $(cat "$T/libc.out")"
victim=$(pgrep -u 4242 -f "crowd libc $T/libc" | head -1)
openetw record --heap "$victim" -d 200ms -o "$T/heap.etl" >"$T/said" 2>&1 </dev/null &
heap=$!
ended() { ! kill -0 "$heap"; }
wait_for 60 ended || fail "record --heap waits for the pipe"
