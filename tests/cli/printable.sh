# SPDX-License-Identifier: MIT
# Names and values of others hold newlines, ESC, C1 controls, bidi controls and bytes that are no UTF-8. No
# output has any of them raw, and no line of any output is made by one.
. "$(dirname "$0")/lib.sh"

NASTY=$(printf 'EVIL\nFORGED\033[31m\177\302\23331m\342\200\256txt\342\200\250\tend') # as hostile_names.c has it
BYTES="$NASTY$(printf '\233')"						      # file names are bytes
cd "$T" || fail "cd"

# clean FILE WHAT: nothing raw in it. Tabs and returns are the classic layouts' own.
clean() {
	LC_ALL=C grep -naP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c|^FORGED' \
		"$1" >"$T/found" && fail "$2: $(cat -v "$T/found" | head -5)"
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>"$T/found" || fail "$2 is no UTF-8: $(cat "$T/found")"
}
# quiet WHAT COMMAND…: its output is clean, whatever it says
# shows WHAT COMMAND…: it also shows the name
quiet() {
	what=$1
	shift
	"$@" >"$T/out" 2>"$T/err" </dev/null
	clean "$T/out" "$what: stdout"
	clean "$T/err" "$what: stderr"
}
shows() {
	quiet "$@"
	grep -q 'EVIL' "$T/out" "$T/err" || fail "$1 does not show the name: $(cat "$T/out" "$T/err")"
}
shows_file() { # shows_file FILE
	clean "$1" "$1"
	grep -q 'EVIL' "$1" || fail "$1 does not have the name"
}

# A program with such a name, with such a symbol, in such a folder.
mkdir "$BYTES" || fail "mkdir"
program="$T/$BYTES/$(printf 'E\nF\033[31m\302\233\342\200\256')"
new=$(printf 'EVIL_\033[31m_\302\233_\342\200\256_;x') # 20 bytes, as the one it replaces
LC_ALL=C sed "s/symbol_to_be_renamed/$new/g" "$HELPERS/cli/hostile_names" >"$program" || fail "sed"
chmod +x "$program"
export LD_LIBRARY_PATH="$OPENETW_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" # it lies elsewhere than its library expects

# ---- sessions
shows "start" openetw start "$NASTY" -o "$T/$NASTY.etl" -p '{6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e99}:::stack'
says "runs" "$T/out" "start: $(cat "$T/err")"
"$program" write "$T/$BYTES/f$BYTES" || fail "hostile_names"
"$program" write "$T/$BYTES/f$BYTES" || fail "hostile_names"
shows "list" openetw list
shows "list --json" openetw list --json
json_lines "$T/out"
shows "query" openetw query "$NASTY"
shows "query --json" openetw query --json "$NASTY"
json_lines "$T/out"
shows "enable" openetw enable "$NASTY" "N$NASTY"
shows "enable wrongly" openetw enable "$NASTY" "N$NASTY:x$NASTY"
shows "disable" openetw disable "$NASTY" "N$NASTY:1:z$NASTY"
quiet "flush" openetw flush "$NASTY"
shows "start twice" openetw start "$NASTY" -o "$T/again.etl"
shows "logman query -ets" openetw logman query -ets
shows "logman query NAME -ets" openetw logman query "$NASTY" -ets
shows "tracelog -l" openetw tracelog -l
shows "tracelog -q" openetw tracelog -q "$NASTY"
shows "xperf -loggers" openetw xperf -loggers
shows "wpr -profiledetails" openetw wpr -profiledetails "$NASTY.wprp"
shows "stop" openetw stop "$NASTY"
mv "$T/$NASTY.etl" "$T/e.etl" || fail "no file"
cp "$T/e.etl" "$T/$BYTES.etl"
shows_file "$OPENETW_RUNTIME_DIR/etwd.log"

# ---- what is not there, named in errors
for verb in dump stats info describe report tracerpt tracefmt; do
	shows "$verb of nothing" openetw $verb "$BYTES"
done
for verb in relog merge pcapng; do
	shows "$verb of nothing" openetw $verb "$BYTES" -o n.etl
done
for verb in stop query flush live; do
	shows "$verb of no session" openetw $verb "$NASTY"
done
for verb in dump start record live logman tracelog xperf wpr tracerpt tracefmt wevtutil mc rc tracewpp tracepdb; do
	quiet "$verb with a bad option" openetw $verb "--$BYTES" "-$NASTY" "/$NASTY" "$BYTES" "$T/nothing"
