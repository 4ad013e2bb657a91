# SPDX-License-Identifier: MIT
# logman: layouts that scripts parse, live sessions, saved collectors, mistakes, --explain; also as a link.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
ln -s "$(command -v openetw)" logman
export LD_LIBRARY_PATH="$OPENETW_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
P=OpenETW.Sample.Hello
G='{71E4037D-56B7-5E7C-163B-9A48A5792F88}'
done_line='The command completed successfully.'

# a pasted line with typographic dashes, as in the instructions of the world
run_status 0 ./logman start web –p $P 0x11 win:Verbose -o web.etl −ets
expect "start says" "$(cat out)" "
$done_line"
run_status 0 ./logman query -ets
printf '\n%-40s%-30s%s\n%79s\n%-40s%-30s%s\n\n%s\n' 'Data Collector Set' Type Status '' web Trace Running \
	"$done_line" | sed '3s/ /-/g' >want
cmp out want || fail "query -ets: $(diff out want)"
run_status 0 ./logman -ets
cmp out want || fail "logman -ets is not a query"


# a name longer than its column pushes the others to the right and does not touch them
for long in a-name-of-exactly-forty-characters-12345 a-name-of-more-than-the-forty-characters-of-its-column; do
	run_status 0 ./logman start $long -rt -ets
	run_status 0 ./logman query -ets
	says "^$long Trace  *Running\$" out "a long name"
	run_status 0 ./logman stop $long -ets
done

run_status 0 ./logman query -ets --json
json_lines out
says '^{"name":"web"' out "--json"
run_status 0 ./logman query web -ets --json
says '"bufferSizeKb":64' out "--json"

# a second provider, added while it runs, and its block
run_status 0 openetw logman UPDATE web /P '{aa1cf0de-0001-4c5c-a5f8-0d0a3f3a7a11}' 7 4 /ETS
run_status 0 ./logman query web -ets
tr -d '\r' <out | sed -n '/^Provider:/,/^Filter/p' >blocks
cat >want <<END
Provider:
Name:                 $(sed -n 's/^Name: *\({71.*\|OpenETW.*\)/\1/p' out)
Provider Guid:        $G
Level:                5 (win:Verbose)
KeywordsAll:          0x0
KeywordsAny:          0x11
Properties:           0
Filter Type:          0
Provider:
Name:                 {aa1cf0de-0001-4c5c-a5f8-0d0a3f3a7a11}
Provider Guid:        {AA1CF0DE-0001-4C5C-A5F8-0D0A3F3A7A11}
Level:                4 (win:Informational)
KeywordsAll:          0x0
KeywordsAny:          0x7
Properties:           0
Filter Type:          0
END
sort want >want.sorted
sort blocks | cmp - want.sorted || fail "provider blocks: $(cat blocks)"
for line in 'Name:                 web' 'Status:               Running' "Root Path:            $T" \
	'Segment:              Off' 'Name:                 web\\web' 'Type:                 Trace' \
	"Output Location:      $T/web.etl" 'Append:               Off' 'Circular:             Off' \
	'Buffer Size:          64' 'Clock Type:           Performance' 'File Mode:            File'; do
	says "^$line\$" out "query web -ets"
done

# what was enabled is recorded, what was taken out is not
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null
run_status 0 ./logman update web --p $P -ets
run_status 0 ./logman query web -ets
! grep -q "$G" out || fail "--p left the provider enabled"
run_status 0 ./logman stop web -ets
[ "$(count web.etl '"provider":"OpenETW.Sample.Hello"')" -gt 0 ] || fail "nothing of $P in web.etl"

