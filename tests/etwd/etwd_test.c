/* SPDX-License-Identifier: MIT
 * The daemon from outside: a private etwd, messages by hand, and the bytes it leaves in files.
 * OPENETW_ETWD names the program.
 */
#include "raw_client.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const struct guid prov_a = {{0xA1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid prov_b = {{0xB1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static struct daemon daemon_;
static struct reply reply;

static int setup(void **state)
{
	daemon_start(&daemon_);
	return 0;
}

static int teardown(void **state)
{
	daemon_stop(&daemon_);
	return 0;
}

static const char *in_dir(const char *name)
{
	static char path[2][256];
	static int turn;
	turn ^= 1;
	snprintf(path[turn], sizeof path[0], "%s/%s", daemon_.dir, name);
	return path[turn];
}

static uint64_t start_file(int fd, const char *name, const char *file)
{
	uint64_t id = 0;
	assert_int_equal(session_start(fd, &(struct session_args){.name = name, .file = file, .mode = 1}, &id), 0);
	return id;
}

static void a_session_starts_is_found_and_stops(void **state)
{
	int fd = control_connect(&daemon_);
	struct proto_session s;
	uint64_t id = start_file(fd, "Session One", in_dir("one.etl"));
	assert_int_equal(session_control(fd, id, 0, &s), 0);
	assert_int_equal(s.name_len, 11);
	assert_int_equal(s.props.mode, 1);
	assert_true(s.props.buffer_kb > 0 && s.props.minimum_buffers >= 2 &&
		    s.props.maximum_buffers >= s.props.minimum_buffers);
	assert_false(guid_is_zero(&s.props.guid));
	assert_int_equal(session_control(fd, id, 1, &s), 0);
	assert_int_equal(session_control(fd, id, 0, &s), 4201);
	assert_int_equal(session_control(fd, id, 1, &s), 4201);
	struct stat st;
	assert_int_equal(stat(in_dir("one.etl"), &st), 0);
	close(fd);
}

static void bad_starts_are_refused_with_the_documented_code(void **state)
{
	int fd = control_connect(&daemon_);
	const char *f = in_dir("bad.etl");
	static char missing[256];
	snprintf(missing, sizeof missing, "%s/no/such/x.etl", daemon_.dir);
	const struct {
		struct session_args a;
		uint32_t code;
	} cases[] = {
		{{.name = NULL, .file = f, .mode = 1}, 87},
		{{.name = "x", .file = NULL, .mode = 0}, 161},
		{{.name = "x", .file = NULL, .mode = 1}, 161},
		{{.name = "x", .file = f, .mode = 1 | 2, .maximum_size = 1}, 87},
		{{.name = "x", .file = f, .mode = 2}, 87},                    /* circular without a size */
		{{.name = "x", .file = f, .mode = 8, .maximum_size = 1}, 87}, /* no %d */
		{{.name = "x", .file = f, .mode = 0x20 | 1}, 87},             /* preallocate without a size */
		{{.name = "x", .file = f, .mode = 4 | 0x100}, 87},            /* append + real time */
		{{.name = "x", .file = f, .mode = 0x400 | 0x100}, 87},
		{{.name = "x", .file = f, .mode = 0xC000 | 1}, 87}, /* both sequences */
		{{.name = "x", .file = f, .mode = 0x800 | 1}, 87},  /* private */
		{{.name = "x", .file = f, .mode = 1, .clock = 4}, 87},
		{{.name = "x", .file = "relative.etl", .mode = 1}, 161},
		{{.name = "x", .file = missing, .mode = 1}, 3},
		{{.name = "x", .file = "/", .mode = 1}, 161},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		uint64_t id;
		uint32_t code = session_start(fd, &cases[i].a, &id);
		if (code != cases[i].code) {
			fail_msg("case %zu: code %u, not %u", i, code, cases[i].code);
		}
	}
	close(fd);
}

static void names_and_files_are_used_once(void **state)
{
	int fd = control_connect(&daemon_);
	uint64_t id = start_file(fd, "Taken", in_dir("taken.etl")), other;
	assert_int_equal(session_start(fd, &(struct session_args){.name = "tAKEN", .mode = 0x100}, &other), 183);
	assert_int_equal(session_start(fd,
				       &(struct session_args){.name = "Free", .file = in_dir("taken.etl"), .mode = 1},
				       &other),
			 161);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	other = start_file(fd, "tAKEN", in_dir("taken.etl"));
	assert_int_not_equal(other, id); /* a stale handle finds nobody */
	assert_int_equal(session_control(fd, other, 1, NULL), 0);
	close(fd);
}

