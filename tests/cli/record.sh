# SPDX-License-Identifier: MIT
# record: CPU samples, context switches and processes of this machine, decoded by the classes of Windows.
. "$(dirname "$0")/lib.sh"

openetw record -d 50ms -o "$T/probe.etl" >"$T/out" 2>"$T/err" </dev/null ||
	skip "perf events are not for us here: $(head -1 "$T/err")"
sources=--cpu
has_switches && sources="--cpu --wait"

# a command with a child, a provider, and something to sample
run_status 7 openetw record $sources -o "$T/k.etl" -p OpenETW.Sample.Hello -- sh -c \
	"'$SAMPLES/hello-tracelogging' 3 1; i=0; while [ \$i -lt 200000 ]; do i=\$((i + 1)); done; exit 7"
says 'samples' "$T/err" "the summary"
expect "mode of a recording" "$(stat -c %a "$T/k.etl")" 600
run_status 0 openetw dump --format json --headers "$T/k.etl"
cp "$T/out" "$T/k.json"
json_lines "$T/k.json"
! grep -q 'not fully decoded' "$T/err" || fail "records that are not what their class says: $(cat "$T/err")"
for event in Process/DCStart Process/DCEnd Process/Start Process/End Thread/DCStart Thread/Start Image/DCStart \
	Image/Load PerfInfo/SampleProf StackWalk/Stack EventTrace/RDComplete \
	PerfInfo/SampledProfileIntervalCollectionStart; do
	grep -q "\"event\":\"$event\"" "$T/k.json" || fail "no $event"
done
case $sources in
*wait*)
	for event in Thread/CSwitch Thread/ReadyThread; do
		grep -q "\"event\":\"$event\"" "$T/k.json" || fail "no $event"
	done
	;;
esac
grep -q '"event":"Process/Start"' "$T/k.json" && grep -q '"ImageFileName":"hello-tracelogging"' "$T/k.json" || fail "no start of the child"
grep -q '"ImageFileName":"System"' "$T/k.json" || fail "no System process"
[ "$(grep -c '"provider":"OpenETW.Sample.Hello"' "$T/k.json")" -gt 10 ] || fail "no events of the application"
[ ! -e "$T/k.etl.user.etl" ] && [ ! -e "$T/k.etl.kernel.etl" ] || fail "parts were left behind"

# every sample has a stack, at the time and of the thread of the sample, beginning where it was taken
py '
import json, sys
stacks, samples, alone = {}, 0, 0
lines = [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]
for e in lines:
    if e["meta"]["event"] == "StackWalk/Stack":
        stacks.setdefault((e["ThreadId"], e["meta"]["time"]), []).append(e["Stack"])
for e in lines:
    if e["meta"]["event"] == "PerfInfo/SampleProf":
        samples += 1
        found = stacks.get((e["ThreadId"], e["meta"]["time"]), [])
        alone += not any(s and s[0] == e["InstructionPointer"] for s in found)
print(samples, "samples,", alone, "without their stack")
sys.exit(samples < 20 or alone * 20 > samples)' "$T/k.json" || fail "samples and stacks"

# only a process of ours
run_status 0 openetw record --cpu --pid $$ -d 30ms -o "$T/one.etl"
openetw dump -q --json -e PerfInfo/SampleProf "$T/one.etl" >"$T/one.json"
! grep -q '"ThreadId":0,' "$T/one.json" || fail "--pid recorded others"

# what stands behind the provider's name holds here, too
run_status 0 openetw record --cpu -o "$T/st.etl" -p OpenETW.Sample.Hello:::stack -- "$SAMPLES/hello-tracelogging" 1 1
run_status 0 openetw report --events --folded - "$T/st.etl"
says '^hello-traceloggi.*;OpenETW.Sample.Hello/' "$T/out" "stacks of the events of the application"

# a process that ends before all is ready is said, not recorded in vain
sleep 0.01 &
run_status 1 openetw record --cpu --pid $! -d 5s -o "$T/gone.etl"
says 'there is no process' "$T/err" "a process that has ended"

# one that ends while it is recorded ends the recording
sleep 1000 &
sleeper=$!
openetw record --cpu --pid $sleeper -o "$T/ended.etl" 2>"$T/err" &
recorder=$!
wait_for 60 grep -q "^recording" "$T/err" || fail "record does not begin: $(cat "$T/err")"
kill $sleeper
wait $recorder || fail "a process that ends: $(cat "$T/err")"
says "process $sleeper has ended" "$T/err" "a process that ends"

# without its command nothing is begun, and what was recorded before stays
cp "$T/ended.etl" "$T/before.etl"
run_status 127 openetw record -o "$T/ended.etl" -- no-such-program
says 'cannot run no-such-program' "$T/err" "a command that is not there"
cmp -s "$T/ended.etl" "$T/before.etl" && [ ! -e "$T/ended.etl.old" ] || fail "the earlier recording was moved away"

# mistakes
run_status 2 openetw record -i 10us -o "$T/x.etl"
run_status 1 openetw record -d 10ms -o /no/such/dir/x.etl
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
	mkdir -m 777 "$T/free"
	run_status 1 setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
		"$OPENETW_BUILD/tools/openetw" record -d 10ms -o "$T/free/x.etl"
	says 'CAP_PERFMON' "$T/err" "what to grant"
fi

# a ring: the file stays small, and what explains its events is at its end
run_status 0 openetw record --all --ring 16MB -d 200ms -o "$T/ring.etl"
[ "$(stat -c %s "$T/ring.etl")" -le 16777216 ] || fail "the ring has $(stat -c %s "$T/ring.etl") bytes"
run_status 0 openetw dump --format json "$T/ring.etl"
grep -q '"event":"Process/DCEnd"' "$T/out" || fail "no closing rundown in the ring"
run_status 2 openetw record --ring 1MB -d 1s -o "$T/ring.etl"
says 'ring' "$T/err" "a ring too small"

# the header has the processors' speed, whatever the clock of the session is; only cycles are converted with it
mhz=$(sed -n 's/^cpu MHz[^0-9]*//p' /proc/cpuinfo | awk 'NR == 1 {printf "%.0f", $1}')
if [ -n "$mhz" ] && [ ! -e /sys/devices/system/cpu/cpu0/cpufreq ]; then
	run_status 0 openetw run -p OpenETW.Sample.Hello -o "$T/user.etl" -- "$SAMPLES/hello-tracelogging" 1 1
	for f in k one user; do
		run_status 0 openetw info --json "$T/$f.etl"
		says "\"cpuMhz\":$mhz," "$T/out" "the processors' speed in $f.etl"
	done
fi
