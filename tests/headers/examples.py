#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples in the comments of include/openetw compile, without warnings.

   examples.py SOURCE_DIR CC [CXX]

An example is a run of comment lines that are indented by three blanks or more and begin with exactly three; all
examples of a header are one function, so that a later one may go on with the variables of an earlier one. "…"
stands for whatever the program does meanwhile.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

source, compilers = Path(sys.argv[1]), sys.argv[2:]
include = source / "include"
# What an example may use without saying where it comes from.
AROUND = """
#include <stdio.h>
#include <evntcons.h>
#include <evntrace.h>
#include <openetw/openetw.%s>
#include <openetw/%s>
void example(const char *path, const char *const *paths, const EVENT_RECORD *e, TRACEHANDLE trace);
void example(const char *path, const char *const *paths, const EVENT_RECORD *e, TRACEHANDLE trace)
{
	EVENT_TRACE_LOGFILEA log = {};
%s
	(void)path, (void)paths, (void)e, (void)trace, (void)log;
}
"""


def examples(text):
    """The lines of all examples, in order."""
    found, inside = [], False
    for line in text.splitlines():
        content = re.match(r"^ \*( {3,})?(.*)$", line)
        indent = len(content.group(1) or "") if content else 0
        if inside and content and (indent >= 3 or line == " *"):
            found.append(content.group(2))
        elif content and indent == 3 and content.group(2):
            inside = True
            found.append(content.group(2))
        else:
            inside = False
    return "\n".join(found).replace("…", "/* … */")


def compiles(header, body):
    """The compilers' complaints; empty when there are none."""
    cxx = header.suffix == ".hpp"
    said = ""
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / ("example.cpp" if cxx else "example.c")
        file.write_text(AROUND % (header.suffix[1:], header.name, body))
        for compiler in compilers:
            if cxx != ("++" in Path(compiler).name):
                continue
            out = subprocess.run([compiler, "-std=c++11" if cxx else "-std=gnu11", "-Wall", "-Wextra", "-Werror",
                                  "-fsyntax-only", "-I", str(include), "-I", str(include / "etw"), "-I",
                                  str(include / "etw/win"), str(file)], capture_output=True, text=True)
            said += out.stderr if out.returncode else ""
    return said


failures, count = [], 0
for header in sorted((include / "openetw").iterdir()):
    body = examples(header.read_text())
    if not body.strip():
        failures.append(f"{header.name} has no example")
        continue
    count += 1
    said = compiles(header, body)
    if said:
        failures.append(f"the example of {header.name} does not compile:\n{said}")
if compiles(Path("none.h"), "") == "":
    failures.append("a header that does not exist compiles: the check is broken")
print("\n".join(failures) or f"the examples of {count} headers compile")
sys.exit(bool(failures))
