# SPDX-License-Identifier: MIT
# A mistake is named, with what was probably meant, on stderr, and the exit status is 2 (usage) or 1 (failed).
. "$(dirname "$0")/lib.sh"

bad() { # bad STATUS PATTERN COMMAND…
	status=$1 pattern=$2
	shift 2
	run_status "$status" openetw "$@"
	[ ! -s "$T/out" ] || fail "'openetw $*' wrote to stdout: $(cat "$T/out")"
	grep -q -e "$pattern" "$T/err" || fail "'openetw $*': no '$pattern' in: $(cat "$T/err")"
}
: >"$T/empty.etl"
# The same noise each time: of any noise a part may look like a record of losses, which is told then.
LC_ALL=C awk 'BEGIN { for (i = 0; i < 100000; i++) { x = (x * 1103515 + 12345) % 2147483648; printf "%c", 1 + int(x / 65536) % 255 } }' \
	>"$T/noise.etl"

bad 2 'Verbs:'
bad 2 "did you mean 'start'" strat web
bad 2 "'openetw help' lists" frobnicate
bad 2 "did you mean 'dump'" help dumb
bad 2 'did you mean --filter' dump --filtre x f.etl
bad 2 'did you mean --provider' start s --provder X
bad 2 'did you mean --buffer-size' start s --buffersize 64
bad 2 "unknown option '-Z'" dump -Z
bad 2 'needs FILE' start s -o
bad 2 'takes no value' dump --quiet=yes f.etl
bad 2 'text|json|csv' dump --format xml f.etl
bad 2 'which file' dump
bad 2 'a session name' start
bad 2 'which session' stop
bad 2 'which command' run -p X
bad 2 'which providers' run -- true
bad 2 'name either' live
bad 2 'no keyword mask' start s -p X:loud
bad 2 'no level' start s -p X:1:loud
bad 2 'none of stack' start s -p X:1:5:loud
bad 2 'names no provider' start s -p :5
bad 2 'a size such as' start s -o f --max-size much
bad 2 'out of range' start s -o f --buffer-size 1K
bad 2 'a time such as' start s -o f -f soon
bad 2 'MIN or MIN:MAX' start s -o f --buffers few
bad 2 'takes a number' dump --limit 0 f.etl
bad 2 'column 8' dump --filter 'pid == ' f.etl
bad 2 'time from the start' dump --from noon f.etl
bad 2 'contradict' dump --utc --local f.etl
bad 2 'takes a number' dump --pid x f.etl
bad 2 'at most 32 --tid' dump $(seq -f '--tid %.0f' 33) f.etl
bad 2 '--by takes event|provider|process|level' stats --by evnt f.etl
bad 2 '--level takes 0-255' stats --level lound f.etl
bad 2 '--from takes 2026-' dump --from noon f.etl
bad 2 'out of range: 100ms at least' top -d 1ms
bad 2 '--duration takes a time' monitor -d soon
bad 2 '--buffers takes MIN or MIN:MAX' start s -o f --buffers 4-8
bad 1 'cannot load no-such.man' dump -M no-such.man f.etl
bad 2 '-of takes XML|CSV' tracerpt f.etl -of TXT
bad 2 '-max takes a number' tracefmt f.etl -max 0
bad 2 '-bs takes a number from 4 to 16384, not .3.' logman query web -bs 3
bad 2 '-bs needs KB' logman start web -ets -p X --bs
bad 2 '-s is not done here: the session of another computer' logman query -s host
bad 2 '-sourceguid: .web. is no GUID' tracelog -enable x -guid '*X' -sourceguid web
bad 2 '-level takes a number such as 0x10, from 0 to 0xff, not .300.' tracelog -q x -level 300
bad 2 '-PidFilter takes a number from 0 to 4294967295, not .x.' tracelog -enable x -guid '*X' -PidFilter 1 x
bad 2 '-start and -stop are two things' wpr -start CPU -stop f.etl
bad 2 '-merge and -stopall are two things' xperf -merge a.etl b.etl -stopall
bad 2 'which shell' completion tcsh
bad 1 'ERROR_FILE_NOT_FOUND' dump "$T/nothing.etl"
bad 1 'cannot open' dump "$T"
bad 1 'empty.etl' dump "$T/empty.etl"
bad 1 'noise.etl' stats "$T/noise.etl"
bad 1 'noise.etl' info "$T/noise.etl"
bad 1 'openetw list' query nobody
bad 1 'openetw list' stop nobody
bad 1 'cannot watch\|cannot open' live nobody
bad 1 'no session' enable nobody X
# a session of that name runs
openetw start twice -r >/dev/null || fail "start"
bad 1 'ERROR_ALREADY_EXISTS' start twice -r
bad 1 'cannot start' start ro -o /proc/nowhere/x.etl
openetw stop twice >/dev/null
# it runs, and cannot be watched
openetw start filed -o "$T/filed.etl" >/dev/null || fail "start"
bad 1 'it runs, but not for live consumers' live filed
! grep -q 'no such trace session\|did you mean' "$T/err" || fail "live of a session that runs: $(cat "$T/err")"
openetw stop filed >/dev/null
bad 2 'no words are expected' list filed
bad 2 'no words are expected' providers filed
bad 2 'put it in quotes' mark two words
# what is said is said once
bad 1 '/no/such.etl: No such file' dump /no/such.etl
[ "$(grep -o '/no/such.etl' "$T/err" | wc -l)" -eq 1 ] || fail "twice: $(cat "$T/err")"
# dashes as pasted from formatted pages
openetw list –‑json >"$T/out" 2>"$T/err" || openetw list −−json >"$T/out" 2>"$T/err" || :
run_status 0 openetw list –json
# help is for stdout and no mistake
run_status 0 openetw --help
run_status 0 openetw help dump
run_status 0 openetw dump --help
says 'Examples:' "$T/out" "help"
for verb in $(openetw help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	run_status 0 openetw "$verb" --help
	says 'openetw ' "$T/out" "help of $verb"
	says 'xample\|  bash: ' "$T/out" "an example in the help of $verb"
done
# the instance for all users, where there is none
run_status 0 openetw --system list
run_status 1 openetw --system query web
says "root starts it with 'etwd --system'" "$T/err" "no system instance"
says 4201 "$T/err" "no system instance"
