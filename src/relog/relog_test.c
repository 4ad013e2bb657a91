/* SPDX-License-Identifier: MIT
 *
 * Real traces through the COM relogger: what comes out says the same as what went in, compressed or
 * not; what was changed reads as changed; events made from nothing read as what they claim to be.
 */
#include "relog/relog.h"

#include "etl/etl_reader.h"
#include "etl/etl_writer.h"
#include "format/etl_item.h"
#include "relogger.h"

#include "../../tests/corpus/corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char corpus[512];
static char out_path[64];

struct client { /* a program's ITraceEventCallback */
	ITraceEventCallback com;
	HRESULT (*on_event)(struct client *c, ITraceEvent *e, ITraceRelogger *g);
	unsigned begun, finished, events;
	RELOGSTREAM_ID stream;
};

static HRESULT query(ITraceEventCallback *this, REFIID riid, void **ret)
{
	*ret = NULL;
	return E_NOINTERFACE;
}
static ULONG count(ITraceEventCallback *this)
{
	return 1;
}
static HRESULT begin(ITraceEventCallback *this, ITraceEvent *header, ITraceRelogger *g)
{
	((struct client *)this)->begun++;
	return S_OK;
}
static HRESULT finish(ITraceEventCallback *this, ITraceRelogger *g)
{
	((struct client *)this)->finished++;
	return S_OK;
}
static HRESULT event(ITraceEventCallback *this, ITraceEvent *e, ITraceRelogger *g)
{
	struct client *c = (struct client *)this;
	c->events++;
	return c->on_event(c, e, g);
}
static const ITraceEventCallbackVtbl client_table = {query, count, count, begin, finish, event};

static HRESULT relog(const char *path, bool compress, struct client *c)
{
	ITraceRelogger *g;
	uint16_t wide[600];
	assert_int_equal(openetw_create_object(&CLSID_TraceRelogger, &IID_ITraceRelogger, (void **)&g), S_OK);
	c->com.lpVtbl = &client_table;
	utf8_to_utf16(path, strlen(path), wide, 600);
	HRESULT hr = g->lpVtbl->AddLogfileTraceStream(g, (BSTR)wide, NULL, &c->stream);
	if (hr == S_OK) {
		assert_int_equal(g->lpVtbl->RegisterCallback(g, &c->com), S_OK);
		utf8_to_utf16(out_path, strlen(out_path), wide, 600);
		assert_int_equal(g->lpVtbl->SetOutputFilename(g, (BSTR)wide), S_OK);
		g->lpVtbl->SetCompressionMode(g, compress);
		hr = g->lpVtbl->ProcessTrace(g);
	}
	assert_int_equal(g->lpVtbl->Release(g), 0);
	return hr;
}

static HRESULT inject_all(struct client *c, ITraceEvent *e, ITraceRelogger *g)
{
	return g->lpVtbl->Inject(g, e);
}

static struct etl_reader *open_trace(const char *path)
{
	struct etl_reader *r;
	struct diag d;
	assert_int_equal(etl_reader_open(path, 0, &r, &d), 0);
	return r;
}

static bool next_event(struct etl_reader *r, struct etl_record *ret)
{
	int n;
	while ((n = etl_reader_next(r, ret)) > 0) {
		if (!(ret->hook == 0 && (ret->type == ETL_RT_SYSTEM32 || ret->type == ETL_RT_SYSTEM64))) {
			return true;
		}
	}
	assert_int_equal(n, 0);
	return false;
}

/* The records of one moment: how many, and a sum of what they are. Those of several processors have no
 * order among themselves. */
struct moment {
	uint64_t time, sum;
	unsigned count;
};

static bool next_moment(struct etl_reader *r, struct etl_record *e, bool *have, struct moment *ret)
{
	*have = *have || next_event(r, e);
	*ret = (struct moment){.time = *have ? e->time_filetime : 0};
	while (*have && e->time_filetime == ret->time) {
		uint64_t h = 14695981039346656037ull ^ e->cpu;
		for (uint32_t i = 0; i < e->raw_bytes; i++) {
			h = (h ^ e->raw[i]) * 1099511628211ull;
		}
		ret->sum += h;
		ret->count++;
		*have = next_event(r, e);
	}
	return ret->count > 0;
}