static void an_event_stands_in_the_file_as_windows_writes_it(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	assert_int_equal(code, -1);
	assert_int_equal(e->enabled, 0);
	uint64_t id = start_file(fd, "bytes", in_dir("bytes.etl"));
	assert_int_equal(
		session_enable(
			fd, &(struct enable_request){.id = id, .provider = &prov_a, .code = 1, .level = 4, .any = 0}),
		0);
	assert_int_equal(e->enabled, 1);
	uint8_t activity[16];
	memset(activity, 0x5A, sizeof activity);
	struct raw_event ev = {.id = 77,
			       .level = 4,
			       .opcode = 3,
			       .task = 0x1234,
			       .keyword = 0x8000000000000001,
			       .payload = "hello",
			       .payload_bytes = 6,
			       .activity = activity};
	assert_int_equal(provider_write(&p, e, &ev, 0), 0);
	ev.level = 5; /* above the session's level: the writer already refuses it */
	assert_int_equal(provider_write(&p, e, &ev, 0), 0);
	struct proto_session s;
	assert_int_equal(session_control(fd, id, 1, &s), 0);
	assert_int_equal(s.events, 1);
	assert_int_equal(s.events_lost, 0);
	assert_int_equal(e->enabled, 0);

	struct etl_bytes f;
	etl_load(in_dir("bytes.etl"), &f);
	assert_int_equal(f.count, 1);
	const uint8_t *r = f.record[0];
	assert_int_equal(le16_get(r), 0x50 + 6);
	assert_int_equal(r[2], 0x13);
	assert_int_equal(r[3], 0xC0);
	assert_int_equal(le16_get(r + 4), 0);
	assert_int_equal(le16_get(r + 6), 0);
	assert_int_equal(le32_get(r + 8), (uint32_t)getpid()); /* one thread: tid = pid */
	assert_int_equal(le32_get(r + 0xC), (uint32_t)getpid());
	assert_memory_equal(r + 0x18, prov_a.b, 16);
	assert_int_equal(le16_get(r + 0x28), 77);
	assert_int_equal(r[0x2A], 1);
	assert_int_equal(r[0x2C], 4);
	assert_int_equal(r[0x2D], 3);
	assert_int_equal(le16_get(r + 0x2E), 0x1234);
	assert_true(le64_get(r + 0x30) == 0x8000000000000001);
	assert_int_equal(le64_get(r + 0x38), 0);
	assert_memory_equal(r + 0x40, activity, 16);
	assert_memory_equal(r + 0x50, "hello\0\0", 8); /* zero padding */
	/* The session's clock: between the header record's start and the buffer's flush. */
	assert_true(le64_get(r + 0x10) >= le64_get(f.mem + 0x58));
	etl_free(&f);
	provider_detach(&p);
	close(fd);
}

static uint32_t item(uint8_t *out, uint16_t type, const void *data, uint16_t n, bool more)
{
	uint32_t total = (8u + n + 7u) & ~7u;
	memset(out, 0, total);
	le16_put(out, (uint16_t)total);
	le16_put(out + 2, type);
	le16_put(out + 4, more);
	le16_put(out + 6, n);
	memcpy(out + 8, data, n);
	return total;
}

static void items_come_in_order_and_only_to_who_asked(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	uint8_t good[7] = {7, 0, 'P', 'r', 'o', 'v', 0};
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, good, sizeof good, &code);
	uint64_t plain = start_file(fd, "plain", in_dir("plain.etl"));
	uint64_t rich = start_file(fd, "rich", in_dir("rich.etl"));
	struct enable_request en = {.id = plain, .provider = &prov_a, .code = 1, .level = 5};
	assert_int_equal(session_enable(fd, &en), 0);
	en.id = rich;
	en.properties = 0x1 | 0x2 | 0x4 | 0x80 | 0x100; /* SID, TS_ID, stack, start key, event key */
	assert_int_equal(session_enable(fd, &en), 0);
	uint8_t items[256], related[16] = {9}, stack[24] = {0}, schema[] = {6, 0, 0, 'E', 'v', 0};
	uint32_t n = 0;
	n += item(items + n, 1, related, 16, true);
	n += item(items + n, 2, "forged!!", 8, true); /* who it is, is not for the process to say */
	n += item(items + n, 6, stack, 24, true);
	n += item(items + n, 11, schema, sizeof schema, false);
	assert_int_equal(
		provider_write(
			&p, e,
			&(struct raw_event){
				.items = items, .items_bytes = n, .level = 4, .payload = "x", .payload_bytes = 1},
			0),
		0);
	assert_int_equal(session_control(fd, plain, 1, NULL), 0);
	assert_int_equal(session_control(fd, rich, 1, NULL), 0);
	static const uint16_t want_plain[] = {1, 12, 11, 0}, want_rich[] = {1, 2, 3, 6, 12, 11, 10, 13, 0};
	for (int i = 0; i < 2; i++) {
		struct etl_bytes f;
		const uint16_t *want = i ? want_rich : want_plain;
		etl_load(in_dir(i ? "rich.etl" : "plain.etl"), &f);
		assert_int_equal(f.count, 1);
		const uint8_t *r = f.record[0], *at = r + 0x50;
		assert_int_equal(le16_get(r + 4), 1);
		for (int k = 0; want[k]; k++) {
			assert_int_equal(le16_get(at + 2), want[k]);
			assert_int_equal(le16_get(at + 4), want[k + 1] != 0); /* Linkage */
			if (want[k] == 2) {
				assert_int_equal(le32_get(at + 8 + 12), getuid());
			}
			if (want[k] == 12) {
				assert_memory_equal(at + 8, good, sizeof good);
			}
			at += le16_get(at);
		}
		assert_int_equal(at - r + 1, le16_get(r)); /* then one byte of payload */
		assert_int_equal(*at, 'x');
		etl_free(&f);
	}
	provider_detach(&p);
	close(fd);
}

