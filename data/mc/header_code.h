#ifndef MCGEN_DISABLE_PROVIDER_CODE_GENERATION

#ifndef MCGEN_USE_KERNEL_MODE_APIS
  #ifdef _ETW_KM_
    #define MCGEN_USE_KERNEL_MODE_APIS 1
  #else
    #define MCGEN_USE_KERNEL_MODE_APIS 0
  #endif
#endif

#ifndef MCGEN_HAVE_EVENTSETINFORMATION
  #define MCGEN_HAVE_EVENTSETINFORMATION 1
#endif

#ifndef MCGEN_EVENTREGISTER
  #if MCGEN_USE_KERNEL_MODE_APIS
    #define MCGEN_EVENTREGISTER EtwRegister
  #else
    #define MCGEN_EVENTREGISTER EventRegister
  #endif
#endif
#ifndef MCGEN_EVENTUNREGISTER
  #if MCGEN_USE_KERNEL_MODE_APIS
    #define MCGEN_EVENTUNREGISTER EtwUnregister
  #else
    #define MCGEN_EVENTUNREGISTER EventUnregister
  #endif
#endif
#ifndef MCGEN_EVENTSETINFORMATION
  #if MCGEN_USE_KERNEL_MODE_APIS
    #define MCGEN_EVENTSETINFORMATION EtwSetInformation
  #else
    #define MCGEN_EVENTSETINFORMATION EventSetInformation
  #endif
#endif
#ifndef MCGEN_EVENTWRITETRANSFER
  #if MCGEN_USE_KERNEL_MODE_APIS
    #define MCGEN_EVENTWRITETRANSFER EtwWriteTransfer
  #else
    #define MCGEN_EVENTWRITETRANSFER EventWriteTransfer
  #endif
#endif
#ifndef MCGEN_PENABLECALLBACK
  #if MCGEN_USE_KERNEL_MODE_APIS
    #define MCGEN_PENABLECALLBACK PETWENABLECALLBACK
  #else
    #define MCGEN_PENABLECALLBACK PENABLECALLBACK
  #endif
#endif

#ifndef MCGEN_EVENT_ENABLED
#define MCGEN_EVENT_ENABLED(EventName) EventEnabled##EventName()
#endif
#ifndef MCGEN_EVENT_ENABLED_FORCONTEXT
#define MCGEN_EVENT_ENABLED_FORCONTEXT(pContext, EventName) EventEnabled##EventName##_ForContext(pContext)
#endif

/* Is this descriptor wanted, whatever the enable bits say? */
#ifndef MCGEN_ENABLE_CHECK
#define MCGEN_ENABLE_CHECK(Context, Descriptor) \
    (Context.IsEnabled && McGenEventEnabled(&Context, &Descriptor))
#endif

#ifndef MCGEN_EVENT_BIT_SET
#define MCGEN_EVENT_BIT_SET(EnableBits, BitPosition) \
    ((EnableBits[(BitPosition) >> 5] & (1u << ((BitPosition) & 31))) != 0)
#endif

#ifndef _mcgen_PASTE2
#define _mcgen_PASTE2(a, b) _mcgen_PASTE2_imp(a, b)
#define _mcgen_PASTE2_imp(a, b) a##b
#endif

/* One source, one set of functions: a change between two headers is refused here. */
struct _mcgen_PASTE2(_mcgen_Registers_with_, MCGEN_EVENTREGISTER)*
    _mcgen_EVENTREGISTER_must_not_change_between_headers(void);
struct _mcgen_PASTE2(_mcgen_Unregisters_with_, MCGEN_EVENTUNREGISTER)*
    _mcgen_EVENTUNREGISTER_must_not_change_between_headers(void);
struct _mcgen_PASTE2(_mcgen_Informs_with_, MCGEN_EVENTSETINFORMATION)*
    _mcgen_EVENTSETINFORMATION_must_not_change_between_headers(void);
struct _mcgen_PASTE2(_mcgen_Writes_with_, MCGEN_EVENTWRITETRANSFER)*
    _mcgen_EVENTWRITETRANSFER_must_not_change_between_headers(void);

