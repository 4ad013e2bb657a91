/* SPDX-License-Identifier: MIT
 *
 * The record builder of etwd and private sessions (src/pool/pool_record.h), against the bytes of Windows: each record
 * of the real files is taken apart, handed over as if a program had written it, and has to come out as it was.
 */
#include "base/base.h"
#include "etl/etl_reader.h"
#include "etw/values/enable_properties.h"
#include "format/etl_item.h"
#include "pool/pool_record.h"

#include "../corpus/corpus.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/stat.h>

#include <cmocka.h>

#define WITH_STACKS EVENT_ENABLE_PROPERTY_STACK_TRACE

struct source {
	uint64_t rec_mem[sizeof(struct pool_rec) / 8];
	struct pool_event ev;
	uint8_t items[65536];
};

static struct pool_rec *rec_of(struct source *s)
{
	return (struct pool_rec *)(void *)s->rec_mem;
}

static uint8_t *build(struct source *s, const struct pool_record_args *a, uint32_t *ret_bytes)
{
	*ret_bytes = pool_record_bytes(&s->ev, a->items);
	uint8_t *out = malloc(*ret_bytes + 8u);
	assert_non_null(out);
	memset(out, 0xDD, *ret_bytes + 8u);
	pool_record_put(out, *ret_bytes, &s->ev, a);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(out[*ret_bytes + i], 0xDD); /* what follows is the caller's */
	}
	return out;
}

/* ---- real records --------------------------------------------------------------------------- */

struct tally {
	uint64_t events, with_items, items, classic, messages;
};

/* Items in the opposite order, so that theirs has to be found again; those that the host knows are left to it. */
static uint32_t take_items(const struct etl_record *r, struct source *s, struct pool_identity *who, uint64_t *key,
			   const uint8_t **traits, uint32_t *traits_bytes)
{
	struct {
		uint16_t type, bytes;
		const uint8_t *data;
	} list[64];
	uint32_t n = 0, at = 0, wants = WITH_STACKS;
	while (n < 64 && etl_item_next(r->items, r->items_bytes, &at, &list[n].type, &list[n].data, &list[n].bytes)) {
		const uint8_t *d = list[n].data;
		switch (list[n].type) {
		case ETL_ITEM_TS_ID:
			who->terminal_session = le32_get(d);
			wants |= EVENT_ENABLE_PROPERTY_TS_ID;
			break;
		case ETL_ITEM_EVENT_KEY:
			*key = le64_get(d);
			wants |= EVENT_ENABLE_PROPERTY_EVENT_KEY;
			break;
		case ETL_ITEM_PROCESS_START_KEY:
			who->start_key = le64_get(d);
			wants |= EVENT_ENABLE_PROPERTY_PROCESS_START_KEY;
			break;
		case ETL_ITEM_PROV_TRAITS:
			*traits = d;
			*traits_bytes = list[n].bytes;
			break;
		default: n++; break; /* SIDs, too: those of Windows have other lengths */
		}
	}
	s->ev.items = n ? s->items : NULL;
	s->ev.items_bytes = 0;
	while (n-- > 0) {
		s->ev.items_bytes +=
			etl_put_item(s->items + s->ev.items_bytes, list[n].type, list[n].data, list[n].bytes, n > 0);
	}
	return wants;
}

/* What the host does not fill in, and what Windows leaves in the padding of items. */
static void forget(uint8_t *want, const struct etl_record *r)
{
	uint32_t at = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	le16_put(want + ETL_EH_PROPERTY, 0);
	le64_put(want + ETL_EH_KERNEL_TIME, 0);
	while (etl_item_next(r->items, r->items_bytes, &at, &type, &data, &bytes)) {
		memset(want + (data - r->raw) + bytes, 0, etl_item_total(bytes) - ETL_ITEM_HEADER_SIZE - bytes);
	}
}

