# SPDX-License-Identifier: MIT
# openetw run: the command keeps its input, output and exit status; its children are recorded; no session is left.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
run="openetw run -p Test.Run"

printf 'some\ninput\n' | $run -o x.etl -- cat >out 2>err || fail "cat: $(cat err)"
expect "input and output" "$(cat out)" "some
input"
for status in 0 3 77 255; do
	$run -o x.etl -- sh -c "exit $status" 2>/dev/null
	expect "exit status" $? $status
done
$run -o x.etl -- sh -c 'kill -9 $$' 2>/dev/null
expect "killed by SIGKILL" $? 137
$run -o x.etl -- ./not-here 2>err
expect "no such command" $? 127
: >not-executable
$run -o x.etl -- ./not-executable 2>err
expect "not executable" $? 126
# nothing was begun for it: the recording from before is where it was
cp x.etl before.etl
rm -f x.etl.old
for word in ./not-here ./not-executable no-such-program ./; do
	$run -o x.etl -- "$word" 2>err && fail "'$word' ran"
	says "cannot run $word" err "a command that cannot be run"
	cmp -s x.etl before.etl && [ ! -e x.etl.old ] || fail "'$word' moved the earlier recording away"
done

# the child gets our options only before the command: what follows is its own
expect "options of the command" "$($run -o x.etl echo -p --filter 2>/dev/null)" "-p --filter"
# children, also of children
$run -o tree.etl -- sh -c 'sh -c "\"\$0\" Test.Run 30 wait" "$0" & "$0" Test.Run 30 wait; wait' "$HELPERS/emit" \
	>/dev/null 2>&1
expect "events of children" "$(openetw dump -q --provider Test.Run tree.etl | wc -l)" 60
expect "processes" "$(openetw dump -q --provider Test.Run --fields pid tree.etl | sort -u | wc -l)" 2

# the default file, and the one before
$run -- true 2>err || fail "run"
[ -f openetw.etl ] || fail "no openetw.etl"
$run -- true 2>err || fail "run"
[ -f openetw.etl.old ] || fail "openetw.etl was overwritten"
says 'openetw.etl.old' err "the renamed file"
says 'lost: 0 events' err "the summary"

# SIGTERM to us alone: the command gets it, the file is complete, the session is gone
sh -c "trap 'exit 5' TERM; : >ready; while :; do sleep 0.05; done" >/dev/null 2>&1 &
kill -9 $! 2>/dev/null
rm -f ready
openetw run -o term.etl -p Test.Run -- sh -c "trap 'exit 5' TERM; : >ready; while :; do sleep 0.05; done" 2>err &
recorder=$!
wait_for 60 test -f ready || fail "the command did not start"
kill -TERM $recorder
wait $recorder
expect "status after SIGTERM" $? 5
run_status 0 openetw list
says 'no sessions' "$T/out" "after SIGTERM"
run_status 0 openetw dump term.etl