# codes and hints
bad() { # bad STATUS PATTERN ARGS…
	s=$1 pattern=$2
	shift 2
	run_status "$s" ./logman "$@"
	says "$pattern" err "logman $*"
}
bad 1 'Error code: 0x80300002' stop web -ets
bad 1 'Data Collector Set was not found.' query web
bad 1 'Data Collector Set was not found.' start web
bad 2 'did you mean -ets' start web -p $P -est
bad 2 'did you mean start' strat web -p $P
bad 2 '-p needs PROVIDER' start web -ets -p
bad 2 "'fast' is no level" start web -ets -p $P 0x1 fast
bad 2 "'Nonsense' is no keyword" start web -ets -p $P '(Nonsense)'
bad 2 'did you mean circular' start web -ets -p $P -mode circlar
bad 2 'from 4 to 16384' start web -ets -p $P -bs 1
# What no session can be is not saved, and is refused with the words of a start.
bad 1 'append mode cannot be circular or new-file' create trace web -p $P -o web.etl -f bincirc -max 1 -a
bad 1 'append mode cannot be circular or new-file' start web -ets -p $P -o web.etl -f bincirc -max 1 -a
bad 1 'an autologger cannot be in new-file mode' create trace 'autosession\web' -p $P -o web%d.etl -mode newfile -max 1
bad 1 'a private session cannot append' create trace web -ul -p $P -o web.etl -a
[ ! -e "$XDG_CONFIG_HOME/openetw/collectors/web.conf" ] || fail "it was saved"
bad 2 'time of -b' create trace web -p $P -r
bad 2 'is over already' create trace web -p $P -b 1/31/2020 5:30PM
bad 2 '-e is before -b' create trace web -p $P -b 1/31/2037 5:30PM -e 1/31/2037 5:29PM
bad 2 'neither saves nor schedules' start web -ets -p $P -b 1/31/2037 5:30PM
bad 2 'neither saves nor schedules' start web -ets -p $P -rc true
bad 2 'is over already' start web -ets -p $P -e 1/31/2020 5:30:00PM
bad 2 'such as 1/31/2026' start web -ets -p $P -e 13/31/2030
bad 2 'cannot read nothing.txt' start web -config nothing.txt
bad 2 'through ssh' query -ets -s other
bad 2 "'extra' is too much" stop web extra -ets
bad 2 'only traces' create counter web -p $P
bad 1 'ERROR_INVALID_PARAMETER' start web -ets -p $P -f bincirc -o x.etl
bad 1 'ERROR_PATH_NOT_FOUND' start web -ets -p $P -o /nonexistent/x.etl
if ./logman start 'NT Kernel Logger' -p 'Windows Kernel Trace' '(process,thread,img)' -o nt.etl -ets >/dev/null 2>&1; then
	run_status 0 ./logman query 'NT Kernel Logger' -ets
	says '^Name:  *Windows Kernel Trace$' out "the kernel's provider"
	says '^KeywordsAny:  *0x7 (process,thread,img)$' out "its keywords"
	run_status 0 ./logman stop 'NT Kernel Logger' -ets
fi
bad 1 'Linux has no registry' start 'NT Kernel Logger' -p 'Windows Kernel Trace' '(process,registry)' -ets
# the kernel's session runs where this user may look at the kernel, and says why where not
if ./logman start 'NT Kernel Logger' -p 'Windows Kernel Trace' '(process,thread,img)' -o k.etl -ets >out 2>err; then
	run_status 0 ./logman stop 'NT Kernel Logger' -ets
else
	says 'Error code: ' err "the kernel's session"
	[ "$(wc -l <err)" -ge 4 ] || fail "no reason: $(cat err)"
fi
run_status 0 openetw list --json
[ ! -s out ] || fail "a session is left: $(cat out)"
run_status 0 ./logman start web -ets -p $P -rt
bad 1 'Error code: 0x803000b7' start web -ets -p $P -rt
bad 2 'cannot change while' update web -bs 128 -ets
run_status 0 ./logman stop web # -ets may be left out where nothing is saved

# saved collectors: the file is readable, each run has a number
run_status 0 ./logman create trace nightly -p $P -o night -f bincirc -max 10 -nb 4 16 -bs 32 -ct system
f=$XDG_CONFIG_HOME/openetw/collectors/nightly.conf
says '^MaxFileSize = 10$' "$f" "the file"
says "^FileName = $T/night.etl\$" "$f" "the file"
bad 1 'Error code: 0x803000b7' create trace nightly -p $P
run_status 0 ./logman query
says '^nightly                                 Trace                         Stopped$' out "query"
run_status 0 ./logman start nightly
run_status 0 ./logman query
says '^nightly                                 Trace                         Running$' out "query"
bad 1 'Error code: 0x803000aa' delete nightly
run_status 0 openetw query nightly --json
says '"mode":"0x2","clock":2,"bufferSizeKb":32' out "what runs"
run_status 0 ./logman stop nightly
bad 1 'Error code: 0x80300104' stop nightly
run_status 0 ./logman start nightly
run_status 0 ./logman stop nightly
[ -f night_000001.etl ] && [ -f night_000002.etl ] || fail "the runs' files: $(ls)"
run_status 0 ./logman update nightly -max 20 --p $P -p Another.Provider 1 2
says '^MaxFileSize = 20$' "$f" "update"
! grep -q "$P" "$f" || fail "--p left it in the file"
says '^EnableLevel = 2$' "$f" "update"

# as XML and back
run_status 0 ./logman export -n nightly -xml n.xml
py 'import sys, xml.etree.ElementTree as E
t = E.parse(sys.argv[1]).getroot().find("TraceDataCollector")
assert t.find("TraceDataProvider/DisplayName").text == "Another.Provider"
assert int(t.find("TraceDataProvider/Level/Value").text, 0) == 2 and t.find("ClockType").text == "2"' n.xml || fail "the XML"
run_status 0 ./logman import -n copy -xml n.xml
sed '/^Name = nightly$/d' "$f" >a
sed '/^Name = copy$/d' "${f%nightly.conf}copy.conf" >b
cmp a b || fail "export and import: $(diff a b)"
echo '<DataCollectorSet><TraceDataCollector>' >broken.xml
bad 1 'broken.xml:' import -n broken -xml broken.xml
run_status 0 ./logman delete copy
bad 1 'was not found' delete copy
echo 'BufferSice = 4' >>"$f"
bad 1 "nightly.conf:[0-9]*: 'BufferSice'" start nightly

