# SPDX-License-Identifier: MIT
# Providers whose code "openetw mc" generates: what they write decodes with the same manifest.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
generated=$SAMPLES/manifest-generated/manifest-generated
man=$root/samples/manifest-generated/kitchen.man

# Without a session the macros cost a test and nothing goes wrong.
"$generated" 2 || fail "nobody listens"

openetw run -p '{f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11}::255' -o "$T/kitchen.etl" -- "$generated" 2 2>/dev/null ||
	fail "run"
openetw dump --quiet --json --manifest "$man" "$T/kitchen.etl" | grep OpenETW-Sample-Kitchen >"$T/kitchen"
expect "events" "$(wc -l <"$T/kitchen")" 9
has() { grep -qF -- "$2" "$1" || fail "no $2 in: $(cat "$1")"; }
has "$T/kitchen" '{"Number":2,"Guest":"Ada","Dish":"pie","Extras":"salt|pepper",'
has "$T/kitchen" '"id":1,"channel":16,"level":4,"opcode":1,"task":1,"keywords":"0x8000000000000001"'
has "$T/kitchen" '{"Note":"no onions","Length":2,"Bytes":"cafe","Word":"warm",'
has "$T/kitchen" '{"Count":2,"Degrees":[90,-90],"Shelves":[1,2,3],"Hot":true,"Oven":"f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11","Weight":1.5,'
has "$T/kitchen" '"event":"Bake/Turn"'
has "$T/kitchen" '{"Number":1,"Plate":{"Width":24,"Temperature":-3},'

# A session that asks for one keyword at warning level gets what passes both.
openetw run -p '{f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11}:0x2:255' -o "$T/oven.etl" -- "$generated" 2 2>/dev/null ||
	fail "run with keywords"
openetw dump --quiet --json --manifest "$man" "$T/oven.etl" | grep OpenETW-Sample-Kitchen >"$T/oven"
expect "events of one keyword, and of none" "$(wc -l <"$T/oven")" 3

# All types, activity ids, traits, contexts of the caller.
types=$root/tests/mc/types.man
openetw run -p '{7b1d6f30-93f5-4c0e-8f5c-0d6d2f0a1c01}::255' -p '{7b1d6f30-93f5-4c0e-8f5c-0d6d2f0a1c03}::255' \
	-o "$T/types.etl" -- "$HELPERS/mc/mc_activity" >"$T/said" 2>/dev/null || fail "types: $(cat "$T/said")"
expect "what the program saw" "$(cat "$T/said")" "enabled 1 failed 0 called back yes"
openetw dump --quiet --json --manifest "$types" "$T/types.etl" | grep 'Test.T' >"$T/types"
expect "events of all types" "$(wc -l <"$T/types")" 5
has "$T/types" '{"Wide":"wé","Ansi":"NULL","I8":-1,"U8":2,"I16":-3,"U16":4,"I32":-5,"U32":6,"I64":-7,"U64":8,"F":1.5,"D":-2.5,"B":true,"Bytes":"01020304",'
has "$T/types" '"ST":"2020-02-29T01:02:03.004'
has "$T/types" '"Sid":"S-1-5-18","H32":"0x20","H64":"0x40","CW":"wé","CA":"abc","CB":"0102",'
has "$T/types" '{"Wide":["a","bc"],"Ansi":["d","ef"],"Short":"bc","Shorts":["ghi","jkl"],"I8":[-1,1],"U8":[1,2],"I16":[-2,2],"U64":[5,6],"D":[0.5,1],"Bytes":["0102","0304","0506"],'
has "$T/types" '"CW":["x","yz"],"S":[{"X":7},{"X":9}],'
has "$T/types" '{"N":2,"M":3,"Wide":["a","b"],"Ansi":"one",'
has "$T/types" '"CA":["x","yz"],"S":[{"X":1},{"X":2}],'
has "$T/types" '"activity":"11223344-5566-7788-0102-030405060708"'

# Command lines of builds for Windows, of any age, are taken; what is not done is refused with the reason.
openetw mc -W winmeta.xml -um -U -u -co -cp utf-8 -P ORDER -h "$T" -r "$T" -z lines "$man" || fail "mc's options"
has "$T/lines.h" '#define EventWriteTaken(Number, Guest, Dish, Extras)'
has "$T/lines.h" '#define _mcgen_CALLOUT 1'
openetw mc -m 22 -nocode -h "$T" -r "$T" -z long "$man" 2>"$T/long" || fail "-m"
has "$T/long" "warning: string 'Event.OrderTaken' of en-US has 24 characters, more than 22"
openetw mc -n "$man" 2>"$T/no" && fail "-n was taken"
has "$T/no" 'it is for .mc files'
