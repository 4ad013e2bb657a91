/* SPDX-License-Identifier: MIT */
#include "raw_client.h"

#include "base/order.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- the daemon
 * ------------------------------------------------------------------------------------ */

void daemon_start(struct daemon *d)
{
	daemon_start_with(d, NULL);
}

void daemon_start_with(struct daemon *d, const char *option)
{
	const char *program = getenv("OPENETW_ETWD");
	int ready[2];
	assert_non_null(program);
	snprintf(d->dir, sizeof d->dir, "/tmp/openetw-etwd-test-XXXXXX");
	assert_non_null(mkdtemp(d->dir));
	assert_int_equal(pipe(ready), 0);
	d->pid = fork();
	assert_true(d->pid >= 0);
	if (d->pid == 0) {
		char number[16];
		close(ready[0]);
		snprintf(number, sizeof number, "%d", ready[1]);
		if (!getenv("ETWD_TEST_LOG")) {
			int null = open("/dev/null", O_WRONLY);
			dup2(null, 2);
		}
		/* By itself it leaves after a minute without sessions, which is not long on a busy
		 * machine. */
		execl(program, "etwd", "--foreground", "--idle-exit=0", "--runtime-dir", d->dir, "--ready-fd", number,
		      option, (char *)NULL);
		_exit(127);
	}
	close(ready[1]);
	char byte = 1;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 0);
	close(ready[0]);
}

void daemon_stop(struct daemon *d)
{
	int status = -1;
	char command[200];
	assert_true(d->pid > 0); /* 0 would be our own process group */
	kill(d->pid, SIGTERM);
	assert_int_equal(waitpid(d->pid, &status, 0), d->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	snprintf(command, sizeof command, "rm -rf %s", d->dir);
	assert_int_equal(system(command), 0);
}

/* ---- messages
 * -------------------------------------------------------------------------------------- */

int control_connect(const struct daemon *d)
{
	int fd = proto_connect(d->dir, "control");
	assert_true(fd >= 0);
	return fd;
}

void call(int fd, struct proto_writer *w, struct reply *r)
{
	long n = proto_end(w);
	assert_true(n > 0);
	r->fd_count = PROTO_FDS_MAX;
	assert_int_equal(proto_call(fd, w->mem, (size_t)n, r->mem, sizeof r->mem, &r->m, r->fds, &r->fd_count,
				    &r->status, 20000),
			 0);
}

bool receive(int fd, struct reply *r, int timeout_ms)
{
	r->fd_count = PROTO_FDS_MAX;
	long n = proto_recv(fd, r->mem, sizeof r->mem, r->fds, &r->fd_count, timeout_ms);
	return n > 0 && proto_parse(r->mem, (size_t)n, &r->m) == 0;
}

/* ---- sessions
 * -------------------------------------------------------------------------------------- */

uint32_t session_start(int fd, const struct session_args *a, uint64_t *ret_id)
{
	static struct reply r;
	uint8_t mem[8192];
	uint16_t name[256], file[1024];
	struct proto_session s = {.props.mode = a->mode,
				  .props.buffer_kb = a->buffer_kb,
				  .props.maximum_file_size = a->maximum_size,
				  .props.clock = a->clock,
				  .props.minimum_buffers = a->buffers,
				  .props.maximum_buffers = a->buffers,
				  .flags = a->flags};
	struct proto_writer w;
	if (a->name) {
		s.name_len = (uint32_t)utf8_to_utf16(a->name, strlen(a->name), name, BASE_ARRAY_LEN(name));
		s.name = name;
	}
	if (a->file) {
		s.log_file_len = (uint32_t)utf8_to_utf16(a->file, strlen(a->file), file, BASE_ARRAY_LEN(file));
		s.log_file = file;
	}
	proto_begin(&w, mem, sizeof mem, PROTO_START, 7);
	proto_put_session(&w, &s);
	call(fd, &w, &r);
	if (r.status == 0) {
		assert_true(proto_get_session(&r.m, &s));
		assert_true(s.id >= 1 && s.id <= 65535);
		*ret_id = s.id;
	} else {
		const uint8_t *text;
		size_t n;
		assert_true(proto_get(&r.m, PROTO_TAG_TEXT, &text, &n)); /* every refusal says why */
	}
	return r.status;
}

uint32_t session_control(int fd, uint64_t id, uint32_t code, struct proto_session *ret)
{
	static struct reply r;
	uint8_t mem[128];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_CONTROL, 8);
	proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, code);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
	call(fd, &w, &r);
	if (r.status == 0 && ret) {
		assert_true(proto_get_session(&r.m, ret));
	}
	return r.status;
}

