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
# A filter: the burner's function is on its processor alone, and nobody else is shown; what is true of nothing shows nothing.
for try in 1 2 3 4 5 6 7 8 9 10; do
	run_status 0 openetw top -n 1 -d 500ms --json --top 10000 --filter "pid == $burner and function ~ 'stack_acts_nofp!*'"
	! grep -q "\"table\":\"functions\",\"name\":\"stack_acts_nofp!acts_burn\"" "$T/out" || break
done
says "\"table\":\"processes\",\"name\":\"stack_acts_nofp ($burner)\"" "$T/out" "the process of the filter"
says '"table":"functions","name":"stack_acts_nofp!acts_burn"' "$T/out" "the function of the filter"
expect "processes of the filter" "$(grep -c '"table":"processes"' "$T/out")" 1
run_status 0 openetw top -n 1 -d 300ms --json --filter "process == stack_acts_nofp and cpu == 4000"
expect "lines of nothing" "$(wc -l <"$T/out")" 0
run_status 0 openetw top -n 1 -d 300ms --json --top 10000 --filter "process isnot stack_acts_nofp"
! grep -q 'stack_acts_nofp (' "$T/out" || fail "the filter's opposite shows it"
run_status 2 openetw top --filter 'proces == x'
says "did you mean 'process'" "$T/err" "a name that is near"
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
# A screen is never fuller than the terminal, and what cannot move its cursor gets no such letters.
cat >"$T/terminal.py" <<'END'
import fcntl, os, pty, struct, sys, termios
rows, columns, term, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.environ["TERM"] = term
    os.execvp(command[0], command)
out = b""
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    out += data
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = out.decode(errors="replace").replace("\r", "")
screens = text.split("\033[H\033[J")[1:]
if term == "dumb":
    assert "\033" not in text, text
elif "top" in command:
    assert screens, text
    for screen in screens:
        lines = screen.split("\n")
        assert len(lines) <= rows and all(len(line) <= columns for line in lines), (lines, rows, columns)
else:
    lines = [line for line in text.split("\n") if not line.endswith("processor") and not line.startswith("openetw")]
    assert len(lines) > 3 and all(len(line) <= columns for line in lines), lines
sys.exit(status)
END
for size in '24 80' '8 30' '3 10'; do
	python3 "$T/terminal.py" $size xterm openetw top -n 1 -d 200ms || fail "top on a terminal of $size"
done
python3 "$T/terminal.py" 24 80 dumb openetw top -n 1 -d 200ms || fail "top on a dumb terminal"
# Of dd alone, which is the actor's or somebody else's: what openetw says there itself is told from the lines of its view
# by its name.
grep -q FILE_IO "$T/err" || python3 "$T/terminal.py" 24 80 xterm timeout 60 openetw monitor --show file --process dd -n 5 ||
	fail "monitor on a terminal"
# The key q ends both, and the terminal is as before.
cat >"$T/quit.py" <<'END'
import os, pty, select, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[1], sys.argv[1:])
before = termios.tcgetattr(fd)[3]
shown, deadline, during = b"", time.time() + 60, None
while time.time() < deadline:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    if (b"PROCESS" in shown or b"processes" in shown) and during is None:
        during = termios.tcgetattr(fd)[3]
        os.write(fd, b"xq")
else:
    os.kill(pid, 9)
    sys.exit("it goes on")
after = termios.tcgetattr(fd)[3]
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 0 and before == after and not during & termios.ECHO, (status, before, during, after)
END
python3 "$T/quit.py" openetw top -d 300ms --show processes || fail "q does not end top"
python3 "$T/quit.py" openetw monitor --show process,file || fail "q does not end monitor"

# Who changes their mind while it starts gets no recording, and leaves none behind.
cat >"$T/give-up.py" <<'END'
import signal, subprocess, sys, time
words = sys.argv[1]
for after in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.1, 1.5):
    p = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(after)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=60)[1].decode()
    if p.returncode == 130 and words in said:
        sys.exit(0)
sys.exit("it begins all the same")
END
if has_switches; then
	python3 "$T/give-up.py" 'nothing was recorded' openetw record --all -o "$T/given-up.etl" -- sleep 100 ||
		fail "record cannot be given up"
	[ ! -e "$T/given-up.etl" ] || fail "a recording that was given up is there"
	python3 "$T/give-up.py" '' openetw monitor || fail "monitor cannot be given up"
fi
touch "$T/stop"
wait $actor
run_status 2 openetw monitor --columns nothing
run_status 2 openetw monitor --filter 'op =='
run_status 2 openetw top --show nothing
