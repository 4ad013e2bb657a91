# SPDX-License-Identifier: MIT
# What a ring still has of processes that ended, it also says whose it was: of those whose end was overwritten, and of
# those that ended while the recording was being closed.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"

# First as much as fills the ring, however slow the machine is (FILE is as long as the ring then; a ring in memory needs
# no more than what comes next). Then it goes round, beside programs that come and go, and some that end in the second
# after the command.
cat >"$T/acts.sh" <<'END'
load() { timeout "$1" dd if=/dev/zero of=/dev/null bs=1 count=1000000000 status=none; }
deadline=$(($(date +%s) + 60))
while [ -n "$2" ] && [ "$(stat -c %s "$2")" -lt $((16 << 20)) ] && [ "$(date +%s)" -lt $deadline ]; do
	load 0.5
done
for tenths in 5 10 15 20 22 24 26 28 31 32 33 34 35 36; do
	timeout $((tenths / 10)).$((tenths % 10)) "$1" burn 60 >/dev/null 2>&1 &
done
# What has much memory runs on for long after Linux told its end.
timeout 3 sh -c 'while :; do dd if=/dev/zero of=/dev/null bs=128M count=1 status=none; done' &
load 3
exit 0
END
known() { # known FILE WHAT
	openetw report --json --top 10000 --folded "$T/folded" "$1" >"$T/report" || fail "$2: report"
	grep -q '"name":"stack_acts_nofp (' "$T/report" || fail "$2: the programs are not in it"
	! grep '"name":"? (' "$T/report" || fail "$2: samples of nobody"
	# Of what falls into the very moment in which perf writes down an exec or an end, the time is that of the new program.
	! grep '^stack_acts_nofp .*?!?' "$T/folded" | grep -v ';kernel!perf_event_\(comm\|task\|exit_task\);' ||
		fail "$2: code of nobody"
}
# Names of processes may be among what a machine that is too busy loses.
for try in 1 2 3 4; do
	openetw record --cpu --syscalls --ring 16MB -o "$T/ring.etl" -- \
		sh "$T/acts.sh" "$HELPERS/stack_acts_nofp" "$T/ring.etl" >"$T/out" 2>"$T/err" ||
		fail "record: $(cat "$T/err")"
	if grep 'not recorded' "$T/err"; then skip "this kernel or build lacks it"; fi
	! grep -q '^lost: 0 in full' "$T/err" || break
	[ $try -lt 4 ] || skip "this machine is too busy: $(cat "$T/err")"
done
openetw stats "$T/ring.etl" >"$T/stats"
grep -q 'overwritten, as the mode wants' "$T/stats" || fail "the ring was not filled: $(cat "$T/stats")"
known "$T/ring.etl" "record --ring"
# Of what came late nobody knows for certain whether it is gone.
twice=$(openetw dump -q --json -e Thread/End "$T/ring.etl" | sort | uniq -d | wc -l)
[ "$twice" -lt 10 ] || fail "$twice ends are told twice"

# The same of a session of etwd's, in a file and in memory.
for mode in circular buffering; do
	if [ $mode = circular ]; then
		set -- --max-size 16MB -o "$T/$mode.etl"
	else
		set -- --buffers 16:16 --buffer-size 256
	fi
	for try in 1 2 3 4; do
		openetw start ring --kernel PROC_THREAD+LOADER+PROFILE+SYSCALL --stackwalk Profile --mode $mode "$@" >"$T/out" 2>&1 ||
			fail "$mode: $(cat "$T/out")"
		file=
		[ $mode = buffering ] || file=$T/$mode.etl
		sh "$T/acts.sh" "$HELPERS/stack_acts_nofp" "$file"
		[ $mode = circular ] || openetw flush ring -o "$T/$mode.etl" >"$T/out" 2>&1 || fail "flush: $(cat "$T/out")"
		openetw stop ring >"$T/out" 2>&1 || fail "stop: $(cat "$T/out")"
		! grep -q '^lost: 0 events' "$T/out" || break
		[ $try -lt 4 ] || skip "this machine is too busy: $(cat "$T/out")"
	done
	known "$T/$mode.etl" "$mode"
done
