#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every event that an independent tool listed with its values must be found with these values.

baseline.py DECODE_CORPUS CORPUS_DIR: runs the decoder over files with a PerfView baseline and looks, for
each EVENT line, for a decoded event of that payload size whose fields of the same names hold the same
values. Fields that PerfView computes (times of other records, names of flags, joined file names) have no
counterpart of that name and are not compared."""
import os
import collections
import json
import pathlib
import re
import subprocess
import sys

FILES = {  # file: least number of compared lines, least number of compared values
    "net.4.5.2.x86": (410, 1800),
    "gcevents": (1, 5),
    "primitive-types": (5, 5),
}
# Shown by PerfView in another form than the payload's.
OTHER_FORM = {"flags", "irpflags", "endtime", "starttime", "boottime", "priority", "logfilemode",
              "reason", "type", "rootkind", "exittime", "createtime", "installdate", "filename",
              "processname", "value", "logfilename", "file_time_type",
              "system_time_type", "sessionnamestring", "logfilenamestring"}


def number(text):
    text = text.replace(",", "")
    if re.fullmatch(r"0x[0-9a-fA-F]+", text):
        return int(text, 16)
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return None


def same(ours, theirs):
    a, b = number(str(ours)), number(theirs)
    if isinstance(ours, bool):
        return str(ours).lower() == theirs.lower()
    if isinstance(ours, str) and len(ours) == 1 and b == ord(ours):
        return True
    if b is not None:
        if a is None:
            return False
        return a == b or any((a - b) % (1 << bits) == 0 for bits in (8, 16, 32, 64)) and b < 0
    if re.fullmatch(r"-?[\d,]+\.\.\.", theirs):
        return True  # a number cut off says nothing
    if theirs.endswith("..."):
        return str(ours).startswith(theirs[:-3])
    return str(ours) == theirs


def main():
    tool, corpus = sys.argv[1], pathlib.Path(os.environ.get("OPENETW_CORPUS") or sys.argv[2])
    if not corpus.exists():
        print(f"skipped: no real trace files at {corpus}")
        return 77
    failed = 0
    for name, (least_lines, least_values) in FILES.items():
        out = subprocess.run([tool, corpus / f"perfview/{name}.etl"], stdout=subprocess.PIPE, check=True)
        by_size = collections.defaultdict(list)
        for line in out.stdout.decode(errors="replace").splitlines():
            parts = line.split("\t")
            if len(parts) == 4 and '"_raw"' not in parts[3]:
                by_size[int(parts[2])].append((parts[1], parts[3]))
        lines = values = 0
        parsed = {}
        for line in (corpus / f"perfview/{name}.baseline.txt").read_text().splitlines():
            m = re.match(r"EVENT [\d,.]+: (\S+(?: Kernel/\S+)?) PID=.*?DataLen=([\d,]+); (.*)", line)
            if not m:
                continue
            size = int(m[2].replace(",", ""))
            fields = [f.split("=", 1) for f in m[3].split("; ") if "=" in f]
            best = (0, [], "")
            for event, text in by_size[size]:
                if text not in parsed:
                    parsed[text] = {k.lower(): v for k, v in json.loads(text).items()}
                ours = parsed[text]
                known = [(k, v) for k, v in fields if k.lower() in ours and k.lower() not in OTHER_FORM
                         and not isinstance(ours[k.lower()], (list, dict))]
                good = [k for k, v in known if same(ours[k.lower()], v.rstrip(";"))]
                if len(good) == len(known) and len(good) > best[0]:
                    best = (len(good), good, text)
                    if len(good) == len(fields):
                        break
            if best[0]:
                lines += 1
                values += best[0]
            elif len(fields) > 1 and by_size[size] and "Windows Kernel/" in m[1]:
                print(f"{name}: no decoded event matches: {line[:200]}")
                failed += 1
        print(f"{name}: {lines} lines found, {values} values equal")
        if lines < least_lines or values < least_values:
            print(f"{name}: expected {least_lines} and {least_values}")
            failed += 1
    return 1 if failed else 0


sys.exit(main())
