/* SPDX-License-Identifier: MIT
 *
 * Rewriting traces: events of files or of a real-time session pass through a callback, and what the
 * callback injects is written to a new file. COM shapes: each object is a pointer to a table of
 * functions, in the order that Windows has. CoCreateInstance(CLSID_TraceRelogger) makes the
 * relogger.
 */
#ifndef ETW_RELOGGER_H
#define ETW_RELOGGER_H

#include "evntcons.h"
#include "win/objbase.h"

typedef ULONG64 RELOGSTREAM_ID;

/* In libetw; declared only, whatever INITGUID says, so that a program may have its own. */
EXTERN_C const CLSID CLSID_TraceRelogger;
EXTERN_C const IID IID_ITraceRelogger;
EXTERN_C const IID IID_ITraceEvent;
EXTERN_C const IID IID_ITraceEventCallback;

/* ITraceEvent: an event that may be changed before it is injected.
 *   SetPayload     `Payload` of `PayloadSize` bytes is copied
 *   SetTimeStamp   in raw units of the stream's clock
 *   SetThreadTimes in units of TimerResolution
 *
 * ITraceEventCallback: the program's own. The header event comes to OnBeginProcessTrace.
 *
 * ITraceRelogger
 *   AddLogfileTraceStream   several are merged by time
 *   AddRealtimeTraceStream  one
 *   RegisterCallback        calls the callback's AddRef; its Release is never called, so the program
 *                           deletes the callback, after ProcessTrace
 *   CreateEventInstance     Flags are EVENT_HEADER_FLAG_*
 *   SetCompressionMode      on unless switched off before ProcessTrace
 *   ProcessTrace            blocks until the end, or Cancel */
#ifdef __cplusplus
struct ITraceRelogger;

struct ETW_UUID("8CC97F40-9028-4FF3-9B62-7D1F79CA7BCB") ITraceEvent : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE Clone(ITraceEvent **NewEvent) = 0;
	virtual HRESULT STDMETHODCALLTYPE GetUserContext(void **UserContext) = 0;
	virtual HRESULT STDMETHODCALLTYPE GetEventRecord(PEVENT_RECORD *EventRecord) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetPayload(BYTE *Payload, ULONG PayloadSize) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetEventDescriptor(PCEVENT_DESCRIPTOR EventDescriptor) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetProcessId(ULONG ProcessId) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetProcessorIndex(ULONG ProcessorIndex) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetThreadId(ULONG ThreadId) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetThreadTimes(ULONG KernelTime, ULONG UserTime) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetActivityId(LPCGUID ActivityId) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetTimeStamp(LARGE_INTEGER *TimeStamp) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetProviderId(LPCGUID ProviderId) = 0;
};

struct ETW_UUID("3ED25501-593F-43E9-8F38-3AB46F5A4A52") ITraceEventCallback : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE OnBeginProcessTrace(ITraceEvent *HeaderEvent, ITraceRelogger *Relogger) = 0;
	virtual HRESULT STDMETHODCALLTYPE OnFinalizeProcessTrace(ITraceRelogger *Relogger) = 0;
	virtual HRESULT STDMETHODCALLTYPE OnEvent(ITraceEvent *Event, ITraceRelogger *Relogger) = 0;
};

struct ETW_UUID("F754AD43-3BCC-4286-8009-9C5DA214E84E") ITraceRelogger : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE AddLogfileTraceStream(BSTR LogfileName, void *UserContext,
								RELOGSTREAM_ID *TraceHandle) = 0;
	virtual HRESULT STDMETHODCALLTYPE AddRealtimeTraceStream(BSTR LoggerName, void *UserContext,
								 RELOGSTREAM_ID *TraceHandle) = 0;
	virtual HRESULT STDMETHODCALLTYPE RegisterCallback(ITraceEventCallback *Callback) = 0;
	virtual HRESULT STDMETHODCALLTYPE Inject(ITraceEvent *Event) = 0;
	virtual HRESULT STDMETHODCALLTYPE CreateEventInstance(RELOGSTREAM_ID TraceHandle, ULONG Flags,
							      ITraceEvent **Event) = 0;
	virtual HRESULT STDMETHODCALLTYPE ProcessTrace() = 0;
	virtual HRESULT STDMETHODCALLTYPE SetOutputFilename(BSTR LogfileName) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetCompressionMode(BOOLEAN CompressionMode) = 0;
	virtual HRESULT STDMETHODCALLTYPE Cancel() = 0;
};
#else
typedef struct ITraceEvent ITraceEvent;
typedef struct ITraceEventCallback ITraceEventCallback;
typedef struct ITraceRelogger ITraceRelogger;

#define ETW_COM_HEAD(type)                                                                      \
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(type * This, REFIID riid, void **ppvObject); \
	ULONG(STDMETHODCALLTYPE *AddRef)(type * This);                                          \
	ULONG(STDMETHODCALLTYPE *Release)(type * This)