# providers from a file
cat >pf.txt <<'END'
# a comment
{aa1cf0de-0001-4c5c-a5f8-0d0a3f3a7a11} 0x10 5 "Some Name"

{aa1cf0de-0002-4c5c-a5f8-0d0a3f3a7a11} ff win:Error
END
run_status 0 ./logman start S -pf pf.txt -rt -ets --explain
expect "explain" "$(cat out)" "openetw start S -r -p {aa1cf0de-0001-4c5c-a5f8-0d0a3f3a7a11}:0x10:5 -p {aa1cf0de-0002-4c5c-a5f8-0d0a3f3a7a11}:0xff:2"
echo 'what is this' >bad.txt
bad 2 'bad.txt:1:' start S -pf bad.txt -rt -ets

# the line that --explain prints does the same
run_status 0 ./logman start S -p $P 0x11 4 -rt -bs 128 -nb 4 8 -ft 2 -mode globalsequence -ct system -rf 1:00 -ets --explain
sh -c "$(cat out)" >/dev/null || fail "the explained line: $(cat out)"
run_status 0 openetw query S --json
says '"mode":"0x4100","clock":2,"bufferSizeKb":128,"minimumBuffers":[0-9]*,"maximumBuffers":[0-9]*' out "explained"
says '"flushTimer":2' out "explained"
says '"expires":"20' out "explained"
run_status 0 ./logman query S -ets
says '^KeywordsAny:          0x11$' out "explained"
says '^Level:                4 (win:Informational)$' out "explained"
run_status 0 ./logman stop S -ets --explain
expect "explain" "$(cat out)" "openetw stop S"
run_status 0 ./logman stop S -ets

# providers, registered ones with their processes
run_status 0 ./logman query providers
says '^Microsoft-Windows-Kernel-Process         {22FB2CD6-0E7B-422B-A0C7-2FAD1FD0E716}$' out "query providers"
run_status 0 ./logman query providers Microsoft-Windows-DotNETRuntime
says '^0x0000000000000001  GCKeyword' out "keywords"
bad 1 'no process has registered' query providers Nobody.Has.This

# options from a file, an end by the clock, a new file every second
cat >options.txt <<END
# what to record
-p "$P" 0x11 win:Error
-o "by time %d.etl" -cnf 1
END
run_status 0 ./logman start timed -ets -config options.txt -e 12/31/2099 11:30:00 PM
run_status 0 openetw query timed
says '^ends           in ' out "-e"
says '0x8' out "-cnf"
wait_for 20 test -f 'by time 3.etl' || fail "-cnf 1 made: $(ls)"
run_status 0 ./logman update timed -ets -m stop
run_status 0 openetw query timed
says '^ends           when it is stopped' out "-m stop"
run_status 0 ./logman stop timed -ets
run_status 0 openetw info 'by time 2.etl'

# lines of published scripts: a definition with -ets, verbs like options, "trace" behind any verb, -cnf without %d
run_status 0 ./logman create trace -n 'autosession\Sensors' -ow -o Sensors.etl -ets -max 128 -f bincirc
run_status 0 ./logman update trace -n 'autosession\Sensors' -p "$G" 0xffffffffffffffff 0xff -ets
run_status 0 ./logman query 'autosession\Sensors'
says "^Provider Guid:        $G\$" out "an autologger's provider"
run_status 0 ./logman query -ets
expect "a definition is not a session" "$(grep -c Sensors out)" 0
run_status 0 ./logman -delete -n 'autosession\Sensors'
run_status 0 ./logman start trace named -p "$G" -o named.etl -ets
run_status 0 ./logman /stop trace named -ets
run_status 0 ./logman create trace rolls -p "$G" -o rolls -f bincirc -max 100 -cnf 00:35:00 -v mmddhhmm
says 'makes new files' err "-cnf of a circular file"
run_status 0 ./logman start rolls
expect "the first file" "$(ls rolls_1_[0-9]*.etl | wc -l)" 1
run_status 0 ./logman stop rolls
run_status 0 ./logman delete rolls
run_status 0 ./logman
says '^Data Collector Set ' out "logman alone"
bad 2 "'create counter': only traces" create counter X -c '\Processor(_Total)\% Processor Time' -si 1
run_status 0 ./logman query /providers 'Windows Kernel Trace'
says '^Windows Kernel Trace                     {9E814AAD-3204-11D2-9A82-006008A86939}$' out "the kernel's provider"
says '^0x0000000000000010  cswitch              Context switches$' out "its keywords"
says '^0x0000000004000000  fileio               File IO$' out "its keywords"
run_status 0 ./logman start clr -p '.NET Common Language Runtime' 0x98 5 -o clr.etl -ets
run_status 0 ./logman query clr -ets
says '^Provider Guid:        {E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}$' out "the name that logman has for it"
run_status 0 ./logman stop clr -ets
