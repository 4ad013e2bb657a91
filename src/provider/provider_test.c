/* SPDX-License-Identifier: MIT
 * Registration, enabling, writing: through the public functions, against a fake daemon.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "provider/fake_etwd.h"
#include "format/etl_layout.h"

#include <evntprov.h>

static struct fake_etwd *f;
static const struct guid G1 = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid G2 = {{2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid G3 = {{3, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
#define GUIDP(g) ((LPCGUID)(const void *)&(g))
static const EVENT_DESCRIPTOR DESC = {
	.Id = 7, .Version = 1, .Channel = 3, .Level = 4, .Opcode = 5, .Task = 6, .Keyword = 0x10};

struct calls {
	uint32_t count;
	uint32_t code;
	uint8_t level;
	uint64_t any, all;
	uint32_t filter_type, filter_size;
	uint8_t filter[32];
	bool filter_given;
	REGHANDLE *handle;
	ULONG written;
	ULONG unregistered;
	uint32_t running, overlaps;
	bool write_inside, unregister_inside;
};

static VOID NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct calls *c = context;
	c->overlaps += order_add_full(&c->running, 1u) != 0;
	c->code = code;
	c->level = level;
	c->any = any;
	c->all = all;
	c->filter_given = filter != NULL;
	if (filter) {
		c->filter_type = filter->Type;
		c->filter_size = filter->Size;
		memcpy(c->filter, (void *)(uintptr_t)filter->Ptr, BASE_MIN(filter->Size, 32u));
	}
	if (c->write_inside) {
		c->written = EventWrite(order_load_acquire(c->handle), &DESC, 0, NULL);
	}
	if (c->unregister_inside) {
		c->unregistered = EventUnregister(order_load_acquire(c->handle));
	}
	order_add_full(&c->running, (uint32_t)-1);
	order_add_full(&c->count, 1u);
}

static bool wait_count(const uint32_t *word, uint32_t want)
{
	for (int i = 0; i < 5000 && order_load_acquire(word) < want; i++) {
		usleep(1000);
	}
	return order_load_acquire(word) >= want;
}

static void enable_all(const struct guid *g, uint8_t bit)
{
	struct filter_row row = fake_row_all(bit);
	fake_set(f, g, &row, 1, 0);
}

static REGHANDLE must_register(const struct guid *g, PENABLECALLBACK fn, void *context)
{
	REGHANDLE h = 0;
	assert_int_equal(EventRegister((LPCGUID)(const void *)g, fn, context, &h), 0);
	assert_true(h != 0);
	return h;
}

static int setup(void **state)
{
	for (uint32_t i = 0; i < f->enables; i++) {
		f->enable[i].rows = 0;
	}
	fake_drain(f);
	fake_forget_events(f);
	return 0;
}

/* ---- codes ------------------------------------------------------------------------------------
 */

static void register_refuses_null_arguments(void **state)
{
	REGHANDLE h = 55;
	assert_int_equal(EventRegister(NULL, NULL, NULL, &h), 87);
	assert_int_equal(h, 0);
	assert_int_equal(EventRegister(GUIDP(G1), NULL, NULL, NULL), 87);
}

static void handles_that_are_not_live_are_refused(void **state)
{
	EVENT_DATA_DESCRIPTOR d = {0};
	REGHANDLE h = must_register(&G1, NULL, NULL);
	assert_int_equal(EventUnregister(h), 0);
	REGHANDLE bad[] = {0, h, h + 1, ~0ull, 1, 1ull << 32, 2000};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		assert_int_equal(EventWrite(bad[i], &DESC, 0, NULL), 6);
		assert_int_equal(EventWriteTransfer(bad[i], &DESC, NULL, NULL, 0, NULL), 6);
		assert_int_equal(EventWriteEx(bad[i], &DESC, 0, 0, NULL, NULL, 1, &d), 6);
		assert_int_equal(EventWriteString(bad[i], 0, 0, u"x"), 6);
		assert_int_equal(EventUnregister(bad[i]), 6);
		assert_int_equal(EventSetInformation(bad[i], EventProviderUseDescriptorType, "", 1), 87);
		assert_false(EventEnabled(bad[i], &DESC));
		assert_false(EventProviderEnabled(bad[i], 0, 0));
	}
	/* The handle is looked at before the parameters. */
	assert_int_equal(EventWrite(0, NULL, 999, NULL), 6);
	assert_int_equal(EventWriteString(0, 0, 0, NULL), 6);
}

