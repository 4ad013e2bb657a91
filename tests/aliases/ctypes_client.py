#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A provider, a controller and a consumer in Python that know ETW by the names of its DLLs only.

   ctypes_client.py DIRECTORY    the log file goes there; LD_LIBRARY_PATH has the alias libraries

Structures are declared as on 64-bit Windows, strings are the UTF-16 bytes that callers marshal there.
"""
import ctypes as c
import ctypes.util
import struct
import sys
import uuid

u8, u16, u32, u64 = c.c_uint8, c.c_uint16, c.c_uint32, c.c_uint64
advapi32 = c.CDLL("advapi32.dll")
sechost = c.CDLL("sechost.dll")
tdh = c.CDLL("tdh.dll")
provider = c.CDLL("api-ms-win-eventing-provider-l1-1-0.dll")
kernel32 = c.CDLL("kernel32.dll")

failed = 0


def check(condition, what):
    global failed
    if not condition:
        failed += 1
        print("FAILED:", what)


def wide(text):
    return text.encode("utf-16-le") + b"\0\0"


def read_wide(address):
    n = 0
    while c.string_at(address + n, 2) != b"\0\0":
        n += 2
    return c.string_at(address, n).decode("utf-16-le")


class Guid(c.Structure):
    _fields_ = [("bytes", u8 * 16)]

    @staticmethod
    def of(text):
        return Guid.from_buffer_copy(uuid.UUID(text).bytes_le)


class WnodeHeader(c.Structure):
    _fields_ = [("BufferSize", u32), ("ProviderId", u32), ("HistoricalContext", u64), ("TimeStamp", u64),
                ("Guid", Guid), ("ClientContext", u32), ("Flags", u32)]


class Properties(c.Structure):
    _fields_ = [("Wnode", WnodeHeader), ("BufferSize", u32), ("MinimumBuffers", u32),
                ("MaximumBuffers", u32), ("MaximumFileSize", u32), ("LogFileMode", u32),
                ("FlushTimer", u32), ("EnableFlags", u32), ("AgeLimit", u32), ("NumberOfBuffers", u32),
                ("FreeBuffers", u32), ("EventsLost", u32), ("BuffersWritten", u32),
                ("LogBuffersLost", u32), ("RealTimeBuffersLost", u32), ("LoggerThreadId", c.c_void_p),
                ("LogFileNameOffset", u32), ("LoggerNameOffset", u32)]


class Session(c.Structure):
    _fields_ = [("p", Properties), ("logger", u8 * 512), ("file", u8 * 1024)]


class EnableParameters(c.Structure):
    _fields_ = [("Version", u32), ("EnableProperty", u32), ("ControlFlags", u32), ("SourceId", Guid),
                ("EnableFilterDesc", c.c_void_p), ("FilterDescCount", u32)]


class EventDescriptor(c.Structure):
    _fields_ = [("Id", u16), ("Version", u8), ("Channel", u8), ("Level", u8), ("Opcode", u8),
                ("Task", u16), ("Keyword", u64)]


class DataDescriptor(c.Structure):
    _fields_ = [("Ptr", u64), ("Size", u32), ("Type", u32)]


class EventHeader(c.Structure):
    _fields_ = [("Size", u16), ("HeaderType", u16), ("Flags", u16), ("EventProperty", u16),
                ("ThreadId", u32), ("ProcessId", u32), ("TimeStamp", u64), ("ProviderId", Guid),
                ("Descriptor", EventDescriptor), ("ProcessorTime", u64), ("ActivityId", Guid)]


class EventRecord(c.Structure):
    _fields_ = [("Header", EventHeader), ("BufferContext", u32), ("ExtendedDataCount", u16),
                ("UserDataLength", u16), ("ExtendedData", c.c_void_p), ("UserData", c.c_void_p),
                ("UserContext", c.c_void_p)]


RecordCallback = c.CFUNCTYPE(None, c.POINTER(EventRecord))
EnableCallback = c.CFUNCTYPE(None, c.POINTER(Guid), u32, u8, u64, u64, c.c_void_p, c.c_void_p)


class LogFile(c.Structure):
    _fields_ = [("LogFileName", c.c_void_p), ("LoggerName", c.c_void_p), ("CurrentTime", u64),
                ("BuffersRead", u32), ("ProcessTraceMode", u32), ("CurrentEvent", u8 * 88),
                ("LogfileHeader", u8 * 280), ("BufferCallback", c.c_void_p), ("BufferSize", u32),
                ("Filled", u32), ("EventsLost", u32), ("EventRecordCallback", RecordCallback),
                ("IsKernelTrace", u32), ("Context", c.c_void_p)]


class PropertyDescriptor(c.Structure):
    _fields_ = [("PropertyName", u64), ("ArrayIndex", u32), ("Reserved", u32)]


for kind, size in ((Properties, 120), (EnableParameters, 48), (EventHeader, 80), (EventRecord, 112),
                   (LogFile, 448), (PropertyDescriptor, 16)):
    check(c.sizeof(kind) == size, f"{kind.__name__} has {c.sizeof(kind)} bytes")

advapi32.StartTraceW.argtypes = [c.POINTER(u64), c.c_char_p, c.POINTER(Session)]
advapi32.ControlTraceW.argtypes = [u64, c.c_char_p, c.POINTER(Session), u32]
sechost.EnableTraceEx2.argtypes = [u64, c.POINTER(Guid), u32, u8, u64, u64, u32,
                                   c.POINTER(EnableParameters)]
sechost.OpenTraceW.restype = u64
sechost.OpenTraceW.argtypes = [c.POINTER(LogFile)]
sechost.ProcessTrace.argtypes = [c.POINTER(u64), u32, c.c_void_p, c.c_void_p]
sechost.CloseTrace.argtypes = [u64]
provider.EventRegister.argtypes = [c.POINTER(Guid), EnableCallback, c.c_void_p, c.POINTER(u64)]
provider.EventSetInformation.argtypes = [u64, u32, c.c_char_p, u32]
provider.EventWriteString.argtypes = [u64, u8, u64, c.c_char_p]
provider.EventWriteTransfer.argtypes = [u64, c.POINTER(EventDescriptor), c.POINTER(Guid), c.POINTER(Guid),
                                        u32, c.POINTER(DataDescriptor)]
provider.EventUnregister.argtypes = [u64]
tdh.TdhGetEventInformation.argtypes = [c.POINTER(EventRecord), u32, c.c_void_p, c.c_void_p,
                                       c.POINTER(u32)]
tdh.TdhGetProperty.argtypes = [c.POINTER(EventRecord), u32, c.c_void_p, u32,
                               c.POINTER(PropertyDescriptor), u32, c.c_void_p]

NAME = wide("Python Ütrace")
FILE = wide(sys.argv[1] + "/python.etl")
ID = Guid.of("{b3f0bd02-9d1a-4a10-8ed3-0d8d0f8a4c55}")


def new_session():
    s = Session()
    s.p.Wnode.BufferSize = c.sizeof(Session)
    s.p.Wnode.Flags = 0x00020000  # WNODE_FLAG_TRACED_GUID
    s.p.Wnode.ClientContext = 1
    s.p.LogFileMode = 1  # EVENT_TRACE_FILE_MODE_SEQUENTIAL
    s.p.LoggerNameOffset = Session.logger.offset
    s.p.LogFileNameOffset = Session.file.offset
    c.memmove(c.addressof(s) + Session.file.offset, FILE, len(FILE))
    return s


def control():
    """Starts the session and enables the provider; returns its handle."""
    s, handle = new_session(), u64()
    check(advapi32.StartTraceW(c.byref(handle), NAME, c.byref(s)) == 0, "StartTraceW")
    again = new_session()
    code = advapi32.StartTraceW(c.byref(u64()), NAME, c.byref(again))
    check(code == 183, f"the name is taken: {code}")
    check(read_wide(c.addressof(s) + Session.logger.offset) == "Python Ütrace", "the name is returned")
    p = EnableParameters(Version=2)
    check(sechost.EnableTraceEx2(handle, c.byref(ID), 1, 5, 0, 0, 0, c.byref(p)) == 0, "EnableTraceEx2")
    return handle


enabled = []


@EnableCallback
def on_enable(source, code, level, any_keyword, all_keyword, filters, context):
    enabled.append((code, level))


def provide():
    """Registers a provider, writes a string and a self-describing event with an activity."""
    reg = u64()
    check(provider.EventRegister(c.byref(ID), on_enable, None, c.byref(reg)) == 0, "EventRegister")
    name = b"Python.Provider\0"
    traits = struct.pack("<H", 2 + len(name)) + name
    check(provider.EventSetInformation(reg, 2, traits, len(traits)) == 0, "EventSetInformation")
    check(provider.EventWriteString(reg, 4, 1, wide("text ä")) == 0, "EventWriteString")
    # size, no tags, name, then fields: a terminated UTF-16 string (1) and a 32-bit number (8)
    meta = b"\0Greeting\0" + b"Words\0\x01" + b"Count\0\x08"
    meta = struct.pack("<H", 2 + len(meta)) + meta
    words, count = wide("grüß €"), struct.pack("<I", 77)
    data = (DataDescriptor * 4)()
    keep = []
    for d, (kind, text) in zip(data, ((2, traits), (1, meta), (0, words), (0, count))):
        keep.append(c.create_string_buffer(text, len(text)))
        d.Ptr, d.Size, d.Type = c.addressof(keep[-1]), len(text), kind
    e = EventDescriptor(Channel=11, Level=4, Opcode=1, Keyword=1)
    activity = Guid.of("{00000001-0002-0003-0405-060708090a0b}")
    check(provider.EventWriteTransfer(reg, c.byref(e), c.byref(activity), None, 4, data) == 0,
          "EventWriteTransfer")
    check(provider.EventUnregister(reg) == 0, "EventUnregister")


seen = []


@RecordCallback
def on_record(record):
    r = record.contents
    if bytes(r.Header.ProviderId.bytes) != bytes(ID.bytes):
        return
    if r.Header.Flags & 4:  # EVENT_HEADER_FLAG_STRING_ONLY
        seen.append(read_wide(r.UserData))
        return
    size = u32()
    check(tdh.TdhGetEventInformation(record, 0, None, None, c.byref(size)) == 122, "a size is asked for")
    info = c.create_string_buffer(size.value)
    check(tdh.TdhGetEventInformation(record, 0, None, info, c.byref(size)) == 0, "TdhGetEventInformation")
    at = c.addressof(info)
    provider_name, event_name = struct.unpack_from("<I", info, 52)[0], struct.unpack_from("<I", info, 92)[0]
    count = struct.unpack_from("<I", info, 100)[0]
    names = [read_wide(at + struct.unpack_from("<I", info, 112 + 24 * i + 4)[0]) for i in range(count)]
    values = []
    for n, kind in zip(names, ("s", "<I")):
        text = c.create_string_buffer(wide(n))
        p = PropertyDescriptor(PropertyName=c.addressof(text), ArrayIndex=0xFFFFFFFF)
        out = c.create_string_buffer(64)
        code = tdh.TdhGetProperty(record, 0, None, 1, c.byref(p), len(out), out)
        check(code == 0, f"TdhGetProperty {n}: {code}")
        values.append(read_wide(c.addressof(out)) if kind == "s" else struct.unpack_from(kind, out)[0])
    seen.append((read_wide(at + provider_name), read_wide(at + event_name), names, values,
                 bytes(r.Header.ActivityId.bytes)[:2], r.Header.Descriptor.Opcode))


def consume():
    log = LogFile()
    file = c.create_string_buffer(FILE, len(FILE))
    log.LogFileName = c.addressof(file)
    log.ProcessTraceMode = 0x10000000  # PROCESS_TRACE_MODE_EVENT_RECORD
    log.EventRecordCallback = on_record
    trace = u64(sechost.OpenTraceW(c.byref(log)))
    check(trace.value not in (0, 2**64 - 1), "OpenTraceW")
    check(sechost.ProcessTrace(c.byref(trace), 1, None, None) == 0, "ProcessTrace")
    check(sechost.CloseTrace(trace) == 0, "CloseTrace")
    name = c.create_string_buffer(wide("/nowhere/x.etl"))  # kept: the address alone keeps nothing
    missing = LogFile(LogFileName=c.addressof(name))
    check(sechost.OpenTraceW(c.byref(missing)) == 2**64 - 1, "no such file")
    check(kernel32.GetLastError() in (2, 3), "the reason is in kernel32's GetLastError")


session = control()
provide()
stop = new_session()
check(advapi32.ControlTraceW(session, None, c.byref(stop), 1) == 0, "ControlTraceW")
check(stop.p.EventsLost == 0 and stop.p.BuffersWritten > 0, "properties are filled when it stops")
consume()
check((1, 5) in enabled, f"the callback heard of the session: {enabled}")
check(seen == ["text ä", ("Python.Provider", "Greeting", ["Words", "Count"], ["grüß €", 77],
                          b"\1\0", 1)], f"the events came back as {seen}")
sys.exit(failed != 0)