static void filters_are_evaluated_again_whatever_the_record_claims(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	uint64_t id = start_file(fd, "filters", in_dir("filters.etl"));
	uint8_t filter[4 + 4 + 4] = {0, 2, 0, 0x80, 1, 0, 2, 0, 5, 0, 6, 0}; /* EVENT_ID: only 5 and 6 */
	assert_int_equal(session_enable(fd, &(struct enable_request){.id = id,
								     .provider = &prov_a,
								     .code = 1,
								     .level = 3,
								     .any = 0xF0,
								     .all = 0x10,
								     .filter = filter,
								     .filter_bytes = 12}),
			 0);
	const struct {
		uint16_t id;
		uint8_t level;
		uint64_t keyword;
		bool passes;
	} cases[] = {
		{5, 3, 0x10, true},  {6, 0, 0x30, true},  {5, 2, 0, true},     {7, 3, 0x10, false},
		{5, 4, 0x10, false}, {5, 3, 0x20, false}, {5, 3, 0x01, false}, {6, 1, 0x1F, true},
	};
	uint32_t passing = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct raw_event ev = {.id = cases[i].id, .level = cases[i].level, .keyword = cases[i].keyword};
		assert_int_equal(provider_write(&p, e, &ev, UINT64_MAX), 0);
		passing += cases[i].passes;
	}
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	struct etl_bytes f;
	etl_load(in_dir("filters.etl"), &f);
	assert_int_equal(f.count, passing);
	etl_free(&f);
	provider_detach(&p);
	close(fd);
}

/* The callback's view: code, level, any, all of the next NOTIFY; answers it. */
static void expect_notify(struct provider *p, uint32_t code, uint32_t level, uint64_t any, uint64_t all)
{
	uint32_t v32, id;
	uint64_t v64;
	uint8_t mem[64];
	struct proto_writer w;
	assert_true(provider_poll(p, &reply, 5000));
	assert_int_equal(reply.m.type, PROTO_NOTIFY);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_CODE, &v32));
	assert_int_equal(v32, code);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_LEVEL, &v32));
	assert_int_equal(v32, level);
	assert_true(proto_get_u64(&reply.m, PROTO_TAG_ANY, &v64));
	assert_true(v64 == any);
	assert_true(proto_get_u64(&reply.m, PROTO_TAG_ALL, &v64));
	assert_true(v64 == all);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_NOTIFY_ID, &id));
	proto_begin(&w, mem, sizeof mem, PROTO_NOTIFIED, 0);
	proto_put_u32(&w, PROTO_TAG_NOTIFY_ID, id);
	assert_int_equal(proto_send(p->fd, mem, (size_t)proto_end(&w), NULL, 0), 0);
}

static void callbacks_hear_the_least_restrictive_merge(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	provider_attach(&daemon_, &p);
	provider_register(&p, 0, &prov_a, PROTO_REG_CALLBACK, NULL, 0, &code);
	uint64_t one = start_file(fd, "m1", in_dir("m1.etl")), two = start_file(fd, "m2", in_dir("m2.etl"));
	struct enable_request e1 = {.id = one, .provider = &prov_a, .code = 1, .level = 5, .any = 1, .all = 0x11};
	struct enable_request e2 = {.id = two, .provider = &prov_a, .code = 1, .level = 4, .any = 2, .all = 0x10};
	assert_int_equal(session_enable(fd, &e1), 0);
	expect_notify(&p, 1, 5, 1, 0x11);
	assert_int_equal(session_enable(fd, &e2), 0);
	expect_notify(&p, 1, 5, 3, 0x10);
	e2.level = 0;
	e2.any = 0;
	assert_int_equal(session_enable(fd, &e2), 0); /* replaces: level 0 is everything, so is any 0 */
	expect_notify(&p, 1, 255, UINT64_MAX, 0x10);
	e1.code = 2;
	assert_int_equal(session_enable(fd, &e1), 0);
	/* One session's wish, not the merge: measured on Windows with two recording profiles. */
	expect_notify(&p, 2, 5, 1, 0x11);
	assert_int_equal(session_control(fd, two, 1, NULL), 0);
	expect_notify(&p, 1, 5, 1, 0x11); /* one is still there */
	e1.code = 0;
	assert_int_equal(session_enable(fd, &e1), 0);
	expect_notify(&p, 0, 0, 0, 0);
	assert_int_equal(session_enable(fd, &e1), 0); /* not enabled: success, and silence */
	assert_false(provider_poll(&p, &reply, 100));
	assert_int_equal(session_control(fd, one, 1, NULL), 0);
	provider_detach(&p);
	close(fd);
}