static void bad_parameters_are_refused_with_and_without_sessions(void **state)
{
	EVENT_DATA_DESCRIPTOR d[129] = {{0}};
	REGHANDLE h = must_register(&G1, NULL, NULL);
	for (int on = 0; on < 2; on++) {
		assert_int_equal(EventWrite(h, NULL, 0, NULL), 87);
		assert_int_equal(EventWrite(h, &DESC, 1, NULL), 87);
		assert_int_equal(EventWrite(h, &DESC, 129, d), 87);
		assert_int_equal(EventWriteString(h, 0, 0, NULL), 87);
		assert_int_equal(EventWrite(h, &DESC, 128, d), 0);
		enable_all(&G1, 1);
	}
	EventUnregister(h);
}

static void set_information_checks_class_and_length(void **state)
{
	REGHANDLE h = must_register(&G1, NULL, NULL);
	uint8_t traits[] = {6, 0, 'A', 'b', 'c', 0};
	uint8_t short_traits[] = {9, 0, 'A', 'b', 'c', 0};
	uint8_t bad_trait[] = {8, 0, 'A', 0, 9, 0, 1, 0};
	assert_int_equal(EventSetInformation(h, (EVENT_INFO_CLASS)17, NULL, 0), 50);
	assert_int_equal(EventSetInformation(h, EventProviderSetReserved1, NULL, 0), 50);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, NULL, 6), 87);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, NULL, 0), 87);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, short_traits, 6), 87);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, bad_trait, 8), 87);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, traits, 2), 87);
	assert_int_equal(EventSetInformation(h, EventProviderUseDescriptorType, "\1\1", 2), 87);
	assert_int_equal(EventSetInformation(h, EventProviderUseDescriptorType, "\1", 1), 0);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, traits, 6), 0);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, traits, 6), 87);
	uint32_t before = f->binary_tracks;
	assert_int_equal(EventSetInformation(h, EventProviderBinaryTrackInfo, "", 1), 87);
	assert_int_equal(EventSetInformation(h, EventProviderBinaryTrackInfo, NULL, 0), 0);
	assert_true(fake_wait(f, &f->binary_tracks, before + 1));
	assert_non_null(strstr(f->binary_path, "provider_test"));
	EventUnregister(h);
}

static void events_that_do_not_fit_16_bits_overflow(void **state)
{
	static uint8_t big[65535];
	EVENT_DATA_DESCRIPTOR d[2] = {{.Ptr = (ULONGLONG)(uintptr_t)big, .Size = 65535 - 80}};
	REGHANDLE h = must_register(&G1, NULL, NULL);
	/* Nobody listens: nothing to refuse. */
	d[1] = (EVENT_DATA_DESCRIPTOR){.Ptr = (ULONGLONG)(uintptr_t)big, .Size = 0xFFFFFFFF};
	assert_int_equal(EventWrite(h, &DESC, 2, d), 0);
	enable_all(&G1, 1);
	assert_int_equal(EventWrite(h, &DESC, 1, d), 0);
	assert_int_equal(fake_drain(f), 1);
	assert_int_equal(f->event[0].payload_bytes, 65535 - 80);
	assert_int_equal(EventWrite(h, &DESC, 2, d), 534);
	d[1].Size = 1;
	assert_int_equal(EventWrite(h, &DESC, 2, d), 534);
	assert_int_equal(EventWriteTransfer(h, &DESC, NULL, GUIDP(G2), 1, d), 534); /* + 24 of item */
	EVENT_DATA_DESCRIPTOR wrap[128];
	for (int i = 0; i < 128; i++) {
		wrap[i] = (EVENT_DATA_DESCRIPTOR){.Ptr = (ULONGLONG)(uintptr_t)big, .Size = 1u << 25};
	}
	assert_int_equal(EventWrite(h, &DESC, 128, wrap), 534);
	assert_int_equal(fake_drain(f), 1);
	EventUnregister(h);
}

static void a_full_pool_is_not_enough_memory_and_counted(void **state)
{
	static uint8_t block[3000];
	EVENT_DATA_DESCRIPTOR d = {.Ptr = (ULONGLONG)(uintptr_t)block, .Size = sizeof block};
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 9);
	uint32_t ok = 0, refused = 0;
	for (int i = 0; i < 200; i++) {
		ULONG r = EventWrite(h, &DESC, 1, &d);
		assert_true(r == 0 || r == 8);
		ok += r == 0;
		refused += r == 8;
	}
	assert_true(refused > 0 && ok > 30);
	assert_int_equal(pool_view_take_lost(f->peer[0]->view, 9, 1000000000), refused);
	assert_int_equal(fake_drain(f), ok);
	assert_true(fake_wait(f, &f->bells, 1));
	assert_int_equal(EventWrite(h, &DESC, 1, &d), 0);
	EventUnregister(h);
}

