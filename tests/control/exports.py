#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every function and GUID a public header declares is exported by libetw.so, libetw.map lists exactly what
libetw.so exports, in the node it names, and every such name is declared in a public header. The newest node is
that of the release. And what the loader writes, in every process, stays small.

   exports.py SOURCE_DIR LIBETW_SO VERSION CC
"""
import re
import subprocess
import sys
from pathlib import Path

source, library, version, cc = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
include = source / "include"
HEADERS = ["evntprov.h", "evntrace.h", "evntcons.h", "tdh.h", "TraceLoggingProvider.h",
           "relogger.h", "wmistr.h", "winmeta.h"]
FROM_WINDOWS_H = {"GetLastError", "SetLastError", "IID_IUnknown", "GUID_NULL"}
# Declared by who calls it, as on Windows.
UNDECLARED = {"EtwQueryRealtimeConsumer"}
# Looked up when it is wanted (CoCreateInstance of a relogger); without it: class not registered.
OPTIONAL = {"openetw_create_object"}


def declarations():
    """What our own headers declare but do not define, as the compiler sees it."""
    text = "".join(f"#include <{h}>\n" for h in HEADERS)
    text += "".join(f"#include <openetw/{h.name}>\n" for h in sorted((include / "openetw").glob("*.h")))
    out = subprocess.run(cc + ["-E", "-x", "c", "-", "-I", str(include / "etw"), "-I",
                               str(include / "etw/win"), "-I", str(include)],
                         input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    ours, keep = [], False
    for line in out.splitlines():
        marker = re.match(r'#\s+\d+\s+"([^"]*)"', line)
        if marker:
            path = Path(marker.group(1))
            keep = path.is_relative_to(include) and (path.is_relative_to(include / "openetw") or
                                                     "win" not in path.relative_to(include).parts)
        elif keep:
            ours.append(line)
    text = "\n".join(ours)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    while True:  # bodies of inline functions and of types, from the inside
        shorter = re.sub(r"\{[^{}]*\}", " = 0;", text)
        if shorter == text:
            break
        text = shorter
    names = set()
    for statement in text.split(";"):
        statement = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", statement)
        statement = " ".join(statement.split())
        if not statement or "typedef" in statement or "=" in statement or \
                statement.startswith(("static", "extern inline", "_Static_assert", "struct {")):
            continue
        found = re.match(r'^(?:extern\s+(?:""\s*)?)?[A-Za-z_][\w\s\*]*?\b([A-Za-z_]\w*)\s*\(', statement)
        found = found or re.match(r'^extern (?:""\s*)?const (?:GUID|IID|CLSID) (\w+)$', statement)
        if found:
            names.add(found.group(1))
    return names


def exports():
    """Name -> node, of what the library exports."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                         check=True).stdout
    names = (f[2].partition("@") for f in (l.split() for l in out.splitlines())
             if len(f) == 3 and f[1] in "TtWVDBR")
    return {name: node.lstrip("@") for name, _, node in names}


def listed():
    """The nodes of libetw.map, oldest first: name of the node -> its names in the order of the file."""
    text = re.sub(r"/\*.*?\*/", "", (source / "src/libetw/libetw.map").read_text(), flags=re.S)
    nodes = {}
    for name, body in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}", text, flags=re.S):
        named = re.search(r"global:(.*?)(?:local:|$)", body, flags=re.S).group(1)
        nodes[name] = [n.strip() for n in named.split(";") if n.strip()]
    return nodes


def written_by_the_loader():
    """Bytes of initialised data: tables of pointers stand there, and each page of them is dirty in every
    process that links libetw. None: sanitizers have much of their own there."""
    out = subprocess.run(["nm", library], capture_output=True, text=True).stdout
    if re.search("__(asan|tsan|ubsan)_", out):
        return None
    out = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True).stdout
    return sum(int(f[4], 16) for f in (l.split() for l in out.splitlines())
               if len(f) > 6 and f[0] == "LOAD" and f[6] == "RW")


declared, exported, nodes = declarations(), exports(), listed()
failures = []
if len(declared) < 80:
    failures.append(f"only {len(declared)} declarations were found: the reader of headers is broken")
failures += [f"{n} is declared in a header but not exported" for n in sorted(declared - set(exported) - OPTIONAL)]
failures += [f"{n} is exported but declared in no header"
             for n in sorted(set(exported) - declared - FROM_WINDOWS_H - UNDECLARED)]
homes = {n: node for node, names in nodes.items() for n in names}
failures += [f"{n} is listed in libetw.map but not exported" for n in sorted(set(homes) - set(exported))]
failures += [f"{n} is exported but not listed in libetw.map: patterns hide what is added by mistake"
             for n in sorted(set(exported) - set(homes))]
failures += [f"{n} is exported with {exported[n]}, libetw.map has it in {homes[n]}"
             for n in sorted(set(homes) & set(exported)) if exported[n] != homes[n]]
for node, names in nodes.items():
    failures += [f"libetw.map: {node} lists {n} twice" for n in sorted({n for n in names if names.count(n) > 1})]
    failures += [f"libetw.map: {node} is not sorted at {b}" for a, b in zip(names, names[1:]) if a > b]
release = "LIBETW_" + ".".join(version.split(".")[:2])
if list(nodes)[-1:] != [release]:
    failures.append(f"the newest node of libetw.map is {list(nodes)[-1:]}, but the release is {release}")
writes = written_by_the_loader()
if writes is not None and not 0 < writes <= 8192:
    failures.append(f"the loader writes {writes} bytes of libetw.so in every process, not at most 8192: "
                    "tables with pointers in them? (arrays of characters are read-only)")
print("\n".join(failures) or f"{len(declared)} declared names are exported, and nothing else")
sys.exit(bool(failures))
