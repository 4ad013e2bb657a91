# SPDX-License-Identifier: MIT
# Programs that carry their manifest: their events decode where they ran, also when the program is gone, and
# the file they were recorded into decodes anywhere.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
man=$root/samples/manifest-generated/kitchen.man
guid=f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11
kept() { ls "$XDG_DATA_HOME/openetw/binaries" 2>/dev/null | grep -c '\.oews$'; }
kitchen() { openetw dump -q --json "$@" | grep 'OpenETW-Sample-Kitchen'; }

cp "$SAMPLES/manifest-generated/manifest-generated" "$T/program" || fail "copy"
strip "$T/program" 2>/dev/null || :
export LD_LIBRARY_PATH="$OPENETW_BUILD" # the copy lies elsewhere
record() { openetw run -p "{$guid}::255" "$@" -- "$T/program" 2 2>"$T/said" || fail "run: $(cat "$T/said")"; }
# By the name that only the program knows, at its first run.
openetw run -p OpenETW-Sample-Kitchen::255 -o "$T/name.etl" -- "$T/program" 2 2>"$T/said" || fail "run: $(cat "$T/said")"
expect "events of a provider by the name its program carries" "$(kitchen "$T/name.etl" | wc -l)" 9
record -o "$T/k.etl"
expect "descriptions kept" "$(kept)" 1
record -o "$T/again.etl" -m circular --max-size 4MB
expect "descriptions kept after a second run" "$(kept)" 1

# A session that was stopped by somebody who knows nothing of this file has it in the machine's place only.
rm "$T/program"
kitchen "$T/k.etl" >"$T/here"
expect "events decoded where the program was" "$(wc -l <"$T/here")" 9
openetw wevtutil gp OpenETW-Sample-Kitchen /ge /gm >"$T/gp" || fail "gp of what a program carries"
grep -q '^    name: win:Informational$' "$T/gp" || fail "gp: $(cat "$T/gp")"
kitchen --manifest "$man" "$T/k.etl" >"$T/manifest"
cmp "$T/here" "$T/manifest" || fail "the manifest says something else than the program"

# Elsewhere: no program, no manifest, no copy of its description.
mv "$XDG_DATA_HOME" "$T/gone"
openetw wevtutil gp OpenETW-Sample-Kitchen >/dev/null 2>&1 && fail "still known"
mkdir "$T/elsewhere"
cp "$T/k.etl" "$T/again.etl" "$T/elsewhere"
cd "$T/elsewhere" || fail "cd"
kitchen k.etl >"$T/there"
cmp "$T/here" "$T/there" || fail "decoded elsewhere: $(cat "$T/there")"
expect "events of the circular file" "$(kitchen again.etl | wc -l)" 9
openetw wevtutil qe k.etl /f:text '/q:*[System[EventID=1]]' /c:1 >"$T/text" || fail "qe"
grep -q '^  Source: OpenETW-Sample-Kitchen$' "$T/text" || fail "no name of the provider: $(cat "$T/text")"
grep -q 'Ada' "$T/text" || fail "no message: $(cat "$T/text")"
openetw merge -o merged.etl k.etl again.etl >/dev/null 2>&1 || fail "merge"
expect "events of the merged file" "$(kitchen merged.etl | wc -l)" 18

