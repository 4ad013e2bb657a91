# SPDX-License-Identifier: MIT
# relog and merge: what is kept is unchanged, what is changed reads so, what would ruin a file is refused.
. "$(dirname "$0")/lib.sh"

record_hello "$T/a.etl" 20
record_hello "$T/b.etl" 30
dump() { openetw dump -q --format json "$@"; }
count() { dump "$@" | wc -l; }

# merge: everything of both, in order, and the same bytes again after compressing and expanding
run_status 0 openetw merge "$T/a.etl" "$T/b.etl" -o "$T/ab.etl"
events='provider == "OpenETW.Sample.Hello"'
all=$(count -F "$events" "$T/a.etl" "$T/b.etl")
[ "$(count -F "$events" "$T/ab.etl")" -eq "$all" ] || fail "merge lost events"
# (to a tick: the second file's times now count from the first file's start)
timeless() { sed 's/"time":"[^"]*"//'; }
dump -F "$events" "$T/a.etl" "$T/b.etl" | timeless >"$T/two"
dump -F "$events" "$T/ab.etl" >"$T/merged"
timeless <"$T/merged" >"$T/one"
cmp -s "$T/one" "$T/two" || fail "merged events differ: $(diff "$T/one" "$T/two" | head -4)"
run_status 0 openetw merge "$T/ab.etl" -o "$T/small.etl" --compress
run_status 0 openetw merge "$T/small.etl" -o "$T/wide.etl"
[ "$(stat -c %s "$T/small.etl")" -lt "$(($(stat -c %s "$T/ab.etl") / 2))" ] || fail "not compressed"
dump "$T/wide.etl" -F "$events" >"$T/wide"
cmp -s "$T/merged" "$T/wide" || fail "compressing and expanding changed events"
run_status 0 openetw info --json "$T/ab.etl"
says '"session":"Relogger"' "$T/out" "the name that merges carry"

# relog: selection, its opposite, header fields, time
run_status 0 openetw relog "$T/ab.etl" -o "$T/orders.etl" -e Order
run_status 0 openetw relog "$T/ab.etl" -o "$T/rest.etl" -e Order --invert
orders=$(count -e Order "$T/ab.etl")
[ "$orders" -gt 0 ] && [ "$(count -F "$events" "$T/orders.etl")" -eq "$orders" ] || fail "relog -e"
[ "$(count -F "$events" "$T/rest.etl")" -eq $((all - orders)) ] || fail "relog --invert"
run_status 0 openetw relog "$T/orders.etl" -o "$T/set.etl" --set pid=7 --set tid=8 --set level=2 --set opcode=77 \
	--set id=9 --set version=3 --set channel=17 --set keyword=0x10 --set cpu=1 --set task=5 --shift +1h
run_status 0 openetw dump -q --format csv --fields pid,tid,level,opcode,id,version,channel,keywords,cpu,task \
	-F "pid == 7" "$T/set.etl"
[ "$(grep -c '^7,8,2,77,9,3,17,0x10,1,5$' "$T/out")" -eq "$orders" ] || fail "--set: $(head -3 "$T/out")"
before=$(openetw dump -q --fields time -n 1 -F "$events" "$T/orders.etl" | cut -c12-13)
after=$(openetw dump -q --fields time -n 1 -F 'pid == 7' "$T/set.etl" | cut -c12-13)
[ $(((${after#0} - ${before#0} + 24) % 24)) -eq 1 ] || fail "--shift: $before became $after"

# the relogger's programming interface, from C++: kernel ImageLoad events for a plugin of one's own
printf '4711 7f0000400000 25000 /opt/app/plugins/effects.plug\n' >"$T/modules"
run_status 0 "$SAMPLES/inject-image-load" "$T/a.etl" "$T/injected.etl" "$T/modules"
run_status 0 openetw dump -q --json -F 'pid == 4711' "$T/injected.etl"
says '"ImageBase":"0x7f0000400000"' "$T/out" "the base"
says 'effects.plug' "$T/out" "the path"
says 'Image/Load' "$T/out" "the event's name"
[ "$(count -F "$events" "$T/injected.etl")" -eq "$(count -F "$events" "$T/a.etl")" ] || fail "injecting lost events"

# mistakes
run_status 2 openetw relog "$T/ab.etl"
run_status 2 openetw relog "$T/ab.etl" -o "$T/x.etl" --set pid=abc
run_status 2 openetw relog "$T/ab.etl" -o "$T/x.etl" --set level=256
size=$(stat -c %s "$T/ab.etl")
run_status 1 openetw relog "$T/ab.etl" -o "$T/ab.etl"
run_status 1 openetw merge "$T/a.etl" "$T/ab.etl" -o "$T/ab.etl"
[ "$(stat -c %s "$T/ab.etl")" -eq "$size" ] || fail "an input was overwritten"
run_status 1 openetw merge /no/such.etl -o "$T/x.etl"
says '/no/such.etl' "$T/err" "which file"
head -c 5000 /dev/zero >"$T/zero"
run_status 1 openetw merge "$T/zero" -o "$T/x.etl"
