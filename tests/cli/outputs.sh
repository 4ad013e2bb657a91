# SPDX-License-Identifier: MIT
# Files for output: nobody else chooses what is written, an earlier file is kept once, Windows' paths are told.
. "$(dirname "$0")/lib.sh"
cd "$T" || fail "cd"
record_hello in.etl 2
cp in.etl in2.etl

# Each way to make a file: make FILE.
make_start() { openetw start s -o "$1" >/dev/null && openetw stop s >/dev/null; }
make_start_force() { openetw start s --force -o "$1" >/dev/null && openetw stop s >/dev/null; }
make_run() { openetw run -p X -o "$1" -- true; }
make_relog() { openetw relog in.etl -o "$1"; }
make_merge() { openetw merge in.etl in2.etl -o "$1"; }
make_flush() {
	openetw start box -m buffering -p X >/dev/null && openetw flush box -o "$1"
	status=$?
	openetw stop box >/dev/null
	return $status
}
make_tracerpt() { openetw tracerpt in.etl -o "$1" -y >/dev/null; }
make_summary() { openetw tracerpt in.etl -summary "$1" -y >/dev/null; }
make_html() { openetw tracerpt in.etl -report "$1" -y >/dev/null; }
make_tracefmt() { openetw tracefmt in.etl -o "$1" -nosummary; }
make_dumper() { openetw xperf -i in.etl -o "$1" -a dumper; }
make_tracestats() { openetw xperf -i in.etl -o "$1" -a tracestats; }
make_xperf_merge() { openetw xperf -merge in.etl in2.etl "$1" >/dev/null; }
make_xperf() { openetw xperf -start x -on X -f "$1" && openetw xperf -stop x >/dev/null; }
make_update() { openetw start u -o u0.etl >/dev/null && openetw tracelog -update u -f "$1" >/dev/null; r=$?; openetw stop u >/dev/null; return $r; }
make_xperf_d() { openetw xperf -start x -on X -f part.etl && openetw xperf -stop x -d "$1" >/dev/null; }
make_logman() { openetw logman start l -ets -p '{6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e99}' -o "$1" >/dev/null && openetw logman stop l -ets >/dev/null; }
make_tracelog() { openetw tracelog -start t -f "$1" >/dev/null && openetw tracelog -stop t >/dev/null; }
make_bookmark() { openetw wevtutil qe in.etl /lf:true "/sbm:$1" >/dev/null; }
make_export() { openetw logman create trace c -p '{6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e99}' >/dev/null 2>&1; openetw logman export c -xml "$1" >/dev/null; }
make_wpr_export() { openetw wpr -exportprofile Light "$1" >/dev/null || openetw wpr -exportprofile CPU "$1" >/dev/null; }
ways="start run relog merge flush tracerpt summary html tracefmt dumper tracestats xperf_merge xperf update xperf_d logman tracelog bookmark export wpr_export"
# samples enough for a stack
if openetw record --cpu -o probe.etl -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' >/dev/null 2>&1; then
	recorded() { # on a busy machine perf has no descriptors at times
		for try in 1 2 3 4 5; do
			openetw record -d 10ms "$@" 2>rec.err
			status=$?
			grep -q 'Too many open files' rec.err || break
			sleep 0.5
		done
		cat rec.err >&2
		rm -f rec.err
		return $status
	}
	make_record() { recorded -o "$1"; }
	make_record_merged() { recorded -p X -o "$1"; }
	make_folded() { openetw report probe.etl --folded "$1" >/dev/null; }
	make_speedscope() { openetw report probe.etl --speedscope "$1" >/dev/null; }
	ways="$ways record record_merged folded speedscope"
	if openetw record --packets lo -o packets.etl -- "$HELPERS/net_acts" >/dev/null 2>&1 &&
		openetw pcapng packets.etl -o packets.pcapng 2>/dev/null; then
		make_pcapng() { openetw pcapng packets.etl -o "$1"; }
		ways="$ways pcapng"
	fi
fi

# ---- a new file; again, which keeps the earlier one; no other name is left
for w in $ways; do
	mkdir "w_$w" && cd "w_$w" || fail "cd"
	ln -s ../in.etl ../in2.etl .
	[ ! -f ../probe.etl ] || ln -s ../probe.etl ../packets.etl .
	"make_$w" new.etl >out 2>err || fail "$w: $(cat err)"
	[ -s new.etl ] || fail "$w makes no file"
	if [ "$w" = bookmark ]; then
		"make_$w" new.etl >out 2>err || fail "$w again: $(cat err)"
	else
		echo "an earlier one" >new.etl
		case $w in
		tracerpt | summary | html) # -y
			"make_$w" new.etl >out 2>err || fail "$w again: $(cat err)"
			[ ! -e new.etl.old ] || fail "$w -y keeps the earlier file"
			;;
		*)
			"make_$w" new.etl >out 2>err || fail "$w again: $(cat err)"
			[ "$(cat new.etl.old)" = "an earlier one" ] || fail "$w loses the earlier file: $(ls; cat err)"
			grep -q 'the earlier .*new.etl is new.etl.old now' err || fail "$w does not say that it keeps the earlier file: $(cat err)"
			;;
		esac
	fi
	[ "$(head -c 5 new.etl)" != "an ea" ] || fail "$w wrote nothing"
	left=$(ls -A | grep -vE '^(new.etl|new.etl.old|out|err|in.etl|in2.etl|probe.etl|packets.etl|part.etl|part.etl.old|u0.etl|u0.etl.old)$')
	[ -z "$left" ] || fail "$w leaves $left"
	cd ..
