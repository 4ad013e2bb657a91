#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples in the comments of include/openetw, and those of Windows' headers, compile without warnings.

   examples.py SOURCE_DIR CC [CXX]

An example is a run of comment lines that are indented by three blanks or more and begin with exactly three; all
examples of a header are one function, so that a later one may go on with the variables of an earlier one. "…"
stands for whatever the program does meanwhile. Of Windows' headers the front comment counts; its tables are no examples.
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


# The same for the headers of Windows, by what each example takes from its surroundings.
AROUND_WINDOWS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <evntcons.h>
#include <%(header)s>
%(outside)s
void example(const GUID *guid, EVENT_RECORD *event, PEVENT_RECORD_CALLBACK callback, char *path, int number, int fd);
void example(const GUID *guid, EVENT_RECORD *event, PEVENT_RECORD_CALLBACK callback, char *path, int number, int fd)
{
%(body)s
	(void)guid, (void)event, (void)callback, (void)path, (void)number, (void)fd;
}
"""
ACTIVITY = """
#include <TraceLoggingProvider.h>
TRACELOGGING_DEFINE_PROVIDER(g_provider, "A", (0xce5fa4ea, 0xab00, 0x5402, 0x8b, 0x76, 0x9f, 0x76, 0xac, 0x85, 0x8f, 0xb5));
enum { keyword = 1, level = 4 };
static int size, step, result;
"""
WINDOWS = {"evntcons.h": "", "evntprov.h": "", "evntrace.h": "", "tdh.h": "",
           "TraceLoggingProvider.h": "", "TraceLoggingActivity.h": ACTIVITY}


def examples(text, front_only=False):
    """The lines of all examples, in order."""
    found, inside = [], False
    if front_only:
        text = text[:text.index("*/")]
        text = re.sub(r"(?m)^ \* {3}[^;({\n]*[^; \n] {2,}[^ \n].*\n( \* {10,}.*\n)*", "", text)
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


def compiles(header, source_text, cxx):
    """The compilers' complaints; empty when there are none."""
    said = ""
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / ("example.cpp" if cxx else "example.c")
        file.write_text(source_text)
        for compiler in compilers:
            if cxx != ("++" in Path(compiler).name):
                continue
            out = subprocess.run([compiler, "-std=c++11" if cxx else "-std=gnu11", "-Wall", "-Wextra", "-Werror",
                                  "-fsyntax-only", "-I", str(include), "-I", str(include / "etw"), "-I",
                                  str(include / "etw/win"), str(file)], capture_output=True, text=True)
            said += out.stderr if out.returncode else ""
    return said


def wrapped(header, body):
    return AROUND % (header.suffix[1:], header.name, body)


failures, count = [], 0
for header in sorted((include / "openetw").iterdir()) + [include / "etw" / name for name in WINDOWS]:
    own = header.name not in WINDOWS
    body = examples(header.read_text(), front_only=not own)
    if not body.strip():
        failures.append(f"{header.name} has no example")
        continue
    count += 1
    cxx = header.suffix == ".hpp" or header.name == "TraceLoggingActivity.h"
    defined = re.search(r"(?s)TRACELOGGING_DEFINE_PROVIDER\(.*?\);\n", body)  # outside of functions
    outside = defined.group(0) if defined else ""
    said = compiles(header, wrapped(header, body) if own else AROUND_WINDOWS % {
        "header": header.name, "outside": WINDOWS[header.name] + outside, "body": body.replace(outside, "")}, cxx)
    if said:
        failures.append(f"the example of {header.name} does not compile:\n{said}")
if compiles(Path("none.h"), wrapped(Path("none.h"), ""), False) == "":
    failures.append("a header that does not exist compiles: the check is broken")
print("\n".join(failures) or f"the examples of {count} headers compile")
sys.exit(bool(failures))