#ifndef MCGEN_TRACE_CONTEXT_DEF
#define MCGEN_TRACE_CONTEXT_DEF
typedef struct _MCGEN_TRACE_CONTEXT
{
    TRACEHANDLE      RegistrationHandle;
    TRACEHANDLE      Logger;            /* address of the provider's traits; 0: none */
    ULONGLONG        MatchAnyKeyword;
    ULONGLONG        MatchAllKeyword;
    ULONG            Flags;
    ULONG            IsEnabled;
    UCHAR            Level;
    UCHAR            Reserve;
    USHORT           EnableBitsCount;
    PULONG           EnableBitMask;     /* a bit for each pair in the two arrays below */
    const ULONGLONG* EnableKeyWords;
    const UCHAR*     EnableLevel;
} MCGEN_TRACE_CONTEXT, *PMCGEN_TRACE_CONTEXT;
#endif

/* Would a session that enabled the provider like this get an event of this level and keyword? */
#ifndef MCGEN_LEVEL_KEYWORD_ENABLED_DEF
#define MCGEN_LEVEL_KEYWORD_ENABLED_DEF
FORCEINLINE
BOOLEAN
McGenLevelKeywordEnabled(
    _In_ PMCGEN_TRACE_CONTEXT EnableInfo,
    _In_ UCHAR Level,
    _In_ ULONGLONG Keyword
    )
{
    if (EnableInfo->Level != 0 && Level > EnableInfo->Level) {
        return FALSE;
    }
    if (Keyword == 0) {
        return TRUE;
    }
    return (BOOLEAN)((Keyword & EnableInfo->MatchAnyKeyword) != 0 &&
                     (Keyword & EnableInfo->MatchAllKeyword) == EnableInfo->MatchAllKeyword);
}
#endif

#ifndef MCGEN_EVENT_ENABLED_DEF
#define MCGEN_EVENT_ENABLED_DEF
FORCEINLINE
BOOLEAN
McGenEventEnabled(
    _In_ PMCGEN_TRACE_CONTEXT EnableInfo,
    _In_ PCEVENT_DESCRIPTOR EventDescriptor
    )
{
    return McGenLevelKeywordEnabled(EnableInfo, EventDescriptor->Level, EventDescriptor->Keyword);
}
#endif

/* Keeps a context in step with the sessions; ETW calls it at every enable and disable. */
#ifndef MCGEN_CONTROL_CALLBACK
#define MCGEN_CONTROL_CALLBACK
_mcgen_FUNCTION
VOID
NTAPI
McGenControlCallbackV2(
    _In_ LPCGUID SourceId,
    _In_ ULONG ControlCode,
    _In_ UCHAR Level,
    _In_ ULONGLONG MatchAnyKeyword,
    _In_ ULONGLONG MatchAllKeyword,
    _In_opt_ PEVENT_FILTER_DESCRIPTOR FilterData,
    _Inout_opt_ PVOID CallbackContext
    )
{
    PMCGEN_TRACE_CONTEXT Ctx = (PMCGEN_TRACE_CONTEXT)CallbackContext;
    ULONG i;

    (void)SourceId;
    (void)FilterData;
    if (Ctx == NULL) {
        return;
    }
    if (ControlCode == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
        Ctx->Level = Level;
        Ctx->MatchAnyKeyword = MatchAnyKeyword;
        Ctx->MatchAllKeyword = MatchAllKeyword;
        Ctx->IsEnabled = 1;
        for (i = 0; i < Ctx->EnableBitsCount; i++) {
            const ULONG bit = 1u << (i & 31);
            if (McGenLevelKeywordEnabled(Ctx, Ctx->EnableLevel[i], Ctx->EnableKeyWords[i])) {
                Ctx->EnableBitMask[i >> 5] |= bit;
            } else {
                Ctx->EnableBitMask[i >> 5] &= ~bit;
            }
        }
    } else if (ControlCode == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
        Ctx->IsEnabled = 0;
        Ctx->Level = 0;
        Ctx->MatchAnyKeyword = 0;
        Ctx->MatchAllKeyword = 0;
        for (i = 0; i < Ctx->EnableBitsCount; i += 32) {
            Ctx->EnableBitMask[i >> 5] = 0;
        }
    }
#ifdef MCGEN_PRIVATE_ENABLE_CALLBACK_V2
    MCGEN_PRIVATE_ENABLE_CALLBACK_V2(
        SourceId,
        ControlCode,
        Level,
        MatchAnyKeyword,
        MatchAllKeyword,
        FilterData,
        CallbackContext
        );
#endif
}
#endif