static void event_again(const struct etl_record *r, struct tally *t)
{
	static struct source s;
	struct pool_items all, mine;
	struct pool_identity who = {.terminal_session = 0};
	const uint8_t *traits = NULL;
	uint32_t traits_bytes = 0, bytes;
	uint64_t key = 0;
	uint16_t flags = le16_get(r->raw + ETL_EH_FLAGS);
	*rec_of(&s) = (struct pool_rec){
		.kind = POOL_REC_EVENT,
		.flags = flags & ETL_EF_STRING_ONLY ? POOL_REC_STRING_ONLY : 0,
	};
	memcpy(&rec_of(&s)->id, r->raw + ETL_EH_DESCRIPTOR, 16);
	s.ev = (struct pool_event){
		.rec = rec_of(&s),
		.activity = guid_is_zero(&r->activity) ? NULL : r->raw + ETL_EH_ACTIVITY,
		.payload = r->payload,
		.payload_bytes = r->payload_bytes,
	};
	uint32_t wants = take_items(r, &s, &who, &key, &traits, &traits_bytes);
	pool_items_read(&all, &s.ev, POOL_CLAIMS_KEPT, traits, traits_bytes);
	pool_items_for(&mine, &all, wants, &who, &key);
	struct etl_event_head head = etl_event_head_of(r->pid, r->provider.b, flags & ETL_EF_PRIVATE_SESSION);
	uint8_t *got =
		build(&s, &(struct pool_record_args){.head = &head, .items = &mine, .tid = r->tid, .time = r->time_raw},
		      &bytes);
	uint8_t *want = malloc(r->raw_bytes);
	memcpy(want, r->raw, r->raw_bytes);
	forget(want, r);
	assert_int_equal(bytes, le16_get(r->raw));
	assert_memory_equal(got, want, bytes);
	free(want);
	free(got);
	t->events++;
	t->with_items += mine.count > 0;
	t->items += mine.count;
}

static void classic_again(const struct etl_record *r, struct tally *t)
{
	static struct source s;
	bool instance = r->type == ETL_RT_INSTANCE64;
	uint32_t prefix = instance ? 40 : 16, bytes;
	uint8_t *payload = malloc(prefix + r->payload_bytes);
	memcpy(payload, r->provider.b, 16);
	if (instance) {
		memcpy(payload + 16, r->raw + 0x30, 24);
	}
	memcpy(payload + prefix, r->payload, r->payload_bytes);
	*rec_of(&s) = (struct pool_rec){
		.kind = instance ? POOL_REC_INSTANCE : POOL_REC_CLASSIC,
		.version = r->version,
		.level = r->level,
		.opcode = r->opcode,
	};
	s.ev = (struct pool_event){.rec = rec_of(&s), .payload = payload, .payload_bytes = prefix + r->payload_bytes};
	struct etl_event_head head = etl_event_head_of(r->pid, r->provider.b, 0);
	uint8_t *got = build(&s, &(struct pool_record_args){.head = &head, .tid = r->tid, .time = r->time_raw}, &bytes);
	assert_int_equal(bytes, le16_get(r->raw));
	/* Byte 6 is a 16-bit version of which a program gives 8 bits; 0x28 are times. */
	assert_memory_equal(got, r->raw, 7);
	assert_memory_equal(got + 8, r->raw + 8, 0x20);
	assert_memory_equal(got + 0x30, r->raw + 0x30, bytes - 0x30);
	free(payload);
	free(got);
	t->classic++;
}

static void message_again(const struct etl_record *r, struct tally *t)
{
	static struct source s;
	uint16_t flags = le16_get(r->raw + 6);
	uint32_t bytes, sequence = r->sequence - 1;
	*rec_of(&s) = (struct pool_rec){.kind = POOL_REC_MESSAGE, .id = le16_get(r->raw + 4), .task = flags};
	s.ev = (struct pool_event){
		.rec = rec_of(&s),
		.payload = r->raw + ETL_MESSAGE_HEADER_SIZE,
		.payload_bytes = le16_get(r->raw) - ETL_MESSAGE_HEADER_SIZE,
	};
	struct etl_event_head head = etl_event_head_of(r->pid, r->provider.b, 0);
	uint8_t *got = build(
		&s,
		&(struct pool_record_args){.head = &head, .tid = r->tid, .time = r->time_raw, .sequence = &sequence},
		&bytes);
	assert_int_equal(bytes, le16_get(r->raw));
	assert_memory_equal(got, r->raw, bytes);
	free(got);
	t->messages++;
}

static struct tally tally;

static int again(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	struct etl_reader *r;
	struct etl_record e;
	size_t n = strlen(path);
	if (kind != FTW_F || n < 4 || strcasecmp(path + n - 4, ".etl") != 0 || etl_reader_open(path, 0, &r, NULL) < 0) {
		return 0;
	}
	for (uint32_t count = 0; count < 20000 && etl_reader_next(r, &e) == 1; count++) {
		switch (e.type) {
		case ETL_RT_EVENT64: event_again(&e, &tally); break;
		case ETL_RT_FULL64:
		case ETL_RT_INSTANCE64: classic_again(&e, &tally); break;
		case ETL_RT_MESSAGE: message_again(&e, &tally); break;
		default: break;
		}
	}
	etl_reader_close(r);
	return 0;
}

