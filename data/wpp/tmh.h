
#ifndef OPENETW_WPP
#define OPENETW_WPP
#include <windows.h>
#include <wmistr.h>
#include <evntrace.h>
#include <string.h>

/* Macros that a source may define before it includes this header: WPP_TRACE (instead of TraceMessage),
 * WPP_PRIVATE_ENABLE_CALLBACK(guid, logger, enabled, flags, level), and for each combination of conditions
 * WPP_x_y_ENABLED, WPP_x_y_LOGGER, WPP_x_y_PRE, WPP_x_y_POST. */
#ifndef WPP_TRACE
#define WPP_TRACE TraceMessage
#endif
#ifndef WPP_TRACE_OPTIONS
#define WPP_TRACE_OPTIONS \
    (TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_SYSTEMINFO | TRACE_MESSAGE_TIMESTAMP)
#endif

#define WPP_GLUE3_(a, b, c) a##b##c
#define WPP_GLUE3(a, b, c) WPP_GLUE3_(a, b, c)
#define WPP_(Id) WPP_GLUE3(WPP_##Id##_, WPP_THIS_FILE, __LINE__)
/* Several calls in a line: by the number of their arguments. */
#define WPP_PICK_(a, b) a##b
#define WPP_PICK(a, b) WPP_PICK_(a, b)
#define WPP_COUNT(...)                                                                                        \
    WPP_COUNT_(__VA_ARGS__, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,   \
               20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define WPP_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, \
                   a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38,  \
                   a39, a40, n, ...)                                                                          \
    n

/* Arguments as TraceMessage takes them: where and how long. */
#define WPP_BARE_(...) __VA_ARGS__
#define WPP_THROUGH_(Macro, Arguments) Macro Arguments
#define WPP_LOGPAIR(Size, Address) (const void *)(Address), (SIZE_T)(Size),
#define WPP_LOGTYPEVAL(Type, Value) WPP_LOGPAIR(sizeof(Type), &(Value))
#define WPP_LOGTYPEPTR(Value) WPP_LOGPAIR(sizeof(*(Value)), (Value))
#define WPP_LOGPOINTER(Value) WPP_LOGPAIR(sizeof(void *), &(Value))
#define WPP_LOGASTR(Value) WPP_LOGPAIR(strlen((Value) ? (Value) : "NULL") + 1, (Value) ? (Value) : "NULL")
#define WPP_LOGWSTR(Value) WPP_LOGPAIR(WppWideBytes_(Value), (Value) ? (const void *)(Value) : WppWideNull_)
#define WPP_LOGGUID(Value) WPP_LOGPAIR(16, (Value) ? (const void *)(Value) : WppNothing_)
#define WPP_LOGSID(Value) WPP_LOGPAIR(WppSidBytes_(Value), (Value) ? (Value) : WppNothing_)
#define WPP_LOGMAC(Value) WPP_LOGPAIR(6, (Value) ? (Value) : WppNothing_)
#define WPP_LOGCOUNTED_(Value)                                                        \
    WPP_LOGPAIR(2, (Value) ? (Value) : WppNothing_)                                    \
    WPP_LOGPAIR((Value) ? ((const struct WppCounted_ *)(Value))->Length : 0,           \
                (Value) ? ((const struct WppCounted_ *)(Value))->Buffer : WppNothing_)
#define WPP_LOGPUSTR(Value) WPP_LOGCOUNTED_(Value)
#define WPP_LOGPASTR(Value) WPP_LOGCOUNTED_(Value)
#define WPP_LOGSOCKADDR(Value) \
    WPP_LOGPAIR(2, (Value) ? WppSockaddrBytes_(Value) : WppNothing_) \
    WPP_LOGPAIR((Value) ? *(const USHORT *)WppSockaddrBytes_(Value) : 0, (Value) ? (Value) : WppNothing_)

#ifdef __cplusplus
/* The length lives until the call that takes its address has returned. */
struct WppLength_ {
    USHORT Bytes;
    explicit WppLength_(SIZE_T Size) : Bytes((USHORT)(Size < 0xFFFF ? Size : 0xFFFE)) {}
    const void *At() const { return &Bytes; }
};
#define WPP_LOGCPPSTR(Value)                                                           \
    WPP_LOGPAIR(2, WppLength_((Value).size() * sizeof((Value)[0])).At())               \
    WPP_LOGPAIR(WppLength_((Value).size() * sizeof((Value)[0])).Bytes, (Value).data())