static void an_enable_before_the_registration_is_remembered(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	uint64_t id = start_file(fd, "pre", in_dir("pre.etl"));
	assert_int_equal(session_enable(fd, &(struct enable_request){.id = id, .provider = &prov_b, .code = 1}), 0);
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_b, PROTO_REG_CALLBACK, NULL, 0, &code);
	assert_int_equal(code, 1); /* told in the reply, not later */
	assert_int_equal(provider_write(&p, e, &(struct raw_event){.id = 1}, 0), 0);
	provider_detach(&p); /* published is delivered, also after the process is gone */
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	struct etl_bytes f;
	etl_load(in_dir("pre.etl"), &f);
	assert_int_equal(f.count, 1);
	etl_free(&f);
	close(fd);
}

static void a_timeout_waits_for_callbacks_and_says_when_one_is_late(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	provider_attach(&daemon_, &p);
	provider_register(&p, 0, &prov_a, PROTO_REG_CALLBACK, NULL, 0, &code);
	uint64_t id = start_file(fd, "wait", in_dir("wait.etl"));
	struct enable_request en = {.id = id, .provider = &prov_a, .code = 1, .timeout_ms = 100};
	assert_int_equal(session_enable(fd, &en), 1460); /* nobody answers */
	struct proto_session s;
	assert_int_equal(session_control(fd, id, 0, &s), 0);
	expect_notify(&p, 1, 255, UINT64_MAX, 0); /* but it is in force */
	/* Asked by hand, so that the answer can be given in between. */
	uint8_t mem[256];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_ENABLE, 99);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
	proto_put(&w, PROTO_TAG_GUID, prov_a.b, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, 1);
	proto_put_u32(&w, PROTO_TAG_TIMEOUT_MS, UINT32_MAX);
	assert_int_equal(proto_send(fd, mem, (size_t)proto_end(&w), NULL, 0), 0);
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&pfd, 1, 150), 0); /* it waits */
	expect_notify(&p, 1, 255, UINT64_MAX, 0);
	assert_true(receive(fd, &reply, 5000));
	assert_int_equal(reply.m.id, 99);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_STATUS, &reply.status));
	assert_int_equal(reply.status, 0);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	provider_detach(&p);
	close(fd);
}

static void a_classic_provider_belongs_to_the_last_session(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	uint64_t handle;
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e =
		provider_register(&p, 0, &prov_a, PROTO_REG_CALLBACK | PROTO_REG_CLASSIC, NULL, 0, &code);
	uint64_t one = start_file(fd, "c1", in_dir("c1.etl")), two = start_file(fd, "c2", in_dir("c2.etl"));
	struct enable_request en = {.id = one, .provider = &prov_a, .code = 1, .level = 3, .any = 0x70000000F};
	assert_int_equal(session_enable(fd, &en), 0);
	assert_true(provider_poll(&p, &reply, 5000));
	assert_true(proto_get_u64(&reply.m, PROTO_TAG_CLASSIC_HANDLE, &handle));
	assert_true(handle == (one | 3ull << 16 | 0xFull << 32));
	en.id = two;
	assert_int_equal(session_enable(fd, &en), 0);
	assert_true(provider_poll(&p, &reply, 5000));
	assert_true(proto_get_u64(&reply.m, PROTO_TAG_CLASSIC_HANDLE, &handle));
	assert_int_equal(handle & 0xFFFF, two);
	uint8_t classic[16 + 4], instance[16 + 24 + 4], message[4 + 16 + 8 + 8 + 3];
	memset(classic, 0x11, sizeof classic);
	memset(instance, 0x22, sizeof instance);
	memset(message, 0x33, sizeof message);
	assert_int_equal(provider_write(&p, e,
					&(struct raw_event){.kind = POOL_REC_CLASSIC,
							    .level = 9,
							    .opcode = 10,
							    .payload = classic,
							    .payload_bytes = sizeof classic},
					0),
			 0);
	assert_int_equal(provider_write(&p, e,
					&(struct raw_event){.kind = POOL_REC_INSTANCE,
							    .payload = instance,
							    .payload_bytes = sizeof instance},
					0),
			 0);
	assert_int_equal(provider_write(&p, e,
					&(struct raw_event){.kind = POOL_REC_MESSAGE,
							    .id = 12,
							    .task = 0xAB,
							    .payload = message,
							    .payload_bytes = sizeof message},
					0),
			 0);
	assert_int_equal(session_control(fd, one, 1, NULL), 0);
	assert_int_equal(session_control(fd, two, 1, NULL), 0);
	struct etl_bytes f;
	etl_load(in_dir("c1.etl"), &f);
	assert_int_equal(f.count, 0);
	etl_free(&f);
	etl_load(in_dir("c2.etl"), &f);
	assert_int_equal(f.count, 3);
	const uint8_t *r = f.record[0];
	assert_int_equal(le16_get(r), 0x30 + 4);
	assert_int_equal(r[2], 0x14);
	assert_int_equal(r[4], 10);
	assert_int_equal(r[5], 9);
	assert_int_equal(le16_get(r + 6), 1);
	assert_int_equal(le32_get(r + 0xC), (uint32_t)getpid());
	assert_memory_equal(r + 0x18, classic, 16);
	assert_int_equal(le64_get(r + 0x28), 0);
	assert_memory_equal(r + 0x30, classic + 16, 4);
	r = f.record[1];
	assert_int_equal(le16_get(r), 0x48 + 4);
	assert_int_equal(r[2], 0x15);
	assert_memory_equal(r + 0x30, instance + 16, 24);
	r = f.record[2];
	assert_int_equal(le16_get(r), 8 + sizeof message);
	assert_int_equal(r[2], 0);
	assert_int_equal(r[3], 0x90);
	assert_int_equal(le16_get(r + 4), 12);
	assert_int_equal(le16_get(r + 6), 0xAB);
	assert_int_equal(le32_get(r + 8), 0); /* no sequence mode: 0 */
	assert_memory_equal(r + 12, message, 16);
	assert_true(le64_get(r + 28) >= le64_get(f.record[0] + 0x10));
	assert_int_equal(le32_get(r + 40), (uint32_t)getpid());
	etl_free(&f);
	provider_detach(&p);
	close(fd);
}

