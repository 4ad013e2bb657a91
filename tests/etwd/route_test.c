/* SPDX-License-Identifier: MIT
 *
 * Two ways lead from a record to a session: many at once, and one by one. Whatever is written, the sessions must
 * get the same bytes from both. The records are random, with all that sends one to the other way: activity ids,
 * items of several kinds with and without traits, long payloads, times that go back, other generations, kinds and registrations, full buffers.
 */
#include "base/base.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_fair.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "format/etl_layout.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define RECORDS  4000u
#define SESSIONS 5u

struct got {
	uint8_t *data;
	size_t used;
	uint64_t buffers;
};

/* One world: a daemon, a process with two registrations, sessions with rows of their own. */
struct world {
	struct etwd *d;
	struct process p;
	struct registration reg[2];
	struct registration *index[2];
	struct session session[SESSIONS];
	struct got got[SESSIONS];
};

static bool take(void *ctx, const uint8_t *buf, uint32_t bytes, uint16_t cpu)
{
	struct got *g = ctx;
	assert_in_range(cpu, 0, 1);
	memcpy(g->data + g->used, buf + ETL_BUFFER_HEADER_SIZE, bytes - ETL_BUFFER_HEADER_SIZE);
	g->used += bytes - ETL_BUFFER_HEADER_SIZE;
	g->buffers++;
	return true;
}

/* Of the second registration only. */
static struct traits *traits_of(void)
{
	static const uint8_t data[] = {11, 0, 'N', 'a', 'm', 'e', 0, 4, 0, 9, 1};
	struct traits *t = calloc(1, sizeof *t + sizeof data);
	t->refs = 1;
	t->bytes = sizeof data;
	memcpy(t->data, data, sizeof data);
	return t;
}

static struct config *config_of(struct world *w, uint32_t gen, bool fast)
{
	struct config *c = calloc(1, sizeof *c + SESSIONS * sizeof c->row[0]);
	static const struct route_row rows[SESSIONS] = {
		{.any = UINT64_MAX, .bit = 0},
		{.any = 0x3, .all = 0x1, .bit = 1, .level = 4},
		{.any = UINT64_MAX, .bit = 2, .level = 3, .flags = ROUTE_IGNORE_KEYWORD_0},
		{.any = 0x8, .bit = 3},
		{.any = UINT64_MAX, .bit = 63},
	};
	c->gen = gen;
	c->rows = SESSIONS;
	c->retired_ts = UINT64_MAX;
	c->fast = fast;
	uint8_t provider[16];
	memset(provider, (int)(0x20 + gen), 16);
	c->head = etl_event_head_of(4711, provider, 0);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		c->row[i] = rows[i];
		c->row[i].session = &w->session[i];
	}
	return c;
}

static void world_make(struct world *w, bool fast)
{
	memset(w, 0, sizeof *w);
	assert_int_equal(etwd_create(&w->d, false), 0);
	w->d->cpus = 2;
	for (uint32_t i = 0; i < SESSIONS; i++) {
		struct sink_options o = {
			.name = u"route",
			.props.mode = EVENT_TRACE_REAL_TIME_MODE,
			.props.buffer_kb = i == 0 ? 128 : 4,
			.props.minimum_buffers = 8,
			.props.maximum_buffers = 8,
			.props.clock = i == 4 ? 2 : 1,
			.cpus = 2,
		};
		w->got[i].data = malloc(16u << 20);
		assert_int_equal(sink_create(&o, &w->session[i].sink, NULL), 0);
		sink_set_tap(w->session[i].sink, true, take, &w->got[i]);
		w->session[i].props.clock = o.props.clock;
	}
	w->d->time_raw = 1000; /* a session clock 2 that is the same in both worlds */
	w->d->time_ft = 130000000000000000ull;
	w->d->time_mult = 3ull << 40;
	w->p.reg = w->index;
	w->p.reg_cap = 2;
	w->p.pid = 4711;
	for (uint32_t i = 0; i < 2; i++) {
		w->index[i] = &w->reg[i];
		w->reg[i].process = &w->p;
		w->reg[i].config = config_of(w, 8 + i, fast);
		w->reg[i].config->older = config_of(w, 7, fast);
		w->reg[i].config->older->retired_ts = 3000000; /* not every late record has a listener */
	}
	w->reg[1].config->traits = traits_of();
}

