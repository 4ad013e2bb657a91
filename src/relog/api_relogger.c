/* SPDX-License-Identifier: MIT
 *
 * The COM objects of <relogger.h>. An object is a pointer to a table of functions, which C++ sees as
 * an object with virtual functions and C as a structure.
 */
#include "relog/relog.h"

#include "base/order.h"

#include "relogger.h"

#include <stdlib.h>

struct com_event {
	ITraceEvent com; /* first: a pointer to one is a pointer to the other */
	uint32_t refs;
	struct relog_event e;
	void *context;
};

struct com_relogger {
	ITraceRelogger com;
	uint32_t refs;
	struct relog *engine;
	ITraceEventCallback *callback;
	void *contexts[CONSUME_SOURCES_MAX];
	struct com_event *spare; /* what OnEvent gets, as long as nobody keeps it */
	HRESULT result;
};

static HRESULT hresult_of(int err)
{
	return err == 0 ? S_OK : err == -ENOMEM ? E_OUTOFMEMORY : HRESULT_FROM_WIN32(win32_from_errno(err));
}

/* ---- ITraceEvent ---------------------------------------------------------------------------- */

static struct com_event *event_of(ITraceEvent *this)
{
	return (struct com_event *)this;
}

static HRESULT STDMETHODCALLTYPE event_query(ITraceEvent *this, REFIID riid, void **ppvObject)
{
	if (!ppvObject) {
		return E_POINTER;
	}
	if (IsEqualIID(riid, &IID_ITraceEvent) || IsEqualIID(riid, &IID_IUnknown)) {
		this->lpVtbl->AddRef(this);
		*ppvObject = this;
		return S_OK;
	}
	*ppvObject = NULL;
	return E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE event_add_ref(ITraceEvent *this)
{
	return order_add_full(&event_of(this)->refs, 1u) + 1;
}

static ULONG STDMETHODCALLTYPE event_release(ITraceEvent *this)
{
	struct com_event *e = event_of(this);
	ULONG left = order_add_full(&e->refs, UINT32_MAX) - 1;
	if (left == 0) {
		relog_event_free(&e->e);
		free(e);
	}
	return left;
}

static struct com_event *event_new(void);

static HRESULT STDMETHODCALLTYPE event_clone(ITraceEvent *this, ITraceEvent **NewEvent)
{
	if (!NewEvent) {
		return E_POINTER;
	}
	*NewEvent = NULL;
	struct com_event *copy = event_new();
	int r = copy ? relog_event_copy(&copy->e, &event_of(this)->e) : -ENOMEM;
	if (r < 0) {
		if (copy) {
			event_release(&copy->com);
		}
		return hresult_of(r);
	}
	copy->context = event_of(this)->context;
	*NewEvent = &copy->com;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_user_context(ITraceEvent *this, void **UserContext)
{
	if (!UserContext) {
		return E_POINTER;
	}
	*UserContext = event_of(this)->context;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_record(ITraceEvent *this, PEVENT_RECORD *EventRecord)
{
	struct com_event *e = event_of(this);
	if (!EventRecord) {
		return E_POINTER;
	}
	int r = relog_event_view(&e->e, e->context);
	*EventRecord = r == 0 ? &e->e.record : NULL;
	return hresult_of(r);
}

static HRESULT STDMETHODCALLTYPE event_payload(ITraceEvent *this, BYTE *Payload, ULONG PayloadSize)
{
	if (!Payload && PayloadSize) {
		return E_POINTER;
	}
	if (PayloadSize > ETL_RECORD_MAX) {
		return E_INVALIDARG;
	}
	return hresult_of(relog_event_set_payload(&event_of(this)->e, Payload, PayloadSize));
}

static HRESULT STDMETHODCALLTYPE event_descriptor(ITraceEvent *this, PCEVENT_DESCRIPTOR d)
{
	struct relog_event *e = &event_of(this)->e;
	if (!d) {
		return E_POINTER;
	}
	e->r.id = d->Id;
	e->r.version = d->Version;
	e->r.channel = d->Channel;
	e->r.level = d->Level;
	e->r.opcode = d->Opcode;
	e->r.task = d->Task;
	e->r.keyword = d->Keyword;
	e->changed |= RELOG_DESCRIPTOR;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_pid(ITraceEvent *this, ULONG ProcessId)
{
	event_of(this)->e.r.pid = ProcessId;
	event_of(this)->e.changed |= RELOG_PID;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_processor(ITraceEvent *this, ULONG ProcessorIndex)
{
	if (ProcessorIndex > 0x7FF) { /* what a buffer header can say */
		return E_INVALIDARG;
	}
	event_of(this)->e.r.cpu = (uint16_t)ProcessorIndex;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_tid(ITraceEvent *this, ULONG ThreadId)
{
	event_of(this)->e.r.tid = ThreadId;
	event_of(this)->e.changed |= RELOG_TID;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_times(ITraceEvent *this, ULONG KernelTime, ULONG UserTime)
{
	event_of(this)->e.r.kernel_time = KernelTime;
	event_of(this)->e.r.user_time = UserTime;
	event_of(this)->e.changed |= RELOG_TIMES;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_activity(ITraceEvent *this, LPCGUID ActivityId)
{
	if (!ActivityId) {
		return E_POINTER;
	}
	memcpy(&event_of(this)->e.r.activity, ActivityId, sizeof *ActivityId);
	event_of(this)->e.changed |= RELOG_ACTIVITY;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_time(ITraceEvent *this, LARGE_INTEGER *TimeStamp)
{
	if (!TimeStamp) {
		return E_POINTER;
	}
	event_of(this)->e.r.time_raw = (uint64_t)TimeStamp->QuadPart;
	event_of(this)->e.changed |= RELOG_TIME;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE event_provider(ITraceEvent *this, LPCGUID ProviderId)
{
	if (!ProviderId) {
		return E_POINTER;
	}
	struct guid provider;
	memcpy(&provider, ProviderId, sizeof provider);
	relog_event_set_provider(&event_of(this)->e, &provider);
	return S_OK;
}

static const ITraceEventVtbl event_table = {
	.QueryInterface = event_query,
	.AddRef = event_add_ref,
	.Release = event_release,
	.Clone = event_clone,
	.GetUserContext = event_user_context,
	.GetEventRecord = event_record,
	.SetPayload = event_payload,
	.SetEventDescriptor = event_descriptor,
	.SetProcessId = event_pid,
	.SetProcessorIndex = event_processor,
	.SetThreadId = event_tid,
	.SetThreadTimes = event_times,
	.SetActivityId = event_activity,
	.SetTimeStamp = event_time,
	.SetProviderId = event_provider,
};

static struct com_event *event_new(void)
{
	struct com_event *e = calloc(1, sizeof *e);
	if (e) {
		e->com.lpVtbl = &event_table;
		e->refs = 1;
	}
	return e;
}

/* ---- ITraceRelogger ------------------------------------------------------------------------- */

static struct com_relogger *relogger_of(ITraceRelogger *this)
{
	return (struct com_relogger *)this;
}

static HRESULT STDMETHODCALLTYPE relogger_query(ITraceRelogger *this, REFIID riid, void **ppvObject)
{
	if (!ppvObject) {
		return E_POINTER;
	}
	if (IsEqualIID(riid, &IID_ITraceRelogger) || IsEqualIID(riid, &IID_IUnknown)) {
		this->lpVtbl->AddRef(this);
		*ppvObject = this;
		return S_OK;
	}
	*ppvObject = NULL;
	return E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE relogger_add_ref(ITraceRelogger *this)
{
	return order_add_full(&relogger_of(this)->refs, 1u) + 1;
}

static ULONG STDMETHODCALLTYPE relogger_release(ITraceRelogger *this)
{
	struct com_relogger *g = relogger_of(this);
	ULONG left = order_add_full(&g->refs, UINT32_MAX) - 1;
	if (left == 0) {
		/* Not the callback, see relogger_register(). */
		if (g->spare) {
			event_release(&g->spare->com);
		}
		relog_destroy(g->engine);
		free(g);
	}
	return left;
}

/* BSTRs are UTF-16 with a length; NULL is empty. malloc'ed UTF-8. */
static char *text_of(BSTR s)
{
	size_t units = s ? utf16_len((const uint16_t *)s) : 0;
	char *out = units ? malloc(3 * units + 1) : NULL;
	if (out && utf16_to_utf8(s, units, out, 3 * units + 1) < 0) {
		free(out);
		out = NULL;
	}
	return out;
}

static void stream_added(struct com_relogger *g, uint32_t stream, void *context, RELOGSTREAM_ID *ret)
{
	g->contexts[stream] = context;
	if (ret) {
		*ret = stream + 1; /* zero is no stream */
	}
}

static HRESULT STDMETHODCALLTYPE relogger_add_file(ITraceRelogger *this, BSTR LogfileName, void *UserContext,
						   RELOGSTREAM_ID *TraceHandle)
{
	struct com_relogger *g = relogger_of(this);
	struct diag d;
	uint32_t stream;
	diag_clear(&d);
	char *path = text_of(LogfileName);
	if (!path) {
		return E_INVALIDARG;
	}
	int r = relog_add_file(g->engine, path, &stream, &d);
	free(path);
	if (r == 0) {
		stream_added(g, stream, UserContext, TraceHandle);
	} else {
		err_text_set("%s", d.text);
	}
	return r == -EBADMSG ? HRESULT_FROM_WIN32(ERROR_FILE_CORRUPT) : hresult_of(r);
}

static HRESULT STDMETHODCALLTYPE relogger_add_session(ITraceRelogger *this, BSTR LoggerName, void *UserContext,
						      RELOGSTREAM_ID *TraceHandle)
{
	struct com_relogger *g = relogger_of(this);
	struct diag d;
	uint32_t stream, status;
	diag_clear(&d);
	if (!LoggerName) {
		return E_INVALIDARG;
	}
	const uint16_t *name = (const uint16_t *)LoggerName;
	int r = relog_add_session(g->engine, name, (uint32_t)utf16_len(name), &stream, &status, &d);
	if (r == 0) {
		stream_added(g, stream, UserContext, TraceHandle);
	} else {
		err_text_set("%s", d.text);
	}
	return status ? HRESULT_FROM_WIN32(status) : hresult_of(r);
}

static HRESULT STDMETHODCALLTYPE relogger_register(ITraceRelogger *this, ITraceEventCallback *Callback)
{
	struct com_relogger *g = relogger_of(this);
	if (!Callback) {
		return E_POINTER;
	}
	/* Windows takes a reference and never gives it back. Programs rely on that: their callbacks lie
	 * on the stack, count from zero, or go before the relogger does. */
	Callback->lpVtbl->AddRef(Callback);
	g->callback = Callback;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE relogger_inject(ITraceRelogger *this, ITraceEvent *Event)
{
	int r = Event ? relog_inject(relogger_of(this)->engine, &event_of(Event)->e) : -EFAULT;
	return r == -EFAULT       ? E_POINTER
	       : r == -EMSGSIZE   ? HRESULT_FROM_WIN32(ERROR_MORE_DATA)
	       : r == -EOPNOTSUPP ? E_NOTIMPL
	       : r == -EINVAL     ? E_UNEXPECTED
				  : hresult_of(r);
}

static HRESULT STDMETHODCALLTYPE relogger_create_event(ITraceRelogger *this, RELOGSTREAM_ID TraceHandle, ULONG Flags,
						       ITraceEvent **Event)
{
	struct com_relogger *g = relogger_of(this);
	if (!Event) {
		return E_POINTER;
	}
	*Event = NULL;
	const struct etl_file_info *f = TraceHandle ? relog_stream_info(g->engine, (uint32_t)TraceHandle - 1) : NULL;
	if (!f) {
		return E_INVALIDARG;
	}
	struct com_event *e = event_new();
	if (!e) {
		return E_OUTOFMEMORY;
	}
	if (!(Flags & (EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER))) {
		Flags |= f->pointer_size == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER;
	}
	relog_event_init(&e->e, (uint16_t)Flags);
	e->e.r.time_raw = relog_now_raw(g->engine);
	e->context = g->contexts[TraceHandle - 1];
	*Event = &e->com;
	return S_OK;
}

static struct com_event *wrap(struct com_relogger *g, struct relog_event *from, uint32_t stream)
{
	if (g->spare && order_load_acquire(&g->spare->refs) > 1) { /* somebody keeps it */
		event_release(&g->spare->com);
		g->spare = NULL;
	}
	if (!g->spare) {
		g->spare = event_new();
	}
	if (!g->spare || relog_event_copy(&g->spare->e, from) < 0) {
		return NULL;
	}
	g->spare->context = g->contexts[stream];
	return g->spare;
}

static int answer(struct com_relogger *g, HRESULT hr)
{
	if (FAILED(hr)) {
		g->result = hr;
		return -ECANCELED;
	}
	return 0;
}

static int on_begin(void *ctx, struct relog_event *header)
{
	struct com_relogger *g = ctx;
	struct com_event *e = wrap(g, header, 0);
	return e ? answer(g, g->callback->lpVtbl->OnBeginProcessTrace(g->callback, &e->com, &g->com)) : -ENOMEM;
}

static int on_event(void *ctx, struct relog_event *event, uint32_t stream)
{
	struct com_relogger *g = ctx;
	struct com_event *e = wrap(g, event, stream);
	return e ? answer(g, g->callback->lpVtbl->OnEvent(g->callback, &e->com, &g->com)) : -ENOMEM;
}

static int on_finish(void *ctx)
{
	struct com_relogger *g = ctx;
	return answer(g, g->callback->lpVtbl->OnFinalizeProcessTrace(g->callback, &g->com));
}

static HRESULT STDMETHODCALLTYPE relogger_process(ITraceRelogger *this)
{
	static const struct relog_callbacks callbacks = {.begin = on_begin, .event = on_event, .finish = on_finish};
	struct com_relogger *g = relogger_of(this);
	struct diag d;
	diag_clear(&d);
	if (!g->callback) {
		return E_UNEXPECTED;
	}
	g->result = S_OK;
	int r = relog_run(g->engine, &callbacks, g, &d);
	if (r < 0 && d.text[0]) {
		err_text_set("%s", d.text);
	}
	return FAILED(g->result) ? g->result : r == -EINVAL ? E_UNEXPECTED : hresult_of(r);
}

static HRESULT STDMETHODCALLTYPE relogger_output(ITraceRelogger *this, BSTR LogfileName)
{
	char *path = text_of(LogfileName);
	if (!path) {
		return E_INVALIDARG;
	}
	int r = relog_set_output(relogger_of(this)->engine, path);
	free(path);
	return hresult_of(r);
}

static HRESULT STDMETHODCALLTYPE relogger_compress(ITraceRelogger *this, BOOLEAN CompressionMode)
{
	relog_set_compress(relogger_of(this)->engine, CompressionMode != 0);
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE relogger_cancel(ITraceRelogger *this)
{
	relog_cancel(relogger_of(this)->engine);
	return S_OK;
}

static const ITraceReloggerVtbl relogger_table = {
	.QueryInterface = relogger_query,
	.AddRef = relogger_add_ref,
	.Release = relogger_release,
	.AddLogfileTraceStream = relogger_add_file,
	.AddRealtimeTraceStream = relogger_add_session,
	.RegisterCallback = relogger_register,
	.Inject = relogger_inject,
	.CreateEventInstance = relogger_create_event,
	.ProcessTrace = relogger_process,
	.SetOutputFilename = relogger_output,
	.SetCompressionMode = relogger_compress,
	.Cancel = relogger_cancel,
};

HRESULT openetw_create_object(const GUID *clsid, const GUID *iid, void **ret)
{
	if (!clsid || !iid || !ret) {
		return E_POINTER;
	}
	*ret = NULL;
	if (!IsEqualCLSID(clsid, &CLSID_TraceRelogger)) {
		return REGDB_E_CLASSNOTREG;
	}
	struct com_relogger *g = calloc(1, sizeof *g);
	if (!g) {
		return E_OUTOFMEMORY;
	}
	g->com.lpVtbl = &relogger_table;
	g->refs = 1;
	HRESULT hr = hresult_of(relog_create(&g->engine));
	hr = hr == S_OK ? relogger_query(&g->com, iid, ret) : hr;
	relogger_release(&g->com);
	return hr;
}