static void a_consumer_gets_the_events_a_round_and_the_end(void **state)
{
	int fd = control_connect(&daemon_), feed = control_connect(&daemon_), code;
	struct provider p;
	uint64_t id, sequence, watermark = 0, newest = 0;
	uint32_t slots, slot_bytes, position, length, got = 0;
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	assert_int_equal(session_start(fd, &(struct session_args){.name = "feed", .mode = 0x100}, &id), 0);
	assert_int_equal(session_enable(fd, &(struct enable_request){.id = id, .provider = &prov_a, .code = 1}), 0);
	assert_int_equal(provider_write(&p, e, &(struct raw_event){.id = 1}, 0), 0); /* before anybody listens */
	uint8_t mem[128];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_OPEN_RT, 5);
	proto_put(&w, PROTO_TAG_SESSION_NAME, u"feed", 8);
	call(feed, &w, &reply);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.fd_count, 1);
	int ring_fd = reply.fds[0];
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_RING_SLOTS, &slots));
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_RING_SLOT_BYTES, &slot_bytes));
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0) == MAP_FAILED);
	const uint8_t *ring = mmap(NULL, (size_t)slots * slot_bytes, PROT_READ, MAP_SHARED, ring_fd, 0);
	assert_true(ring != MAP_FAILED);
	assert_int_equal(provider_write(&p, e, &(struct raw_event){.id = 2}, 0), 0);
	while (got < 2 || watermark < newest) {
		assert_true(receive(feed, &reply, 5000));
		if (reply.m.type == PROTO_RT_ROUND) {
			assert_true(proto_get_u64(&reply.m, PROTO_TAG_WATERMARK, &watermark));
			continue;
		}
		assert_int_equal(reply.m.type, PROTO_RT_BUFFER);
		assert_true(proto_get_u32(&reply.m, PROTO_TAG_POSITION, &position));
		assert_true(proto_get_u32(&reply.m, PROTO_TAG_LENGTH, &length));
		assert_true(proto_get_u64(&reply.m, PROTO_TAG_SEQUENCE, &sequence));
		assert_true(position < slots && length <= slot_bytes);
		const uint8_t *b = ring + (size_t)position * slot_bytes;
		for (uint32_t at = 0x48; at < length; at += (le16_get(b + at) + 7u) & ~7u) {
			got++;
			assert_int_equal(le16_get(b + at + 0x28), got);
			newest = le64_get(b + at + 0x10);
		}
		proto_begin(&w, mem, sizeof mem, PROTO_RT_ACK, 0);
		proto_put_u64(&w, PROTO_TAG_SEQUENCE, sequence);
		assert_int_equal(proto_send(feed, mem, (size_t)proto_end(&w), NULL, 0), 0);
	}
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	do {
		assert_true(receive(feed, &reply, 5000));
	} while (reply.m.type == PROTO_RT_ROUND);
	assert_int_equal(reply.m.type, PROTO_RT_END);
	munmap((void *)(uintptr_t)ring, (size_t)slots * slot_bytes);
	close(ring_fd);
	close(feed);
	provider_detach(&p);
	close(fd);
}

