/* SPDX-License-Identifier: MIT
 *
 * The numbers of TraceLogging metadata, and the statics a program holds. Part of
 * TraceLoggingProvider.h.
 */
#ifndef ETW_TLG_TYPES_H
#define ETW_TLG_TYPES_H

/* First byte of a field's type: how the value is stored. */
enum TlgIn_t {
	TlgInNULL,
	TlgInUNICODESTRING, /* UTF-16, ends with NUL */
	TlgInANSISTRING,    /* bytes, ends with NUL */
	TlgInINT8,
	TlgInUINT8,
	TlgInINT16,
	TlgInUINT16,
	TlgInINT32,
	TlgInUINT32,
	TlgInINT64,
	TlgInUINT64,
	TlgInFLOAT,
	TlgInDOUBLE,
	TlgInBOOL32,
	TlgInBINARY, /* u16 bytes, data */
	TlgInGUID,
	_TlgInPOINTER_unsupported, /* the hex type of the pointer's size is used */
	TlgInFILETIME,
	TlgInSYSTEMTIME,
	TlgInSID,
	TlgInHEXINT32,
	TlgInHEXINT64,
	TlgInCOUNTEDSTRING, /* u16 bytes, UTF-16 */
	TlgInCOUNTEDANSISTRING,
	_TlgInSTRUCT, /* second byte: number of members */
	TlgInCOUNTEDBINARY,
	_TlgInMax,
#if __SIZEOF_POINTER__ == 8
	TlgInINTPTR = TlgInINT64,
	TlgInUINTPTR = TlgInUINT64,
	TlgInPOINTER = TlgInHEXINT64,
#else
	TlgInINTPTR = TlgInINT32,
	TlgInUINTPTR = TlgInUINT32,
	TlgInPOINTER = TlgInHEXINT32,
#endif
	TlgInLONG = TlgInINT32,
	TlgInULONG = TlgInUINT32,
	TlgInHEXLONG = TlgInHEXINT32,
	_TlgInTypeMask = 31,
	TlgInCcount = 32,  /* constant count in the metadata */
	TlgInVcount = 64,  /* u16 count in the data */
	_TlgInCustom = 96, /* schema in the metadata; u16 bytes, data */
	_TlgInCountMask = 96,
	_TlgInChain = 128 /* a second byte follows */
};

/* Second byte: how to show it. */
enum TlgOut_t {
	TlgOutNULL,
	TlgOutNOPRINT,
	TlgOutSTRING,
	TlgOutBOOLEAN,
	TlgOutHEX,
	TlgOutPID,
	TlgOutTID,
	TlgOutPORT, /* network order */
	TlgOutIPV4,
	TlgOutIPV6,
	TlgOutSOCKETADDRESS,
	TlgOutXML,
	TlgOutJSON,
	TlgOutWIN32ERROR,
	TlgOutNTSTATUS,
	TlgOutHRESULT,
	TlgOutFILETIME,
	TlgOutSIGNED,
	TlgOutUNSIGNED,
	TlgOutUTF8 = 35,
	TlgOutPKCS7_WITH_TYPE_INFO,
	TlgOutCODE_POINTER,
	TlgOutDATETIME_UTC,
	_TlgOutMax,
	_TlgOutTypeMask = 127,
	_TlgOutChain = 128 /* tag bytes follow */
};

/* First byte of a blob that describes a provider or an event in the program's data. */
enum _TlgBlob_t {
	_TlgBlobNone,
	_TlgBlobEnd,
	_TlgBlobProvider,
	_TlgBlobEvent3,
	_TlgBlobProvider3,
	_TlgBlobEvent2,
	_TlgBlobEvent4
};

/* State of one provider. LevelPlus1 is the whole test of a disabled provider, so it comes first: 0
 * while disabled, 1 + level while enabled, 256 when every level is wanted. */
struct _tlgProvider_t {
	UINT32 LevelPlus1;
	UINT16 const *ProviderMetadataPtr; /* traits blob; type byte and GUID lie before it */
	ULONGLONG KeywordAny;
	ULONGLONG KeywordAll;
	REGHANDLE RegHandle; /* 0 while not registered */
	TLG_PENABLECALLBACK EnableCallback;
	PVOID CallbackContext;
};

typedef struct _tlgProvider_t const *TraceLoggingHProvider;

/* An event blob as Microsoft's header lays it out: what programs hand, from Channel on, to
 * _tlgWriteTransfer_EventWriteTransfer when they make their own. Call sites of ours keep a ready
 * EVENT_DESCRIPTOR instead, see engine.h. RemainingSize starts the metadata that travels with the
 * event. */
struct __attribute__((packed)) _tlgEventMetadata_t {
	UINT8 Type; /* _TlgBlobEvent4 */
	UCHAR Channel;
	UCHAR Level;
	UCHAR Opcode;
	ULONGLONG Keyword;
	UINT16 RemainingSize;
};

/* From Channel to RemainingSize. */
#define _tlg_EVENT_METADATA_PREAMBLE 11

/* _tlgSA checks in a block or file, _tlgFieldSA among the members of a struct, _tlgWideSA that a
 * unit of a string is not 4 bytes. C99 has no check that can stand in a struct or carry a text. */
#define _tlgWideText                                                                          \
	"TraceLogging: wide strings are UTF-16. Compile with -fshort-wchar, or use char16_t " \
	"and u\"text\""
#ifdef __cplusplus
#define _tlgSA(condition, text)      static_assert(condition, text)
#define _tlgFieldSA(condition, text) static_assert(condition, text);
#elif __STDC_VERSION__ >= 201112L
#define _tlgSA(condition, text)      _Static_assert(condition, text)
#define _tlgFieldSA(condition, text) _Static_assert(condition, text);
#define _tlgWideSA(condition)        _Static_assert(condition, _tlgWideText)
#else
#define _tlgSA(condition, text) extern char _tlgCheckFailed[(condition) ? 1 : -1] __attribute__((unused))
#define _tlgFieldSA(condition, text)
#define _tlgWideSA(condition)                                                                     \
	extern char TraceLogging_wide_strings_need_fshort_wchar_or_char16_t[(condition) ? 1 : -1] \
		__attribute__((unused))
#endif
#define _tlgHOT static __inline__ __attribute__((always_inline, unused))

#endif