static void the_1025th_registration_is_refused(void **state)
{
	static REGHANDLE h[1025];
	ULONG r = 0;
	uint32_t n = 0;
	while (n < 1025 && (r = EventRegister(GUIDP(G3), NULL, NULL, &h[n])) == 0) {
		n++;
	}
	assert_int_equal(n, 1024);
	assert_int_equal(r, 8);
	assert_int_equal(h[1024], 0);
	assert_int_equal(EventUnregister(h[500]), 0);
	uint32_t want = f->unregisters;
	fake_wait(f, &f->unregisters, want);
	for (int i = 0; i < 1000 && (r = EventRegister(GUIDP(G3), NULL, NULL, &h[1024])) != 0; i++) {
		usleep(1000); /* the index rests until the daemon has answered */
	}
	assert_int_equal(r, 0);
	assert_true(h[1024] != h[500]);
	assert_int_equal(EventWrite(h[500], &DESC, 0, NULL), 6);
	h[500] = h[1024];
	want = f->unregisters + 1024;
	for (int i = 0; i < 1024; i++) {
		assert_int_equal(EventUnregister(h[i]), 0);
	}
	assert_true(fake_wait(f, &f->unregisters, want));
	usleep(20000);
}

/* ---- what arrives ------------------------------------------------------------------------------
 */

static void the_first_event_after_register_is_captured(void **state)
{
	uint32_t a = 0x11223344;
	uint64_t b = 0x5566778899aabbcc;
	enable_all(&G1, 5);
	REGHANDLE h = must_register(&G1, NULL, NULL);
	EVENT_DATA_DESCRIPTOR d[2] = {{.Ptr = (ULONGLONG)(uintptr_t)&a, .Size = 4},
				      {.Ptr = (ULONGLONG)(uintptr_t)&b, .Size = 8}};
	assert_int_equal(EventWrite(h, &DESC, 2, d), 0);
	assert_int_equal(fake_drain(f), 1);
	const struct fake_event *e = &f->event[0];
	assert_memory_equal(&e->rec.id, &DESC, 16);
	assert_int_equal(e->rec.kind, POOL_REC_EVENT);
	assert_int_equal(e->rec.flags, 0);
	assert_true(e->rec.mask == 1ull << 5);
	assert_int_equal(e->rec.tid, gettid());
	assert_int_equal(e->payload_bytes, 12);
	assert_memory_equal(e->payload, &a, 4);
	assert_memory_equal(e->payload + 4, &b, 8);
	EventUnregister(h);
}