static void a_consumer_that_lies_about_what_it_read_is_dropped(void **state)
{
	int fd = control_connect(&daemon_), feed = control_connect(&daemon_);
	uint64_t id;
	uint8_t mem[128];
	struct proto_writer w;
	assert_int_equal(session_start(fd, &(struct session_args){.name = "liar", .mode = 0x100}, &id), 0);
	proto_begin(&w, mem, sizeof mem, PROTO_OPEN_RT, 5);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
	call(feed, &w, &reply);
	assert_int_equal(reply.status, 0);
	close(reply.fds[0]);
	proto_begin(&w, mem, sizeof mem, PROTO_RT_ACK, 0);
	proto_put_u64(&w, PROTO_TAG_SEQUENCE, 1000000);
	assert_int_equal(proto_send(feed, mem, (size_t)proto_end(&w), NULL, 0), 0);
	while (receive(feed, &reply, 2000)) {
	}
	struct pollfd pfd = {.fd = feed, .events = POLLRDHUP};
	assert_int_equal(poll(&pfd, 1, 2000), 1);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	close(feed);
	close(fd);
}

static void the_control_block_cannot_be_written_by_its_process(void **state)
{
	struct provider p;
	provider_attach(&daemon_, &p);
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, p.ctl_fd, 0) == MAP_FAILED);
	assert_int_equal(mprotect(p.ctl, 4096, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(pwrite(p.ctl_fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(p.ctl_fd, 0), -1);
	provider_detach(&p);
}

static void a_message_with_a_strange_descriptor_costs_the_connection(void **state)
{
	int fd = control_connect(&daemon_);
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_LIST, 1);
	int fds[1] = {fd};
	assert_int_equal(proto_send(fd, mem, (size_t)proto_end(&w), fds, 1), 0);
	struct pollfd pfd = {.fd = fd, .events = POLLRDHUP};
	assert_int_equal(poll(&pfd, 1, 5000), 1);
	close(fd);
	fd = control_connect(&daemon_); /* and nothing else */
	proto_begin(&w, mem, sizeof mem, PROTO_PING, 1);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 0);
	close(fd);
}

/* More sessions than a record's mask has bits, over ten providers. */
static void seventy_sessions_in_one_process_each_get_their_own_events(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	uint64_t id[70];
	char name[32], file[32];
	const struct ctl_entry *e[10];
	struct guid g = prov_a;
	provider_attach(&daemon_, &p);
	for (uint32_t k = 0; k < 10; k++) {
		g.b[15] = (uint8_t)k;
		e[k] = provider_register(&p, k, &g, 0, NULL, 0, &code);
	}
	for (int i = 0; i < 70; i++) {
		snprintf(name, sizeof name, "many%d", i);
		snprintf(file, sizeof file, "many%d.etl", i);
		assert_int_equal(
			session_start(fd,
				      &(struct session_args){
					      .name = name, .file = in_dir(file), .mode = 0x10000001, .buffer_kb = 4},
				      &id[i]),
			0);
		g.b[15] = (uint8_t)(i % 10);
		assert_int_equal(session_enable(fd, &(struct enable_request){.id = id[i],
									     .provider = &g,
									     .code = 1,
									     .any = i / 10 % 2 ? 1 : 2}),
				 0);
	}
	for (uint16_t k = 0; k < 100; k++) {
		struct raw_event ev = {.id = k, .index = k % 10, .keyword = k < 30 ? 1 : 2};
		assert_int_equal(provider_write(&p, e[k % 10], &ev, 0), 0);
	}
	for (int i = 0; i < 70; i++) {
		struct proto_session s;
		assert_int_equal(session_control(fd, id[i], 1, &s), 0);
		assert_int_equal(s.events, i / 10 % 2 ? 3 : 7);
		assert_int_equal(s.events_lost, 0);
	}
	provider_detach(&p);
	close(fd);
}

static void the_65th_session_of_a_provider_is_refused(void **state)
{
	int fd = control_connect(&daemon_);
	uint64_t id[65];
	for (int i = 0; i < 65; i++) {
		char name[32];
		snprintf(name, sizeof name, "many%d", i);
		assert_int_equal(session_start(fd, &(struct session_args){.name = name, .mode = 0x100}, &id[i]), 0);
		struct enable_request en = {.id = id[i], .provider = &prov_a, .code = 1};
		assert_int_equal(session_enable(fd, &en), i < 64 ? 0 : 1450);
	}
	/* One that has it may change its mind, and a place that is given up can be taken. */
	struct enable_request en = {.id = id[3], .provider = &prov_a, .code = 1, .level = 2};
	assert_int_equal(session_enable(fd, &en), 0);
	en.code = 0;
	assert_int_equal(session_enable(fd, &en), 0);
	en = (struct enable_request){.id = id[64], .provider = &prov_a, .code = 1};
	assert_int_equal(session_enable(fd, &en), 0);
	for (int i = 0; i < 65; i++) {
		assert_int_equal(session_control(fd, id[i], 1, NULL), 0);
	}
	close(fd);
}