static unsigned same_traces(const char *a_path, const char *b_path)
{
	struct etl_reader *a = open_trace(a_path), *b = open_trace(b_path);
	struct etl_record x, y;
	struct moment m, k;
	bool have_x = false, have_y = false;
	unsigned n = 0;
	while (next_moment(a, &x, &have_x, &m)) {
		assert_true(next_moment(b, &y, &have_y, &k));
		assert_int_equal(m.time, k.time);
		assert_int_equal(m.count, k.count);
		assert_true(m.sum == k.sum);
		n += m.count;
	}
	assert_false(next_moment(b, &y, &have_y, &k));
	const struct etl_file_info *f = etl_reader_info(a), *g = etl_reader_info(b);
	assert_int_equal(f->pointer_size, g->pointer_size);
	assert_int_equal(f->events_lost, g->events_lost);
	assert_int_equal(f->boot_filetime, g->boot_filetime);
	struct etl_problem p;
	assert_false(etl_reader_next_problem(b, &p));
	etl_reader_close(a);
	etl_reader_close(b);
	return n;
}

static void every_real_trace_comes_out_record_for_record(void **state)
{
	unsigned total = 0;
	for (size_t i = 0; i < CORPUS_FILES; i++) {
		char path[700];
		snprintf(path, sizeof path, "%s/%s", corpus, corpus_files[i]);
		if (access(path, R_OK) != 0) {
			continue;
		}
		for (int compress = 0; compress < 2; compress++) {
			struct client c = {.on_event = inject_all};
			assert_int_equal(relog(path, compress, &c), S_OK);
			assert_int_equal(c.begun, 1);
			assert_int_equal(c.finished, 1);
			unsigned n = same_traces(path, out_path);
			assert_int_equal(n, c.events);
			total += n;
			struct etl_reader *r = open_trace(out_path);
			assert_int_equal(etl_reader_info(r)->compressed, compress);
			assert_true(etl_reader_info(r)->stopped_cleanly);
			etl_reader_close(r);
		}
	}
	if (total == 0) {
		skip();
	}
}