static void levels_and_keywords_choose_the_sessions(void **state)
{
	struct filter_row row[3] = {
		{.bit = 1, .level = 3, .any = 0xF0},
		{.bit = 2, .level = 0, .any = UINT64_MAX, .props = FILTER_ROW_IGNORE_KEYWORD_0},
		{.bit = 3, .level = 5, .any = 0x3, .all = 0x3, .props = FILTER_ROW_EXCLUDE_INPRIVATE},
	};
	struct {
		uint8_t level;
		uint64_t keyword;
		uint64_t mask;
	} t[] = {{3, 0x10, 6}, {4, 0x10, 4}, {0, 0x10, 6}, {3, 0, 10},          {5, 0, 8},
		 {5, 3, 12},   {5, 1, 4},    {6, 3, 4},    {255, 1ull << 63, 4}};
	REGHANDLE h = must_register(&G1, NULL, NULL);
	fake_set(f, &G1, row, 3, 0);
	for (size_t i = 0; i < BASE_ARRAY_LEN(t); i++) {
		EVENT_DESCRIPTOR d = {.Level = t[i].level, .Keyword = t[i].keyword};
		fake_forget_events(f);
		assert_true(EventEnabled(h, &d));
		assert_true(EventProviderEnabled(h, t[i].level, t[i].keyword));
		assert_int_equal(EventWrite(h, &d, 0, NULL), 0);
		assert_int_equal(fake_drain(f), 1);
		assert_true(f->event[0].rec.mask == t[i].mask);
	}
	EVENT_DESCRIPTOR both = {.Level = 1, .Keyword = 3};
	fake_forget_events(f);
	assert_int_equal(EventWriteEx(h, &both, 0, EVENT_WRITE_FLAG_INPRIVATE, NULL, NULL, 0, NULL), 0);
	assert_int_equal(EventWriteEx(h, &both, 1ull << 2, 0, NULL, NULL, 0, NULL), 0);
	assert_int_equal(EventWriteEx(h, &both, ~0ull, 0, NULL, NULL, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 2);
	assert_true(f->event[0].rec.mask == 4 && f->event[1].rec.mask == 8);
	assert_int_equal(f->event[0].rec.flags, POOL_REC_INPRIVATE);
	fake_set(f, &G1, NULL, 0, 0);
	assert_false(EventEnabled(h, &both));
	assert_int_equal(EventWrite(h, &both, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 2);
	EventUnregister(h);
}

static void the_merged_test_says_no_below_level_and_outside_keywords(void **state)
{
	struct filter_row row = {.bit = 1, .level = 3, .any = 0xF0, .all = 0x30};
	REGHANDLE h = must_register(&G1, NULL, NULL);
	assert_false(EventProviderEnabled(h, 1, 0));
	fake_set(f, &G1, &row, 1, 0);
	assert_true(EventProviderEnabled(h, 3, 0x30));
	assert_true(EventProviderEnabled(h, 0, 0));
	assert_false(EventProviderEnabled(h, 4, 0x30));
	assert_false(EventProviderEnabled(h, 3, 0x10));
	assert_false(EventProviderEnabled(h, 3, 0x01));
	assert_false(EventEnabled(h, NULL));
	EventUnregister(h);
}

static void a_string_event_is_utf16_with_terminator(void **state)
{
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 0);
	assert_int_equal(EventWriteString(h, 2, 0x8000, u"héllo"), 0);
	assert_int_equal(fake_drain(f), 1);
	const struct fake_event *e = &f->event[0];
	assert_int_equal(e->rec.flags, POOL_REC_STRING_ONLY);
	assert_int_equal(e->payload_bytes, 12);
	assert_memory_equal(e->payload, u"héllo", 12);
	assert_int_equal(e->rec.id, 0);
	assert_int_equal(e->rec.level, 2);
	assert_true(e->rec.keyword == 0x8000);
	static uint16_t huge[40000];
	for (size_t i = 0; i + 1 < BASE_ARRAY_LEN(huge); i++) {
		huge[i] = 'x';
	}
	assert_int_equal(EventWriteString(h, 2, 0, (PCWSTR)(const void *)huge), 534);
	EventUnregister(h);
}

struct item {
	uint16_t type, linkage, bytes;
	const uint8_t *data;
};
static uint32_t items_of(const struct fake_event *e, struct item *ret)
{
	uint32_t n = 0;
	for (uint32_t at = 0; at < e->items_bytes; n++) {
		const uint8_t *p = e->items + at;
		ret[n] = (struct item){le16_get(p + 2), le16_get(p + 4), le16_get(p + 6), p + 8};
		assert_int_equal(le16_get(p), BASE_ALIGN8(8 + ret[n].bytes));
		at += le16_get(p);
		assert_true(at <= e->items_bytes);
	}
	return n;
}

static void typed_descriptors_become_items_only_after_opt_in(void **state)
{
	uint8_t traits[] = {6, 0, 'A', 'b', 'c', 0}, schema[] = {7, 0, 0, 'E', 0, 'f', 0};
	uint64_t when = 12345;
	uint32_t data = 99;
	EVENT_DATA_DESCRIPTOR d[5] = {
		{.Ptr = (ULONGLONG)(uintptr_t)traits, .Size = 6, .Type = 2},
		{.Ptr = (ULONGLONG)(uintptr_t)schema, .Size = 7, .Type = 1},
		{.Ptr = (ULONGLONG)(uintptr_t)&data, .Size = 4},
		{.Ptr = (ULONGLONG)(uintptr_t)&when, .Size = 8, .Type = 3},
		{.Ptr = (ULONGLONG)(uintptr_t)&data, .Size = 2},
	};
	struct item it[4];
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 0);
	assert_int_equal(EventWrite(h, &DESC, 3, d), 0);
	assert_int_equal(EventSetInformation(h, EventProviderUseDescriptorType, "\1", 1), 0);
	assert_int_equal(EventWriteTransfer(h, &DESC, GUIDP(G3), GUIDP(G2), 3, d), 0);
	assert_int_equal(EventWrite(h, &DESC, 5, d), 0);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, traits, 6), 0);
	assert_int_equal(EventWrite(h, &DESC, 3, d), 0);
	assert_int_equal(fake_drain(f), 4);
	/* Time order: the one with an old time of its own may be anywhere. */
	const struct fake_event *by[4] = {0};
	for (int i = 0, k = 0; i < 4; i++) {
		const struct fake_event *e = &f->event[i];
		if (e->payload_bytes == 17) {
			by[0] = e;
		} else if (e->payload_bytes == 6) {
			by[2] = e;
		} else {
			by[k++ == 0 ? 1 : 3] = e;
		}
	}
	assert_int_equal(by[0]->items_bytes, 0);
	assert_int_equal(items_of(by[1], it), 3);
	assert_int_equal(it[0].type, ETL_ITEM_RELATED_ACTIVITYID);
	assert_memory_equal(it[0].data, &G2, 16);
	assert_int_equal(it[1].type, ETL_ITEM_PROV_TRAITS);
	assert_int_equal(it[1].bytes, 6);
	assert_memory_equal(it[1].data, traits, 6);
	assert_int_equal(it[2].type, ETL_ITEM_EVENT_SCHEMA_TL);
	assert_memory_equal(it[2].data, schema, 7);
	assert_int_equal(it[0].linkage, 1);
	assert_int_equal(it[1].linkage, 1);
	assert_int_equal(it[2].linkage, 0);
	assert_true(by[1]->has_activity);
	assert_memory_equal(by[1]->activity, &G3, 16);
	assert_int_equal(by[1]->payload_bytes, 4);
	assert_memory_equal(by[2]->payload, "\x63\0\0\0\x63\0", 6);
	/* Traits registered: etwd adds them. */
	assert_int_equal(items_of(by[3], it), 1);
	assert_int_equal(it[0].type, ETL_ITEM_EVENT_SCHEMA_TL);
	const struct fake_reg *reg = &f->peer[0]->reg[by[3]->rec.prov];
	for (int i = 0; i < 5000 && order_load_acquire(&reg->traits_bytes) == 0; i++) {
		usleep(1000); /* sent, perhaps not yet read */
	}
	assert_int_equal(order_load_acquire(&reg->traits_bytes), 6);
	EventUnregister(h);
}

