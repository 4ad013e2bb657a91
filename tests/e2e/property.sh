# SPDX-License-Identifier: MIT
# emitted = in the file or delivered + counted losses, over random configurations. SEED repeats a run,
# ROUNDS makes it longer.
. "$(dirname "$0")/lib.sh"
SEED=${SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}
echo "SEED=$SEED"
state=$SEED
roll() { # roll N: sets $r
	state=$(((state * 1103515245 + 12345) % 2147483648))
	r=$((state / 65536 % $1))
}
pick() { # pick WORD…: sets $r
	n=$#
	roll $n
	shift $r
	r=$1
}
round=0
while [ $round -lt "${ROUNDS:-12}" ]; do
	round=$((round + 1))
	pick 4 16 64 256; size=$r
	pick 4:4 4:8 8:64 32:128; buffers=$r
	pick sequential sequential newfile circular realtime; mode=$r
	pick 1 1 2 3; processes=$r
	pick 1 2 4 8; threads=$r
	pick 1000 10000 100000; count=$r
	pick 0 0 20; pace=$r
	[ "$pace" -ne 0 ] && count=$((count / 50 + 400))
	pick 0 0 40 400 3000; extra=$r
	pick no no yes; kills=$r
	pick "" "" --no-per-cpu; stream=$r
	what="round $round of SEED=$SEED: -b $size --buffers $buffers $mode $stream, $processes x $threads threads, $count events of $extra, pace $pace, kill $kills"
	echo "$what"
	d=$T/$round
	mkdir "$d"
	case $mode in
	# Who is killed writes until then, and verify reads 64 files at most.
	newfile) set -- -o "$d/f%d.etl" -m newfile --max-size "$([ "$kills" = yes ] && echo 16 || echo 2)" ;;
	circular) set -- -o "$d/f.etl" -m circular --max-size 2 ;;
	realtime) set -- -r ;;
	*) set -- -o "$d/f.etl" ;;
	esac
	openetw start s -p Test.Property -b "$size" --buffers "$buffers" $stream "$@" >/dev/null || fail "start, $what"
	if [ "$mode" = realtime ]; then
		"$HELPERS/verify" live:s >"$d/v" &
		consumer=$!
		wait_for 60 attached $consumer || fail "the consumer did not attach, $what"
	fi
	pids=
	i=0
	while [ $i -lt "$processes" ]; do
		i=$((i + 1))
		c=$count
		[ $kills = yes ] && c=0
		"$HELPERS/emit" Test.Property "$c" wait threads="$threads" pace="$pace" keywords=1 size="$extra" \
			book="$d/book$i" >"$d/out$i" &
		pids="$pids $!"
	done
	if [ $kills = yes ]; then
		sleep 0.3
		for p in $pids; do kill -9 "$p"; done
	fi
	for p in $pids; do wait "$p" 2>/dev/null; done
	openetw flush s || fail "flush, $what"
	if [ "$mode" = realtime ]; then # what is still on its way to the consumer
		sleep 0.5
	fi
	openetw query s --json >"$d/q" || fail "query, $what"
	timeout 60 openetw stop s >"$d/stop" || fail "stop, $what"
	if [ "$mode" = realtime ]; then
		wait "$consumer" || fail "consumer: $(cat "$d/v"), $what"
	else
		"$HELPERS/verify" "$d"/*.etl >"$d/v" || fail "$(cat "$d/v"), $what"
	fi
	events=$(sed 's/events=\([0-9]*\).*/\1/' "$d/v")
	lost=$(loss_sum "$d/q")
	ok=0 attempts=0
	for b in "$d"/book*; do
		set -- $(od -An -tu8 "$b")
		attempts=$((attempts + $1)) ok=$((ok + $2))
	done
	# A kill leaves at most one event a thread that is neither surely written nor surely not.
	if [ $((events + lost)) -lt "$ok" ] || [ $((events + lost)) -gt "$attempts" ]; then
		cp "$d/q" /tmp/openetw-property-query.json 2>/dev/null
		fail "$events events + $lost lost = $((events + lost)), not $ok to $attempts; $what; $(cat "$d/v" "$d/q" "$d/stop")"
	fi
	rm -rf "$d"
done
