# SPDX-License-Identifier: MIT
# xperf -a: every report of a trace whose contents are known (xperf_trace.c), to the microsecond; options, mistakes.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
"$HELPERS/cli/xperf_trace" truth.etl || fail "xperf_trace"
# act ACTION OPTIONS…: its report in ./out
act() { run_status 0 openetw xperf -i truth.etl -tle -tti -a "$@"; }
# row PATTERN: blanks do not count
row() {
	tr -s ' ' <out | sed 's/^ //' >squeezed
	grep -qF -- "$1" squeezed || fail "$2: no '$1' in: $(cat out)"
}

act cswitch -process
row 'beta.exe ( 200), 1000000, 5.00, 1' "cswitch -process"
row 'alpha.exe ( 100), 500000, 2.50, 1' "cswitch -process"
act cswitch -thread -exc_dpcisr
row 'alpha.exe ( 100), 101, 499990, 2.50, 1' "an ISR inside a DPC is taken off once"
act cswitch -util 1
row '1000000, 2000000, 100.00, 0.00' "cswitch -util"
row '2000000, 3000000, 50.00, 0.00' "cswitch -util"
act cswitch -avail 500ms -range 1s 3s
row '2000000, 2500000, 0.00, 100.00' "cswitch -avail"
expect "rows of -range" "$(grep -c '^ *[0-9]' out)" 4
act cswitch -process -range 1.25s 1750ms
row 'beta.exe ( 200), 250000, 25.00, 1' "a range cuts slices"

act profile -detail -symbols
row 'alpha.exe ( 100), 2000, 0.01, alpha.exe!0x400100' "profile -detail"
act profile -util
row '1000000, 2000000, 0.30, 0.00' "profile -util"
act readythread -counts
row 'alpha.exe ( 100), beta.exe ( 200), 1, 0' "readythread"
row 'beta.exe ( 200), alpha.exe ( 100), 1, 1' "readythread in a DPC"
act readythread -list
row 'ReadyThread, 2000000, beta.exe ( 200), 201, alpha.exe ( 100), 101, 0, 0, TRUE' "readythread -list"

act cpudisk
row 'Interval from 900000 us to 2000001 us (one - two, three):' "cpudisk between marks"
row 'beta.exe ( 200), 500001, 22.73, 1, 4096, 1, 8192, 650' "cpudisk"
act cpudisk -marks -exes alpha
row 'Interval from 0 us to 10000000 us (start - end):' "cpudisk without marks"
! grep -q beta out || fail "-exes alpha shows beta"
act cpudisk -times 1s 2s 3s -pids 200
expect "two intervals" "$(grep -c '^Interval from' out)" 2

# the layout that public parsers read, byte for byte
act dpcisr
cat >want <<'END'
--------------------------
DPC Info

--------------------------
CPU Usage Summing By Module For the Whole Trace

CPU Usage from 0 us to 10000000 us:

     CPU 0 Usage,      CPU 1 Usage,
     usec      %,      usec      %, Module
       10   0.00,       100   0.00, disk.sys

Total = 2
Elapsed Time, >        8 usecs AND <=       16 usecs,      1, or  50.00%
Elapsed Time, >       64 usecs AND <=      128 usecs,      1, or  50.00%
Total,                                                     2

Total = 2 for module disk.sys
Elapsed Time, >        8 usecs AND <=       16 usecs,      1, or  50.00%
Elapsed Time, >       64 usecs AND <=      128 usecs,      1, or  50.00%
Total,                                                     2

All Module = 2,  Total = 2,   EQUAL

--------------------------
Usage From 0 ms to 10000 ms, Summing In 1 second intervals. Intervals=10

                       ,      CPU 0 Usage ,      CPU 1 Usage 
Start (ms) End (ms)    ,    (usec)      % ,    (usec)      % 
         0-1000      :,         0   0.00,         0   0.00
      1000-2000      :,        10   0.00,         0   0.00