/* Usual and unusual sizes mixed, with few and many pieces, with and without what TraceLogging puts in
 * front and an activity: each combination takes another way through the write path. */
static void every_mixture_of_sizes_arrives_as_it_was(void **state)
{
	static const uint32_t sizes[] = {4, 8, 16, 0, 1, 2, 3, 5, 7, 9, 12, 15, 17, 31, 32, 33, 100, 400};
	static uint8_t source[4096], want[8192];
	uint8_t traits[] = {6, 0, 'A', 'b', 'c', 0}, schema[41] = {41, 0, 0, 'E', 0, 'f', 0};
	struct item it[4];
	GUID none = {0}, some;
	uint32_t dice = 1;
	for (uint32_t i = 0; i < sizeof source; i++) {
		source[i] = (uint8_t)(i * 7 + (i >> 8));
	}
	memcpy(&some, &G3, 16);
	for (int typed = 0; typed < 2; typed++) {
		REGHANDLE h = must_register(&G1, NULL, NULL);
		enable_all(&G1, 0);
		if (typed) {
			EventSetInformation(h, EventProviderUseDescriptorType, "\1", 1);
			EventSetInformation(h, EventProviderSetTraits, traits, 6);
		}
		for (int round = 0; round < 3000; round++) {
			EVENT_DATA_DESCRIPTOR d[14] = {
				{.Ptr = (ULONGLONG)(uintptr_t)traits, .Size = 6, .Type = 2},
				{.Ptr = (ULONGLONG)(uintptr_t)schema, .Size = 7 + (uint32_t)round % 35, .Type = 1},
			};
			uint32_t n = typed ? 2 : 0, pieces = dice % 12, bytes = 0;
			for (uint32_t k = 0; k < pieces; k++) {
				dice = dice * 1103515245u + 12345u;
				uint32_t size = sizes[(dice >> 16) % (round % 2 ? 3 : 18)];
				const uint8_t *from = source + (dice >> 20);
				size = BASE_MIN(size, (uint32_t)(source + sizeof source - from));
				d[n++] = (EVENT_DATA_DESCRIPTOR){.Ptr = (ULONGLONG)(uintptr_t)from, .Size = size};
				memcpy(want + bytes, from, size);
				bytes += size;
			}
			dice = dice * 1103515245u + 12345u;
			bool active = dice >> 29 == 0;
			EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, active ? &some : &none);
			memset(&some, round | 1, sizeof some);
			assert_int_equal(
				typed ? EventWriteTransfer(h, &DESC, NULL, NULL, n, d) : EventWrite(h, &DESC, n, d), 0);
			assert_int_equal(fake_drain(f), 1);
			const struct fake_event *e = &f->event[0];
			assert_int_equal(e->has_activity, active);
			assert_int_equal(e->payload_bytes, bytes);
			assert_memory_equal(e->payload, want, bytes);
			assert_int_equal(items_of(e, it), typed);
			if (typed) {
				assert_int_equal(it[0].type, ETL_ITEM_EVENT_SCHEMA_TL);
				assert_int_equal(it[0].bytes, 7 + round % 35);
				assert_memory_equal(it[0].data, schema, it[0].bytes);
			}
			fake_forget_events(f);
		}
		EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &none);
		EventUnregister(h);
	}
}

