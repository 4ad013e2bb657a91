# SPDX-License-Identifier: MIT
# Filters of an enable by the command's options: each session gets exactly what its own say.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$T" || exit 1
P=Test.Filter
# ids are 1 to 4 in turn, keywords 1, 2, 4, 8 likewise
start() { # start NAME OPTIONS…
	n=$1
	shift
	run_status 0 openetw start "$n" -o "$n.etl" -p $P "$@"
}
start all
start ids --event-id 1,3
start others --event-id '!1,3'
start exe --exe 'web;emit'
start foreign --exe web
start group --container /
start nogroup --container 4f66ad9a0b2e
start keywords -k 0x2
start stacks --stack-id 2
start levels --stack-level '4:0x8'
"$HELPERS/emit" $P 400 wait >out
sed -n 's/attempts 400 ok //p' out | grep -q 400 || fail "emit: $(cat out)"
for s in all ids others exe foreign group nogroup keywords stacks levels; do
	run_status 0 openetw stop $s
done
events() { count "$1.etl" '"id":[1-4],'; }
expect "all" "$(events all)" 400
expect "--event-id" "$(events ids)" 200
expect "only these" "$(count ids.etl '"id":[24],')" 0
expect "--event-id !" "$(events others)" 200
expect "not these" "$(count others.etl '"id":[13],')" 0
expect "--exe" "$(events exe)" 400
expect "another --exe" "$(events foreign)" 0
expect "--container" "$(events group)" 400
expect "another --container" "$(events nogroup)" 0
expect "keywords" "$(events keywords)" 100
stacks() { openetw dump --quiet --json --stacks "$1.etl" | grep '"stack":' | grep -o '"id":[1-4],' | sort | uniq -c | tr -s ' '; }
expect "--stack-id" "$(stacks stacks)" ' 100 "id":2,'
expect "events without stacks" "$(events stacks)" 400
expect "--stack-level" "$(stacks levels)" ' 100 "id":4,'

# by name, TraceLogging only
run_status 0 openetw start name -o name.etl -p OpenETW.Sample.Hello --event-name Order
run_status 0 openetw start noname -o noname.etl -p OpenETW.Sample.Hello --event-name '!Order'
"$SAMPLES/hello-tracelogging" 3 1 >/dev/null
run_status 0 openetw stop name
run_status 0 openetw stop noname
[ "$(count name.etl '"event":"Order"')" -gt 0 ] || fail "--event-name"
expect "--event-name" "$(openetw dump --quiet --json name.etl | grep Sample.Hello | grep -vc '"event":"Order"')" 0
expect "--event-name !" "$(count noname.etl '"event":"Order"')" 0
[ "$(count noname.etl Sample.Hello)" -gt 0 ] || fail "--event-name !"

# mistakes name the option and what it takes
run_status 2 openetw start bad -o bad.etl -p $P --event-id 1,x
says '--event-id takes up to 64 numbers' err "--event-id"
run_status 2 openetw start bad -o bad.etl -p $P --stack-level high
says '--stack-level takes a level' err "--stack-level"
run_status 0 openetw list --json
[ ! -s out ] || fail "a session is left: $(cat out)"

# in a collector's file
mkdir -p "$XDG_CONFIG_HOME/openetw/collectors"
cat >"$XDG_CONFIG_HOME/openetw/collectors/saved.conf" <<END
LogFileMode = 0x1
FileName = $T/saved.etl
[$P]
EventIdFilter = 4
ExecutableFilter = emit
END
run_status 0 openetw logman start saved
"$HELPERS/emit" $P 40 wait >out
run_status 0 openetw logman stop saved
expect "a collector's filters" "$(events saved)" 10