static void world_end(struct world *w)
{
	for (uint32_t i = 0; i < SESSIONS; i++) {
		sink_stop(w->session[i].sink, NULL);
		free(w->got[i].data);
	}
	free(w->p.fair);
	free(w->reg[1].config->traits);
	for (uint32_t i = 0; i < 2; i++) {
		free(w->reg[i].config->older);
		free(w->reg[i].config);
	}
	etwd_destroy(w->d);
}

static uint64_t seed;
static uint32_t dice(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

static uint32_t put_item(uint8_t *at, uint16_t type, const void *data, uint32_t bytes, bool more)
{
	uint32_t total = BASE_ALIGN8(8 + bytes);
	memset(at, 0, total);
	le16_put(at, (uint16_t)total);
	le16_put(at + 2, type);
	le16_put(at + 4, more);
	le16_put(at + 6, (uint16_t)bytes);
	memcpy(at + 8, data, bytes);
	return total;
}

/* Mostly the schema of one of some event sites; sometimes what no simple way takes. */
static uint32_t write_items(uint8_t *at)
{
	static const uint8_t other[16] = {1, 2, 3};
	uint8_t schema[900];
	uint32_t site = dice(12), bytes = site == 11 ? 700 : 12 + 7 * site;
	memset(schema, 'a' + (int)site, sizeof schema);
	le16_put(schema, (uint16_t)bytes);
	switch (dice(12)) {
	case 0: /* related activity and schema */
		return put_item(at, ETL_ITEM_RELATED_ACTIVITYID, other, 16, true) +
		       put_item(at + 24, ETL_ITEM_EVENT_SCHEMA_TL, schema, bytes, false);
	case 1: /* one that only we may say, and is dropped */ return put_item(at, ETL_ITEM_SID, other, 12, false);
	case 2: return put_item(at, ETL_ITEM_PROV_TRAITS, other, 11, false);
	default: return put_item(at, ETL_ITEM_EVENT_SCHEMA_TL, schema, bytes, false);
	}
}

/* Valid records one after the other, as the drain hands them over: one cpu, times not decreasing but for a
 * stretch of its own now and then. */
static size_t write_records(uint8_t *at, uint64_t *ts, uint32_t count)
{
	uint8_t *begin = at;
	bool with_items = dice(2) == 0;
	uint16_t prov = (uint16_t)dice(2), gen = (uint16_t)(dice(8) ? 8 + prov : 7);
	for (uint32_t i = 0; i < count; i++) {
		struct pool_rec *rec = (void *)at;
		bool activity = dice(16) == 0, odd = dice(32) == 0;
		uint32_t payload = odd ? dice(60000) : dice(4) == 0 ? dice(200) : dice(70);
		uint32_t fixed = (uint32_t)sizeof *rec + (activity ? 16 : 0);
		bool items = dice(30) == 0 ? !with_items : with_items;
		uint32_t before = fixed + (items ? write_items(at + fixed) : 0);
		uint32_t size = BASE_ALIGN8(before + payload);
		if (dice(24) == 0) {
			prov ^= 1;
			gen = (uint16_t)(dice(8) ? 8 + prov : dice(4) ? 7 : 99);
		}
		*ts += dice(1000);
		*rec = (struct pool_rec){
			.size8 = (uint16_t)(size / 8),
			.kind = POOL_REC_EVENT,
			.flags = (uint8_t)((activity ? POOL_REC_ACTIVITY : 0) | (items ? POOL_REC_ITEMS : 0) |
					   (dice(20) == 0 ? POOL_REC_STRING_ONLY : 0)),
			.prov = prov,
			.tid = 100 + dice(3),
			.user_len = (uint16_t)payload,
			.cfg_gen = gen,
			.ts = *ts,
			.mask = dice(10) == 0 ? 1u << dice(5) : UINT64_MAX,
			.id = (uint16_t)dice(9),
			.level = (uint8_t)dice(6),
			.keyword = dice(6) == 0 ? 0 : 1ull << dice(6) | dice(2),
		};
		for (uint32_t k = (uint32_t)sizeof *rec; k < fixed; k++) {
			at[k] = (uint8_t)dice(256);
		}
		for (uint32_t k = before; k < size; k++) {
			at[k] = (uint8_t)dice(256); /* the padding too: nobody may see it */
		}
		at += size;
	}
	return (size_t)(at - begin);
}

static void both_ways_give_the_same_bytes(void **state)
{
	static struct world many, single;
	uint8_t *records = calloc(1, (16u << 20) + POOL_READ_AHEAD);
	for (uint32_t round = 0; round < 6; round++) {
		seed = 88172645463325252ull + round;
		world_make(&many, true);
		world_make(&single, false);
		uint64_t ts = 100000;
		for (uint32_t done = 0; done < RECORDS;) {
			uint32_t count = 1 + dice(60);
			uint64_t from = dice(10) == 0 ? ts - dice(5000) : ts; /* late against another process */
			size_t bytes = write_records(records, &from, count);
			ts = BASE_MAX(ts, from);
			memset(records + bytes, 0xEE, POOL_READ_AHEAD);
			assert_int_equal(etwd_route_run(many.d, &many.p, records, records + bytes), count);
			assert_int_equal(etwd_route_run(single.d, &single.p, records, records + bytes), count);
			done += count;
			if (dice(4) == 0) {
				for (uint32_t i = 0; i < SESSIONS; i++) {
					sink_tick(many.session[i].sink, 0);
					sink_tick(single.session[i].sink, 0);
				}
			}
		}
		uint64_t events = 0;
		for (uint32_t i = 0; i < SESSIONS; i++) {
			struct sink_stats a, b;
			sink_flush(many.session[i].sink, NULL, NULL);
			sink_flush(single.session[i].sink, NULL, NULL);
			sink_stats(many.session[i].sink, &a);
			sink_stats(single.session[i].sink, &b);
			events += a.events;
			assert_int_equal(a.events, b.events);
			assert_int_equal(a.events_lost, b.events_lost);
			assert_int_equal(a.late_records, b.late_records);
			assert_int_equal(many.got[i].used, single.got[i].used);
			assert_int_equal(many.got[i].buffers, single.got[i].buffers);
			assert_memory_equal(many.got[i].data, single.got[i].data, many.got[i].used);
			for (uint32_t k = 0; k < PROTO_LOSS_COUNT; k++) {
				assert_int_equal(many.session[i].loss[k], single.session[i].loss[k]);
			}
		}
		assert_true(events > RECORDS);
		world_end(&many);
		world_end(&single);
	}
	free(records);
}

/* Paths as docker, podman, containerd, CRI-O, Kubernetes and systemd make them. */
static void containers_are_named_as_people_know_them(void **state)
{
#define ID "4f66ad9a0b2e7d0c8a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcdef"
	static const struct {
		const char *list, *path;
		bool match;
	} rows[] = {
		{ID, "/system.slice/docker-" ID ".scope\n", true},
		{"4f66ad9a0b2e", "/system.slice/docker-" ID ".scope\n", true},
		{"4F66AD9A0B2E", "/docker/" ID "\n", true},
		{"4f66ad9a0b2e", "/machine.slice/libpod-" ID ".scope/container\n", true},
		{"4f66ad9a0b2e", "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", true},
		{"4f66ad9a0b2e", "/kubepods/burstable/pod12/" ID, true},
		{"4f66ad9a0b2e", "/system.slice/crio-conmon-" ID ".scope", true},
		{"66ad9a0b2e7d", "/system.slice/docker-" ID ".scope", false}, /* not where it begins */
		{"4f66ad9a0b2", "/system.slice/docker-" ID ".scope", false},  /* 11 digits: a name */
		{"web", "/user.slice/user-1000.slice/web.service", true},
		{"web.service", "/user.slice/user-1000.slice/web.service", true},
		{"web", "/user.slice/web2.service", false},
		{"db;web", "/system.slice/web.scope\n", true},
		{";;", "/system.slice/web.scope", false},
		{"", "/", false},
		{"/system.slice", "/system.slice/web.service\n", true},
		{"/system.slice/", "/system.slice", true},
		{"/system.slice", "/system.slice2/web.service", false},
		{"/", "/\n", true},
		{"/", "/any/thing", true},
	};
#undef ID
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (etwd_container_matches(rows[i].list, rows[i].path) != rows[i].match) {
			fail_msg("'%s' and %s", rows[i].list, rows[i].path);
		}
	}
}