# Installed manifests do the same for programs that carry nothing.
cd "$T" || fail "cd"
mv "$T/gone" "$XDG_DATA_HOME"
rm -r "$XDG_DATA_HOME/openetw"
command -v cc >/dev/null 2>&1 || skip "no C compiler for the rest"
openetw mc -noembed "$man" || fail "mc -noembed"
cc -I. -I"$root/include/etw" -I"$root/include/etw/win" "$root"/samples/manifest-generated/*.c -o plain \
	-L"$OPENETW_BUILD" -letw "-Wl,-rpath,$OPENETW_BUILD" || fail "cc"
printf '#include "winver.h"\n#include "kitchen.rc"\n1 ICON "a.ico"\n' >app.rc
openetw rc /nologo /fo app_rc.o app.rc || fail "rc"
cc -I. -I"$root/include/etw" -I"$root/include/etw/win" "$root"/samples/manifest-generated/*.c app_rc.o -o with_rc \
	-Wl,--gc-sections -L"$OPENETW_BUILD" -letw "-Wl,-rpath,$OPENETW_BUILD" || fail "cc"
openetw run -p "{$guid}::255" -o plain.etl -- ./plain 2 2>/dev/null || fail "run"
expect "descriptions of a program without one" "$(kept)" 0
expect "events without a description" "$(openetw dump -q --json plain.etl | grep -c '"_reason":"no schema')" 9
openetw run -p "{$guid}::255" -o rc.etl -- ./with_rc 2 2>/dev/null || fail "run"
expect "descriptions of a program with resources" "$(kept)" 1
rm -r "$XDG_DATA_HOME/openetw"
expect "events of the program with resources" "$(openetw dump -q --json rc.etl | grep -c '"event":"Order/Start"')" 2
openetw wevtutil im /sc:user "$man" || fail "im"
openetw run -p "OpenETW-Sample-Kitchen::255" -o plain.etl -- ./plain 2 2>/dev/null || fail "run"
rm -r "$XDG_DATA_HOME/openetw"
expect "events of an installed manifest" "$(kitchen plain.etl | wc -l)" 9

# A private session knows its own program, also where no daemon ever heard of it.
cat >private.c <<'C'
#include <stddef.h>
#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include "kitchen.h"
int main(int argc, char **argv)
{
	static const WCHAR name[] = {'p', 0};
	struct { EVENT_TRACE_PROPERTIES p; WCHAR name[64], file[400]; } b = {{{0}}, {0}, {0}};
	TRACEHANDLE h = 0;
	b.p.Wnode.BufferSize = sizeof b;
	b.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	b.p.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC;
	b.p.LoggerNameOffset = offsetof(__typeof__(b), name);
	b.p.LogFileNameOffset = offsetof(__typeof__(b), file);
	for (int i = 0; argc > 1 && argv[1][i] && i < 399; i++) {
		b.file[i] = (unsigned char)argv[1][i];
	}
	REGHANDLE r = 0;
	EVENT_DESCRIPTOR d = {4, 0, 0, 4, 0, 0, 0};
	UINT32 number = 42;
	EVENT_DATA_DESCRIPTOR data;
	GUID g = {0xf3c1a5a0, 0x6a0e, 0x4b2c, {0x9d, 0x0b, 0x2f, 0x6f, 0x4a, 0x7c, 0x1e, 0x11}};
	EventRegister(&g, 0, 0, &r);
	b.p.Wnode.Guid = g;
	EventDataDescCreate(&data, &number, sizeof number);
	if (StartTraceW(&h, name, &b.p) || EnableTraceEx2(h, &g, 1, 255, 0, 0, 0, NULL) ||
	    EventWrite(r, &d, 1, &data)) {
		return 1;
	}
	return (int)ControlTraceW(h, NULL, &b.p, EVENT_TRACE_CONTROL_STOP);
}
C
openetw mc "$man" || fail "mc"
cc -w -I. -I"$root/include/etw" -I"$root/include/etw/win" private.c -o private -L"$OPENETW_BUILD" -letw \
	"-Wl,-rpath,$OPENETW_BUILD" || fail "cc"
OPENETW_RUNTIME_DIR="$T/nobody" XDG_DATA_HOME="$T/nothing" ./private "$PWD/private.etl" || fail "the private session"
XDG_DATA_HOME="$T/nothing" openetw dump -q --json private.etl >lines || fail "dump of a private session's file"
grep -q 'OpenETW-Sample-Kitchen.*42\|42.*OpenETW-Sample-Kitchen' lines || fail "a private session's file: $(cat lines)"