typedef struct ITraceEventVtbl {
	ETW_COM_HEAD(ITraceEvent);
	HRESULT(STDMETHODCALLTYPE *Clone)(ITraceEvent *This, ITraceEvent **NewEvent);
	HRESULT(STDMETHODCALLTYPE *GetUserContext)(ITraceEvent *This, void **UserContext);
	HRESULT(STDMETHODCALLTYPE *GetEventRecord)(ITraceEvent *This, PEVENT_RECORD *EventRecord);
	HRESULT(STDMETHODCALLTYPE *SetPayload)(ITraceEvent *This, BYTE *Payload, ULONG PayloadSize);
	HRESULT(STDMETHODCALLTYPE *SetEventDescriptor)
	(ITraceEvent *This, PCEVENT_DESCRIPTOR EventDescriptor);
	HRESULT(STDMETHODCALLTYPE *SetProcessId)(ITraceEvent *This, ULONG ProcessId);
	HRESULT(STDMETHODCALLTYPE *SetProcessorIndex)(ITraceEvent *This, ULONG ProcessorIndex);
	HRESULT(STDMETHODCALLTYPE *SetThreadId)(ITraceEvent *This, ULONG ThreadId);
	HRESULT(STDMETHODCALLTYPE *SetThreadTimes)
	(ITraceEvent *This, ULONG KernelTime, ULONG UserTime);
	HRESULT(STDMETHODCALLTYPE *SetActivityId)(ITraceEvent *This, LPCGUID ActivityId);
	HRESULT(STDMETHODCALLTYPE *SetTimeStamp)(ITraceEvent *This, LARGE_INTEGER *TimeStamp);
	HRESULT(STDMETHODCALLTYPE *SetProviderId)(ITraceEvent *This, LPCGUID ProviderId);
} ITraceEventVtbl;
struct ITraceEvent {
	const ITraceEventVtbl *lpVtbl;
};

typedef struct ITraceEventCallbackVtbl {
	ETW_COM_HEAD(ITraceEventCallback);
	HRESULT(STDMETHODCALLTYPE *OnBeginProcessTrace)
	(ITraceEventCallback *This, ITraceEvent *HeaderEvent, ITraceRelogger *Relogger);
	HRESULT(STDMETHODCALLTYPE *OnFinalizeProcessTrace)
	(ITraceEventCallback *This, ITraceRelogger *Relogger);
	HRESULT(STDMETHODCALLTYPE *OnEvent)
	(ITraceEventCallback *This, ITraceEvent *Event, ITraceRelogger *Relogger);
} ITraceEventCallbackVtbl;
struct ITraceEventCallback {
	const ITraceEventCallbackVtbl *lpVtbl;
};

typedef struct ITraceReloggerVtbl {
	ETW_COM_HEAD(ITraceRelogger);
	HRESULT(STDMETHODCALLTYPE *AddLogfileTraceStream)
	(ITraceRelogger *This, BSTR LogfileName, void *UserContext, RELOGSTREAM_ID *TraceHandle);
	HRESULT(STDMETHODCALLTYPE *AddRealtimeTraceStream)
	(ITraceRelogger *This, BSTR LoggerName, void *UserContext, RELOGSTREAM_ID *TraceHandle);
	HRESULT(STDMETHODCALLTYPE *RegisterCallback)
	(ITraceRelogger *This, ITraceEventCallback *Callback);
	HRESULT(STDMETHODCALLTYPE *Inject)(ITraceRelogger *This, ITraceEvent *Event);
	HRESULT(STDMETHODCALLTYPE *CreateEventInstance)
	(ITraceRelogger *This, RELOGSTREAM_ID TraceHandle, ULONG Flags, ITraceEvent **Event);
	HRESULT(STDMETHODCALLTYPE *ProcessTrace)(ITraceRelogger *This);
	HRESULT(STDMETHODCALLTYPE *SetOutputFilename)(ITraceRelogger *This, BSTR LogfileName);
	HRESULT(STDMETHODCALLTYPE *SetCompressionMode)
	(ITraceRelogger *This, BOOLEAN CompressionMode);
	HRESULT(STDMETHODCALLTYPE *Cancel)(ITraceRelogger *This);
} ITraceReloggerVtbl;
struct ITraceRelogger {
	const ITraceReloggerVtbl *lpVtbl;
};
#undef ETW_COM_HEAD
#endif
#ifdef __cplusplus
class ETW_UUID("7B40792D-05FF-44C4-9058-F440C71F17D4") CTraceRelogger;
#endif
ETW_UUID_OF(ITraceEvent, IID_ITraceEvent)
ETW_UUID_OF(ITraceEventCallback, IID_ITraceEventCallback)
ETW_UUID_OF(ITraceRelogger, IID_ITraceRelogger)
ETW_UUID_OF(CTraceRelogger, CLSID_TraceRelogger)

/* What CoCreateInstance calls; in libopenetw (-lopenetw). `iid` may be IID_IUnknown or IID_ITraceRelogger. */
ETW_API HRESULT openetw_create_object(const GUID *clsid, const GUID *iid, void **ret);

#endif