/* {2cb15d1d-5fc1-11d2-abe1-00a0c911f518}, the kernel's Image class: opcode 10 is a load. */
static const GUID image_class = {0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
static const GUID other = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static uint8_t image_payload[80] = {0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0x10};

static HRESULT change(struct client *c, ITraceEvent *e, ITraceRelogger *g)
{
	const EVENT_DESCRIPTOR d = {77, 3, 11, 4, 9, 5, 0x8000000000000001ull};
	PEVENT_RECORD r;
	LARGE_INTEGER t;
	if (c->events == 1) {
		ITraceEvent *made;
		EVENT_DESCRIPTOR load = {.Version = 3, .Opcode = 10};
		assert_int_equal(e->lpVtbl->GetEventRecord(e, &r), S_OK);
		assert_int_equal(g->lpVtbl->CreateEventInstance(
					 g, c->stream,
					 EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER, &made),
				 S_OK);
		made->lpVtbl->SetProviderId(made, &image_class);
		made->lpVtbl->SetEventDescriptor(made, &load);
		made->lpVtbl->SetPayload(made, image_payload, sizeof image_payload);
		made->lpVtbl->SetProcessId(made, 4711);
		made->lpVtbl->SetThreadId(made, 4712);
		made->lpVtbl->SetTimeStamp(made, &r->EventHeader.TimeStamp);
		assert_int_equal(g->lpVtbl->Inject(g, made), S_OK);
		assert_int_equal(made->lpVtbl->Release(made), 0);
		return S_OK;
	}
	if (c->events == 2) {
		assert_int_equal(e->lpVtbl->GetEventRecord(e, &r), S_OK);
		t.QuadPart = r->EventHeader.TimeStamp.QuadPart + 1;
		e->lpVtbl->SetTimeStamp(e, &t);
		e->lpVtbl->SetEventDescriptor(e, &d);
		e->lpVtbl->SetProviderId(e, &other);
		e->lpVtbl->SetActivityId(e, &other);
		e->lpVtbl->SetProcessorIndex(e, 3);
		e->lpVtbl->SetPayload(e, (BYTE *)"hello", 5);
		ITraceEvent *copy;
		assert_int_equal(e->lpVtbl->Clone(e, &copy), S_OK);
		copy->lpVtbl->SetPayload(copy, NULL, 0);
		assert_int_equal(g->lpVtbl->Inject(g, e), S_OK);
		assert_int_equal(g->lpVtbl->Inject(g, copy), S_OK);
		copy->lpVtbl->Release(copy);
	}
	return c->events == 3 ? E_ABORT : S_OK;
}

static void made_and_changed_events_read_as_what_they_claim(void **state)
{
	char path[700];
	snprintf(path, sizeof path, "%s/tx/HTTP_Server.etl", corpus);
	if (access(path, R_OK) != 0) {
		skip();
	}
	struct client c = {.on_event = change};
	assert_int_equal(relog(path, true, &c), E_ABORT); /* and what was written is a whole file */
	struct etl_reader *r = open_trace(out_path);
	struct etl_record e;
	assert_true(next_event(r, &e));
	assert_memory_equal(&e.provider, &image_class, 16);
	assert_int_equal(e.opcode, 10);
	assert_int_equal(e.version, 3);
	assert_int_equal(e.pid, 4711);
	assert_int_equal(e.tid, 4712);
	assert_int_equal(e.pointer_size, 8);
	assert_int_equal(e.payload_bytes, sizeof image_payload);
	assert_memory_equal(e.payload, image_payload, sizeof image_payload);
	for (int i = 0; i < 2; i++) {
		assert_true(next_event(r, &e));
		assert_memory_equal(&e.provider, &other, 16);
		assert_memory_equal(&e.activity, &other, 16);
		assert_int_equal(e.id, 77);
		assert_int_equal(e.channel, 11);
		assert_int_equal(e.task, 5);
		assert_true(e.keyword == 0x8000000000000001ull);
		assert_int_equal(e.cpu, 3);
		assert_int_equal(e.payload_bytes, i ? 0 : 5);
	}
	assert_false(next_event(r, &e));
	etl_reader_close(r);
}

static void wrong_calls_get_the_codes_of_com(void **state)
{
	ITraceRelogger *g;
	void *none = &g;
	struct client c = {.com.lpVtbl = &client_table, .on_event = inject_all};
	assert_int_equal(openetw_create_object(&other, &IID_ITraceRelogger, &none), REGDB_E_CLASSNOTREG);
	assert_null(none);
	assert_int_equal(openetw_create_object(&CLSID_TraceRelogger, &IID_ITraceEvent, &none), E_NOINTERFACE);
	assert_int_equal(openetw_create_object(&CLSID_TraceRelogger, &IID_IUnknown, (void **)&g), S_OK);
	assert_int_equal(g->lpVtbl->ProcessTrace(g), E_UNEXPECTED);
	assert_int_equal(g->lpVtbl->RegisterCallback(g, &c.com), S_OK);
	assert_int_equal(g->lpVtbl->ProcessTrace(g), E_UNEXPECTED);
	ITraceEvent *e;
	assert_int_equal(g->lpVtbl->CreateEventInstance(g, 1, 0, &e), E_INVALIDARG);
	assert_int_equal(g->lpVtbl->AddLogfileTraceStream(g, (BSTR)u"/no/such.etl", NULL, NULL),
			 HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
	g->lpVtbl->Release(g);
}

/* The kinds of which no real file was at hand, by their documented bytes. */
static void instances_and_messages_take_changes_where_they_have_the_field(void **state)
{
	uint8_t out[256], instance[0x48 + 3] = {0x4b, 0, 0x15, 0xC0, 1}, want[sizeof instance];
	/* flags 0x2B: number, source, time, thread and process; then the arguments */
	uint8_t message[0x2C + 2] = {0x2e, 0, 0, 0x90, 5, 0, 0xAB, 0, 7}, said[sizeof message];
	memset(instance + 0x30, 0xAA, 0x1B);
	memcpy(want, instance, sizeof want);
	memcpy(said, message, sizeof said);
	message[0x2C] = 'x', message[0x2D] = 'y';

	struct relog_event e = {.r = {.type = ETL_RT_INSTANCE64,
				      .raw = instance,
				      .raw_bytes = sizeof instance,
				      .payload = instance + 0x48,
				      .payload_bytes = 3,
				      .opcode = 9,
				      .pid = 0x1234,
				      .tid = 0x5678,
				      .time_raw = 0x0102030405060708},
				.changed = RELOG_PROVIDER | RELOG_PID};
	memset(&e.r.provider, 0xBB, 16);
	assert_int_equal(relog_event_encode(&e, out), sizeof instance);
	want[4] = 9;
	le32_put(want + 8, 0x5678), le32_put(want + 12, 0x1234);
	le64_put(want + 16, 0x0102030405060708);
	memset(want + 0x18, 0xBB, 16); /* the class; instances and parent behind it stay */
	assert_memory_equal(out, want, sizeof want);

	e.r.type = ETL_RT_MESSAGE;
	e.r.raw = message;
	e.r.raw_bytes = sizeof message;
	e.r.payload = (const uint8_t *)"z";
	e.r.payload_bytes = 1;
	e.r.id = 6;
	e.changed = RELOG_PROVIDER | RELOG_PID | RELOG_PAYLOAD;
	assert_int_equal(relog_event_encode(&e, out), 0x2D);
	said[0] = 0x2D, said[4] = 6;
	memset(said + 0x0C, 0xBB, 16);
	le64_put(said + 0x1C, 0x0102030405060708);
	le32_put(said + 0x24, 0x5678), le32_put(said + 0x28, 0x1234);
	said[0x2C] = 'z';
	assert_memory_equal(out, said, 0x2D);
	message[6] = 0x8B; /* without thread and process */
	assert_int_equal(relog_event_encode(&e, out), -EOPNOTSUPP);
}

/* Version 2, of which three counters and the PEBS index stand in front of the payload. */
static void a_changed_kernel_record_keeps_its_counters(void **state)
{
	uint8_t short_one[0x10 + 4 * 8 + 4] = {2, 0x83, ETL_RT_PERFINFO64, 0xC0, sizeof short_one, 0, 0x2E, 0x0F};
	uint8_t out[256], *counters = short_one + 0x10;
	memset(counters, 0xCC, 32);
	struct relog_event e = {.r = {.type = ETL_RT_PERFINFO64,
				      .pointer_size = 8,
				      .raw = short_one,
				      .raw_bytes = sizeof short_one,
				      .counters = counters,
				      .counters_count = 4,
				      .payload = (const uint8_t *)"new",
				      .payload_bytes = 3,
				      .version = 2,
				      .hook = 0x0F2E,
				      .pid = 0x1234,
				      .time_raw = 0x0102030405060708},
				.changed = RELOG_PAYLOAD | RELOG_TIME};
	assert_int_equal(relog_event_encode(&e, out), 0x10 + 32 + 3);
	le16_put(short_one + 4, 0x10 + 32 + 3);
	le64_put(short_one + 8, 0x0102030405060708);
	assert_memory_equal(out, short_one, 0x10 + 32);
	assert_memory_equal(out + 0x10 + 32, "new", 3);

	e.changed |= RELOG_PID; /* which the short header has no room for */
	assert_int_equal(relog_event_encode(&e, out), 0x20 + 32 + 3);
	assert_int_equal(le16_get(out), 0x8302);
	assert_int_equal(out[2], ETL_RT_SYSTEM64);
	assert_int_equal(le16_get(out + 4), 0x20 + 32 + 3);
	assert_int_equal(le32_get(out + 12), 0x1234);
	assert_memory_equal(out + 0x20, counters, 32);
	assert_memory_equal(out + 0x20 + 32, "new", 3);
}

static uint32_t put_item(uint8_t *p, uint16_t type, bool more, const void *data, uint16_t n)
{
	uint16_t total = (uint16_t)BASE_ALIGN8(8u + n);
	memset(p, 0, total);
	le16_put(p, total), le16_put(p + 2, type), le16_put(p + 4, more), le16_put(p + 6, n);
	memcpy(p + 8, data, n);
	return total;
}

/* A TraceLogging event describes itself. Given to another provider, it is that provider's: its fields
 * must not be read with the old description. */
static void an_event_of_another_provider_loses_the_description_of_the_first(void **state)
{
	static const uint8_t tl[] = {15, 0, 0, 'E', 0, 'x', 0, 7}, traits[] = {7, 0, 'P', 'r', 'o', 'v', 0};
	static const struct guid first = {{1}}, second = {{2}};
	static const uint16_t orders[][4] = {{1, 11, 12, 2}, {11, 1, 2, 12}, {1, 2, 12, 11}, {11, 12, 14, 0}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(orders); i++) {
		for (int same = 0; same < 2; same++) {
			uint8_t raw[256] = {0}, out[256];
			uint32_t at = ETL_EVENT_HEADER_SIZE, count = orders[i][3] ? 4 : 3;
			for (uint32_t k = 0; k < count; k++) {
				uint16_t type = orders[i][k];
				bool is_tl = type == 11, is_traits = type == 12;
				at += put_item(raw + at, type, k + 1 < count,
					       is_tl       ? (const void *)tl
					       : is_traits ? (const void *)traits
							   : &first,
					       is_tl       ? sizeof tl
					       : is_traits ? sizeof traits
							   : sizeof first);
			}
			memcpy(raw + at, "pay", 3);
			struct etl_record r = {.type = ETL_RT_EVENT64,
					       .pointer_size = 8,
					       .provider = first,
					       .event_flags = EVENT_HEADER_FLAG_EXTENDED_INFO,
					       .raw = raw,
					       .raw_bytes = at + 3,
					       .items = raw + ETL_EVENT_HEADER_SIZE,
					       .items_bytes = at - ETL_EVENT_HEADER_SIZE,
					       .payload = raw + at,
					       .payload_bytes = 3};
			struct relog_event e = {.raw = NULL}, copy = {.raw = NULL};
			assert_int_equal(relog_event_take(&e, &r), 0);
			relog_event_set_provider(&e, same ? &first : &second);
			assert_int_equal(relog_event_copy(&copy, &e), 0);
			uint32_t kept = same ? count : count - 2 - (count == 3);
			assert_int_equal(relog_event_view(&copy, NULL), 0);
			assert_int_equal(copy.record.ExtendedDataCount, kept);
			assert_int_equal(!(copy.record.EventHeader.Flags & EVENT_HEADER_FLAG_EXTENDED_INFO), kept == 0);
			int n = relog_event_encode(&copy, out);
			assert_true(n > 0);
			assert_memory_equal(out + n - 3, "pay", 3);
			assert_int_equal(le16_get(out + ETL_EH_FLAGS) & ETL_EF_EXTENDED_INFO,
					 kept ? ETL_EF_EXTENDED_INFO : 0);
			/* The items that are left make one chain, which ends where the payload begins. */
			uint32_t pos = ETL_EVENT_HEADER_SIZE;
			for (uint32_t k = 0; k < kept; k++) {
				uint16_t type = le16_get(out + pos + 2);
				assert_true(same || (type != 11 && type != 12 && type != 14));
				assert_int_equal(le16_get(out + pos + 4) & 1, k + 1 < kept);
				pos += le16_get(out + pos);
			}
			assert_int_equal(pos, n - 3);
			relog_event_free(&e);
			relog_event_free(&copy);
		}
	}
}

static HRESULT give_away(struct client *c, ITraceEvent *e, ITraceRelogger *g)
{
	e->lpVtbl->SetProviderId(e, &other);
	return g->lpVtbl->Inject(g, e);
}

static void a_real_self_describing_event_given_away_has_no_description(void **state)
{
	char path[700];
	snprintf(path, sizeof path, "%s/etl-parser/lxcore_kernel.etl", corpus);
	if (access(path, R_OK) != 0) {
		skip();
	}
	struct client c = {.on_event = give_away};
	assert_int_equal(relog(path, false, &c), S_OK);
	struct etl_reader *r = open_trace(out_path);
	struct etl_record e;
	unsigned n = 0;
	while (next_event(r, &e)) {
		uint32_t at = 0;
		uint16_t type, bytes;
		const uint8_t *data;
		while (e.items && etl_item_next(e.items, e.items_bytes, &at, &type, &data, &bytes)) {
			assert_int_not_equal(type, ETL_ITEM_EVENT_SCHEMA_TL);
		}
		assert_memory_equal(&e.provider, &other, 16);
		assert_true(e.payload_bytes > 0);
		n++;
	}
	assert_int_equal(n, c.events);
	etl_reader_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_real_trace_comes_out_record_for_record),
		cmocka_unit_test(made_and_changed_events_read_as_what_they_claim),
		cmocka_unit_test(wrong_calls_get_the_codes_of_com),
		cmocka_unit_test(instances_and_messages_take_changes_where_they_have_the_field),
		cmocka_unit_test(a_changed_kernel_record_keeps_its_counters),
		cmocka_unit_test(an_event_of_another_provider_loses_the_description_of_the_first),
		cmocka_unit_test(a_real_self_describing_event_given_away_has_no_description),
	};
	const char *env = getenv("OPENETW_CORPUS");
	snprintf(corpus, sizeof corpus, "%s", env ? env : OPENETW_SOURCE_DIR "/../shared/corpus");
	snprintf(out_path, sizeof out_path, "/tmp/relog-test-%d.etl", (int)getpid());
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(out_path);
	return failed;
}