/* Wherever the collector says that its records end, the drain comes back, and never reads behind the ring. */
static void a_ring_whose_end_makes_no_sense_is_left(void **state)
{
	struct etwd *d;
	struct collector c = {.tail = 0};
	uint64_t bytes = PROTO_KERNEL_RING_PAGE + PROTO_KERNEL_RING_BYTES;
	uint8_t *mem = calloc(1, bytes);
	assert_int_equal(etwd_create(&d, false), 0);
	c.head = (struct proto_kernel_ring_head *)(void *)mem;
	c.data = mem + PROTO_KERNEL_RING_PAGE;
	for (uint64_t tail = PROTO_KERNEL_RING_BYTES - 40; tail < PROTO_KERNEL_RING_BYTES + 16; tail += 4) {
		for (uint64_t more = 0; more < 64; more += 4) {
			struct proto_kernel_ring_record r = {.bytes = 8, .kind = PROTO_KERNEL_RING_SKIP};
			memset(c.data, 0, PROTO_KERNEL_RING_BYTES);
			memcpy(c.data + PROTO_KERNEL_RING_BYTES - 40, &r, sizeof r);
			c.tail = tail;
			order_store_relaxed(&c.head->head, tail + more);
			etwd_kernel_ring_drain(d, &c);
			assert_true(c.tail == tail + more);
		}
	}
	etwd_destroy(d);
	free(mem);
}