uint32_t session_enable(int fd, const struct enable_request *e)
{
	static struct reply r;
	uint8_t mem[8192];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_ENABLE, 9);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, e->id);
	proto_put(&w, PROTO_TAG_GUID, e->provider->b, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, e->code);
	proto_put_u32(&w, PROTO_TAG_LEVEL, e->level);
	proto_put_u64(&w, PROTO_TAG_ANY, e->any);
	proto_put_u64(&w, PROTO_TAG_ALL, e->all);
	proto_put_u32(&w, PROTO_TAG_PROPERTIES, e->properties);
	proto_put_u32(&w, PROTO_TAG_TIMEOUT_MS, e->timeout_ms);
	if (e->filter) {
		proto_put(&w, PROTO_TAG_FILTER, e->filter, e->filter_bytes);
	}
	call(fd, &w, &r);
	return r.status;
}

/* ---- providers
 * ------------------------------------------------------------------------------------- */

static void add_segment(struct provider *p, int fd, uint32_t chunk)
{
	uint64_t bytes = pool_segment_bytes(chunk);
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(mem != MAP_FAILED);
	/* Nobody can take memory away under the other. */
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(pool_writer_add_segment(p->writer, mem, bytes, chunk), 0);
	p->segment[p->segments++] = mem;
	close(fd);
}

void provider_attach(const struct daemon *d, struct provider *p)
{
	static struct reply r;
	uint8_t mem[256];
	uint32_t chunk;
	struct proto_writer w;
	*p = (struct provider){.fd = proto_connect(d->dir, "provider")};
	assert_true(p->fd >= 0);
	proto_begin(&w, mem, sizeof mem, PROTO_HELLO, 1);
	proto_put_u32(&w, PROTO_TAG_VERSION, PROTO_VERSION);
	call(p->fd, &w, &r);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.m.type, PROTO_WELCOME | PROTO_REPLY);
	assert_int_equal(r.fd_count, 2);
	assert_true(proto_get_u32(&r.m, PROTO_TAG_CHUNK_SIZE, &chunk));
	p->ctl_fd = r.fds[0];
	p->ctl = mmap(NULL, POOL_CTL_BYTES, PROT_READ, MAP_SHARED, p->ctl_fd, 0);
	assert_true(p->ctl != MAP_FAILED);
	p->writer = pool_writer_create();
	assert_non_null(p->writer);
	p->writer->clock_kind = ((const struct ctl_header *)(const void *)p->ctl)->clock_kind;
	add_segment(p, r.fds[1], chunk);
	p->writer->alive = 1;
}

void provider_detach(struct provider *p)
{
	close(p->fd);
	close(p->ctl_fd);
	munmap(p->ctl, POOL_CTL_BYTES);
	pool_writer_destroy(p->writer);
}

bool provider_poll(struct provider *p, struct reply *r, int timeout_ms)
{
	while (receive(p->fd, r, timeout_ms)) {
		uint32_t chunk;
		if (r->m.type != PROTO_POOL) {
			return true;
		}
		assert_int_equal(r->fd_count, 1);
		assert_true(proto_get_u32(&r->m, PROTO_TAG_CHUNK_SIZE, &chunk));
		add_segment(p, r->fds[0], chunk);
	}
	return false;
}

const struct ctl_entry *provider_register(struct provider *p, uint32_t index, const struct guid *g, uint32_t flags,
					  const void *traits, size_t traits_bytes, int *ret_code)
{
	static struct reply r;
	uint8_t mem[8192];
	uint32_t offset, code;
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_REGISTER, 2);
	proto_put(&w, PROTO_TAG_GUID, g->b, 16);
	proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, index);
	proto_put_u32(&w, PROTO_TAG_REG_FLAGS, flags);
	if (traits) {
		proto_put(&w, PROTO_TAG_TRAITS, traits, traits_bytes);
	}
	long n = proto_end(&w);
	assert_int_equal(proto_send(p->fd, mem, (size_t)n, NULL, 0), 0);
	assert_true(provider_poll(p, &r, 10000));
	assert_int_equal(r.m.type, PROTO_REGISTER | PROTO_REPLY);
	assert_true(proto_get_u32(&r.m, PROTO_TAG_STATUS, &r.status));
	assert_int_equal(r.status, 0);
	assert_true(proto_get_u32(&r.m, PROTO_TAG_ENTRY_OFFSET, &offset));
	assert_true(offset % 64 == 0 && offset < POOL_CTL_BYTES);
	*ret_code = proto_get_u32(&r.m, PROTO_TAG_CODE, &code) ? (int)code : -1;
	return (const struct ctl_entry *)(const void *)(p->ctl + offset);
}

