# SPDX-License-Identifier: MIT
# Programs that know ETW by DLL names only, through Python's ctypes: a provider, controller and consumer with
# structures as on Windows, and a program that uses ctypes' Windows names.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
command -v python3 >/dev/null || skip "python3 is not there"
python3 -c 'import ctypes' 2>/dev/null || skip "this Python has no ctypes"
lib=$OPENETW_BUILD/src/win/aliases/libopenetw-aliases.so
[ -f "$lib" ] || skip "built with -Daliases=false"
nm "$OPENETW_BUILD/libetw.so" 2>/dev/null | grep -q '__asan_init\|__tsan_init' && skip "a sanitizer's libraries are not for others"
mkdir "$T/dll"
for n in advapi32 sechost tdh kernel32 ntdll api-ms-win-eventing-provider-l1-1-0; do
	ln -s "$lib" "$T/dll/$n.dll"
done
cp "$here/../src/win/aliases/openetw_windll.py" "$T/dll"
export LD_LIBRARY_PATH="$T/dll:$OPENETW_BUILD" PYTHONPATH="$T/dll" PYTHONDONTWRITEBYTECODE=1
python3 "$here/aliases/ctypes_client.py" "$T" || fail "ctypes_client.py"
openetw dump "$T/python.etl" >"$T/dump" || fail "dump: $(cat "$T/dump")"
grep -q 'Greeting' "$T/dump" || fail "openetw does not show the event: $(cat "$T/dump")"

cat >"$T/windows.py" <<'P'
import ctypes, sys
assert sys.argv == [sys.argv[0], "an argument"]
dll = ctypes.WinDLL("api-ms-win-eventing-provider-l1-1-0.dll", mode=0x800)
dll.EventRegister.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64)]
h = ctypes.c_uint64()
assert dll.EventRegister(bytes(range(16)), None, None, ctypes.byref(h)) == 0 and h.value
assert ctypes.windll.Advapi32.EventUnregister(h) == 0
assert ctypes.windll.ntdll.EtwEventUnregister(ctypes.c_uint64(0)) == 6
ctypes.windll.kernel32.SetLastError(5)
assert ctypes.GetLastError() == 5 and ctypes.WinError().winerror == 5 and len(ctypes.FormatError(5)) > 5
P
python3 -m openetw_windll "$T/windows.py" "an argument" || fail "windows.py"