static void long_metadata_needs_no_limit_of_ours(void **state)
{
	static uint8_t schema[30000];
	memset(schema, 0x5a, sizeof schema);
	EVENT_DATA_DESCRIPTOR d = {.Ptr = (ULONGLONG)(uintptr_t)schema, .Size = sizeof schema, .Type = 1};
	struct item it[2];
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 0);
	EventSetInformation(h, EventProviderUseDescriptorType, "\1", 1);
	assert_int_equal(EventWrite(h, &DESC, 1, &d), 0);
	assert_int_equal(fake_drain(f), 1);
	assert_int_equal(items_of(&f->event[0], it), 1);
	assert_int_equal(it[0].bytes, sizeof schema);
	assert_memory_equal(it[0].data, schema, sizeof schema);
	EventUnregister(h);
}

/* Without sanitizers' additions, so that its length is known. */
static void __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) write_deep(REGHANDLE h, int depth)
{
	if (depth > 0) {
		write_deep(h, depth - 1);
	} else {
		assert_int_equal(EventWrite(h, &DESC, 0, NULL), 0);
	}
	__asm__ volatile("" ::: "memory");
}

static void a_stack_starts_at_the_caller(void **state)
{
	struct filter_row row = fake_row_all(2);
	struct item it[2];
	row.props = FILTER_ROW_STACK;
	REGHANDLE h = must_register(&G1, NULL, NULL);
	fake_set(f, &G1, &row, 1, 0);
	write_deep(h, 10);
	write_deep(h, 300);
	assert_int_equal(fake_drain(f), 2);
	assert_int_equal(items_of(&f->event[0], it), 1);
	assert_int_equal(it[0].type, ETL_ITEM_STACK_TRACE64);
	assert_true(le64_get(it[0].data) == 0);
	uint64_t low = (uintptr_t)write_deep;
	const uint8_t *at = it[0].data + 8;
	/* EventWrite's own frame shows only where no sibling call is made: -O0, -O1, sanitizers. */
	uint64_t into_write = le64_get(at) - (uintptr_t)EventWrite;
	at += into_write < 4096 && into_write < le64_get(at) - low ? 8 : 0;
	uint64_t first = le64_get(at), second = le64_get(at + 8);
	assert_true(first > low && first < low + 512);
	assert_true(second > low && second < low + 512);
	assert_true(it[0].bytes >= 8 + 8 * 11);
	items_of(&f->event[1], it);
	assert_int_equal(it[0].bytes, 8 + 8 * 192);
	EventUnregister(h);
}

/* ---- callbacks ---------------------------------------------------------------------------------
 */

static void register_runs_the_callback_of_an_enabled_provider(void **state)
{
	REGHANDLE h = 0;
	struct calls c = {.handle = &h, .write_inside = true, .written = 1};
	struct filter_row row = {.bit = 1, .level = 4, .any = 0x30, .all = 0x10};
	fake_set(f, &G2, &row, 1, 0);
	assert_int_equal(EventRegister(GUIDP(G2), on_enable, &c, &h), 0);
	assert_int_equal(c.count, 1);
	assert_int_equal(c.code, 1);
	assert_int_equal(c.level, 4);
	assert_true(c.any == 0x30 && c.all == 0x10);
	assert_int_equal(c.written, 0); /* the handle was valid inside */
	assert_int_equal(fake_drain(f), 1);
	EventUnregister(h);
}