/* TRAITS is not waited for, and passes come every millisecond: whatever the drain sees first, the
 * event carries the name that was said before it. */
static void an_event_carries_the_traits_said_before_it(void **state)
{
	enum { ROUNDS = 200 };
	int fd = control_connect(&daemon_), code;
	const uint8_t traits[7] = {7, 0, 'L', 'a', 't', 'e', 0};
	uint64_t id;
	struct session_args a = {.name = "traits", .file = in_dir("traits.etl"), .mode = 1, .buffer_kb = 64};
	assert_int_equal(session_start(fd, &a, &id), 0);
	struct enable_request en = {.id = id, .provider = &prov_a, .code = 1};
	assert_int_equal(session_enable(fd, &en), 0);
	for (uint16_t k = 0; k < ROUNDS; k++) {
		struct provider p;
		uint8_t mem[128];
		struct proto_writer w;
		provider_attach(&daemon_, &p);
		const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
		assert_int_equal(code, 1);
		/* A bell asks for a pass that may come before, between or after the two. */
		proto_begin(&w, mem, sizeof mem, PROTO_BELL, 0);
		assert_int_equal(proto_send(p.fd, mem, (size_t)proto_end(&w), NULL, 0), 0);
		proto_begin(&w, mem, sizeof mem, PROTO_TRAITS, 0);
		proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, 0);
		proto_put(&w, PROTO_TAG_TRAITS, traits, sizeof traits);
		assert_int_equal(proto_send(p.fd, mem, (size_t)proto_end(&w), NULL, 0), 0);
		assert_int_equal(provider_write(&p, e, &(struct raw_event){.id = k}, 0), 0);
		provider_detach(&p); /* and it is gone at once */
	}
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	struct etl_bytes f;
	etl_load(in_dir("traits.etl"), &f);
	assert_int_equal(f.count, ROUNDS);
	for (uint32_t i = 0; i < f.count; i++) {
		const uint8_t *r = f.record[i];
		assert_int_equal(le16_get(r + 4), 1);     /* extended items follow */
		assert_int_equal(le16_get(r + 0x52), 12); /* PROV_TRAITS */
		assert_memory_equal(r + 0x58, traits, sizeof traits);
	}
	etl_free(&f);
	close(fd);
}

static void put_filter(uint8_t *out, uint32_t type, const void *p, size_t n)
{
	le32_put(out, type);
	memcpy(out + 4, p, n);
}

static void a_filter_that_cannot_be_evaluated_is_refused_not_ignored(void **state)
{
	int fd = control_connect(&daemon_), code;
	uint64_t id = start_file(fd, "refused", in_dir("refused.etl"));
	uint32_t self = (uint32_t)getpid(), nobody = 0x3FFFFF;
	uint16_t package[] = {'a', 0};
	const struct {
		uint32_t type;
		const void *data;
		uint32_t bytes, code;
		int enabled; /* of a process that registers later */
	} cases[] = {
		{0x80000100, "abcd", 4, 87, 0},     /* payload */
		{0x80008000, u"no-such", 16, 0, 0}, /* container */
		{0x80008000, u"x;/", 8, 0, 1},      /* the control group of all processes */
		{0x80008000, "abc", 3, 87, 0},
		{0x80000010, package, 4, 0, 0}, /* package: nobody here has one */
		{0x80000020, package, 4, 0, 0},
		{0x80000004, &self, 4, 0, 1},   /* this process */
		{0x80000004, &nobody, 4, 0, 0}, /* one that does not live */
		{0x80000004, "abc", 3, 87, 0},  /* no multiple of a process id */
		{0x80000008, u"other;etwd_test", 30, 0, 1},
		{0x80000008, u"ETWD_TEST.exe", 26, 0, 1},
		{0x80000008, u"etwd", 8, 0, 0},
		{0x80000008, u"etwd", 7, 87, 0},
		{0x80000200, "\1\0\2\0\1", 5, 87, 0}, /* two ids said, not given */
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		uint8_t filter[64];
		struct provider p;
		put_filter(filter, cases[i].type, cases[i].data, cases[i].bytes);
		struct enable_request en = {
			.id = id, .provider = &prov_a, .code = 1, .filter = filter, .filter_bytes = 4 + cases[i].bytes};
		uint32_t got = session_enable(fd, &en);
		if (got != cases[i].code) {
			fail_msg("case %zu: code %u, not %u", i, got, cases[i].code);
		}
		provider_attach(&daemon_, &p);
		provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
		if (code != (cases[i].enabled ? 1 : -1)) {
			fail_msg("case %zu: enable state %d", i, code);
		}
		provider_detach(&p);
		en.code = 0;
		en.filter = NULL;
		assert_int_equal(session_enable(fd, &en), 0);
	}
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	close(fd);
}