done
shows "a verb" openetw "$NASTY"
shows "explain" openetw explain "$NASTY"
shows "dump --filter" openetw dump --filter "a == $NASTY (" e.etl
shows "dump --manifest" openetw dump --manifest "$BYTES.man" e.etl
shows "run nothing" openetw run -p X -- "$T/$NASTY"
quiet "completion" openetw completion "$NASTY"
shows "mc" openetw mc "$BYTES.man"
shows "rc" openetw rc "$BYTES.rc"
shows "tracewpp" openetw tracewpp "$BYTES.c"
shows "tracepdb" openetw tracepdb -f "$BYTES.pdb"
shows "wevtutil im" openetw wevtutil im "$BYTES.man"
shows "wevtutil gp" openetw wevtutil gp "$NASTY"
shows "wevtutil gl" openetw wevtutil gl "$NASTY"
shows "wpr -start" openetw wpr -start "$BYTES.wprp"
shows "autologger" openetw autologger remove "$NASTY"

# ---- events
shows "dump" openetw dump --stacks e.etl
events=$(sed -n '$s/ events.*//p' "$T/err")
expect "lines of dump with EVIL" "$(grep -c 'EVIL.*EVIL.*EVIL' "$T/out")" 6
shows "dump --json" openetw dump --json --stacks e.etl
json_lines "$T/out"
py 'import json, sys
bad = "EVIL\nFORGED\x1b[31m\x7f\x9b31m\u202etxt\u2028\t"
n = 0
for line in open(sys.argv[1], encoding="utf-8"):
    e = json.loads(line)
    n += e["meta"]["provider"] == bad and e["meta"]["event"] == bad and e["a" + bad] == bad + "\ufffd" and e["w" + bad] == bad + "\ufffd"
assert n == 6, n' "$T/out" || fail "JSON does not say what the events hold"
shows "dump --format csv" openetw dump --format csv e.etl
shows "dump --fields" openetw dump --fields "time,process,provider,event,a$NASTY,w$NASTY" e.etl
shows "dump --fields as CSV" openetw dump --format csv --fields "event,provider,a$NASTY,process" e.etl
shows "dump --fields as JSON" openetw dump --json --fields "event,provider,a$NASTY,process" e.etl
shows "a file of that name" openetw dump "$BYTES.etl" "$BYTES.none"
for by in provider event process level; do
	quiet "stats --by $by" openetw stats --by $by e.etl
	quiet "stats --json --by $by" openetw stats --json --by $by e.etl
done
shows "stats" openetw stats --decode e.etl
shows "info" openetw info "$BYTES.etl"
shows "info --json" openetw info --json "$BYTES.etl"
json_lines "$T/out"
quiet "relog" openetw relog "$BYTES.etl" -o "r$BYTES.etl"
quiet "merge" openetw merge "$BYTES.etl" e.etl -o "m$BYTES.etl"
quiet "describe" openetw describe "m$BYTES.etl"
shows "tracerpt" openetw tracerpt "$BYTES.etl" -o x.xml -of XML -summary x.txt -report x.html -y
for f in x.xml x.txt x.html; do shows_file $f; done
py 'import sys, xml.dom.minidom
bad = "EVIL\nFORGED\ufffd[31m\x7f\x9b31m\u202etxt\u2028\t"
names = [p.getAttribute("Name") for p in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("Provider")]
assert names.count(bad) == 6, names' x.xml || fail "tracerpt writes no XML"
shows "tracerpt -of CSV" openetw tracerpt "$BYTES.etl" -o x.csv -of CSV -y
shows_file x.csv
shows "tracefmt" openetw tracefmt "$BYTES.etl" -o fmt.txt -display
shows_file fmt.txt
clean fmt.sum "the summary of tracefmt"
shows "tracefmt -csv" openetw tracefmt e.etl -displayonly -csv
for f in xml RenderedXml text; do
	shows "wevtutil qe /f:$f" openetw wevtutil qe "$T/$BYTES.etl" /lf:true /f:$f /e:Root "/sbm:$T/mark.xml"
	[ $f = text ] || py 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/out" || fail "qe /f:$f is no XML"
done
shows_file mark.xml
shows "xperf -a dumper" openetw xperf -i e.etl -a dumper
for a in process profile cswitch diskio hardfault marks tracestats; do
	quiet "xperf -a $a" openetw xperf -i e.etl -a $a
done

# ---- watching
openetw live -p '{6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e99}' -n 3 >live.out 2>live.err &
live=$!
wait_for 20 sh -c 'grep -q watching live.err' || fail "live does not begin"
for i in 1 2 3 4 5; do
	"$program" write "$T/$BYTES/f$BYTES"
	kill -0 $live 2>/dev/null || break
done
wait $live
shows_file live.out
clean live.err "live: stderr"
quiet "providers" openetw providers
quiet "providers --json" openetw providers --json

# ---- a manifest; XML has no way to write ESC
cat >evil.man <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation><events>
<provider name="EVIL&#x9B;31m&#x202E;-Provider" guid="{6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e98}" symbol="EVIL"
 resourceFileName="EVIL&#10;FORGED" messageFileName="x&#x7F;" message="EVIL&#10;FORGED&#x2028;">