END
head -n 31 out | cmp - want || fail "dpcisr: $(head -n 31 out | diff - want)"
says '^Interrupt Info$' out "dpcisr"
says '^Total = 1 for module ntos.exe$' out "dpcisr"
says '^Distribution of number of 2000 ms intervals w.r.t. DPC/ISR usage:$' out "dpcisr"
says '^>=  0 AND <=   1,        5,        5,        5,        5,        5,        5$' out "dpcisr"
act dpcisr -isr -summary
! grep -q 'DPC Info\|Distribution\|Summing In' out || fail "dpcisr -isr -summary says more"

act diskio -detail
# scripts take the eighth line for the heading
sed -n 8p out | tr -d ' ()/' | grep -q '^IOType,StartTime,EndTime,IOTime,DiskSrvT,IOSize,.*,QDI,.*,ProcessNamePID,Disk,Filename$' ||
	fail "the heading of diskio -detail: $(sed -n 8p out)"
row 'Write, 1600050, 1600400, 350, 100, 8192, 0x0000000000010000, 0x00000000, 1, 0, 1, 0, 0, beta.exe ( 200), 0, C:\dir\one.da' \
	"diskio -detail"
act diskio -summary -util -counts
row '2, 12288, 400, 1, 4096, 300, 1, 8192, 100, 650, 0, C:\dir\one.da' "diskio -summary"
row '1000000, 2000000, 0.03, 0.01, 0.04' "diskio -util"
act diskio -overlap
row '|+' "diskio -overlap"
act diskidlehistogram -buckets 1 5 -idletimeout 2
row 'Idle count , 0, 1, 1' "diskidlehistogram"
act fileio
row 'alpha.exe ( 100), Read, C:\dir\one.da, 1, 11, 50, 0' "what was read, not what was asked for"
act fileiodetail
row '1300000, 1300050, 50, 0, 11, 0x00000000, alpha.exe ( 100), Read, C:\dir\one.da' "fileiodetail"
act filename
row '2000, FileRundown, 0xffffa00000001000, C:\dir\one.da' "filename"
act hardfault -file -bytes
row 'C:\dir\one.da, beta.exe ( 200), 1, 4096, 500' "hardfault"
act pagefault
row 'alpha.exe ( 100), 3, 1, 2, 0, 0, 0, 0' "pagefault"
act process -withcmdline -thread -image
row '1000, 9000000, Process, 0x00000000000000c8, beta.exe ( 200), 100, 0, 0x00000000000000c8, beta.exe' "process"
row 'MIN, MAX, Thread, alpha.exe ( 100), 101, ' "process -thread"
row 'MIN, MAX, Image, alpha.exe ( 100), 0x0000000000400000, 0x0000000000410000, 0x00010000, C:\alpha.exe' "process -image"
act process -tree
says '^ *1000,    9000000,   beta.exe ( 200)$' out "process -tree"
act stack -butterfly 1 -process alpha
says "<tr><td><a href='#m'>alpha.exe</a>!<a href='#s'>0x400100</a></td><td>2</td><td>100.00%</td><td>2</td></tr>" out "stack"
says "<tr class='pf'><td>&lt;-- <a href='#m'>alpha.exe</a>!<a href='#s'>0x400300</a></td><td>1</td>" out "its callers"
! grep -q ntos out || fail "-process alpha shows others"
act stack -butterfly
! grep -q 0x400100 out || fail "two hits are fewer than ten"
act stack -export folded -event '^SampledProfile$'
says '^alpha.exe (100);alpha.exe!0x400200;alpha.exe!0x400100 1$' out "folded"
act tracestats
row 'Total # Events : 35' "tracestats"
row 'Total # Lost Events : 0' "tracestats"
row 'Duration : + 0:00:00:10.0000000' "tracestats"
act tracestats -detail stack -timezone utc
row '{3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c} 2 104 MSNT_SystemTrace' "tracestats -detail"
says '/2012/12/14:23:06:40.0000000+UTC$\| 2012/12/14:23:06:40.0000000+UTC$' out "times of tracestats"
act marks
row '2000001, 1100001, "two, three"' "marks"
act sysconfig -cpu
row 'ProcessorNum: 2' "sysconfig"
act boot
row '<process name="beta.exe" pid="200" parentPid="100" startTime="1000" endTime="9000000" cpuTime="1000000"' "boot"
act dumper -provider '{ce1dbfb4-137e-4da6-87b0-3f59aa102cbc}' -range 0 1.5s -add_rawdata
row 'RawData, 1100010, {ce1dbfb4-137e-4da6-87b0-3f59aa102cbc}, 0, 2, 0, 0, 68, 0, 0x0, 16, ' "dumper -add_rawdata"
! sed '1,/^EndHeader/d' out | grep -q 'CSwitch\|DiskRead' || fail "dumper -provider shows others"
act dumper -range 2012/12/14:23:06:41.5+UTC 2012/12/14:23:06:42+UTC
expect "a range of times of day" "$(sed '1,/^EndHeader/d' out | grep -c ', *1600400,')" 1

