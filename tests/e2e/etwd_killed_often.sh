# SPDX-License-Identifier: MIT
# etwd is killed again and again under load: the programs never notice, every file is readable as far as
# it was written, and the next etwd gets its providers back.
. "$(dirname "$0")/lib.sh"
programs=
for i in 1 2 3; do
	"$HELPERS/emit" Test.Often 0 threads=2 pace=100 size=100 book="$T/book$i" >/dev/null &
	programs="$programs $!"
done
"$HELPERS/emit" Test.Often 0 threads=4 pace=1 book="$T/book4" >/dev/null &
programs="$programs $!"
attempts() { for b in "$T"/book*; do od -An -tu8 -N8 "$b"; done | tr -d ' ' | tr '\n' ' '; }
rounds=${ROUNDS:-50}
i=0 with_events=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	f=$T/$i.etl
	openetw start often -o "$f" -p Test.Often -b 16 --buffers 8:64 -f 1 >"$T/start" 2>&1 || fail "start $i: $(cat "$T/start")"
	ms=$(($(od -An -N2 -tu2 /dev/urandom) % 250))
	sleep "$(printf '0.%03d' $ms)"
	p=$(etwd_pid)
	kill -9 "$p" || fail "round $i: no etwd"
	gone() { [ -z "$(ls "/proc/$p/fd" 2>/dev/null)" ]; } # or a zombie
	wait_for 20 gone || fail "round $i: etwd does not die"
	before=$(attempts)
	v=$("$HELPERS/verify" "$f") || fail "round $i, after $ms ms: the file is damaged: $v"
	openetw stats "$f" >"$T/stats" 2>&1 || fail "round $i: stats: $(cat "$T/stats")"
	openetw dump --json --quiet "$f" >/dev/null 2>"$T/err" || fail "round $i: dump: $(cat "$T/err")"
	case $v in events=0*) ;; *) with_events=$((with_events + 1)) ;; esac
	rm -f "$f"
	moved() { [ "$(attempts | cut -d' ' -f$1)" -gt "$(echo "$before" | cut -d' ' -f$1)" ]; }
	for n in 1 2 3 4; do wait_for 60 moved $n || fail "round $i: program $n is blocked"; done
done
for p in $programs; do kill -0 "$p" || fail "a program died with etwd"; done
[ "$with_events" -ge $((rounds / 10)) ] || fail "only $with_events of $rounds files held events"
# and a whole one
openetw start last -o "$T/last.etl" -p Test.Often >/dev/null || fail "start after the kills"
sleep 0.5
openetw stop last >/dev/null || fail "stop"
v=$("$HELPERS/verify" "$T/last.etl") || fail "$v"
case $v in *processes=4*) ;; *) fail "not all providers came back: $v" ;; esac