done
# --force keeps none; the mode of the file stays
mkdir force && cd force || fail "cd"
ln -s ../in.etl ../in2.etl .
for w in start_force; do
	echo "an earlier one" >$w
	"make_$w" $w 2>err || fail "$w: $(cat err)"
	[ ! -e $w.old ] || fail "$w keeps the earlier file"
done
for w in run relog merge; do
	echo secret >private
	chmod 600 private
	"make_$w" private 2>err || fail "$w: $(cat err)"
	expect "mode after $w" "$(stat -c %a private private.old | tr '\n' ' ')" "600 600 "
	rm private.old
done
openetw relog --force in.etl -o private 2>err || fail "relog --force"
[ ! -e private.old ] || fail "relog --force keeps the earlier file"
: >empty
make_run empty 2>err || fail "run into an empty file"
[ ! -e empty.old ] || fail "an empty file is kept"
# a session that cannot start leaves the earlier file where it was
echo "an earlier one" >stays
openetw start twice -r >/dev/null
openetw start twice -r -o stays >/dev/null 2>err && fail "twice"
openetw stop twice >/dev/null
expect "after a start that failed" "$(cat stays)" "an earlier one"
# one that a session writes is left to it
openetw start writer -o busy.etl >/dev/null || fail "start"
openetw start other -o busy.etl >/dev/null 2>err && fail "two sessions write a file"
openetw record -d 10ms -o busy.etl >/dev/null 2>err && fail "two write a file"
[ ! -e busy.etl.old ] || fail "the file of a session was moved away"
openetw stop writer >/dev/null || fail "stop"
openetw info busy.etl >/dev/null || fail "the first one's file is no trace"
run_status 1 openetw tracerpt in.etl -o stays
says '-y overwrites it' "$T/err" "tracerpt without -y"
expect "after tracerpt without -y" "$(cat stays)" "an earlier one"
cd ..

# ---- standard output, and where other files are not followed
openetw tracerpt in.etl -o - -of CSV | grep -q 'Event Name,  *Type' || fail "tracerpt -o -"
openetw tracefmt in.etl -o /dev/stdout -nosummary | grep -q EventTrace || fail "tracefmt -o /dev/stdout"
openetw xperf -i in.etl -o /dev/null -a dumper || fail "xperf -o /dev/null"
[ -c /dev/null ] || fail "/dev/null is gone"
run_status 1 openetw relog in.etl -o /dev/null
says 'it is a device of root, no regular file' "$T/err" "relog to a device"
run_status 1 openetw start dev -o /dev/null
run_status 1 openetw mc /dev/null -h /dev/null
[ -c /dev/null ] || fail "/dev/null is gone"

# ---- links, also one's own
for w in $ways; do
	rm -f victim link.etl
	echo precious >victim
	ln -s victim link.etl
	"make_$w" link.etl >out 2>err && fail "$w follows a symbolic link"
	expect "victim of $w" "$(cat victim)" precious
	[ "$w" = export ] || [ "$w" = wpr_export ] || grep -q 'symbolic link' err || fail "$w does not say what is there: $(cat err)"
	openetw stop s >/dev/null 2>&1
	openetw stop x >/dev/null 2>&1
	openetw stop l >/dev/null 2>&1
	openetw stop t >/dev/null 2>&1
	openetw list 2>/dev/null | grep -q '^[slxt] ' && fail "$w leaves a session"
done

# ---- root in the directory of somebody else
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$T"
	mkdir alice alice/target
	for w in $ways; do
		rm -rf alice/* etc
		mkdir etc
		echo precious >etc/victim
		ln -s ../etc/victim alice/link.etl
		ln etc/victim alice/hard.etl
		ln -s ../etc alice/way
		echo hers >alice/hers.etl
		mkfifo alice/fifo.etl
		chown -h 4242:4242 alice alice/link.etl alice/hers.etl alice/way alice/fifo.etl
		chmod 666 alice/hers.etl alice/fifo.etl
		case $w in # all go one of two ways; some go all
		start | relog | tracerpt | record | xperf_d | logman) names="link.etl hard.etl hers.etl fifo.etl way/new.etl" ;;
		*) names="link.etl hers.etl" ;;
		esac
		for name in $names; do
			# nothing may wait for a reader of the FIFO
			( "make_$w" "alice/$name" ) >out 2>err &
			maker=$!
			( sleep 20; kill -9 $maker ) 2>/dev/null &
			guard=$!
			wait $maker && fail "$w writes alice/$name"
			kill $guard 2>/dev/null
			expect "victim of $w through $name" "$(cat etc/victim)" precious
			expect "alice's own file after $w" "$(cat alice/hers.etl)" hers
			[ ! -e etc/new.etl ] || fail "$w writes through alice/way"
			openetw stop s >/dev/null 2>&1
			openetw stop x >/dev/null 2>&1
			openetw stop l >/dev/null 2>&1
			openetw stop t >/dev/null 2>&1
		done
		"make_$w" alice/new.etl >out 2>err || fail "$w makes no new file there: $(cat err)"
	done
fi
exit 0
