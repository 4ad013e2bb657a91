# SPDX-License-Identifier: MIT
# wevtutil: what is installed is known to every decoder until it is uninstalled; queries select.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
man=$root/samples/manifest-generated/kitchen.man
types=$root/tests/mc/types.man
# Root installs for the machine, which is not this test's to change.
im() { openetw wevtutil im /sc:user "$@"; }

wevtutil() { openetw wevtutil "$@"; }
run_status 1 openetw wevtutil gp OpenETW-Sample-Kitchen
says 'Failed to open metadata for publisher OpenETW-Sample-Kitchen' "$T/err" "gp of what is not installed"

# A mistake is told with its place, and nothing is installed.
sed 's/win:UInt32/win:UInt33/' "$man" >"$T/bad.man"
run_status 1 openetw wevtutil im /sc:user "$T/bad.man"
says 'bad.man:[0-9]*:[0-9]*: error: ' "$T/err" "im of a manifest with a mistake"
[ -z "$(ls "$XDG_DATA_HOME/openetw/manifests" 2>/dev/null)" ] || fail "something was installed"

run_status 0 openetw wevtutil im "$man" /sc:user "/rf:C:\\k.dll"
[ -s "$T/out" ] && fail "im says something: $(cat "$T/out")"
run_status 0 openetw wevtutil enum-publishers
says '^OpenETW-Sample-Kitchen$' "$T/out" "ep"
run_status 0 openetw wevtutil gp openetw-sample-kitchen -ge:true /GM
cp "$T/out" "$T/gp"
says '^name: OpenETW-Sample-Kitchen$' "$T/gp" "gp"
says '^guid: f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11$' "$T/gp" "gp"
says '^resourceFileName: C:\\k.dll$' "$T/gp" "gp"
says '^channels:$' "$T/gp" "gp"
says '^    mask: [0-9a-f]*$' "$T/gp" "gp"
says '^  event:$' "$T/gp" "gp /ge"
says '^    keywords: 0x8000000000000001$' "$T/gp" "gp /ge"
run_status 0 openetw wevtutil get-publisher OpenETW-Sample-Kitchen /f:xml
says '<provider name="OpenETW-Sample-Kitchen" guid="{f3c1a5a0' "$T/out" "gp /f:xml"
py 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/out" || fail "gp /f:xml is no XML"
run_status 0 openetw wevtutil gp OpenETW-Sample-Kitchen
says '^    message: 1342177284$' "$T/out" "gp without /gm, of level 4"

run_status 0 openetw wevtutil el
channel=$(grep -i kitchen "$T/out" | head -1)
[ -n "$channel" ] || fail "el has no channel of the manifest: $(cat "$T/out")"
run_status 0 openetw wevtutil gl "$channel"
says '^owningPublisher: OpenETW-Sample-Kitchen$' "$T/out" "gl"
says '^  maxSize: [0-9]' "$T/out" "gl"
run_status 0 openetw wevtutil get-log "$channel" /format:xml
says "<channel name=\"$channel\"" "$T/out" "gl /f:xml"
run_status 1 openetw wevtutil gl No-Such-Log
says 'The specified channel could not be found' "$T/err" "gl"

# Installing again replaces; the name of the file does not matter.
cp "$man" "$T/other name.man"
im "$T/other name.man" || fail "im again"
expect "installed files" "$(ls "$XDG_DATA_HOME/openetw/manifests" | wc -l)" 1
im "$types" || fail "im of a second manifest"

openetw providers OpenETW-Sample-Kitchen >"$T/providers" 2>/dev/null || :
openetw logman query providers OpenETW-Sample-Kitchen >"$T/logman" || fail "logman query providers"
says '{F3C1A5A0-6A0E-4B2C-9D0B-2F6F4A7C1E11}' "$T/logman" "logman query providers NAME"

# Recorded by name, decoded without a word about the manifest.
openetw run -p OpenETW-Sample-Kitchen::255 -o "$T/k.etl" -- "$SAMPLES/manifest-generated/manifest-generated" 2 2>/dev/null ||
	fail "run"
openetw dump -q --json "$T/k.etl" | grep -c '"provider":"OpenETW-Sample-Kitchen"' >"$T/n"
expect "decoded events" "$(cat "$T/n")" 9
openetw tracerpt "$T/k.etl" -o "$T/k.xml" -of XML -y >/dev/null 2>&1 || fail "tracerpt"
says '<Data Name="Guest">Ada</Data>' "$T/k.xml" "tracerpt"

