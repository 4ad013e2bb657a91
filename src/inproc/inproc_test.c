/* SPDX-License-Identifier: MIT
 *
 * Private sessions from the writer's pool to the bytes of the file.
 */
#include "inproc/inproc.h"
#include "pool/pool_evaluate.h"
#include "pool/pool_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRIVATE         0x800u
#define PRIVATE_IN_PROC 0x20800u
#define THREADS         4
#define PER_THREAD      20000u

static const struct guid provider_a = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid provider_b = {{99, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static char dir[64];

static struct inproc_session_args session_args(const uint16_t *name, const char *path, uint32_t mode)
{
	return (struct inproc_session_args){
		.sink =
			{
				.name = name,
				.log_file = u"p.etl",
				.path = path,
				.props.mode = mode,
				.props.buffer_kb = 16,
				.props.maximum_buffers = 400,
				.props.clock = 1,
				.cpus = (uint16_t)sysconf(_SC_NPROCESSORS_CONF),
			},
	};
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static uint8_t *read_file(const char *path, size_t *ret_bytes)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	uint8_t *p = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, p, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_bytes = (size_t)st.st_size;
	return p;
}

typedef void (*record_fn)(void *ctx, const uint8_t *record, uint32_t bytes);

/* All records of all data buffers. */
static uint32_t walk(const char *path, record_fn fn, void *ctx)
{
	size_t n;
	uint8_t *f = read_file(path, &n);
	uint32_t size = le32_get(f), count = 0;
	assert_true(size >= 4096 && n % size == 0);
	for (size_t off = size; off < n; off += size) {
		uint32_t used = le32_get(f + off + 0x30);
		assert_true(used <= size);
		uint32_t at = 0x48;
		while (at < used) {
			const uint8_t *r = f + off + at;
			uint32_t bytes = le16_get(r);
			assert_true(bytes >= 8 && at + bytes <= used);
			for (uint32_t i = bytes; i < BASE_ALIGN8(bytes); i++) {
				assert_int_equal(r[i], 0);
			}
			fn(ctx, r, bytes);
			at += BASE_ALIGN8(bytes);
			count++;
		}
		assert_int_equal(at, used);
	}
	free(f);
	return count;
}

static void last_record(void *ctx, const uint8_t *r, uint32_t bytes)
{
	memcpy(ctx, r, BASE_MIN(bytes, 1024u));
}

/* ---- writing ----------------------------------------------------------------------------------
 */

struct descriptor {
	uint16_t id;
	uint8_t version, channel, level, opcode;
	uint16_t task;
	uint64_t keyword;
};

/* What src/provider does: look, then write once. */
static int write_kind(uint32_t index, uint32_t entry, uint8_t kind, uint8_t flags, const struct descriptor *d,
		      const void *items, uint32_t items_bytes, const void *data, uint32_t bytes)
{
	struct inproc_destination *dest = inproc_destination();
	if (!dest) {
		return 1;
	}
	struct ctl_entry *e = (struct ctl_entry *)(void *)((uint8_t *)dest->ctl + entry);
	if (order_load_relaxed(&e->enabled) == 0) {
		return 1;
	}
	struct pool_verdict v = pool_ctl_evaluate(e, dest->ctl, POOL_CTL_BYTES, d->level, d->keyword);
	if (v.mask == 0) {
		return 1;
	}
	static const uint8_t activity[16] = {0xAC};
	struct pool_piece piece = {.ptr = data, .size = bytes};
	struct pool_write_args a = {
		.kind = kind,
		.flags = (uint8_t)(flags | POOL_REC_ACTIVITY | (items ? POOL_REC_ITEMS : 0)),
		.prov = (uint16_t)index,
		.cfg_gen = v.cfg_gen,
		.tid = (uint32_t)syscall(SYS_gettid),
		.mask = v.mask,
		.descriptor = d,
		.activity = activity,
		.items = items,
		.items_bytes = items_bytes,
		.piece = &piece,
		.piece_count = 1,
		.payload_bytes = bytes,
	};
	return pool_write(dest->writer, &a);
}

static const struct descriptor plain = {
	.id = 7, .version = 1, .channel = 11, .level = 4, .opcode = 5, .task = 6, .keyword = 0x10};

static int write_plain(uint32_t index, uint32_t entry, const void *data, uint32_t bytes)
{
	return write_kind(index, entry, POOL_REC_EVENT, 0, &plain, NULL, 0, data, bytes);
}

static uint64_t start(const uint16_t *name, const char *path, uint32_t mode)
{
	struct inproc_session_args a = session_args(name, path, mode);
	uint64_t id = 0;
	struct diag d = {0};
	uint32_t code = inproc_start(&a, &id, &d);
	if (code != 0) {
		fail_msg("start: %u %s", code, d.text);
	}
	assert_true(id != 0);
	return id;
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void an_event_has_the_bytes_of_a_private_session(void **state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/bytes.etl", dir);
	uint64_t id = start(u"bytes", path, PRIVATE_IN_PROC);
	uint32_t entry;
	assert_int_equal(inproc_register(3, &provider_a, &entry), 0);
	inproc_set_traits(3, "\6\0abc", 6);
	assert_int_equal(inproc_enable(id, &provider_a, 1, 5, 0, 0, 0), 0);
	/* Items as the writer makes them: related activity, TraceLogging schema. */
	uint8_t items[64];
	uint32_t n = etl_put_item(items, 1, "0123456789abcdef", 16, true);
	n += etl_put_item(items + n, 11, "schema", 6, false);
	assert_int_equal(write_kind(3, entry, POOL_REC_EVENT, POOL_REC_STRING_ONLY, &plain, items, n, "hello", 5), 0);
	struct sink_stats st;
	assert_int_equal(inproc_stop(id, NULL, NULL, &st), 0);
	assert_int_equal(st.events, 1);
	uint8_t r[1024];
	assert_int_equal(walk(path, last_record, r), 1);
	assert_int_equal(le16_get(r), 0x50 + 24 + 16 + 16 + 5);
	assert_int_equal(r[2], 0x13);
	assert_int_equal(r[3], 0xC0);
	assert_int_equal(le16_get(r + 4), 0x1 | 0x2 | 0x4); /* items, private, string */
	assert_int_equal(le32_get(r + 8), syscall(SYS_gettid));
	assert_int_equal(le32_get(r + 12), getpid());
	assert_memory_equal(r + 0x18, provider_a.b, 16);
	assert_memory_equal(r + 0x28, &plain, 16);
	assert_int_equal(le64_get(r + 0x38), 0);
	assert_int_equal(r[0x40], 0xAC);
	/* Order 1, 12, 11; Linkage on all but the last. */
	const uint8_t *item = r + 0x50;
	assert_int_equal(le16_get(item + 2), 1);
	assert_int_equal(le16_get(item + 4), 1);
	item += le16_get(item);
	assert_int_equal(le16_get(item + 2), 12);
	assert_int_equal(le16_get(item + 4), 1);
	assert_memory_equal(item + 8, "\6\0abc", 6);
	item += le16_get(item);
	assert_int_equal(le16_get(item + 2), 11);
	assert_int_equal(le16_get(item + 4), 0);
	assert_memory_equal(item + 8, "schema", 6);
	item += le16_get(item);
	assert_memory_equal(item, "hello", 5);
	inproc_unregister(3);
}

static void classic_instance_and_message_records_have_their_layouts(void **state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/classic.etl", dir);
	uint64_t id = start(u"classic", path, PRIVATE_IN_PROC);
	uint32_t entry;
	assert_int_equal(inproc_register(1, &provider_a, &entry), 0);
	assert_int_equal(inproc_enable(id, &provider_a, 1, 0, 0, 0, 0), 0);
	struct descriptor d = {.version = 3, .level = 2, .opcode = 9, .keyword = 1};
	uint8_t r[1024], payload[64];
	for (int i = 0; i < 64; i++) {
		payload[i] = (uint8_t)i;
	}
	assert_int_equal(write_kind(1, entry, POOL_REC_CLASSIC, 0, &d, NULL, 0, payload, 20), 0);
	assert_int_equal(inproc_flush(id, NULL, NULL), 0);
	assert_int_equal(write_kind(1, entry, POOL_REC_INSTANCE, 0, &d, NULL, 0, payload, 43), 0);
	assert_int_equal(inproc_flush(id, NULL, NULL), 0);
	struct descriptor m = {.id = 77, .task = 0x2B | 0x80, .level = 0, .keyword = 0};
	memset(payload, 0xEE, 64);
	assert_int_equal(write_kind(1, entry, POOL_REC_MESSAGE, 0, &m, NULL, 0, payload, 40), 0);
	assert_int_equal(inproc_stop(0, u"CLASSIC", NULL, NULL), 0); /* names ignore case */

	size_t n;
	uint8_t *f = read_file(path, &n);
	uint32_t size = le32_get(f);
	assert_int_equal(n, 4 * (size_t)size); /* each flush closed a buffer */
	const uint8_t *full = f + size + 0x48;
	assert_int_equal(le16_get(full), 0x30 + 4);
	assert_int_equal(full[2], 0x14);
	assert_int_equal(full[4], 9);
	assert_int_equal(full[5], 2);
	assert_int_equal(le16_get(full + 6), 3);
	assert_int_equal(full[0x18], 0);
	assert_int_equal(full[0x27], 15);
	assert_int_equal(full[0x30], 16);
	const uint8_t *inst = f + 2 * size + 0x48;
	assert_int_equal(le16_get(inst), 0x48 + 3);
	assert_int_equal(inst[2], 0x15);
	assert_int_equal(le32_get(inst + 0x30), 0x13121110);
	assert_int_equal(le32_get(inst + 0x34), 0x17161514);
	assert_int_equal(inst[0x38], 24);
	assert_int_equal(inst[0x47], 39);
	assert_int_equal(inst[0x48], 40);
	const uint8_t *msg = f + 3 * size + 0x48;
	assert_int_equal(le16_get(msg), 48);
	assert_int_equal(msg[2], 0);
	assert_int_equal(msg[3], 0x90);
	assert_int_equal(le16_get(msg + 4), 77);
	assert_int_equal(le16_get(msg + 6), 0xAB);
	assert_int_equal(le32_get(msg + 8), 1); /* first of the session */
	assert_int_equal(msg[0x0C], 0xEE);
	assert_true(le64_get(msg + 0x1C) != 0xEEEEEEEEEEEEEEEE); /* unaligned time stamp */
	assert_int_equal(le32_get(msg + 0x24), 0xEEEEEEEE);
	free(f);
	memset(r, 0, sizeof r);
	inproc_unregister(1);
}

struct job {
	uint32_t entry;
	uint64_t ok;
	uint32_t number;
};

static void *write_many(void *arg)
{
	struct job *j = arg;
	for (uint32_t i = 0; i < PER_THREAD; i++) {
		uint64_t payload[3] = {j->number, i, 0};
		j->ok += write_plain(2, j->entry, payload, sizeof payload) == 0;
	}
	return NULL;
}

static void count_per_thread(void *ctx, const uint8_t *r, uint32_t bytes)
{
	uint8_t *seen = ctx;
	uint64_t thread = le64_get(r + 0x50), i = le64_get(r + 0x58);
	assert_true(thread < THREADS && i < PER_THREAD);
	seen[thread * PER_THREAD + i]++;
}

static void what_threads_wrote_is_in_the_file_or_counted(void **state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/threads.etl", dir);
	uint64_t id = start(u"threads", path, PRIVATE_IN_PROC);
	struct job job[THREADS] = {0};
	pthread_t thread[THREADS];
	uint32_t entry;
	assert_int_equal(inproc_register(2, &provider_a, &entry), 0);
	assert_int_equal(inproc_enable(id, &provider_a, 1, 5, 0, 0, 0), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		job[i].entry = entry;
		job[i].number = i;
		assert_int_equal(pthread_create(&thread[i], NULL, write_many, &job[i]), 0);
	}
	uint64_t ok = 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		ok += job[i].ok;
	}
	struct sink_stats st;
	assert_int_equal(inproc_stop(id, NULL, NULL, &st), 0);
	uint8_t *seen = calloc(THREADS, PER_THREAD);
	uint32_t found = walk(path, count_per_thread, seen);
	for (uint32_t i = 0; i < THREADS * PER_THREAD; i++) {
		assert_true(seen[i] <= 1);
	}
	assert_int_equal(found, st.events);
	assert_int_equal(found + st.events_lost, THREADS * PER_THREAD);
	assert_true(found + st.lost_no_buffer == ok);
	assert_true(found > 1000);
	free(seen);
	inproc_unregister(2);
}

struct note {
	uint32_t calls, index, code;
	uint8_t level;
	uint64_t any, all;
};
static struct note note;

static void on_notify(uint32_t index, uint32_t code, uint8_t level, uint64_t any, uint64_t all,
		      const struct guid *source, const struct inproc_filter *filter)
{
	note = (struct note){note.calls + 1, index, code, level, any, all};
}

static void enables_are_merged_and_notified(void **state)
{
	inproc_set_notify(on_notify, NULL);
	uint64_t a = start(u"ring a", NULL, PRIVATE_IN_PROC | 0x400);
	uint64_t b = start(u"ring b", NULL, PRIVATE_IN_PROC | 0x400);
	uint32_t entry;
	assert_int_equal(inproc_register(5, &provider_b, &entry), 0);
	memset(&note, 0, sizeof note);
	assert_int_equal(inproc_enable(a, &provider_b, 1, 3, 0x1, 0x5, 0), 0);
	assert_int_equal(note.calls, 1);
	assert_int_equal(note.index, 5);
	assert_int_equal(note.code, 1);
	assert_int_equal(note.level, 3);
	assert_int_equal(note.any, 1);
	assert_int_equal(inproc_enable(b, &provider_b, 1, 4, 0x2, 0x6, 0), 0);
	assert_int_equal(note.level, 4);
	assert_int_equal(note.any, 3);
	assert_int_equal(note.all, 4);
	assert_int_equal(inproc_enable(b, &provider_b, 2, 0, 0, 0, 0), 0);
	assert_int_equal(note.code, 2);
	assert_int_equal(note.level, 4); /* a rundown changes nothing */
	assert_int_equal(inproc_enable(b, &provider_b, 1, 0, 0, 0, 0), 0);
	assert_int_equal(note.level, 255);
	assert_true(note.any == UINT64_MAX);
	/* Stopping a session disables what only it had enabled. */
	assert_int_equal(inproc_stop(b, NULL, NULL, NULL), 0);
	assert_int_equal(note.code, 1);
	assert_int_equal(note.level, 3);
	assert_int_equal(inproc_enable(a, &provider_b, 0, 0, 0, 0, 0), 0);
	assert_int_equal(note.code, 0);
	assert_int_equal(note.calls, 6);
	const struct ctl_entry *e =
		(const struct ctl_entry *)(const void *)((const uint8_t *)inproc_destination()->ctl + entry);
	assert_int_equal(e->enabled, 0);
	assert_int_equal(inproc_stop(a, NULL, NULL, NULL), 0);
	inproc_unregister(5);
	inproc_set_notify(NULL, NULL);
}

static void a_provider_can_be_enabled_before_it_registers(void **state)
{
	uint64_t id = start(u"early", NULL, PRIVATE_IN_PROC | 0x400);
	assert_int_equal(inproc_enable(id, &provider_b, 1, 2, 0x8, 0, 0), 0);
	uint32_t entry;
	assert_int_equal(inproc_register(9, &provider_b, &entry), 0);
	const struct ctl_entry *e =
		(const struct ctl_entry *)(const void *)((const uint8_t *)inproc_destination()->ctl + entry);
	assert_int_equal(e->enabled, 1);
	assert_int_equal(e->level_max, 2);
	assert_int_equal(e->any_union, 8);
	inproc_unregister(9);
	assert_int_equal(e->enabled, 0);
	assert_int_equal(inproc_stop(id, NULL, NULL, NULL), 0);
}

static void wrong_starts_get_the_documented_codes(void **state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/x.etl", dir);
	uint64_t id, ids[8];
	static const uint32_t refused[] = {0x0, 0x900, 0x804, 0x808, 0x820, 0x08000800, 0x800};
	for (size_t i = 0; i < BASE_ARRAY_LEN(refused); i++) {
		struct inproc_session_args a = session_args(u"x", path, refused[i]);
		a.sink.props.maximum_file_size = 1;
		assert_int_equal(inproc_start(&a, &id, NULL), 87);
	}
	struct inproc_session_args a = session_args(u"x", NULL, PRIVATE_IN_PROC);
	assert_int_equal(inproc_start(&a, &id, NULL), 161);
	ids[0] = start(u"x0", NULL, PRIVATE_IN_PROC | 0x400);
	a = session_args(u"X0", NULL, PRIVATE_IN_PROC | 0x400);
	assert_int_equal(inproc_start(&a, &id, NULL), 183);
	/* Three with IN_PROC, eight in all. */
	ids[1] = start(u"x1", NULL, PRIVATE_IN_PROC | 0x400);
	ids[2] = start(u"x2", NULL, PRIVATE_IN_PROC | 0x400);
	a = session_args(u"x3", NULL, PRIVATE_IN_PROC | 0x400);
	assert_int_equal(inproc_start(&a, &id, NULL), 1450);
	for (uint16_t i = 3; i < 8; i++) {
		uint16_t name[] = {'x', (uint16_t)('0' + i), 0};
		a = session_args(name, NULL, PRIVATE | 0x400);
		a.sink.props.guid = provider_a;
		a.sink.props.guid.b[15] = (uint8_t)i;
		assert_int_equal(inproc_start(&a, &ids[i], NULL), 0);
	}
	a = session_args(u"x8", NULL, PRIVATE | 0x400);
	a.sink.props.guid = provider_b;
	assert_int_equal(inproc_start(&a, &id, NULL), 1450);
	a.sink.props.guid.b[15] = 3;
	struct guid g = provider_a;
	g.b[15] = 4;
	struct sink_stats st;
	struct sink_options o;
	assert_int_equal(inproc_query(0, NULL, &g, &st, &o, &id), 0);
	assert_int_equal(id, ids[4]);
	assert_int_equal(o.props.buffer_kb, 16);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(inproc_stop(ids[i], NULL, NULL, NULL), 0);
	}
	assert_int_equal(inproc_stop(ids[0], NULL, NULL, NULL), 4201);
	assert_int_equal(inproc_query(0, u"x1", NULL, &st, &o, &id), 4201);
}

static void the_second_process_adds_its_id_to_the_file_name(void **state)
{
	char path[128], other[160];
	snprintf(path, sizeof path, "%s/shared.etl", dir);
	int fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_int_equal(flock(fd, LOCK_EX), 0); /* what a session of another process does */
	struct inproc_session_args a = session_args(u"shared", path, PRIVATE);
	a.sink.props.guid = provider_a;
	uint64_t id;
	assert_int_equal(inproc_start(&a, &id, NULL), 0);
	snprintf(other, sizeof other, "%s_%d", path, (int)getpid());
	assert_int_equal(access(other, F_OK), 0);
	struct sink_options o;
	struct sink_stats st;
	assert_int_equal(inproc_query(id, NULL, NULL, &st, &o, &id), 0);
	assert_string_equal(o.path, other);
	assert_int_equal(o.log_file[5], '_');
	assert_int_equal(inproc_stop(id, NULL, NULL, NULL), 0);
	/* IN_PROC files are of one process: the plain name or nothing. */
	a = session_args(u"shared", path, PRIVATE_IN_PROC);
	assert_int_equal(inproc_start(&a, &id, NULL), 161);
	close(fd);
	id = start(u"shared", path, PRIVATE_IN_PROC);
	assert_int_equal(inproc_stop(id, NULL, NULL, NULL), 0);
}

static void a_forked_child_has_no_sessions_and_can_start_its_own(void **state)
{
	char path[128], child_path[128];
	snprintf(path, sizeof path, "%s/parent.etl", dir);
	snprintf(child_path, sizeof child_path, "%s/child.etl", dir);
	uint64_t id = start(u"family", path, PRIVATE_IN_PROC);
	uint32_t entry;
	assert_int_equal(inproc_register(4, &provider_a, &entry), 0);
	assert_int_equal(inproc_enable(id, &provider_a, 1, 5, 0, 0, 0), 0);
	assert_int_equal(write_plain(4, entry, "p", 1), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct inproc_session_args a = session_args(u"family", child_path, PRIVATE_IN_PROC);
		uint64_t cid = 0;
		int bad = inproc_destination() != NULL;
		bad |= inproc_stop(id, NULL, NULL, NULL) != 4201;
		bad |= inproc_start(&a, &cid, NULL) != 0;
		bad |= inproc_enable(cid, &provider_a, 1, 5, 0, 0, 0) != 0;
		bad |= write_plain(4, entry, "c", 1) != 0;
		bad |= inproc_stop(cid, NULL, NULL, NULL) != 0;
		_exit(bad);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(write_plain(4, entry, "p", 1), 0);
	struct sink_stats st;
	assert_int_equal(inproc_stop(id, NULL, NULL, &st), 0);
	assert_int_equal(st.events, 2);
	uint8_t r[1024];
	assert_int_equal(walk(path, last_record, r), 2);
	assert_int_equal(r[0x50], 'p');
	assert_int_equal(walk(child_path, last_record, r), 1);
	assert_int_equal(r[0x50], 'c');
	assert_int_equal(le32_get(r + 12), child);
	inproc_unregister(4);
}

static void a_full_file_turns_its_providers_off(void **state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/full.etl", dir);
	struct inproc_session_args a = session_args(u"full", path, PRIVATE_IN_PROC | 0x2001);
	a.sink.props.maximum_file_size = 64; /* KB */
	uint64_t id;
	assert_int_equal(inproc_start(&a, &id, NULL), 0);
	uint32_t entry;
	assert_int_equal(inproc_register(8, &provider_a, &entry), 0);
	assert_int_equal(inproc_enable(id, &provider_a, 1, 0, 0, 0, 0), 0);
	const struct ctl_entry *e =
		(const struct ctl_entry *)(const void *)((const uint8_t *)inproc_destination()->ctl + entry);
	for (int i = 0; i < 100000 && order_load_relaxed(&e->enabled) != 0; i++) {
		uint8_t data[1000] = {0};
		write_plain(8, entry, data, sizeof data);
		usleep(100);
	}
	assert_int_equal(order_load_relaxed(&e->enabled), 0);
	struct sink_stats st;
	assert_int_equal(inproc_stop(id, NULL, NULL, &st), 0);
	assert_true(st.file_full);
	struct stat file;
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_size, 64 * 1024);
	inproc_unregister(8);
}

static void exit_finishes_the_files(void **state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/exit.etl", dir);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct inproc_session_args a = session_args(u"exit", path, PRIVATE_IN_PROC);
		uint64_t id = 0;
		uint32_t entry;
		int bad = inproc_start(&a, &id, NULL) != 0;
		bad |= inproc_register(4, &provider_a, &entry) != 0;
		bad |= inproc_enable(id, &provider_a, 1, 5, 0, 0, 0) != 0;
		bad |= write_plain(4, entry, "x", 1) != 0;
		exit(bad);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 0);
	uint8_t r[1024];
	assert_int_equal(walk(path, last_record, r), 1);
	size_t n;
	uint8_t *f = read_file(path, &n);
	assert_true(le64_get(f + 0x78) != 0); /* EndTime */
	free(f);
}