#endif

struct WppCounted_ {
    USHORT Length, MaximumLength;
    const void *Buffer;
};
static const unsigned char WppNothing_[16] __attribute__((unused)) = {0};
static const WCHAR WppWideNull_[] __attribute__((unused)) = {'N', 'U', 'L', 'L', 0};

static __inline__ __attribute__((unused)) SIZE_T WppWideBytes_(const WCHAR *Text)
{
    SIZE_T n = 0;
    for (Text = Text ? Text : WppWideNull_; Text[n]; n++) {
    }
    return 2 * (n + 1);
}

static __inline__ __attribute__((unused)) SIZE_T WppSidBytes_(const void *Sid)
{
    /* revision, number of parts, six bytes, parts of four */
    return Sid ? 8 + 4 * (SIZE_T)((const unsigned char *)Sid)[1] : 8;
}

/* By family: IPv4 16, IPv6 28. */
static __inline__ __attribute__((unused)) const void *WppSockaddrBytes_(const void *Address)
{
    static const USHORT Bytes[2] = {16, 28};
    USHORT Family;
    memcpy(&Family, Address, sizeof Family);
    return &Bytes[Family != 2];
}

typedef union {
    struct {
        TRACEHANDLE Logger;
        TRACEHANDLE RegHandle;
        ULONG Flags[1];
        LONG Level;
    } Control;
} WPP_CB_TYPE;

