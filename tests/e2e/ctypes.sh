# SPDX-License-Identifier: MIT
# Programs that know ETW by DLL names only, through Python's ctypes: a provider, controller and consumer with
# structures as on Windows, and a program that uses ctypes' Windows names.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
command -v python3 >/dev/null || skip "python3 is not there"
python3 -c 'import ctypes' 2>/dev/null || skip "this Python has no ctypes"
lib=$OPENETW_BUILD/winrt/aliases/libopenetw-aliases.so
[ -f "$lib" ] || skip "built with -Daliases=false"
nm "$OPENETW_BUILD/libetw.so" 2>/dev/null | grep -q '__asan_init\|__tsan_init' && skip "a sanitizer's libraries are not for others"
mkdir "$T/dll"
for n in advapi32 sechost tdh kernel32 ntdll api-ms-win-eventing-provider-l1-1-0; do
	ln -s "$lib" "$T/dll/$n.dll"
done
cp "$here/../winrt/aliases/openetw_windll.py" "$T/dll"
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

# As on Windows: sizes and strings of structures, arguments and buffers, without a word about it in the program.
cat >"$T/as_it_is.py" <<'P'
import ctypes as ct, sys
from ctypes import wintypes as wt
assert ct.sizeof(wt.DWORD) == ct.sizeof(ct.c_ulong) == ct.sizeof(ct.c_long) == 4 and ct.sizeof(ct.c_wchar) == 2
class Zone(ct.Structure):
    _fields_ = [("Bias", ct.c_long), ("Name", ct.c_wchar * 32), ("Rest", ct.c_byte * 104), ("Bias2", ct.c_long)]
class Event(ct.Structure):
    _fields_ = [("Bytes", ct.c_byte * 88)]
class Header(ct.Structure):
    _fields_ = [("BufferSize", wt.ULONG), ("Version", wt.ULONG), ("Numbers", wt.ULONG * 12), ("LoggerName", ct.c_wchar_p),
                ("LogFileName", ct.c_wchar_p), ("Zone", Zone), ("Times", ct.c_longlong * 3), ("More", wt.ULONG * 2)]
class Mode(ct.Union):
    _fields_ = [("LogFileMode", wt.ULONG), ("ProcessTraceMode", wt.ULONG)]
class Record(ct.Structure):
    _fields_ = [("Size", ct.c_ushort), ("Type", ct.c_ushort), ("Flags", ct.c_ushort), ("Property", ct.c_ushort),
                ("Tid", wt.ULONG), ("Pid", wt.ULONG), ("Time", ct.c_longlong), ("Provider", ct.c_byte * 16)]
Callback = ct.WINFUNCTYPE(None, ct.POINTER(Record))
class Logfile(ct.Structure):
    _anonymous_ = ("u",)
    _fields_ = [("LogFileName", ct.c_wchar_p), ("LoggerName", ct.c_wchar_p), ("CurrentTime", ct.c_longlong),
                ("BuffersRead", wt.ULONG), ("u", Mode), ("Current", Event), ("Header", Header),
                ("BufferCallback", ct.c_void_p), ("BufferSize", wt.ULONG), ("Filled", wt.ULONG), ("Lost", wt.ULONG),
                ("EventRecordCallback", Callback), ("IsKernelTrace", wt.ULONG), ("Context", ct.c_void_p)]
assert Logfile.EventRecordCallback.offset == 424 and ct.sizeof(Logfile) == 448, ct.sizeof(Logfile)
seen = []
log = Logfile()
log.LogFileName = sys.argv[1]
assert log.LogFileName == sys.argv[1] and log.LoggerName is None
log.ProcessTraceMode = 0x10000000
log.EventRecordCallback = Callback(lambda r: seen.append(r.contents.Pid))
dll = ct.windll.advapi32
dll.OpenTraceW.restype = ct.c_uint64
dll.OpenTraceW.argtypes = [ct.POINTER(Logfile)]
h = dll.OpenTraceW(ct.byref(log))
assert h != 2 ** 64 - 1, ct.WinError()
assert log.Header.BufferSize >= 4096
assert dll.ProcessTrace(ct.byref(ct.c_uint64(h)), 1, None, None) == 0 and len(seen) > 1
assert dll.CloseTrace(ct.c_uint64(h)) == 0
zone = Zone()
zone.Name = "Mitteleuropäische Zeit"
assert zone.Name == "Mitteleuropäische Zeit"
text = ct.create_unicode_buffer(64)
guid = (ct.c_byte * 16)(*range(16))
assert ct.windll.ole32.StringFromGUID2(ct.byref(guid), text, 64) == 39
assert text.value == "{03020100-0504-0706-0809-0A0B0C0D0E0F}" and text[1:4] == "030"
back = (ct.c_byte * 16)()
assert ct.oledll.ole32.CLSIDFromString(text.value, ct.byref(back)) == 0 and bytes(back) == bytes(guid)
p = ct.c_wchar_p()
assert ct.oledll.ole32.StringFromCLSID(ct.byref(guid), ct.byref(p)) == 0 and p.value == text.value
ct.windll.ole32.CoTaskMemFree(p)
assert ct.cast(text, ct.c_wchar_p).value == ct.wstring_at(text) == text.value
assert ct.windll.kernel32.QueryDosDeviceW("C:", text, 64) == 0 and ct.GetLastError() == 2
P
ln -s "$lib" "$T/dll/ole32.dll"
python3 -m openetw_windll "$T/as_it_is.py" "$T/python.etl" || fail "as_it_is.py"

# Linkers find the DLLs' names, too.
command -v cc >/dev/null || exit 0
cat >"$T/named.c" <<'C'
unsigned TdhEnumerateProviders(void *buffer, unsigned *size);
unsigned long long OpenTraceW(void *logfile);
int main(void)
{
	unsigned size = 0;
	return TdhEnumerateProviders(0, &size) == 122 && size > 8 && OpenTraceW(0) == ~0ull ? 0 : 1;
}
C
cc "$T/named.c" -o "$T/named" -L"$OPENETW_BUILD/winrt/aliases" -L"$OPENETW_BUILD" -ladvapi32 -ltdh || fail "-ladvapi32 -ltdh"
"$T/named" || fail "a program linked by the DLLs' names"
