# SPDX-License-Identifier: MIT
# A signal in the middle: said, 128 + its number, and nothing that was cut looks whole.
. "$(dirname "$0")/lib.sh"
cd "$T" || fail "cd"
env --default-signal=INT true 2>/dev/null || skip "no env that gives signals back"
openetw start big -o big.etl -p Test.Big --buffers 64:256 >/dev/null || fail "start"
"$HELPERS/emit" Test.Big 600000 wait keywords=1 size=64 pace=0 >/dev/null || fail "emit"
openetw stop big >/dev/null || fail "stop"
cp big.etl copy.etl && openetw merge big.etl copy.etl -o all.etl && mv all.etl big.etl || fail "merge"
[ "$(stat -c %s big.etl)" -gt 40000000 ] || fail "not much was recorded"

# cut SIGNAL COMMAND…: a signal comes while it reads; output in out, errors in err
reads() { grep -qs big.etl "/proc/$1/maps" || ls -l "/proc/$1/fd" 2>/dev/null | grep -q big.etl || ! grep -qs 'State:.[^Z]' "/proc/$1/status"; }
cut_by() {
	signal=$1
	shift
	for try in 1 2 3 4 5 6 7 8 9 10; do
		env --default-signal=INT,TERM,HUP "$@" >out 2>err </dev/null &
		p=$!
		wait_for 30 reads $p || fail "'$*' does not read: $(cat err)"
		[ $try -gt 5 ] || sleep 0.02
		kill -STOP $p
		wait_for 30 grep -q 'State:.[TZ]' /proc/$p/status
		grep -q 'State:.T' /proc/$p/status && break
		wait $p # it was faster than we
	done
	kill -"$signal" $p
	kill -CONT $p
	wait $p
	expect "status of '$*' after $signal ($(cat err))" $? "$([ "$signal" = INT ] && echo 130 || echo 143)"
	grep -q 'interrupted' err || fail "'$*' does not say that it was interrupted: $(cat err)"
}
# no_file NAME: there is none, and where there is a part, stderr says so
no_file() {
	[ ! -e "$1" ] || fail "$1 looks whole"
	if [ -e "$1.partial" ]; then
		grep -q "$1.partial" err || fail "nobody says where the part is: $(cat err)"
		rm "$1.partial"
	fi
}

for signal in INT TERM; do
	cut_by $signal openetw tracerpt big.etl -o x.xml -summary x.txt -y
	grep -q 'completed successfully' out && fail "tracerpt says that it is done"
	[ ! -e x.xml.partial ] || ! grep -q '</Events>' x.xml.partial || fail "cut XML is closed"
	no_file x.xml
	no_file x.txt
done
cut_by INT openetw tracerpt big.etl -o x.csv -of CSV
no_file x.csv
cut_by INT openetw tracerpt big.etl -report x.html
no_file x.html
cut_by INT openetw tracefmt big.etl -o fmt.txt
no_file fmt.txt
no_file fmt.sum
cut_by INT openetw wevtutil qe big.etl /lf:true /e:Root
grep -q '</Root>' out && fail "cut XML has its root's end"
cut_by TERM openetw wevtutil qe big.etl /lf:true /f:text /rd
[ ! -s out ] || fail "qe /rd shows what is not the newest"
cut_by INT openetw dump big.etl
cut_by INT openetw dump --json big.etl
cut_by INT openetw stats big.etl
[ ! -s out ] || fail "counts of a part: $(cat out)"
cut_by INT openetw stats --json --by process big.etl
[ ! -s out ] || fail "counts of a part: $(cat out)"
cut_by INT openetw report big.etl
[ ! -s out ] || fail "tables of a part: $(cat out)"
cut_by INT openetw report big.etl --folded folded.txt
no_file folded.txt
cut_by INT openetw xperf -i big.etl -a dumper -o d.txt
no_file d.txt
cut_by INT openetw xperf -i big.etl -a tracestats -o d.txt
no_file d.txt
cut_by INT openetw xperf -i big.etl -a process
[ ! -s out ] || fail "tables of a part: $(cat out)"
cut_by INT openetw relog big.etl -o r.etl
no_file r.etl
cut_by INT openetw merge big.etl -o m.etl
no_file m.etl
cut_by INT openetw xperf -merge big.etl m.etl
no_file m.etl
cut_by INT openetw wpr -merge big.etl m.etl
no_file m.etl
cut_by INT openetw pcapng big.etl -o p.pcapng
no_file p.pcapng

# The file that was there before is still there, whole.
echo "an earlier one" >r.etl
cut_by INT openetw relog big.etl -o r.etl
expect "what was there before" "$(cat r.etl)" "an earlier one"
[ ! -e r.etl.old ] || fail "an interrupted relog moved the earlier file"

# Output that nobody reads any more ends it as SIGPIPE does, and leaves no file either.
{ openetw tracefmt big.etl -o seen.txt -display 2>err; echo $? >status; } | head -2 >/dev/null
expect "status at a closed pipe" "$(cat status)" 141
no_file seen.txt
{ openetw dump big.etl 2>err; echo $? >status; } | head -2 >/dev/null
expect "status of dump at a closed pipe" "$(cat status)" 141

# nohup means it: a hang-up ends nothing.
(trap '' HUP; exec env --default-signal=INT openetw relog big.etl -o nohup.etl) >out 2>err &
p=$!
wait_for 30 reads $p || fail "relog does not read"
kill -HUP $p
wait $p || fail "relog under nohup ends with $?: $(cat err)"
[ -s nohup.etl ] || fail "no nohup.etl"

# What goes on until it is stopped ends so without a fault.
rm err
openetw live -p Test.Big >out 2>err &
p=$!
wait_for 30 grep -qs watching err || fail "live does not begin"
kill -INT $p
wait $p
expect "status of live" $? 0
rm err
openetw live -p Test.Big -n 5 >out 2>err &
p=$!
wait_for 30 grep -qs watching err || fail "live does not begin"
kill -INT $p
wait $p
expect "status of live -n" $? 130
if openetw record -d 10ms -o probe.etl >/dev/null 2>&1; then
	for limit in "-d 60s" ""; do
		openetw record $limit -o rec.etl >out 2>err &
		p=$!
		wait_for 30 grep -qs "^recording" err || fail "record does not begin"
		kill -INT $p
		wait $p
		expect "status of record $limit ($(cat err))" $? "$([ -n "$limit" ] && echo 130 || echo 0)"
		run_status 0 openetw info rec.etl
		rm -f rec.etl
	done
fi
exit 0
