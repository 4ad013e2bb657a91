# SPDX-License-Identifier: MIT
# The prompt of openetw sql as a person meets it on a terminal: sql_keys.py TRACE
import os
import pty
import select
import sys
import time

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("openetw", ["openetw", "sql", "--csv", sys.argv[1]])

said = b""


def comes(word, seconds):
    """Takes away what came, up to this word."""
    global said
    end = time.monotonic() + seconds
    while word not in said:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            return False
        try:
            said += os.read(terminal, 65536)
        except OSError:
            sys.exit("the prompt ended: %r" % said)
    said = said[said.index(word) + len(word):]
    return True


def read_until(word):
    comes(word, 120) or sys.exit("no %r in %r" % (word, said))


def interrupt():
    """Ctrl-C, as often as it takes: one that comes just before the program waits for a key is seen with the next key only."""
    for _ in range(24):
        press(b"\x03")
        if comes(b"sql> ", 5):
            return
    sys.exit("Ctrl-C brings no prompt: %r" % said)


def press(keys):
    os.write(terminal, keys)


def edits():
    """The prompt edits lines with a library that not every machine has."""
    with open("/proc/%d/maps" % pid) as maps:
        return any("libedit" in line or "libreadline" in line for line in maps)


read_until(b"sql> ")
press(b"select 40 + 2 as answer;\n")
read_until(b"\n42")
read_until(b"sql> ")
if edits():
    press(b"\x1b[A\n")  # the line before
    read_until(b"\n42")
    read_until(b"sql> ")
    press(b"fro\t event_typ\t limit 0;\n")
    read_until(b"from")
    read_until(b"event_types")
    read_until(b"provider_guid")  # the columns
    read_until(b"sql> ")
press(b"with recursive t(x) as (select 1 union all select x + 1 from t where x > 0) select count(*) from t;\n")
read_until(b"from t;\r\n")
time.sleep(0.3)  # whether the query has begun or not, it ends
interrupt()
press(b"select 80 + 8 as eights;\n")
read_until(b"\n88")
read_until(b"sql> ")
press(b"select 'no' as what")
read_until(b"what")
interrupt()  # of a line that is typed: it is forgotten
press(b"select 90 + 9 as nines;\n")
read_until(b"\n99")
read_until(b"sql> ")
press(b".quit\n")
_, status = os.waitpid(pid, 0)
sys.exit(0 if os.waitstatus_to_exitcode(status) == 0 else "the prompt ended with %r" % status)