static void lists_show_who_is_registered_and_enabled(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider p;
	uint8_t mem[128], traits[7] = {7, 0, 'N', 'a', 'm', 'e', 0};
	uint32_t count, pid;
	char text[64];
	struct proto_writer w;
	provider_attach(&daemon_, &p);
	provider_register(&p, 0, &prov_a, PROTO_REG_CALLBACK, traits, sizeof traits, &code);
	uint64_t id = start_file(fd, "lists", in_dir("lists.etl"));
	assert_int_equal(session_enable(fd,
					&(struct enable_request){
						.id = id, .provider = &prov_a, .code = 1, .level = 4, .any = 0x77}),
			 0);
	proto_begin(&w, mem, sizeof mem, PROTO_GUID_INFO, 3);
	proto_put(&w, PROTO_TAG_GUID, prov_a.b, 16);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 0);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_COUNT, &count));
	assert_int_equal(count, 1);
	assert_true(receive(fd, &reply, 5000));
	assert_int_equal(reply.m.type, PROTO_GUID_INFO_ITEM);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_PID, &pid));
	assert_int_equal(pid, getpid());
	assert_true(proto_get_str(&reply.m, PROTO_TAG_NAME, text, sizeof text));
	assert_string_equal(text, "Name");
	assert_true(proto_get_str(&reply.m, PROTO_TAG_EXE_NAME, text, sizeof text));
	assert_string_equal(text, "etwd_test");
	const uint8_t *info;
	size_t n;
	assert_true(proto_get(&reply.m, PROTO_TAG_ENABLE_INFO, &info, &n));
	assert_int_equal(n, 32);
	assert_int_equal(le32_get(info), 1);
	assert_int_equal(info[4], 4);
	assert_int_equal(le16_get(info + 6), id);
	assert_true(le64_get(info + 16) == 0x77);
	proto_begin(&w, mem, sizeof mem, PROTO_GUID_INFO, 4);
	proto_put(&w, PROTO_TAG_GUID, prov_b.b, 16);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 4200);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	provider_detach(&p);
	close(fd);
}

/* Seeded noise on both sockets; the daemon must still answer afterwards. */
static void noise_does_not_stop_the_daemon(void **state)
{
	uint64_t seed = 42;
	uint8_t mem[4096];
	for (int round = 0; round < 200; round++) {
		int fd = proto_connect(daemon_.dir, round % 2 ? "provider" : "control");
		assert_true(fd >= 0);
		for (int k = 0; k < 8; k++) {
			size_t n = 0;
			do {
				seed = seed * 6364136223846793005ull + 1442695040888963407ull;
				le64_put(mem + n, seed);
				n += 8;
			} while (n < 64 + (seed >> 40) % 1024);
			if (k % 2) { /* a plausible header */
				le32_put(mem, (uint32_t)n);
				le16_put(mem + 4, (uint16_t)(1 + seed % 49));
				le16_put(mem + 12, (uint16_t)(1 + seed % 61));
				le32_put(mem + 16, (uint32_t)n - 20);
			}
			proto_send(fd, mem, n, NULL, 0);
		}
		close(fd);
	}
	int fd = control_connect(&daemon_);
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_STATS, 1);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_starts_is_found_and_stops),
		cmocka_unit_test(bad_starts_are_refused_with_the_documented_code),
		cmocka_unit_test(names_and_files_are_used_once),
		cmocka_unit_test(an_event_stands_in_the_file_as_windows_writes_it),
		cmocka_unit_test(items_come_in_order_and_only_to_who_asked),
		cmocka_unit_test(filters_are_evaluated_again_whatever_the_record_claims),
		cmocka_unit_test(callbacks_hear_the_least_restrictive_merge),
		cmocka_unit_test(an_enable_before_the_registration_is_remembered),
		cmocka_unit_test(a_timeout_waits_for_callbacks_and_says_when_one_is_late),
		cmocka_unit_test(a_classic_provider_belongs_to_the_last_session),
		cmocka_unit_test(a_consumer_gets_the_events_a_round_and_the_end),
		cmocka_unit_test(a_consumer_that_lies_about_what_it_read_is_dropped),
		cmocka_unit_test(the_control_block_cannot_be_written_by_its_process),
		cmocka_unit_test(a_message_with_a_strange_descriptor_costs_the_connection),
		cmocka_unit_test(seventy_sessions_in_one_process_each_get_their_own_events),
		cmocka_unit_test(the_65th_session_of_a_provider_is_refused),
		cmocka_unit_test(an_event_carries_the_traits_said_before_it),
		cmocka_unit_test(a_filter_that_cannot_be_evaluated_is_refused_not_ignored),
		cmocka_unit_test(lists_show_who_is_registered_and_enabled),
		cmocka_unit_test(noise_does_not_stop_the_daemon),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
