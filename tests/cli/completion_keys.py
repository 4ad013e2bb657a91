# SPDX-License-Identifier: MIT
# An interactive bash on a terminal: types a line and the key Tab, and prints the line that bash then runs.
#   completion_keys.py SCRIPT LINE
# `openetw` itself is not run: a function of that name prints its words.
import os
import pty
import select
import sys
import time

script, line = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["PS1"] = "READY>"
    os.environ["TERM"] = "dumb"
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

said = b""


def read_until(word, seconds=60):
    global said
    end = time.monotonic() + seconds
    while word not in said:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            sys.exit("no %r in %r" % (word, said))
        try:
            said += os.read(terminal, 65536)
        except OSError:
            sys.exit("bash ended: %r" % said)
    at = said.index(word) + len(word)
    before, said = said[:at], said[at:]
    return before


read_until(b"READY>")
os.write(terminal, b"bind 'set enable-bracketed-paste off'; . '%s'; PS1=GO'>'\n" % script.encode())
read_until(b"\nGO>")
# The words of the line are printed between marks; the completion script calls the program by the function's name, too.
os.write(terminal, b"openetw() { if [ \"$1\" = completion ]; then command openetw \"$@\"; else printf '<<'; printf '[%s]' \"$@\"; "
                   b"printf '>>\\n'; fi; }\n")
read_until(b"\nGO>")
os.write(terminal, line.encode() + b"\t")
os.write(terminal, b"\n")
out = read_until(b">>")
print(out[out.rindex(b"<<") + 2:-2].decode())
os.write(terminal, b"exit\n")
os.close(terminal)
os.waitpid(pid, 0)