# several reports at once, each where it is to go
run_status 0 openetw xperf -i truth.etl -o both.txt -a marks -a process -ao process.txt -a cswitch -process
says 'two, three' both.txt "the first of three"
says 'beta.exe' process.txt "-ao"
! grep -q Process, both.txt || fail "-ao did not take it out of -o"
# what is not there, not known, not possible
act registry
says 'no such events' out "registry"
says "nothing on Linux writes them" err "registry"
act heap
says "openetw record --heap" err "heap"
run_status 1 openetw xperf -i truth.etl -a minifilter
says 'no filter drivers' err "refused by name"
run_status 2 openetw xperf -i truth.etl -a dpcsir
says 'is dpcisr meant' err "a mistyped action"
run_status 2 openetw xperf -i truth.etl -a cswitch -detail
run_status 2 openetw xperf -i truth.etl -a stack -symbol '['
says 'no regular expression' err "a regular expression"
run_status 2 openetw xperf -i truth.etl -a cswitch -util 0
run_status 2 openetw xperf -i truth.etl -a profile -util 1ns
says 'too many' err "a grid of ten thousand million intervals"
run_status 2 openetw xperf -i truth.etl -a stack -pid alpha.exe
says '-pid takes a number from 0 to 4294967295' err "a name for a process id"
run_status 2 openetw xperf -i truth.etl -a diskidlehistogram -buckets $(seq 65)
says '-buckets takes up to 64 times' err "more buckets than there are"
run_status 2 openetw xperf -i truth.etl -a cpudisk -times 1s
says '-times needs FROM TO' err "an interval without an end"
act stack -export csv -pid 100 200
cp out both.csv
act stack -export csv -pid 100 -pid 200
cmp -s both.csv out || fail "a list in two parts is another one"
run_status 1 openetw xperf -i /no/such.etl -a dpcisr
# the help names all there are
openetw xperf -i truth.etl -a '?' 2>&1 | sed -n 's/.*these are: //p' | tr -d ',' | tr ' ' '\n' >names
[ "$(wc -l <names)" -gt 25 ] || fail "few actions: $(cat names)"
openetw help xperf >help
while read -r name; do grep -qw "$name" help || fail "the help does not name the action $name"; done <names
# and the options of each, from the rows that read them
run_status 0 openetw xperf -help dpcisr
says '^  -bucket .SECONDS. ' out "xperf -help dpcisr"
run_status 0 openetw help xperf stack
says '^  -symbol REGEX' out "help xperf stack"
openetw man xperf | grep -q '^.SS dpcisr' || fail "the manual page has no reports"

f=$CORPUS/perfview/net.4.5.2.x86.etl
if [ -e "$f" ]; then
	for name in diskio process stack hardfault sysconfig symcache; do
		openetw xperf -i "$f" -quiet -a $name >"$T/out" 2>"$T/err" || fail "$name of a Windows trace: $(cat "$T/err")"
		[ -s "$T/out" ] || fail "$name of a Windows trace says nothing"
	done
	openetw xperf -i "$f" -quiet -a profile -detail | awk -F, 'NR > 1 {n += $2} END {print n / 1000}' >sum
	expect "weights of all samples" "$(cat sum)" "$(openetw dump -q --json -e PerfInfo/SampleProf "$f" | wc -l)"
fi