q() { openetw wevtutil qe "$T/k.etl" /lf:true "$@" >"$T/q" || fail "qe $*"; }
lines() { wc -l <"$T/q"; }
q
expect "all events" "$(grep -c '^<Event ' "$T/q")" 9
expect "one a line" "$(lines)" 9
q '/q:*[System[EventID=1]]'
expect "events with id 1" "$(lines)" "$(openetw dump -q --json "$T/k.etl" | grep Kitchen | grep -c '"id":1,')"
q "/q:*[EventData[Data[@Name='Guest']='Ada']]"
[ "$(lines)" -gt 0 ] || fail "no guest Ada"
says "<Data Name='Guest'>Ada</Data>" "$T/q" "qe"
q /c:2 /e:Root
expect "with a root element" "$(head -1 "$T/q")" "<Root>"
expect "lines of two events" "$(lines)" 4
py 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/q" || fail "qe is no XML"
q /rd:true
sed -n 1p "$T/q" >"$T/newest"
q
[ "$(tail -1 "$T/q")" = "$(cat "$T/newest")" ] || fail "/rd does not begin with the last event"
q /f:text "/q:*[System[EventID=1]]" /c:1
says '^Event\[0\]:$' "$T/q" "qe /f:text"
says '^  Source: OpenETW-Sample-Kitchen$' "$T/q" "qe /f:text"
says '^  Event ID: 1$' "$T/q" "qe /f:text"
q /f:RenderedXml /c:1
says "<RenderingInfo Culture='en-US'><Message>" "$T/q" "qe /f:RenderedXml"
cat >"$T/list.xml" <<END
<QueryList><Query Id="0" Path="file://$T/k.etl"><Select>*[System[EventID &lt; 3]]</Select>
<Suppress>*[System[EventID=2]]</Suppress></Query></QueryList>
END
openetw wevtutil qe "$T/list.xml" /sq:true >"$T/sq" || fail "qe /sq"
q '/q:*[System[EventID<3 and EventID!=2]]'
cmp -s "$T/q" "$T/sq" || fail "the structured query selects something else"
# A bookmark says where the next query goes on, in the form of the event log's.
q /c:4 "/sbm:$T/mark.xml"
says "<Bookmark Channel='$T/k.etl' RecordId='4' IsCurrent='true'/>" "$T/mark.xml" "qe /sbm"
q "/bm:$T/mark.xml" "/sbm:$T/mark.xml"
expect "events behind the bookmark" "$(lines)" 5
q "/bm:$T/mark.xml"
expect "events behind the last" "$(lines)" 0
q /rd /c:2 "/sbm:$T/mark.xml"
q /rd "/bm:$T/mark.xml"
expect "events before the bookmark" "$(lines)" 7
echo '<BookmarkList/>' >"$T/none.xml"
run_status 1 openetw wevtutil qe "$T/k.etl" "/bm:$T/none.xml"
says 'no <Bookmark> with a RecordId' "$T/err" "a file without a bookmark"
run_status 2 openetw wevtutil qe "$T/k.etl" '/q:*[System[EventID='
says 'wrong at character 18' "$T/err" "a query with a mistake"


# A template's own XML stands where the manifest's author put the fields, and queries see it.
sed '/<data name="Extras"/a <UserData><Order xmlns="urn:kitchen"><Who of="%1">%2</Who><Rest>%3, 5%, %9</Rest></Order></UserData>' \
	"$man" >"$T/user.man"
im "$T/user.man" || fail "im of a manifest with UserData"
q '/q:*[UserData/Order[Who="Ada"]]' /c:1
says "</System><UserData><Order xmlns='urn:kitchen'><Who of='1'>Ada</Who><Rest>" "$T/q" "qe of UserData"
says ', 5%, %9</Rest></Order></UserData></Event>' "$T/q" "qe of UserData"
q '/q:*[EventData[Data[@Name="Guest"]="Ada"]]'
expect "events with both" "$(lines)" "$(grep -vc UserData "$T/q")"
im "$man" || fail "im"

run_status 0 openetw wevtutil um "$man" /sc:user
run_status 1 openetw wevtutil um "$man" /sc:user
says 'is not installed' "$T/err" "um twice"
run_status 0 openetw wevtutil ep
grep -q '^OpenETW-Sample-Kitchen$' "$T/out" && fail "still there after um"

# Names of other scripts, which file names cannot tell apart; many at once.
named() { # named NAME LAST-OF-GUID FILE
	sed "s/OpenETW-Sample-Kitchen/$1/; s/f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11/f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e$2/" \
		"$man" >"$3"
}
named 日本 21 "$T/a.man"
named 中国 22 "$T/b.man"
im "$T/a.man" && im "$T/b.man" || fail "im of names of other scripts"
run_status 0 openetw wevtutil ep
says '^日本$' "$T/out" "ep"
says '^中国$' "$T/out" "ep"
for i in 1 2 3 4 5 6 7 8; do
	im "$T/a.man" 2>>"$T/many" &
done
wait
[ -s "$T/many" ] && fail "im by many: $(cat "$T/many")"
openetw wevtutil um 日本 /sc:user && openetw wevtutil um 中国 /sc:user || fail "um by name"
ls "$XDG_DATA_HOME/openetw/manifests" | grep '^_' && fail "left behind"

run_status 2 openetw wevtutil cl Application
says 'no event log service' "$T/err" "cl"
run_status 2 openetw wevtutil ipm x
exit 0