static void records_of_windows_come_out_as_they_were(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	char path[4096];
	assert_int_equal(nftw(corpus_path(".", path, sizeof path), again, 16, FTW_PHYS), 0);
	print_message("%llu events, %llu of them with %llu items; %llu classic, %llu messages\n",
		      (unsigned long long)tally.events, (unsigned long long)tally.with_items,
		      (unsigned long long)tally.items, (unsigned long long)tally.classic,
		      (unsigned long long)tally.messages);
	assert_true(tally.events > 1000 && tally.with_items > 100);
}

/* ---- what the writer says of itself --------------------------------------------------------- */

static const struct pool_identity somebody = {
	.sid = {1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0, 0xE8, 3, 0, 0}, .terminal_session = 7, .start_key = 0x1122334455};

static uint32_t types_of(const struct pool_items *items, uint16_t *out)
{
	for (uint32_t i = 0; i < items->count; i++) {
		out[i] = items->item[i].type;
	}
	return items->count;
}

static void only_a_private_session_takes_the_writers_word_for_who_it_is(void **state)
{
	static struct source s;
	static const uint16_t said[] = {ETL_ITEM_PROCESS_START_KEY, ETL_ITEM_EVENT_SCHEMA_TL, ETL_ITEM_EVENT_KEY,
					ETL_ITEM_TS_ID, ETL_ITEM_SID};
	static const uint8_t data[16] = {0xAA};
	struct pool_items all, mine;
	uint16_t types[POOL_RECORD_ITEMS_MAX];
	uint64_t key = 99;
	*rec_of(&s) = (struct pool_rec){.kind = POOL_REC_EVENT};
	s.ev = (struct pool_event){.rec = rec_of(&s), .items = s.items};
	for (size_t i = 0; i < BASE_ARRAY_LEN(said); i++) {
		s.ev.items_bytes += etl_put_item(s.items + s.ev.items_bytes, said[i], data, 16, true);
	}
	pool_items_read(&all, &s.ev, POOL_CLAIMS_DROPPED, NULL, 0);
	assert_int_equal(types_of(&all, types), 1);
	assert_int_equal(types[0], ETL_ITEM_EVENT_SCHEMA_TL);
	assert_ptr_equal(all.schema, all.item[0].data);
	pool_items_for(&mine, &all, EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_EVENT_KEY, &somebody, &key);
	assert_int_equal(types_of(&mine, types), 3);
	assert_int_equal(types[0], ETL_ITEM_SID);
	assert_memory_equal(mine.item[0].data, somebody.sid, 16);
	assert_int_equal(types[1], ETL_ITEM_EVENT_SCHEMA_TL);
	assert_int_equal(types[2], ETL_ITEM_EVENT_KEY);
	assert_int_equal(le64_get(mine.item[2].data), 99);

	pool_items_read(&all, &s.ev, POOL_CLAIMS_KEPT, NULL, 0);
	static const uint16_t sorted[] = {ETL_ITEM_SID, ETL_ITEM_TS_ID, ETL_ITEM_EVENT_SCHEMA_TL, ETL_ITEM_EVENT_KEY,
					  ETL_ITEM_PROCESS_START_KEY};
	assert_int_equal(types_of(&all, types), BASE_ARRAY_LEN(sorted));
	assert_memory_equal(types, sorted, sizeof sorted);
	assert_int_equal(all.item[0].data[0], 0xAA);
}

