# SPDX-License-Identifier: MIT
# README's program compiles, and its lines do what it says: those of its blocks, as they stand there.
. "$(dirname "$0")/lib.sh"
nm "$OPENETW_BUILD/libetw.so" 2>/dev/null | grep -q "__asan_init\|__tsan_init" && skip "a sanitizer's libraries are not for others"
README=$(cd "$(dirname "$0")/../.." && pwd)/README.md
cd "$T" || fail "cd"
DESTDIR=$T/all meson install -C "$OPENETW_BUILD" --no-rebuild >"$T/log" 2>&1 || fail "meson install: $(tail -5 "$T/log")"
bin=$(dirname "$(find "$T/all" -path '*/bin/openetw')")
PATH=$bin:$PATH
lib=$(dirname "$(find "$T/all" -name libetw.so)")
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
sed -n '/^#include <windows.h>/,/^}/p' "$README" >shop.c
openetw-cc shop.c -o shop 2>err || fail "README's program: $(cat err)"
# block PATTERN: the lines of the block in which a line begins so
block() {
	awk -v p="$1" '/^```/ { if (on && hit) print b; on = !on; b = ""; hit = 0; next } on { if (index($0, p) == 1) hit = 1; b = b $0 "\n" }' "$README"
}
block 'openetw run -p' >lines
[ "$(grep -c . lines)" -ge 4 ] || fail "the block of 'openetw run': $(cat lines)"
while read -r line; do
	[ -z "$line" ] && continue
	sh -c "$line" >out 2>err || fail "'$line': $(cat out err)"
	case $line in
	'openetw run '*) says ': 1 event' err "$line" ;;
	'openetw stop '*) says '^1 event,' out "$line" ;;
	esac
done <lines
block 'openetw info' >lines
[ "$(grep -c . lines)" -ge 5 ] || fail "the block of 'openetw info': $(cat lines)"
while read -r line; do
	[ -z "$line" ] && continue
	case $line in *'| jq'*) command -v jq >/dev/null || continue ;; esac
	sh -c "$line" >out 2>err || fail "'$line': $(cat out err)"
	case $line in
	*jq*) expect "$line" "$(cat out)" 3 ;;
	'openetw dump '*) says 'MyCompany.Shop/Sold <info> Article=teapot Amount=3' out "$line" ;;
	'openetw relog '*) says '1 of 1 event kept' err "$line" ;;
	esac
done <lines
[ -s both.etl ] || fail "no both.etl"
# the first line of watching
line=$(block 'openetw live' | grep '^openetw live')
eval "exec $line" >live.out 2>live.err &
p=$!
wait_for 30 grep -qs watching live.err || fail "'$line' does not begin: $(cat live.err)"
wait_for 30 sh -c './shop; grep -q teapot live.out' || fail "'$line' shows nothing: $(cat live.out live.err)"
kill -INT $p
wait $p
exit 0