#define WPP_MASK(CTL) (1u << (((CTL) - 1) & 31))
#define WPP_FLAG_NO(CTL) ((0xFFFF & ((CTL) - 1)) / 32)
#define WPP_CTRL_NO(CTL) ((CTL) >> 16)
#define WPP_CONTROL(CTL) (WPP_CB[WPP_CTRL_NO(CTL)].Control)
#ifndef WPP_LEVEL_ENABLED
#define WPP_LEVEL_ENABLED(LEVEL) \
    ((WPP_CONTROL(WPP_BIT_##LEVEL).Flags[WPP_FLAG_NO(WPP_BIT_##LEVEL)] & WPP_MASK(WPP_BIT_##LEVEL)) != 0)
#endif
#ifndef WPP_LEVEL_LOGGER
#define WPP_LEVEL_LOGGER(LEVEL) (WPP_CONTROL(WPP_BIT_##LEVEL).Logger),
#endif
/* the same under the other names conditions have */
#ifndef WPP_FLAG_ENABLED
#define WPP_FLAG_ENABLED(FLAG) WPP_LEVEL_ENABLED(FLAG)
#endif
#ifndef WPP_FLAG_LOGGER
#define WPP_FLAG_LOGGER(FLAG) WPP_LEVEL_LOGGER(FLAG)
#endif
#ifndef WPP_FLAGS_ENABLED
#define WPP_FLAGS_ENABLED(FLAGS) WPP_LEVEL_ENABLED(FLAGS)
#endif
#ifndef WPP_FLAGS_LOGGER
#define WPP_FLAGS_LOGGER(FLAGS) WPP_LEVEL_LOGGER(FLAGS)
#endif
#endif /* OPENETW_WPP */

/* WPP_DEBUG((text, arguments)), which the source defines behind WPP_CONTROL_GUIDS, gets every message,
 * enabled or not; what it is may end in a semicolon. */
#undef WPP_DEBUG_
#ifdef WPP_DEBUG
#define WPP_DEBUG_(Arguments) __extension__({ WPP_DEBUG(Arguments); (void)0; }),
#else
#define WPP_DEBUG_(Arguments)
#endif

#if defined(WPP_CONTROL_GUIDS) && !defined(WPP_CONTROLS_DEFINED)
#define WPP_CONTROLS_DEFINED
#define WPP_DEFINE_CONTROL_GUID(Name, Guid, Bits) WPP_CTL_##Name,
enum WPP_CTL_NAMES { WPP_CONTROL_GUIDS WPP_LAST_CTL };
#undef WPP_DEFINE_CONTROL_GUID

#define WPP_DEFINE_CONTROL_GUID(Name, Guid, Bits) \
    WPP_BLOCK_START_##Name = WPP_CTL_##Name * 0x10000, Bits WPP_BLOCK_END_##Name,
#define WPP_DEFINE_BIT(Name) WPP_BIT_##Name,
enum WPP_BITS { WPP_CONTROL_GUIDS WPP_BLOCK_LAST };
#undef WPP_DEFINE_CONTROL_GUID
#undef WPP_DEFINE_BIT

#define WPP_DEFINE_CONTROL_GUID(Name, Guid, Bits) WPP_GUID_OF_ Guid,
#define WPP_DEFINE_BIT(Name)
#define WPP_GUID_OF_(l, w1, w2, w3, ll)                                                              \
    {0x##l, 0x##w1, 0x##w2,                                                                           \
     {(BYTE)(0x##w3 >> 8), (BYTE)(0x##w3 & 0xFF), (BYTE)(0x##ll##ULL >> 40 & 0xFF),                   \
      (BYTE)(0x##ll##ULL >> 32 & 0xFF), (BYTE)(0x##ll##ULL >> 24 & 0xFF),                             \
      (BYTE)(0x##ll##ULL >> 16 & 0xFF), (BYTE)(0x##ll##ULL >> 8 & 0xFF), (BYTE)(0x##ll##ULL & 0xFF)}}
static const GUID WppControlGuids_[WPP_LAST_CTL] __attribute__((unused)) = {WPP_CONTROL_GUIDS};
#undef WPP_DEFINE_CONTROL_GUID
#undef WPP_DEFINE_BIT

#ifdef __cplusplus
extern "C" {
#endif
/* One for the program or library, however many of its sources include this. */
WPP_CB_TYPE WPP_CB[WPP_LAST_CTL] __attribute__((weak, visibility("hidden")));

static __attribute__((unused)) ULONG WINAPI WppControlCallback_(WMIDPREQUESTCODE Code, PVOID Context,
                                                                ULONG *Size, PVOID Buffer)
{
    WPP_CB_TYPE *Block = (WPP_CB_TYPE *)Context;
    TRACEHANDLE Logger = 0;
    ULONG Flags = 0;
    LONG Level = 0;

    *Size = 0;
    if (Code == WMI_ENABLE_EVENTS) {
        Logger = GetTraceLoggerHandle(Buffer);
        if (Logger == (TRACEHANDLE)-1) {
            return GetLastError();
        }
        Flags = GetTraceEnableFlags(Logger);
        Level = GetTraceEnableLevel(Logger);
    } else if (Code != WMI_DISABLE_EVENTS) {
        return ERROR_INVALID_PARAMETER;
    }
    /* Whoever sees flags sees the session they are for. */
    if (Logger) {
        Block->Control.Logger = Logger;
        Block->Control.Level = Level;
    }
    __atomic_store_n(&Block->Control.Flags[0], Flags, __ATOMIC_RELEASE);
    if (!Logger) {
        Block->Control.Level = 0;
    }
#ifdef WPP_PRIVATE_ENABLE_CALLBACK
    WPP_PRIVATE_ENABLE_CALLBACK(&WppControlGuids_[Block - WPP_CB], Logger, Logger != 0, Flags, (UCHAR)Level);
#endif
    return 0;
}

static __attribute__((unused)) void WppInit_(void)
{
    static const GUID Class = {0xd58c126f, 0xb309, 0x11d1, {0x96, 0x9e, 0, 0, 0xf8, 0x75, 0xa5, 0xbc}};
    TRACE_GUID_REGISTRATION Registration = {&Class, 0};
    int i;
    for (i = 0; i < (int)WPP_LAST_CTL; i++) {
        if (WPP_CB[i].Control.RegHandle == 0) {
            RegisterTraceGuidsW(WppControlCallback_, &WPP_CB[i], &WppControlGuids_[i], 1, &Registration, 0, 0,
                                &WPP_CB[i].Control.RegHandle);
        }
    }
}

static __attribute__((unused)) void WppCleanup_(void)
{
    int i;
    for (i = 0; i < (int)WPP_LAST_CTL; i++) {
        if (WPP_CB[i].Control.RegHandle) {
            UnregisterTraceGuids(WPP_CB[i].Control.RegHandle);
            WPP_CB[i].Control.RegHandle = 0;
            WPP_CB[i].Control.Flags[0] = 0;
        }
    }
}
#ifdef __cplusplus
}
#endif
/* Whatever a source passes, its name or what drivers have, has no meaning here. */
#define WPP_INIT_TRACING(...) WppInit_()
#define WPP_CLEANUP(...) WppCleanup_()
#define WPP_SYSTEMCONTROL(...)
#define WPP_SYSTEMCONTROL2(...)
#endif /* WPP_CONTROL_GUIDS */