<channels><channel name="EVIL&#10;FORGED&#x9B;/Op" chid="C1" type="Operational" symbol="C1" enabled="true"/></channels>
<keywords><keyword name="K&#x9B;" mask="0x1" symbol="K1" message="EVIL&#10;FORGED"/></keywords>
<events><event value="1" symbol="E1" channel="C1" level="win:Informational" keywords="K&#x9B;" message="EVIL&#10;FORGED"/></events>
</provider></events></instrumentation></instrumentationManifest>
END
quiet "wevtutil im" openetw wevtutil im evil.man
for words in 'ep' 'el' 'gp {6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e98} /ge /gm' 'gp {6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e98} /ge /gm /f:xml'; do
	quiet "wevtutil $words" openetw wevtutil $words
done
quiet "logman query providers" openetw logman query providers
quiet "logman query providers NAME" openetw logman query providers '{6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e98}'
quiet "xperf -providers" openetw xperf -providers

# ---- a profile and an autologger
cat >evil.wprp <<'END'
<?xml version="1.0" encoding="utf-8"?>
<WindowsPerformanceRecorder Version="1.0"><Profiles>
<EventCollector Id="c" Name="EVIL&#10;FORGED&#x9B;"><BufferSize Value="64"/><Buffers Value="4"/></EventCollector>
<EventProvider Id="p" Name="EVIL&#10;FORGED&#x9B;&#x202E;"/>
<Profile Id="EVIL.Light.File" Name="EVIL" Description="EVIL&#10;FORGED&#x9B;" DetailLevel="Light" LoggingMode="File">
<Collectors><EventCollectorId Value="c"><EventProviders><EventProviderId Value="p"/></EventProviders></EventCollectorId></Collectors>
</Profile></Profiles></WindowsPerformanceRecorder>
END
quiet "wpr -profiles" openetw wpr -profiles evil.wprp
quiet "wpr -profiledetails" openetw wpr -profiledetails evil.wprp
quiet "wpr -start" openetw wpr -start evil.wprp -filemode
quiet "wpr -status" openetw wpr -status profiles collectors
quiet "wpr -stop" openetw wpr -stop w.etl "$NASTY"
quiet "wpr -cancel" openetw wpr -cancel
# commands to paste are one command, whatever the names
sed "s/EVIL&#10;FORGED&#x9B;&#x202E;/x'; touch hacked; '/" evil.wprp >quotes.wprp
quiet "wpr -explain" openetw wpr -start evil.wprp -filemode -explain
openetw wpr -start quotes.wprp -filemode -explain >"$T/paste" 2>/dev/null
grep -q touch "$T/paste" || fail "wpr -explain does not name the provider: $(cat "$T/paste")"
(
	openetw() { :; }
	. "$T/paste"
)
[ ! -e hacked ] || fail "a pasted command does more than it says: $(cat "$T/paste")"
quiet "xperf -explain" openetw xperf -start "$NASTY" -on "$NASTY" -f "$NASTY" -explain
quiet "autologger add" openetw autologger add evil -o "$T/$NASTY.etl" -p "$NASTY"
quiet "autologger list" openetw autologger list
quiet "autologger list --json" openetw autologger list --json

# ---- this machine
program="$T/$NASTY" # images and their symbols are found by paths in UTF-16
cp "$T/$BYTES/"E* "$program" || fail "cp"
if openetw record --cpu --file --only-command -o k.etl -- "$program" spin 700 >rec.out 2>rec.err; then
	openetw record --file -o kf.etl -- "$program" write "$T/$BYTES/f$BYTES" >>rec.out 2>>rec.err
	clean rec.out "record: stdout"
	clean rec.err "record: stderr"
	for f in k.etl kf.etl; do
		quiet "dump of the kernel" openetw dump --stacks $f
		quiet "report" openetw report $f --folded folded.txt --speedscope s.json
		clean folded.txt "folded stacks"
		clean s.json "speedscope's JSON"
		quiet "report --json" openetw report --json $f
		json_lines "$T/out"
		quiet "stats of the kernel" openetw stats --by process $f
		for a in process profile cswitch diskio dumper; do quiet "xperf -a $a" openetw xperf -i $f -a $a; done
		quiet "tracerpt of the kernel" openetw tracerpt $f -o k.xml -report k.html -summary k.txt -y
		for x in k.xml k.html k.txt; do clean $x $x; done
	done
	openetw dump --stacks k.etl 2>/dev/null | grep -q 'EVIL_.x1b' || fail "the symbol of the program is not shown"
	quiet "top" openetw top -n 1 -d 300ms
	openetw monitor --show process,image,file -d 3s >mon.out 2>mon.err &
	mon=$!
	sleep 1
	for i in 1 2 3; do "$program" write "$T/$BYTES/f$BYTES"; sleep 0.3; done
	wait $mon
	clean mon.out "monitor"
	clean mon.err "monitor: stderr"
else
	clean rec.err "record: stderr"
fi
shows_file "$OPENETW_RUNTIME_DIR/etwd.log"