/* One process floods a session, mostly. Another one writes now and then, after pauses of all lengths, before or after what
 * the flood writes in the same epoch, or when the flood has no processor: it always may have what is in reserve, and the
 * flood never may. */
static void a_quiet_process_has_the_reserve_after_any_pause(void **state)
{
	static struct session s;
	struct process flood = {.fair = NULL}, quiet = {.fair = NULL};
	uint64_t now = 1000000000;
	s.fair.epoch = 1;
	s.fair.little = 2048;
	for (int turn = 0; turn < 80; turn++) {
		int pause = turn / 2 % 8;
		bool first = turn % 2 == 0;
		for (int epoch = 0; epoch <= pause; epoch++) {
			bool writes = epoch == pause;
			for (int who = 0; who < 2; who++) {
				bool is_quiet = (who == 0) == first;
				struct fair *f = NULL;
				if (is_quiet ? !writes : turn % 5 == 4) {
					continue;
				}
				f = etwd_fair_begin(&s, is_quiet ? &quiet : &flood, 5);
				assert_non_null(f);
				bool over = etwd_fair_over(&s, f), reserve = etwd_fair_may_reserve(&s, f, over);
				bool refused = etwd_fair_refuses(&s, f, over, true);
				bool known = turn > 1; /* the flood as one */
				if ((is_quiet ? !reserve || refused : known && (reserve || !refused))) {
					fail_msg("turn %d: %s, %s", turn, is_quiet ? "the quiet one" : "the flood",
						 who == 0 ? "first" : "second");
				}
				etwd_fair_add(&s, f, is_quiet ? 100 : 1000000);
			}
			now += 50000000;
			etwd_fair_tick(&s, now);
		}
	}
	free(flood.fair);
	free(quiet.fair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_give_the_same_bytes),
		cmocka_unit_test(a_quiet_process_has_the_reserve_after_any_pause),
		cmocka_unit_test(a_ring_whose_end_makes_no_sense_is_left),
		cmocka_unit_test(containers_are_named_as_people_know_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
