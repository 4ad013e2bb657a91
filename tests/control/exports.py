#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every function and GUID a public header declares is exported by one of the two libraries, by that one which the
headers of include/openetw name; libetw.map and libopenetw.map list exactly what these export, in the node they name,
and every such name is declared in a public header. The newest node is that of the release. The node of what is
private to the libraries has the whole number of the release. And what the loader writes, in every process, stays small.

   exports.py SOURCE_DIR VERSION LIBETW_SO LIBOPENETW_SO CC
"""
import re
import subprocess
import sys
from pathlib import Path

source, version, cc = Path(sys.argv[1]), sys.argv[2], sys.argv[5:]
LIBRARIES = {"libetw": sys.argv[3], "libopenetw": sys.argv[4]}
include = source / "include"
HEADERS = ["evntprov.h", "evntrace.h", "evntcons.h", "tdh.h", "TraceLoggingProvider.h",
           "relogger.h", "wmistr.h", "winmeta.h"]
FROM_WINDOWS_H = {"GetLastError", "SetLastError", "IID_IUnknown", "GUID_NULL"}
# Declared by who calls it, as on Windows.
UNDECLARED = {"EtwQueryRealtimeConsumer"}


def declarations(headers):
    """What our own headers declare but do not define, as the compiler sees it."""
    text = "".join(f"#include <{h}>\n" for h in headers)
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


def declared_in(header):
    """The functions that this header itself declares."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    return set(re.findall(r"^OPENETW_API [^;(]*?\b(openetw_\w+)\(", text, flags=re.M))


def library_of(header):
    """What the front comment says: "In libetw." """
    front = header.read_text().split("*/")[0]
    said = re.search(r"\bIn (lib\w+)\.", front)
    return said.group(1) if said else "libetw" if header.name in ("openetw.h", "defs.h") else None


def exports(library):
    """Name -> node, of what the library exports."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                         check=True).stdout
    names = (f[2].partition("@") for f in (l.split() for l in out.splitlines())
             if len(f) == 3 and f[1] in "TtWVDBR")
    return {name: node.lstrip("@") for name, _, node in names}


def listed(name):
    """The nodes of a map, oldest first: name of the node -> its names in the order of the file."""
    text = re.sub(r"/\*.*?\*/", "", (source / f"src/{name}/{name}.map").read_text(), flags=re.S)
    nodes = {}
    for name, body in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}", text, flags=re.S):
        named = re.search(r"global:(.*?)(?:local:|$)", body, flags=re.S).group(1)
        nodes[name] = [n.strip() for n in named.split(";") if n.strip()]
    return nodes


def written_by_the_loader(library):
    """Bytes of initialised data: tables of pointers stand there, and each page of them is dirty in every
    process that links libetw. None: sanitizers have much of their own there."""
    out = subprocess.run(["nm", library], capture_output=True, text=True).stdout
    if re.search("__(asan|tsan|ubsan)_", out):
        return None
    out = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True).stdout
    return sum(int(f[4], 16) for f in (l.split() for l in out.splitlines())
               if len(f) > 6 and f[0] == "LOAD" and f[6] == "RW")


def faults_of_map(name, exported):
    """What is wrong with the map of a library, and the names that are private to the libraries."""
    nodes = listed(name)
    homes = {n: node for node, names in nodes.items() for n in names}
    faults = [f"{n} is listed in {name}.map but not exported" for n in sorted(set(homes) - set(exported))]
    faults += [f"{n} is exported but not listed in {name}.map: patterns hide what is added by mistake"
               for n in sorted(set(exported) - set(homes))]
    faults += [f"{n} is exported with {exported[n]}, {name}.map has it in {homes[n]}"
               for n in sorted(set(homes) & set(exported)) if exported[n] != homes[n]]
    for node, names in nodes.items():
        faults += [f"{name}.map: {node} lists {n} twice" for n in sorted({n for n in names if names.count(n) > 1})]
        faults += [f"{name}.map: {node} is not sorted at {b}" for a, b in zip(names, names[1:]) if a > b]
    private = [node for node in nodes if "_PRIVATE_" in node]
    public = [node for node in nodes if node not in private]
    release = f"{name.upper()}_" + ".".join(version.split(".")[:2])
    if public[-1:] != [release]:
        faults.append(f"the newest node of {name}.map is {public[-1:]}, but the release is {release}")
    if private not in ([], [f"{name.upper()}_PRIVATE_{version}"]):
        faults.append(f"{name}.map: the node of what is private is {private}, but the release is {version}")
    return faults, {n for node in private for n in nodes[node]}


own = sorted((include / "openetw").glob("*.h"))
declared = declarations(HEADERS + [f"openetw/{h.name}" for h in own])
failures = []
if len(declared) < 80:
    failures.append(f"only {len(declared)} declarations were found: the reader of headers is broken")
public = {}  # name -> library
for name, library in LIBRARIES.items():
    exported = exports(library)
    faults, private = faults_of_map(name, exported)
    failures += faults
    failures += [f"{n} is private and declared in a public header" for n in sorted(private & declared)]
    failures += [f"{n} is exported by both libraries" for n in sorted(set(exported) & set(public))]
    public.update({n: name for n in set(exported) - private})
failures += [f"{n} is declared in a header but not exported" for n in sorted(declared - set(public))]
failures += [f"{n} is exported but declared in no header"
             for n in sorted(set(public) - declared - FROM_WINDOWS_H - UNDECLARED)]
for h in own:
    names, where = declared_in(h), library_of(h)
    if not where:
        failures.append(f"openetw/{h.name} does not say in its first comment which library it is of")
    failures += [f"openetw/{h.name} says {where}, but {n} is in {public.get(n)}"
                 for n in sorted(names) if where and public.get(n) != where]
writes = written_by_the_loader(LIBRARIES["libetw"])
if writes is not None and not 0 < writes <= 8192:
    failures.append(f"the loader writes {writes} bytes of libetw.so in every process, not at most 8192: "
                    "tables with pointers in them? (arrays of characters are read-only)")
print("\n".join(failures) or f"{len(declared)} declared names are exported, and nothing else")
sys.exit(bool(failures))
