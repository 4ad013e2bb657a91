# SPDX-License-Identifier: MIT
# Cut, torn and random files through the command line: a message that names file and offset, an exit
# status that is not 0, the good rest shown, and never a crash.
. "$(dirname "$0")/lib.sh"
openetw start f -o "$T/good.etl" -p Test.File -b 16 >/dev/null || fail "start"
"$HELPERS/emit" Test.File 3000 wait keywords=1 >/dev/null
openetw stop f >/dev/null || fail "stop"
size=$(stat -c %s "$T/good.etl")
[ "$size" -ge $((16384 * 14)) ] || fail "a file of $size bytes is too small for this test"
# Makes $T/bad.etl: damage WHERE HOW-MANY (random bytes at an offset)
damage() { dd if=/dev/urandom of="$T/bad.etl" bs=1 seek="$1" count="$2" conv=notrunc 2>/dev/null; }
crashed() { [ "$1" -ge 124 ] && fail "$2 ended with status $1: $(tail -3 "$T/err")"; }
check() { # check WHAT LEAST-EVENTS: must complain, must show the rest
	timeout 60 openetw dump --json --quiet "$T/bad.etl" >"$T/out" 2>"$T/err"
	code=$?
	crashed $code "dump of $1"
	n2=$(wc -l <"$T/out")
	timeout 60 openetw stats "$T/bad.etl" >"$T/out2" 2>"$T/err2"
	code2=$?
	crashed $code2 "stats of $1"
	[ $code -ne 0 ] || fail "dump of $1 ended with status 0"
	[ $code2 -ne 0 ] || fail "stats of $1 ended with status 0"
	for e in "$T/err" "$T/err2"; do
		grep -q 'bad\.etl' "$e" || fail "$1: the message does not name the file: $(cat "$e")"
		grep -q 'at byte [0-9]' "$e" || fail "$1: the message names no offset: $(cat "$e")"
	done
	[ "$n2" -ge "$2" ] || fail "$1: $n2 events shown, at least $2 are good"
}
head -c $((16384 * 12 + 8000)) "$T/good.etl" >"$T/bad.etl"
check "a file cut in the middle of a full buffer" 1000
cp "$T/good.etl" "$T/bad.etl"
damage $((16384 * 3)) 72
check "a file with a damaged buffer header" 2000
cp "$T/good.etl" "$T/bad.etl"
damage $((16384 * 3 + 72)) 300
check "a file with damaged records" 2000
head -c 30000 /dev/urandom >"$T/bad.etl"
check "random bytes" 0
head -c 100 "$T/good.etl" >"$T/bad.etl"
check "the first 100 bytes of a file" 0
: >"$T/bad.etl"
timeout 60 openetw dump "$T/bad.etl" >/dev/null 2>"$T/err"
code=$?
crashed $code "dump of an empty file"
[ $code -ne 0 ] && grep -q 'bad\.etl' "$T/err" || fail "an empty file: status $code, $(cat "$T/err")"
i=0
while [ $i -lt 40 ]; do
	i=$((i + 1))
	cp "$T/good.etl" "$T/bad.etl"
	k=0
	while [ $k -lt 4 ]; do
		k=$((k + 1))
		at=$(($(od -An -N4 -tu4 /dev/urandom) % size))
		[ $((i % 4)) -eq 0 ] && at=$((at % 800)) # the header
		damage $at $(($(od -An -N1 -tu1 /dev/urandom) % 12 + 1))
	done
	for verb in dump stats; do
		timeout 60 openetw $verb "$T/bad.etl" >/dev/null 2>"$T/err"
		code=$?
		[ $code -ge 124 ] && cp "$T/bad.etl" "/tmp/openetw-crash-$$.etl" && echo "kept as /tmp/openetw-crash-$$.etl"
		crashed $code "$verb of a file with random damage"
	done
done
exit 0
