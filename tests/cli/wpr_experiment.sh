# SPDX-License-Identifier: MIT
# What a provider's callback sees of two recordings one after the other, exactly as on Windows; and how long
# "wpr -stop" waits for a provider that reports its state.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$T" || exit 1
export OPENETW_WAIT_MS=5000
export TMPDIR="$T"
provider=ca11bac0-0001-4e57-8a5e-001122334455
start_provider() { # start_provider ARGS…: what it prints goes to $T/seen
	: >seen
	"$HELPERS/cli/wpr_provider" "$@" >seen &
	provider_pid=$!
	wait_for 60 grep -q ready seen || fail "the provider does not start"
	wait_for 60 sh -c "openetw providers | grep -qi $provider" || fail "etwd does not know the provider"
}
stop_provider() {
	kill "$provider_pid"
	wait "$provider_pid" 2>/dev/null || :
}
seen() { # seen WHAT: the calls since the last time; they may still be under way when wpr has returned
	wait_for 5 enough "$2"
	grep '^(' seen | tail -n +"$((had + 1))" | tr '\n' ' ' | sed 's/ $//' >now
	had=$(grep -c '^(' seen)
	expect "$1" "$(cat now)" "$2"
}
enough() { [ "$(grep -c '^(' seen)" -ge "$((had + $(echo "$1" | wc -w)))" ]; }

# The first recording starts etwd, which processes that were there before have to find first.
"$HELPERS/cli/wpr_provider" >early &
provider_pid=$!
wait_for 60 grep -q ready early
wpr -start "$here/wpr-two.wprp!One"
wpr -cancel
expect "a provider that was there before etwd" "$(grep -c '^(2;5;0x3)' early)" 1
stop_provider
openetw start keep -r -p OpenETW.Test.Nothing >/dev/null || fail "start" # etwd stays

for mode in -filemode ''; do
	had=0
	start_provider
	wpr -start "$here/wpr-two.wprp!One" $mode -instancename one
	seen "start 1" '(1;5;0x3) (2;5;0x3) (1;5;0x1)'
	wpr -start "$here/wpr-two.wprp!Two" $mode -instancename two
	seen "start 2" '(1;7;0x19) (2;7;0x18) (1;7;0x9)'
	wpr -stop one.etl -instancename one
	seen "stop 1" '(1;7;0xD) (2;5;0x5) (1;7;0x9) (1;7;0x8)'
	wpr -stop two.etl -instancename two
	seen "stop 2" '(1;7;0x28) (2;7;0x28) (1;7;0x8) (0;0;0x0)'
	sleep 0.3
	expect "nothing after that" "$(grep -c '^(' seen)" 14
	grep -q 'match-all\|filter' seen && fail "match-all is 0 and there is no filter: $(cat seen)"
	stop_provider

	# The callback takes two seconds before it writes: that is in the file, for -stop waits.
	start_provider 2000
	wpr -start "$here/wpr-two.wprp!Two" $mode # asks on start, too
	wpr -stop slow.etl
	expect "events written in the callbacks" "$(openetw dump -q -p $provider slow.etl | grep -c 'Inside')" 2
	stop_provider

	# Handed to a thread: the callback returned, nobody waits.
	start_provider 2000 thread
	before=$(date +%s%N)
	wpr -start "$here/wpr-two.wprp!Two" $mode
	wpr -stop quick.etl
	took=$((($(date +%s%N) - before) / 1000000))
	[ "$took" -lt 2000 ] || echo "note: a slow machine: start and stop took $took ms" >&2
	[ "$took" -ge 2000 ] || expect "events handed to a thread" "$(openetw dump -q quick.etl | grep -c 'Outside')" 0
	stop_provider
done

# A profile may say how long to wait. What came so far is saved, and wpr says that it did not wait longer.
start_provider 3000
wpr -start "$here/wpr-two.wprp!Short" -filemode
wpr -stop short.etl
says 'did not report its state in time' err "Timeout=1"
[ -f short.etl ] || fail "the file is there all the same"
stop_provider