static void callbacks_follow_enables_and_are_acknowledged(void **state)
{
	struct calls c = {0};
	REGHANDLE h = must_register(&G2, on_enable, &c);
	assert_int_equal(c.count, 0);
	uint32_t notified = f->notified;
	struct filter_row row = {.bit = 1, .level = 0, .any = 0};
	fake_set(f, &G2, &row, 1, 0);
	assert_true(wait_count(&c.count, 1));
	assert_int_equal(c.code, 1);
	assert_int_equal(c.level, 255);
	assert_true(c.any == UINT64_MAX);
	struct {
		uint32_t type;
		uint8_t data[5];
	} filter = {0x80000000u, "abcd"};
	fake_notify(f, &G2, 2, &filter, 9);
	assert_true(wait_count(&c.count, 2));
	assert_int_equal(c.code, 2);
	assert_int_equal(c.level, FAKE_CAPTURE_LEVEL); /* a capture is not merged */
	assert_true(c.filter_given);
	assert_int_equal(c.filter_type, 0x80000000u);
	assert_int_equal(c.filter_size, 5);
	assert_string_equal((char *)c.filter, "abcd");
	filter.type = 0x80000004u; /* a scope filter is not the provider's business */
	fake_notify(f, &G2, 2, &filter, 9);
	assert_true(wait_count(&c.count, 3));
	assert_false(c.filter_given);
	fake_set(f, &G2, NULL, 0, 0);
	assert_true(wait_count(&c.count, 4));
	assert_int_equal(c.code, 0);
	assert_int_equal(c.level, 0);
	assert_true(c.any == 0 && c.all == 0);
	assert_true(fake_wait(f, &f->notified, notified + 4));
	EventUnregister(h);
	assert_int_equal(c.overlaps, 0);
}

static void unregister_from_its_own_callback_does_not_deadlock(void **state)
{
	REGHANDLE h = 0;
	struct calls c = {.handle = &h, .unregister_inside = true, .unregistered = 1};
	order_store_release(&h, must_register(&G2, on_enable, &c));
	enable_all(&G2, 1);
	assert_true(wait_count(&c.count, 1));
	assert_int_equal(c.unregistered, 0);
	assert_int_equal(EventUnregister(h), 6);
}

static uint32_t slow_entered, slow_left;
static VOID NTAPI slow_callback(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
				PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	order_add_full(&slow_entered, 1u);
	usleep(30000);
	order_add_full(&slow_left, 1u);
}

static void unregister_waits_for_a_running_callback(void **state)
{
	REGHANDLE h = must_register(&G2, slow_callback, NULL);
	enable_all(&G2, 1);
	assert_true(wait_count(&slow_entered, 1));
	assert_int_equal(EventUnregister(h), 0);
	assert_int_equal(order_load_acquire(&slow_left), order_load_acquire(&slow_entered));
}

/* ---- activity ids ------------------------------------------------------------------------------
 */

static void activity_ids_follow_their_five_codes(void **state)
{
	GUID zero = {0}, a, b, c;
	memcpy(&c, &G3, 16);
	assert_int_equal(EventActivityIdControl(0, &a), 87);
	assert_int_equal(EventActivityIdControl(6, &a), 87);
	assert_int_equal(EventActivityIdControl(1, NULL), 87);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &a), 0);
	assert_memory_equal(&a, &zero, 16);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &a), 0);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &b), 0);
	assert_memory_not_equal(&a, &b, 16);
	assert_int_equal(a.Data3 >> 12, 0); /* no real GUID has version 0 */
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &a), 0);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &c), 0);
	assert_memory_equal(&c, &a, 16); /* swapped */
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, &b), 0);
	assert_memory_equal(&b, &G3, 16); /* the old one */
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &b), 0);
	assert_memory_not_equal(&b, &G3, 16);
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 0);
	assert_int_equal(EventWrite(h, &DESC, 0, NULL), 0);
	EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &zero);
	assert_int_equal(EventWrite(h, &DESC, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 2);
	assert_true(f->event[0].has_activity);
	assert_memory_equal(f->event[0].activity, &b, 16);
	assert_false(f->event[1].has_activity);
	EventUnregister(h);
}

/* ---- memory, daemons coming and going -----------------------------------------------------------
 */