# by what is in them: TraceLogging events by name
S=OpenETW.Sample.Hello
run_status 0 openetw start some -o some.etl -p $S --payload 'Order: Number >= 3' --payload "Types: Text ~ 'plain t' and Round != 2"
run_status 0 openetw start every -o every.etl -p $S
"$SAMPLES/hello-tracelogging" 5 1 >/dev/null
run_status 0 openetw stop some
run_status 0 openetw stop every
lines() { openetw dump --quiet --json --filter "$2" "$1.etl" | wc -l; }
for pair in 'event == Order:event == Order and Number >= 3' 'event == Types:event == Types and Round != 2' \
	'event == OrderLine:event == OrderLine'; do
	expect "--payload ${pair%%:*}" "$(lines some "${pair%%:*}")" "$(lines every "${pair#*:}")"
done
[ "$(lines some 'event == Order')" -gt 0 ] || fail "--payload let nothing through"
run_status 2 openetw start bad -o bad.etl -p $S --payload 'Order: Number is'
says 'column 17: a value is expected here' err "--payload"
grep -q '^                  ^$' err || fail "no caret below column 17: $(cat err)"
run_status 2 openetw start bad -o bad.etl -p $S --payload 'Number > 3'
says 'write EVENT: FIELD OP VALUE' err "--payload"
run_status 2 openetw start bad -o bad.etl -p $S --payload 'Order: Number & 3'
says "column 15: the session cannot evaluate '&'; use it when reading" err "--payload"
run_status 2 openetw start bad -o bad.etl -p $S --payload 'Order: Number > many'
says "'many' is no whole number" err "--payload"
run_status 2 openetw start bad -o bad.etl -p $S --payload '7: Number > 1'
says 'no installed manifest describes event 7' err "--payload"
# The same language as when reading: what the session let through is what reading lets through.
for expr in 'event == Order and Number >= 3' 'event in (Order, Types)' \
	"(event == Order and Number between 2,3) or (event == Types and Text ~ 'plain t')" 'event not in (Order, Types)'; do
	run_status 0 openetw start expr -o expr.etl -p $S --filter "$expr"
	"$SAMPLES/hello-tracelogging" 5 1 >/dev/null
	run_status 0 openetw stop expr
	expect "--filter $expr" "$(lines expr 'providerGuid')" "$(lines every "provider == $S and ($expr)")"
	[ "$(lines expr "$expr")" -gt 0 ] || fail "--filter $expr let nothing through"
done
# a filter of one provider stands behind its options
run_status 0 openetw start own -o own.etl -p "$S:::stack:event == Order and Number >= 3"
"$SAMPLES/hello-tracelogging" 5 1 >/dev/null
run_status 0 openetw stop own
expect "NAME:::OPTIONS:FILTER" "$(lines own providerGuid)" "$(lines every 'event == Order and Number >= 3')"
run_status 2 openetw start bad -o bad.etl -p "$S:::event == Order and Number =~ /x/"
says 'column 27: the session cannot evaluate regular expressions' err "NAME:::FILTER"
run_status 2 openetw start bad -o bad.etl -p "$S:::event == Order" --filter 'event == Order'
says 'has a filter of its own' err "both"
run_status 2 openetw start bad -o bad.etl -p $S --filter 'event == Order and pid == 3'
says "column 20: the session cannot evaluate 'pid'; --pid does that" err "--filter"
run_status 2 openetw start bad -o bad.etl -p $S --filter 'event == Types and Text =~ /x/'
says 'column 25: the session cannot evaluate regular expressions; use it when reading' err "--filter"
run_status 2 openetw start bad -o bad.etl -p $S --filter 'event == Order and Number >'
says 'column 28: a value is expected' err "--filter"
run_status 2 openetw start bad -o bad.etl -p $S --filter 'event == Order' --event-name Order
says 'leave out --event-id' err "--filter"
cat >"$XDG_CONFIG_HOME/openetw/collectors/words.conf" <<END
LogFileMode = 0x1
FileName = $T/words.etl
[$S]
Filter = event == Order and Number >= 3
END
run_status 0 openetw logman start words
"$SAMPLES/hello-tracelogging" 5 1 >/dev/null
run_status 0 openetw logman stop words
expect "a collector's Filter" "$(lines words providerGuid)" "$(lines every 'event == Order and Number >= 3')"

# and of a manifest, by number
export XDG_DATA_HOME="$T/data"
M=OpenETW.Sample.Manifest
run_status 0 openetw wevtutil im "$here/../../samples/manifest-style.man"
run_status 0 openetw start start2 -o start2.etl -p $M --payload '1: Number == 2 or Number > 3'
run_status 0 openetw start none -o none.etl -p $M --payload '1: File == other' --payload '3: Status != 0'
"$SAMPLES/manifest-style" 4 1 >/dev/null
run_status 0 openetw stop start2
run_status 0 openetw stop none
expect "a manifest's event" "$(openetw dump --quiet --fields Number --filter 'id == 1' start2.etl | tr '\n' ' ')" 'Number=2 Number=4 '
expect "its other events" "$(lines start2 'id == 3')" 4
expect "no event" "$(lines none 'id == 1 or id == 3')" 0
run_status 0 openetw start both -o both.etl -p $M --filter 'id == 1 and File isnot other and Number <= 3 or id == 3'
"$SAMPLES/manifest-style" 4 1 >/dev/null
run_status 0 openetw stop both
expect "--filter of a manifest's event" "$(lines both 'id == 1')" 3
expect "--filter of its other event" "$(lines both 'id == 3')" 4
expect "nothing else" "$(lines both providerGuid)" 7
# in a file, too: its words, and of the manifest's event the bytes
run_status 0 openetw autologger add kept -o "$T/kept.etl" -p $M --filter 'id == 1 and Number <= 3 or id == 3'
says '^Filter = id == 1 and Number <= 3 or id == 3$' "$XDG_CONFIG_HOME/openetw/autologger.d/kept.conf" "autologger --filter"
says '^PayloadFilter = hex:' "$XDG_CONFIG_HOME/openetw/autologger.d/kept.conf" "its conditions"
run_status 2 openetw start bad -o bad.etl -p $M --payload '1: Nope == 2'
says "column 4: event 1 has no field 'Nope'" err "--payload"
run_status 2 openetw start bad -o bad.etl -p $M --filter 'id == 1 and Numbr == 2'
says "column 13: event 1 has no field 'Numbr'; did you mean 'Number'?" err "--filter"
# and in a file that is written by hand
for words in 'Filter = id == 1 and Number in 2..3' 'PayloadFilter = 1: Number between 2,3'; do
	cat >"$XDG_CONFIG_HOME/openetw/collectors/byhand.conf" <<END
LogFileMode = 0x1
FileName = $T/byhand.etl
[$M]
$words
END
	run_status 0 openetw logman start byhand
	"$SAMPLES/manifest-style" 4 1 >/dev/null
	run_status 0 openetw logman stop byhand
	expect "$words" "$(openetw dump --quiet --fields Number --filter 'id == 1' byhand.etl | tr '\n' ' ')" 'Number=2 Number=3 '
	rm -f byhand.etl
done
# All versions of an event, or none: a filter without some of them would let those through.
{
	echo '<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>'
	echo '<provider name="Test.Versions" guid="{aa1cf0de-0079-4c5c-a5f8-0d0a3f3a7a11}" symbol="VERSIONS">'
	echo '<templates><template tid="T"><data name="N" inType="win:UInt32"/></template></templates><events>'
	v=0
	while [ $v -lt 200 ]; do
		echo "<event value=\"1\" version=\"$v\" symbol=\"E$v\" template=\"T\"/>"
		v=$((v + 1))
	done
	echo '</events></provider></events></instrumentation></instrumentationManifest>'
} >versions.man
run_status 0 openetw wevtutil im versions.man
run_status 2 openetw start bad -o bad.etl -p Test.Versions --payload '1: N == 2'
says 'larger than 4096 bytes' err "--payload"
run_status 2 openetw start bad -o bad.etl -p Test.Versions --filter 'id == 1 and N == 2'
says 'larger than 4096 bytes' err "--filter"
