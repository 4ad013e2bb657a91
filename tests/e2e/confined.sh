# SPDX-License-Identifier: MIT
# What etwd, its collector and its helper may still do once they run: what they need, whatever user they are of.
. "$(dirname "$0")/lib.sh"

field() { sed -n "s/^$2:[^0-9a-f]*//p" "/proc/$1/status"; }
confined() { # confined PID NAME CAPABILITIES
	expect "new rights of $2" "$(field "$1" NoNewPrivs)" 1
	! grep -q 'system calls' "$T/log" || expect "system calls of $2" "$(field "$1" Seccomp)" 2
	expect "inheritable of $2" "$(field "$1" CapInh)" 0000000000000000
	expect "ambient of $2" "$(field "$1" CapAmb)" 0000000000000000
	if [ "$(id -u)" -eq 0 ]; then
		expect "capabilities of $2" "$(field "$1" CapEff)" "$3"
		expect "capabilities that $2 may have" "$(field "$1" CapPrm)" "$3"
		expect "capabilities that $2 may get" "$(field "$1" CapBnd)" "$3"
	else
		expect "capabilities of $2" "$(field "$1" CapPrm)" 0000000000000000
	fi
}

etwd --foreground --idle-exit=0 --runtime-dir "$OPENETW_RUNTIME_DIR" >"$T/log" 2>&1 &
etwd=$!
wait_for 30 test -S "$OPENETW_RUNTIME_DIR/control" || fail "etwd: $(cat "$T/log")"
wait_for 30 grep -q '^.*Confined: .*new rights' "$T/log" || fail "it does not say so: $(cat "$T/log")"
confined "$etwd" etwd 000000000008000f

# Its files go wherever root wants them, also where only somebody else may look.
if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 700 "$T/his"
	chown 4242 "$T/his"
	openetw start there -p OpenETW.Sample.Hello -o "$T/his/log.etl" >/dev/null || fail "no file in another user's directory"
	"$SAMPLES/hello-tracelogging" >/dev/null
	openetw stop there >/dev/null || fail "stop"
	[ "$(count "$T/his/log.etl" OpenETW.Sample.Hello)" -gt 0 ] || fail "nothing is in it"
	expect "whose it is" "$(stat -c %u "$T/his/log.etl")" 0
fi

# The collector comes by way of the starter, which has the rights for it.
if openetw record -d 20ms -o "$T/probe.etl" >/dev/null 2>&1 </dev/null; then
	openetw start k -o "$T/k.etl" --kernel PROC_THREAD >"$T/said" 2>&1 || skip "no kernel events: $(cat "$T/said")"
	collector=$(openetw list --daemon --json | sed -n 's/.*"kernel_collector":\([0-9]*\).*/\1/p')
	confined "$collector" collector 000000c400884004 # perf, BPF, others' files and maps, rings, priority
	openetw stop k >/dev/null || fail "stop"
fi

# The helper is given the file, open; it opens none.
openetw run -p OpenETW.Sample.Hello -o "$T/mine.etl" -- "$SAMPLES/hello-tracelogging" >/dev/null 2>&1 || fail "run"
openetw describe --descriptor 9 9<>"$T/mine.etl" >"$T/said" || fail "describe: $(cat "$T/said")"
grep -q 'descriptions added' "$T/said" || fail "$(cat "$T/said")"
! openetw describe --descriptor 77 >"$T/said" 2>&1 || fail "a descriptor that is not open is described"

# What takes more rights than the collector keeps was done before: the tracing file system is mounted.
cat >"$T/bare.sh" <<'END'
mount --make-rprivate / && umount /sys/kernel/tracing && [ ! -e /sys/kernel/tracing/README ] || exit 77
etwd --foreground --idle-exit=0 --runtime-dir "$OPENETW_RUNTIME_DIR" >"$T/bare.log" 2>&1 &
while [ ! -S "$OPENETW_RUNTIME_DIR/control" ] && kill -0 $!; do sleep 0.05; done
openetw start m -o "$T/m.etl" --kernel PROC_THREAD+CSWITCH --stackwalk CSwitch && [ -e /sys/kernel/tracing/README ]
code=$?
kill $!
wait
exit "$code"
END
if [ "$(id -u)" -eq 0 ] && [ -s "$T/k.etl" ] && command -v unshare >/dev/null; then
	T=$T OPENETW_RUNTIME_DIR=$T/bare timeout 60 unshare -m sh "$T/bare.sh" >"$T/said" 2>&1
	code=$?
	[ "$code" -eq 0 ] || [ "$code" -eq 77 ] || fail "the tracing file system is not mounted: $(cat "$T/said" "$T/bare.log")"
fi