static void a_writer_with_many_items_cannot_crowd_out_what_the_host_says(void **state)
{
	static struct source s;
	static const uint8_t data[16] = {0xAA}, traits[8] = {8};
	static const uint32_t wants = EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID |
				      EVENT_ENABLE_PROPERTY_EVENT_KEY | EVENT_ENABLE_PROPERTY_PROCESS_START_KEY;
	static const uint16_t hosts[] = {ETL_ITEM_SID, ETL_ITEM_TS_ID, ETL_ITEM_EVENT_KEY, ETL_ITEM_PROCESS_START_KEY,
					 ETL_ITEM_PROV_TRAITS};
	struct pool_items all, mine;
	uint16_t types[POOL_RECORD_ITEMS_MAX];
	uint64_t key = 99;
	*rec_of(&s) = (struct pool_rec){.kind = POOL_REC_EVENT};
	s.ev = (struct pool_event){.rec = rec_of(&s), .items = s.items};
	for (uint32_t i = 0; i < POOL_RECORD_ITEMS_MAX + 1; i++) {
		s.ev.items_bytes +=
			etl_put_item(s.items + s.ev.items_bytes, ETL_ITEM_RELATED_ACTIVITYID, data, 16, true);
	}
	pool_items_read(&all, &s.ev, POOL_CLAIMS_DROPPED, traits, sizeof traits);
	pool_items_for(&mine, &all, wants, &somebody, &key);
	assert_int_equal(mine.count, POOL_RECORD_ITEMS_MAX);
	types_of(&mine, types);
	for (size_t h = 0; h < BASE_ARRAY_LEN(hosts); h++) {
		uint32_t found = 0;
		for (uint32_t i = 0; i < mine.count; i++) {
			found += types[i] == hosts[h];
		}
		assert_int_equal(found, 1);
	}
}

static void a_message_gets_what_only_the_host_knows(void **state)
{
	static struct source s;
	uint8_t payload[40];
	uint32_t bytes, sequence = 41;
	memset(payload, 0xEE, sizeof payload);
	*rec_of(&s) = (struct pool_rec){.kind = POOL_REC_MESSAGE, .id = 77, .task = 0xAB};
	s.ev = (struct pool_event){.rec = rec_of(&s), .payload = payload, .payload_bytes = sizeof payload};
	struct etl_event_head head = etl_event_head_of(4711, somebody.sid, 0);
	struct pool_record_args a = {.head = &head, .tid = 12, .time = 0x0102030405060708, .sequence = &sequence};
	uint8_t *out = build(&s, &a, &bytes);
	static const uint8_t want[] = {48,   0,    0,    0x90, 77,   0,    0xAB, 0,    42,   0,    0,    0,
				       0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE,
				       0xEE, 0xEE, 0xEE, 0xEE, 8,    7,    6,    5,    4,    3,    2,    1,
				       12,   0,    0,    0,    0x67, 0x12, 0,    0,    0xEE, 0xEE, 0xEE, 0xEE};
	assert_int_equal(bytes, sizeof want);
	assert_memory_equal(out, want, sizeof want);
	free(out);
	a.claims = POOL_CLAIMS_KEPT;
	a.sequence = NULL;
	out = build(&s, &a, &bytes);
	assert_int_equal(le32_get(out + 8), 0);
	assert_int_equal(le64_get(out + 36), 0xEEEEEEEEEEEEEEEE); /* who it is, in its own words */
	free(out);
}

static void a_payload_too_short_for_its_kind_makes_no_record(void **state)
{
	static struct source s;
	static const struct {
		uint8_t kind;
		uint16_t task;
		uint32_t least, bytes;
	} rows[] = {
		{POOL_REC_EVENT, 0, 0, 0x50},         {POOL_REC_CLASSIC, 0, 16, 0x30},
		{POOL_REC_INSTANCE, 0, 40, 0x48},     {POOL_REC_MESSAGE, 0, 0, 8},
		{POOL_REC_MESSAGE, 0x2B, 36, 8 + 36}, {POOL_REC_MESSAGE, 0x0C, 12, 8 + 12},
		{POOL_REC_MESSAGE, 0x06, 16, 8 + 16}, /* GUID and component: the GUID */
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		*rec_of(&s) = (struct pool_rec){.kind = rows[i].kind, .task = rows[i].task};
		s.ev = (struct pool_event){.rec = rec_of(&s), .payload = s.items, .payload_bytes = rows[i].least};
		assert_int_equal(pool_record_bytes(&s.ev, NULL), rows[i].bytes);
		if (rows[i].least > 0) {
			s.ev.payload_bytes--;
			assert_int_equal(pool_record_bytes(&s.ev, NULL), 0);
		}
	}
	rec_of(&s)->kind = 5;
	assert_int_equal(pool_record_bytes(&s.ev, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_windows_come_out_as_they_were),
		cmocka_unit_test(only_a_private_session_takes_the_writers_word_for_who_it_is),
		cmocka_unit_test(a_writer_with_many_items_cannot_crowd_out_what_the_host_says),
		cmocka_unit_test(a_message_gets_what_only_the_host_knows),
		cmocka_unit_test(a_payload_too_short_for_its_kind_makes_no_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
