# SPDX-License-Identifier: MIT
# Counters with events and samples by counters, as the tools ask for them. With counters that Linux keeps, which
# are there on every machine; what the processor counts is asked for too, and left out by name where it is not.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "counting on all processors takes root, or CAP_BPF and CAP_PERFMON"
has_switches || skip "no context switches on this machine: $(cat "$T/switches")"
cd "$T" || exit 1
# Touches pages, in chunks, and goes away in between.
cat >work.py <<'END'
import mmap, time
for i in range(8):
    m = mmap.mmap(-1, 256 * 4096)
    for at in range(0, len(m), 4096):
        m[at] = 1
    m.close()
    time.sleep(0.001)
END
# The names that scripts look for, in the layout that they know.
openetw xperf -pmcsources >sources 2>/dev/null || fail "xperf -pmcsources"
grep -q '^Maximum selectable profile sources: [1-9]' sources || fail "no head: $(head -1 sources)"
grep -Eq '^258 PageFaults +[0-9]+ +1 +2147483647$' sources || fail "no source of faults: $(cat sources)"
hardware=InstructionRetired
grep -q "^ 26 $hardware " sources || missing=$hardware

openetw record --pmc PageFaults,ContextSwitches:CSwitch --pmc-sample PageFaults=64 --only-command -o rec.etl \
	-- python3 work.py 2>err || fail "openetw record: $(cat err)"
! grep -i 'not recorded: .*count' err || fail "not counted: $(cat err)"
openetw report --json rec.etl >report || fail "openetw report"
openetw dump --quiet --json rec.etl >json || fail "the file cannot be read"
python3 - <<'END' || fail "what was counted and sampled is not what happened"
import json
faults = samples = 0
for line in open("report"):
    o = json.loads(line)
    if o.get("table") == "counters" or "PageFaults" in o:
        if o.get("name", "").startswith("python3"):
            faults += o["PageFaults"]
names, tids = None, set()
for line in open("json"):
    e = json.loads(line)
    name = e["meta"]["event"]
    if name == "PerfInfo/PmcCtrConfig":
        names = e["CounterName"]
    elif name == "PerfInfo/PmcCounterProf":
        assert e["ProfileSource"] == 258, e
        samples += e["meta"]["process"].startswith("python3")
    elif name == "Thread/CSwitch" and "counters" in e["meta"]:
        assert list(e["meta"]["counters"]) == ["PageFaults", "ContextSwitches"], e
assert names == ["PageFaults", "ContextSwitches"], names
# 2,048 pages and what python needs itself, half of which may lie before its first switch.
assert faults >= 1024, faults
assert samples >= 16, samples
END
openetw report rec.etl | grep -q 'samples by counters' || fail "report does not tell of samples by counters"

# xperf leaves out what is not there, unless told to be strict; wpr the same by its profile.
run_xperf() { openetw xperf -on PROC_THREAD+LOADER+CSWITCH -Pmc "$1" CSwitch $2 -f x.etl >out 2>err; }
run_xperf "PageFaults,$hardware" "" || fail "xperf -Pmc: $(cat err)"
[ -z "${missing-}" ] || grep -q "without $hardware: this processor's counters" err || fail "no word about $hardware: $(cat err)"
openetw wpr -pmcsessions | grep -q '^[0-9]* NT Kernel Logger: PageFaults.* with CSwitch$' || fail "who counts is not told"
python3 work.py
openetw xperf -stop >/dev/null 2>&1 || fail "xperf -stop"
openetw dump --quiet --json x.etl >json
grep -q '"event":"Thread/CSwitch".*"counters":{"PageFaults":' json || fail "xperf's switches have no counters"
if [ -n "${missing-}" ]; then
	run_xperf "PageFaults,$hardware" strict && fail "strict, and yet started"
	grep -q "$hardware" err || fail "strict, without a word: $(cat err)"
	openetw tracelog -start -f t.etl -eflag 1 CSWITCH -Pmc "$hardware:CSwitch" >out 2>&1 && fail "tracelog counts what is not there"
	grep -q "$hardware" out || fail "tracelog, without a word: $(cat out)"
fi
# A plain number is the time between the timer's samples, of what is started with it.
openetw xperf -on PROC_THREAD+PROFILE -SetProfInt 20000 -f p.etl >out 2>&1 || fail "xperf -SetProfInt N -on: $(cat out)"
openetw xperf -profint >out 2>&1
openetw xperf -stop >/dev/null 2>&1 || fail "xperf -stop, of samples"
grep -q '^Current Profile Interval : 20000 ' out || fail "-SetProfInt N -on sets nothing: $(cat out)"
expect "sessions left over" "$(openetw list | grep -c 'Kernel Logger')" 0
profile=$(dirname "$0")/../profile/31-counters-with-events.wprp
case $profile in /*) ;; *) profile=$OLDPWD/$profile ;; esac
openetw wpr -start "$profile!A" -filemode >out 2>&1 || fail "wpr -start: $(cat out)"
python3 work.py
openetw wpr -stop wpr.etl >out 2>&1 || fail "wpr -stop: $(cat out)"
openetw dump --quiet --json wpr.etl >json
grep -q '"event":"Thread/CSwitch".*"counters":{"PageFaults":[0-9]*,"ContextSwitches":' json || fail "wpr's switches have no counters"
grep -q '"event":"PerfInfo/SampledProfileIntervalCollectionStart".*' json || fail "no intervals"
grep '"SourceName":"PageFaults"' json | grep -q '"NewInterval":50' || fail "the profile's interval is not that of its samples"