static void a_growth_segment_is_used(void **state)
{
	static uint8_t block[3000];
	EVENT_DATA_DESCRIPTOR d = {.Ptr = (ULONGLONG)(uintptr_t)block, .Size = sizeof block};
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 9);
	fake_grow(f, 0, 16384);
	uint32_t ok = 0;
	for (int i = 0; i < 2000 && ok < 200; i++) {
		ok += EventWrite(h, &DESC, 1, &d) == 0;
		usleep(500);
	}
	assert_int_equal(ok, 200);
	assert_int_equal(fake_drain(f), 200);
	EventUnregister(h);
}

static void a_new_daemon_gets_the_registrations_again(void **state)
{
	struct calls c = {0};
	char dir[64];
	REGHANDLE h = must_register(&G2, on_enable, &c);
	enable_all(&G2, 1);
	assert_true(wait_count(&c.count, 1));
	strcpy(dir, f->dir);
	fake_kill(f);
	/* Orphaned: into the old pool, nothing breaks. */
	for (int i = 0; i < 1000; i++) {
		ULONG r = EventWrite(h, &DESC, 0, NULL);
		assert_true(r == 0 || r == 8);
	}
	f = fake_start(dir);
	assert_true(fake_wait(f, &f->registers, 1));
	assert_true(wait_count(&c.count, 2)); /* not enabled any more */
	assert_int_equal(c.code, 0);
	assert_int_equal(EventWrite(h, &DESC, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 0);
	enable_all(&G2, 3);
	assert_true(wait_count(&c.count, 3));
	assert_int_equal(EventWrite(h, &DESC, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 1);
	assert_true(f->event[0].rec.mask == 8);
	EventUnregister(h);
}

static void without_a_daemon_nothing_waits_and_nothing_fails(void **state)
{
	char dir[64];
	strcpy(dir, f->dir);
	fake_kill(f);
	usleep(20000);
	uint64_t t0 = clock_read_system_ns();
	REGHANDLE h[20];
	for (int i = 0; i < 20; i++) {
		h[i] = must_register(&G1, NULL, NULL);
		assert_int_equal(EventWrite(h[i], &DESC, 0, NULL), 0);
	}
	/* 20 waits of 50 ms would be a second. */
	assert_true(clock_read_system_ns() - t0 < 900000000ull);
	f = fake_start(dir);
	assert_true(fake_wait(f, &f->registers, 20));
	enable_all(&G1, 4);
	usleep(20000);
	assert_int_equal(EventWrite(h[19], &DESC, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 1);
	for (int i = 0; i < 20; i++) {
		EventUnregister(h[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(register_refuses_null_arguments, setup),
		cmocka_unit_test_setup(handles_that_are_not_live_are_refused, setup),
		cmocka_unit_test_setup(bad_parameters_are_refused_with_and_without_sessions, setup),
		cmocka_unit_test_setup(set_information_checks_class_and_length, setup),
		cmocka_unit_test_setup(events_that_do_not_fit_16_bits_overflow, setup),
		cmocka_unit_test_setup(a_full_pool_is_not_enough_memory_and_counted, setup),
		cmocka_unit_test_setup(the_1025th_registration_is_refused, setup),
		cmocka_unit_test_setup(the_first_event_after_register_is_captured, setup),
		cmocka_unit_test_setup(levels_and_keywords_choose_the_sessions, setup),
		cmocka_unit_test_setup(the_merged_test_says_no_below_level_and_outside_keywords, setup),
		cmocka_unit_test_setup(a_string_event_is_utf16_with_terminator, setup),
		cmocka_unit_test_setup(every_mixture_of_sizes_arrives_as_it_was, setup),
		cmocka_unit_test_setup(typed_descriptors_become_items_only_after_opt_in, setup),
		cmocka_unit_test_setup(long_metadata_needs_no_limit_of_ours, setup),
		cmocka_unit_test_setup(a_stack_starts_at_the_caller, setup),
		cmocka_unit_test_setup(register_runs_the_callback_of_an_enabled_provider, setup),
		cmocka_unit_test_setup(callbacks_follow_enables_and_are_acknowledged, setup),
		cmocka_unit_test_setup(unregister_from_its_own_callback_does_not_deadlock, setup),
		cmocka_unit_test_setup(unregister_waits_for_a_running_callback, setup),
		cmocka_unit_test_setup(activity_ids_follow_their_five_codes, setup),
		cmocka_unit_test_setup(a_growth_segment_is_used, setup),
		cmocka_unit_test_setup(a_new_daemon_gets_the_registrations_again, setup),
		cmocka_unit_test_setup(without_a_daemon_nothing_waits_and_nothing_fails, setup),
	};
	f = fake_start(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