/* A text that is NULL is written as "NULL". */
#ifndef _mcgen_Text_def
#define _mcgen_Text_def
FORCEINLINE
const char*
_mcgen_AnsiText(_In_opt_ const char* Text)
{
    return Text != NULL ? Text : "NULL";
}
FORCEINLINE
ULONG
_mcgen_AnsiSize(_In_opt_ const char* Text)
{
    return Text != NULL ? (ULONG)(strlen(Text) + 1) : 5;
}
FORCEINLINE
const WCHAR*
_mcgen_WideText(_In_opt_ const WCHAR* Text)
{
    static const WCHAR Null[5] = {'N', 'U', 'L', 'L', 0};
    return Text != NULL ? Text : Null;
}
FORCEINLINE
ULONG
_mcgen_WideSize(_In_opt_ const WCHAR* Text)
{
    const WCHAR* End = _mcgen_WideText(Text);
    const WCHAR* Begin = End;
    while (*End != 0) {
        End++;
    }
    return (ULONG)((size_t)(End - Begin + 1) * sizeof(WCHAR));
}
#endif

/* The second byte of a SID says how many 32-bit parts follow its eight bytes. */
#ifndef MCGEN_GETLENGTHSID
#define MCGEN_GETLENGTHSID(p) (8u + 4u * ((const UCHAR*)(p))[1])
#endif

/* Writes EventData[1...]; the first element is filled here, with the provider's traits. */
#ifndef McGenEventWrite_def
#define McGenEventWrite_def
#define McGenEventWrite _mcgen_PASTE2(McGenEventWrite_, MCGEN_EVENTWRITETRANSFER)
_mcgen_FUNCTION
ULONG
McGenEventWrite(
    _In_ PMCGEN_TRACE_CONTEXT Context,
    _In_ PCEVENT_DESCRIPTOR Descriptor,
    _In_opt_ LPCGUID ActivityId,
    _In_range_(1, 128) ULONG EventDataCount,
    _Inout_updates_(EventDataCount) EVENT_DATA_DESCRIPTOR* EventData
    )
{
    const UCHAR* Traits = (const UCHAR*)(ULONG_PTR)Context->Logger;

    (void)ActivityId;
    EventData[0].Ptr = (ULONG_PTR)Traits;
    EventData[0].Size = 0;
    EventData[0].Reserved = 0;
    if (Traits != NULL) {
        EventData[0].Size = Traits[0] | (ULONG)Traits[1] << 8;
        EventData[0].Reserved = 2; /* EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA */
    }
#if defined(_mcgen_CALLOUT) && defined(MCGEN_CALLOUT)
    {
        ULONG Status = (ULONG)MCGEN_EVENTWRITETRANSFER(
            Context->RegistrationHandle,
            Descriptor,
            ActivityId,
            NULL,
            EventDataCount,
            EventData);
        MCGEN_CALLOUT(Context->RegistrationHandle, Descriptor, EventDataCount - 1, EventData + 1);
        return Status;
    }
#else
    return MCGEN_EVENTWRITETRANSFER(
        Context->RegistrationHandle,
        Descriptor,
        ActivityId,
        NULL,
        EventDataCount,
        EventData);
#endif
}
#endif

/* Registering twice is a mistake, yet an answered one: the first registration stays. */
#ifndef McGenEventRegisterUnregister
#define McGenEventRegisterUnregister
#define McGenEventRegister _mcgen_PASTE2(McGenEventRegister_, MCGEN_EVENTREGISTER)
_mcgen_FUNCTION
ULONG
McGenEventRegister(
    _In_ LPCGUID ProviderId,
    _In_opt_ MCGEN_PENABLECALLBACK EnableCallback,
    _In_opt_ PVOID CallbackContext,
    _Inout_ PREGHANDLE RegHandle
    )
{
    if (*RegHandle != 0) {
        return 0;
    }
    return MCGEN_EVENTREGISTER(ProviderId, EnableCallback, CallbackContext, RegHandle);
}

#define McGenEventUnregister _mcgen_PASTE2(McGenEventUnregister_, MCGEN_EVENTUNREGISTER)
_mcgen_FUNCTION
ULONG
McGenEventUnregister(_Inout_ PREGHANDLE RegHandle)
{
    ULONG Error = 0;

    if (*RegHandle != 0) {
        Error = MCGEN_EVENTUNREGISTER(*RegHandle);
        *RegHandle = 0;
    }
    return Error;
}
#endif

#endif /* MCGEN_DISABLE_PROVIDER_CODE_GENERATION */