static void system_time_sessions_store_filetimes(void **state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/clock.etl", dir);
	struct inproc_session_args a = session_args(u"clock", path, PRIVATE_IN_PROC);
	a.sink.props.clock = 2;
	uint64_t id;
	assert_int_equal(inproc_start(&a, &id, NULL), 0);
	uint32_t entry;
	assert_int_equal(inproc_register(6, &provider_a, &entry), 0);
	assert_int_equal(inproc_enable(id, &provider_a, 1, 0, 0, 0, 0), 0);
	uint64_t before = clock_filetime();
	assert_int_equal(write_plain(6, entry, "x", 1), 0);
	uint64_t after = clock_filetime();
	assert_int_equal(inproc_stop(id, NULL, NULL, NULL), 0);
	uint8_t r[1024];
	assert_int_equal(walk(path, last_record, r), 1);
	uint64_t time = le64_get(r + 0x10);
	assert_true(time + 10000000 > before && time < after + 10000000);
	inproc_unregister(6);
}

int main(void)
{
	strcpy(dir, "/tmp/inproc-test-XXXXXX");
	if (!mkdtemp(dir)) {
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_has_the_bytes_of_a_private_session),
		cmocka_unit_test(classic_instance_and_message_records_have_their_layouts),
		cmocka_unit_test(what_threads_wrote_is_in_the_file_or_counted),
		cmocka_unit_test(enables_are_merged_and_notified),
		cmocka_unit_test(a_provider_can_be_enabled_before_it_registers),
		cmocka_unit_test(wrong_starts_get_the_documented_codes),
		cmocka_unit_test(the_second_process_adds_its_id_to_the_file_name),
		cmocka_unit_test(a_forked_child_has_no_sessions_and_can_start_its_own),
		cmocka_unit_test(a_full_file_turns_its_providers_off),
		cmocka_unit_test(exit_finishes_the_files),
		cmocka_unit_test(system_time_sessions_store_filetimes),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	return system(command) != 0 || failed != 0;
}
