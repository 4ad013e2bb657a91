# SPDX-License-Identifier: MIT
# top and monitor: who burns CPU, in which function, and what a program does to a file, as it happens.
. "$(dirname "$0")/lib.sh"

openetw top -n 1 -d 200ms >"$T/out" 2>"$T/err" </dev/null || skip "perf events are not for us here: $(head -1 "$T/err")"
"$HELPERS/stack_acts_nofp" burn 60 &
burner=$!
for try in 1 2 3 4 5 6 7 8 9 10; do
	run_status 0 openetw top -n 1 -d 500ms --json --top 10000
	json_lines "$T/out"
	! grep -q "\"table\":\"functions\",\"name\":\"stack_acts_nofp!acts_burn\"" "$T/out" || break
done
says "\"table\":\"processes\",\"name\":\"stack_acts_nofp ($burner)\"" "$T/out" "the process"
says '"table":"functions","name":"stack_acts_nofp!acts_burn"' "$T/out" "its function"
says '"table":"functions","name":"stack_acts_nofp!main"' "$T/out" "its caller"
run_status 0 openetw top -n 1 -d 200ms --pid $burner --show processes
! grep -q '^functions' "$T/out" || fail "--show shows others"
says '^processes' "$T/out" "the table"
kill $burner
wait $burner 2>/dev/null

# a program that comes and goes, again and again until the view has begun
echo something >"$T/from"
(
	while [ ! -e "$T/stop" ]; do
		dd if="$T/from" of="$T/copy" status=none
	done
) &
actor=$!
run_status 0 timeout 60 openetw monitor --process dd -n 3 --json
json_lines "$T/out"
expect "lines" "$(wc -l <"$T/out")" 3
says '"process":"dd"' "$T/out" "whose they are"
if ! grep -q FILE_IO "$T/err"; then
	run_status 0 timeout 60 openetw monitor --show file --filter "process == dd and op == FileWrite and path ~ '$T/'" -n 2
	says "FileWrite .*$T/copy" "$T/out" "what was written"
	run_status 0 timeout 60 openetw monitor --show file --path "$T/from" --op FileRead --columns op,path,pid -n 1
	says "^FileRead .*$T/from" "$T/out" "the columns that were asked for"
fi
touch "$T/stop"
wait $actor
run_status 2 openetw monitor --columns nothing
run_status 2 openetw monitor --filter 'op =='
run_status 2 openetw top --show nothing
