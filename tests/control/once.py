#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process must have once is in libetw alone. libopenetw and the command take it from there, and the folders that
are linked into more than one of them keep nothing that two copies could disagree about.

   once.py LIBETW_SO LIBOPENETW_SO COMMAND FOLDER.a…

FOLDER.a: the static libraries of the folders that are in libopenetw or in the command, too.
"""
import re
import subprocess
import sys
from pathlib import Path

libetw, others, folders = sys.argv[1], sys.argv[2:4], sys.argv[4:]
# Source file -> its variables that may be there several times, and why. Each is found out by the first who asks, and
# everybody finds out the same.
SEVERAL_TIMES = {
    "base_clock": "known",                       # how fast the clock runs
    "base_parse": "known\\w*",                    # the last second in words, and the time zone then
    "etl_zstd": "available|lib|once",            # the library that was loaded
    "symbol_symbol_xz": "decode|once",           # the same
    "regex_regex_pcre2": "loaded|once|pcre2|scratch", # the same, and what each thread matches with
    "manifest_manifest_meta": "once|predefined", # a table, filled in
    "sandbox_sandbox_serve": "question|answer",   # in the child alone, which has no other side
    "query_build_index": "reading_stops",        # of a thread, while it makes an index
    "query_query_ring_session": "scratch",       # of a thread, while it adds an event
    "kernel_kernel_mark": "count",               # numbers files in the command, which is the only one that makes such
    "kernel_kernel_probe": "number",             # the same
}
# A variable that libetw shares by the functions at it: these are not in the others.
SHARED = {"base_last_error_text": "err_text_set"}


def nm(*arguments):
    return subprocess.run(["nm", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def defined(path):
    return {f[2].split("@")[0] for f in (l.split() for l in nm(path)) if len(f) == 3 and f[1] in "TtBbDdRr"}


def variables(archive):
    """(source file without .c, name, number of the compiler left out) of each variable that may be written."""
    for line in nm("-A", "-f", "sysv", archive):
        fields = [f.strip() for f in line.split("|")]
        if len(fields) == 7 and re.match(r"\.t?(bss|data)(?!\.rel\.ro)", fields[6]) and fields[3] in ("OBJECT", "TLS"):
            file, name = fields[0].rsplit(":", 1)
            yield re.sub(r".*src_(\w+)\.c\.o$", r"\1", file), re.sub(r"\.\d+$|^\w+\.(?=[a-z])", "", name) # of a function: gcc numbers them, clang says whose


if any("__asan_" in l or "__tsan_" in l for l in nm("-D", libetw)):
    sys.exit(77)
faults, seen = [], set()
exported = {f[-1].split("@")[0] for f in (l.split() for l in nm("-D", "--defined-only", libetw)) if f[-2] == "T"} # constants may be copied
for other in others:
    faults += [f"{Path(other).name} has a {n} of its own, besides libetw's" for n in sorted(exported & defined(other))]
for archive in folders:
    for file, name in variables(archive):
        seen.add(file)
        if not re.fullmatch(SEVERAL_TIMES.get(file, ""), name) and not SHARED.get(file) in exported:
            faults.append(f"{name} of {file}: a process would have it several times")
faults += [f"{f} has no such variables any more" for f in sorted((set(SEVERAL_TIMES) | set(SHARED)) - seen)]
print("\n".join(faults) or f"{len(exported)} names of libetw are there once")
sys.exit(bool(faults))