/* The rows of the valid table that match; the same rule as documented for EventWrite. */
static uint64_t wanted(struct provider *p, const struct ctl_entry *e, const struct raw_event *ev, uint16_t *ret_gen)
{
	uint32_t cfg = order_load_acquire(&e->cfg);
	const struct filter_table *t = (const void *)(p->ctl + e->table[cfg & 1]);
	uint64_t mask = 0;
	*ret_gen = (uint16_t)t->gen;
	for (uint32_t i = 0; i < t->rows; i++) {
		const struct filter_row *r = &t->row[i];
		bool level = ev->level == 0 || r->level == 0 || ev->level <= r->level;
		bool kw = ev->keyword == 0 ? !(r->props & FILTER_ROW_IGNORE_KEYWORD_0)
					   : (ev->keyword & r->any) && (ev->keyword & r->all) == r->all;
		mask |= level && kw ? 1ull << r->bit : 0;
	}
	return mask;
}

int provider_write(struct provider *p, const struct ctl_entry *e, const struct raw_event *ev, uint64_t mask_override)
{
	uint16_t gen = 0;
	if (order_load_relaxed(&e->enabled) == 0 && !mask_override) {
		return 0;
	}
	uint64_t mask = wanted(p, e, ev, &gen);
	mask = mask_override ? mask_override : mask;
	if (mask == 0) {
		return 0;
	}
	struct {
		uint16_t id;
		uint8_t version, channel, level, opcode;
		uint16_t task;
		uint64_t keyword;
	} desc = {ev->id, 1, 0, ev->level, ev->opcode, ev->task, ev->keyword};
	struct pool_piece piece = {.ptr = ev->payload, .size = ev->payload_bytes};
	struct pool_write_args a = {
		.kind = ev->kind ? ev->kind : POOL_REC_EVENT,
		.flags = (ev->activity ? POOL_REC_ACTIVITY : 0) | (ev->items ? POOL_REC_ITEMS : 0),
		.prov = ev->index,
		.cfg_gen = gen,
		.tid = ev->tid ? ev->tid : (uint32_t)syscall(SYS_gettid),
		.mask = mask,
		.descriptor = &desc,
		.activity = ev->activity,
		.items = ev->items,
		.items_bytes = ev->items_bytes,
		.piece = &piece,
		.piece_count = 1,
		.payload_bytes = ev->payload_bytes,
	};
	return pool_write_slow(p->writer, &a);
}

/* ---- files
 * ----------------------------------------------------------------------------------------- */

void etl_load(const char *path, struct etl_bytes *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*e = (struct etl_bytes){.bytes = (size_t)st.st_size, .mem = malloc((size_t)st.st_size)};
	assert_non_null(e->mem);
	assert_int_equal(read(fd, e->mem, e->bytes), (ssize_t)e->bytes);
	close(fd);
	for (size_t at = 0; at < e->bytes;) {
		const uint8_t *b = e->mem + at;
		uint32_t size = le32_get(b), used = le32_get(b + 0x30);
		assert_true(size >= 0x48 && at + size <= e->bytes && used <= size);
		uint64_t last = 0;
		for (uint32_t r = 0x48; at > 0 && r + 8 <= used;) {
			bool system = b[r + 2] == 0x02 || b[r + 2] == 0x11; /* whose size stands behind the version */
			uint32_t n = le16_get(b + r + (b[r + 3] == 0xC0 && system ? 4 : 0));
			assert_true(n >= 8 && r + n <= used);
			if (b[r + 3] == 0xC0) {
				uint64_t ts = le64_get(b + r + (b[r + 2] == 0x11 ? 8 : 0x10));
				assert_true(ts >= last); /* never back in time inside a buffer */
				last = ts;
			}
			assert_true(e->count < BASE_ARRAY_LEN(e->record));
			e->record[e->count++] = b + r;
			r += (n + 7) & ~7u;
		}
		at += size;
	}
}

void etl_free(struct etl_bytes *e)
{
	free(e->mem);
}
