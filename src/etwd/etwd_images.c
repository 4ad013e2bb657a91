/* SPDX-License-Identifier: MIT
 *
 * The images of processes whose stacks are recorded, so that addresses have names later, also when the process has
 * ended. A process tells its own while a session wants its stacks (IMAGES): before its EventRegister returns, when it
 * is enabled, and when it has loaded or dropped a library. What it says is believed of itself alone, and bounded. A
 * session is told them before the first stack of that process, and what came since before the next one; other
 * processes cost nothing. Sessions with the kernel's image records have the kernel's word.
 *
 *   one file, real time   once, Start and Load of what came while the session ran, DCStart of what was there before;
 *                         again in a new file and for a new consumer
 *   circular file         again when the session stops: what came first is overwritten
 *   in memory             only then, behind the ring (sink_explain): it takes nothing of its room
 */
#include "base/map.h"
#include "base/order.h"
#include "base/vec.h"
#include "etl/etl_image.h"
#include "etw/values/errors.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define IMAGES_MAX      1024u      /* at a time, of a process */
#define KNOWN_MAX       4096u      /* in its life */
#define BYTES_MAX       (1u << 20) /* the same */
#define TOLD_MAX        1024u      /* processes a session remembers; the oldest that has ended goes */
#define SLOTS           (2 * KNOWN_MAX)
#define LOOK_FRAMES     192u         /* so many of its addresses */
#define LOOK_NS         100000000ull /* so often a stack is looked at for what nobody told */
#define ASK_NS          1000000000ull
#define ASK_MOST_NS     64000000000ull
#define ADDRESS_MAX     (1ull << 57)
#define TELLS_A_SECOND  8u
#define PARTS_OF_A_TELL 64u

struct image {
	uint64_t base, bytes;
	uint64_t from_raw, from_ns; /* not there before */
	uint32_t generation;        /* of the last tell that had it */
	bool live;
	uint8_t build_id[PROTO_IMAGES_BUILD_ID], build_id_bytes;
	char *path;
};
/* How far a session has been told. */
struct said {
	uint64_t session; /* its images_serial */
	uint16_t id;
	uint32_t count;
};
struct image_list {
	uint32_t refs;
	uint32_t pid, parent, uid;
	char name[256];
	char *program; /* its path */
	uint64_t since_raw, since_ns;
	uint64_t end_raw, end_ns;   /* 0: it lives */
	uint64_t told_raw, told_ns; /* the last whole tell */
	uint32_t generation;
	uint32_t parts, tells;
	uint64_t tells_since_ns;
	uint64_t look_ns, ask_ns, patience_ns;
	struct image *at; /* in order of coming */
	uint32_t count, cap;
	size_t bytes;
	struct said *said;
	uint32_t said_count, said_cap;
};

static void list_unref(struct etwd *d, struct image_list *l)
{
	if (!l || --l->refs > 0) {
		return;
	}
	for (uint32_t i = 0; i < l->count; i++) {
		free(l->at[i].path);
	}
	etwd_share_give(d, l->uid, SHARE_IMAGE_BYTES, l->bytes);
	free(l->at);
	free(l->said);
	free(l->program);
	free(l);
}

/* ---- what a process tells ------------------------------------------------------------------------ */

static void read_parent(struct image_list *l)
{
	char path[64], buf[1024];
	snprintf(path, sizeof path, "/proc/%u/stat", l->pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(buf, 1, sizeof buf - 1, f) : 0;
	buf[n] = 0;
	const char *p = strrchr(buf, ')');
	if (p && p[1] == ' ' && p[2]) {
		l->parent = (uint32_t)strtoul(p + 3, NULL, 10);
	}
	if (f) {
		fclose(f);
	}
}

/* What a link of /proc says, or NULL; heap. */
static char *read_proc_link(uint32_t pid, const char *what)
{
	static const char gone[] = " (deleted)";
	char path[64], to[PATH_MAX];
	snprintf(path, sizeof path, "/proc/%u/%s", pid, what);
	ssize_t n = readlink(path, to, sizeof to - 1);
	if (n <= 0 || to[0] != '/') {
		return NULL;
	}
	to[n] = 0;
	size_t k = sizeof gone - 1;
	if ((size_t)n > k && strcmp(to + n - k, gone) == 0) {
		to[(size_t)n - k] = 0;
	}
	return strdup(to);
}

static struct image_list *list_of(struct process *p)
{
	if (!p->images) {
		struct image_list *l = calloc(1, sizeof *l);
		if (!l) {
			return NULL;
		}
		l->refs = 1;
		l->pid = (uint32_t)p->pid;
		l->uid = p->uid;
		snprintf(l->name, sizeof l->name, "%s", p->exe);
		read_parent(l);
		l->program = read_proc_link(l->pid, "exe");
		l->since_raw = p->since_raw;
		l->since_ns = p->since_ns;
		l->told_raw = l->since_raw;
		l->told_ns = l->since_ns;
		l->tells_since_ns = etwd_now_ns();
		l->patience_ns = ASK_NS;
		p->images = l;
	}
	return p->images;
}

/* The path by which others know it. The dynamic linker has a relative one of what was loaded by it. */
static char *path_of(const struct image_list *l, const char *said)
{
	char path[PATH_MAX];
	if (!said[0]) {
		return strdup(l->program ? l->program : l->name);
	}
	if (said[0] == '/' || !strchr(said, '/')) {
		return strdup(said); /* the second is the kernel's, without a file */
	}
	char *from = read_proc_link(l->pid, "cwd");
	while (said[0] == '.' && said[1] == '/') {
		said += 2;
	}
	int n = from ? snprintf(path, sizeof path, "%s/%s", from[1] ? from : "", said) : -1;
	free(from);
	return strdup(n > 0 && (size_t)n < sizeof path ? path : said);
}

/* Where the live images stand: many may be told again and again. The process chooses what they are, so all of that
 * is hashed, with a secret. */
struct places {
	uint16_t slot[SLOTS]; /* index + 1 */
};
static uint32_t slot_of(const struct image *i, const char *path)
{
	static const struct map any = {0};
	uint8_t key[8 + 8 + 8 + PROTO_IMAGES_BUILD_ID];
	le64_put(key, i->base);
	le64_put(key + 8, i->bytes);
	le64_put(key + 16, map_hash(&any, path, strlen(path)));
	memcpy(key + 24, i->build_id, PROTO_IMAGES_BUILD_ID);
	return (uint32_t)(map_hash(&any, key, sizeof key) % SLOTS);
}

static void place(struct places *x, const struct image_list *l, uint32_t i)
{
	uint32_t at = slot_of(&l->at[i], l->at[i].path);
	while (x->slot[at]) {
		at = (at + 1) % SLOTS;
	}
	x->slot[at] = (uint16_t)(i + 1);
}

static void places_fill(struct places *x, const struct image_list *l)
{
	memset(x, 0, sizeof *x);
	for (uint32_t i = 0; i < l->count; i++) {
		if (l->at[i].live) {
			place(x, l, i);
		}
	}
}

static bool known(const struct places *x, struct image_list *l, const struct image *told, const char *path)
{
	for (uint32_t at = slot_of(told, path); x->slot[at]; at = (at + 1) % SLOTS) {
		struct image *i = &l->at[x->slot[at] - 1];
		if (i->base == told->base && i->bytes == told->bytes && i->build_id_bytes == told->build_id_bytes &&
		    memcmp(i->build_id, told->build_id, i->build_id_bytes) == 0 && strcmp(i->path, path) == 0) {
			i->generation = l->generation;
			return true;
		}
	}
	return false;
}

/* One of a message: base, bytes, build id, path. False: the rest is nonsense. */
static bool take(struct bytes *b, struct image *ret, char *path)
{
	struct image i = {.base = bytes_u64(b)};
	i.bytes = bytes_u64(b);
	i.build_id_bytes = bytes_u8(b);
	const uint8_t *id = bytes_take(b, PROTO_IMAGES_BUILD_ID);
	uint32_t n = bytes_u16(b);
	const uint8_t *text = bytes_take(b, n);
	if (b->bad || n >= PATH_MAX || i.build_id_bytes > PROTO_IMAGES_BUILD_ID) {
		return false;
	}
	if (n) { /* of nothing there may be no place */
		memcpy(path, text, n);
	}
	path[n] = 0;
	memcpy(i.build_id, id, PROTO_IMAGES_BUILD_ID);
	*ret = i;
	return true;
}

static bool sensible(const struct image *i, const char *path)
{
	return i->bytes != 0 && i->base < ADDRESS_MAX && i->bytes < ADDRESS_MAX - i->base &&
	       utf8_to_utf16(path, strlen(path), NULL, 0) >= 0;
}

static bool add(struct etwd *d, struct image_list *l, struct image *i, char *path)
{
	size_t bytes = sizeof *i + strlen(path) + 1;
	if (l->count == KNOWN_MAX || l->bytes + bytes > BYTES_MAX) {
		return false;
	}
	if (!VEC_ROOM(l->at, l->count, l->cap)) {
		return false;
	}
	if (etwd_share_take(d, l->uid, SHARE_IMAGE_BYTES, bytes) != NULL) {
		return false;
	}
	i->path = path;
	i->from_raw = l->told_raw;
	i->from_ns = l->told_ns;
	i->generation = l->generation;
	i->live = true;
	l->at[l->count++] = *i;
	l->bytes += bytes;
	return true;
}

static void take_all(struct etwd *d, struct image_list *l, struct bytes b)
{
	static struct places places;
	char said[PATH_MAX];
	struct image i;
	uint32_t left = IMAGES_MAX, dropped = 0;
	places_fill(&places, l);
	while (bytes_left(&b) > 0) {
		if (left-- == 0 || !take(&b, &i, said)) {
			dropped++;
			break;
		}
		char *path = path_of(l, said);
		if (!path || !sensible(&i, path)) {
			dropped++;
			free(path);
			continue;
		}
		if (known(&places, l, &i, path)) {
			free(path);
		} else if (add(d, l, &i, path)) {
			place(&places, l, l->count - 1);
		} else {
			free(path);
			dropped++;
		}
	}
	d->images_dropped += dropped;
}

/* ---- what a session is told --------------------------------------------------------------------- */

struct to {
	struct session *s;
	uint16_t cpu;
	bool explain; /* behind the ring */
};

static void *room(void *ctx, uint64_t time, uint32_t bytes)
{
	const struct to *t = ctx;
	if (t->explain) {
		return sink_explain(t->s->sink, time, bytes);
	}
	void *p = sink_reserve(t->s->sink, t->cpu, time, bytes);
	t->s->images_records += p != NULL; /* no events of anybody's */
	return p;
}

static void put_image(const struct etwd *d, const struct image_list *l, const struct image *i, enum etl_image_hook hook,
		      uint64_t raw, struct to *t)
{
	struct etl_image e = {.base = i->base,
			      .bytes = i->bytes,
			      .pid = l->pid,
			      .build_id = i->build_id,
			      .build_id_bytes = i->build_id_bytes,
			      .path = i->path};
	etl_image_put(hook, etwd_session_time(d, t->s, raw), &e, room, t);
}

static void put_process(const struct etwd *d, const struct image_list *l, enum etl_image_hook hook, uint64_t raw,
			struct to *t)
{
	struct etl_process e = {.pid = l->pid, .parent = l->parent, .uid = l->uid, .name = l->name};
	etl_process_put(hook, etwd_session_time(d, t->s, raw), &e, room, t);
}

/* The kernel says it, of all processes. */
static bool has_kernels(const struct session *s)
{
	struct kernel_mask m;
	if (!s->kernel) {
		return false;
	}
	etwd_kernel_session_mask(s->kernel, &m);
	return kernel_mask_has(&m, KERNEL_BIT_LOADER);
}

/* The session remembers it, for its end and for copies. */
static void remember(struct etwd *d, struct session *s, struct image_list *l)
{
	if (s->images_told_count == TOLD_MAX) {
		uint32_t oldest = 0;
		while (oldest < TOLD_MAX - 1 && s->images_told[oldest]->end_raw == 0) {
			oldest++;
		}
		list_unref(d, s->images_told[oldest]);
		memmove(&s->images_told[oldest], &s->images_told[oldest + 1],
			(TOLD_MAX - 1 - oldest) * sizeof s->images_told[0]);
		s->images_told_count--;
	}
	if (VEC_ROOM(s->images_told, s->images_told_count, s->images_told_cap)) {
		s->images_told[s->images_told_count++] = l;
		l->refs++;
	}
}

static struct said *said_of(struct etwd *d, struct image_list *l, struct session *s)
{
	uint32_t files = order_load_relaxed(&s->files_opened);
	if (s->images_serial == 0 || files != s->images_files) {
		/* A file of its own has to be read alone; so has what a consumer sees who came later. */
		s->images_since_ns = s->images_serial == 0 && s->images_files == 0 ? s->start_ns : etwd_now_ns();
		s->images_serial = ++d->images_serial;
		s->images_files = files;
	}
	for (uint32_t i = 0; i < l->said_count; i++) {
		if (l->said[i].session == s->images_serial) {
			return &l->said[i];
		}
	}
	/* In the place of what was said to a session, or a file, that is gone. */
	for (uint32_t i = 0; i < l->said_count; i++) {
		const struct session *old = d->session[l->said[i].id];
		if (!old || old->images_serial != l->said[i].session) {
			l->said[i] = (struct said){s->images_serial, s->id, 0};
			return &l->said[i];
		}
	}
	if (!VEC_ROOM(l->said, l->said_count, l->said_cap)) {
		return NULL;
	}
	l->said[l->said_count] = (struct said){s->images_serial, s->id, 0};
	return &l->said[l->said_count++];
}

static bool remembered(const struct session *s, const struct image_list *l)
{
	for (uint32_t i = s->images_told_count; i-- > 0;) {
		if (s->images_told[i] == l) {
			return true;
		}
	}
	return false;
}

static void say(struct etwd *d, struct image_list *l, struct session *s, struct said *k, uint16_t cpu, uint64_t ts)
{
	struct to t = {.s = s, .cpu = cpu};
	if (has_kernels(s)) {
		k->count = l->count;
		return;
	}
	if (k->count == 0 && (s->props.mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_BUFFERING_MODE)) &&
	    !remembered(s, l)) {
		remember(d, s, l);
	}
	/* What is delivered as it comes must not go back. */
	uint64_t least = s->props.mode & EVENT_TRACE_REAL_TIME_MODE ? d->watermark : 0;
	for (uint32_t i = k->count; i < l->count && !(s->props.mode & EVENT_TRACE_BUFFERING_MODE); i++) {
		const struct image *m = &l->at[i];
		bool first = i == 0, came = l->since_ns > s->images_since_ns;
		if (first) {
			put_process(d, l, came ? ETL_PROCESS_START : ETL_PROCESS_DC_START,
				    came ? BASE_MIN(BASE_MAX(l->since_raw, least), ts) : ts, &t);
		}
		if (m->live) {
			bool load = m->from_ns > s->images_since_ns;
			put_image(d, l, m, load ? ETL_IMAGE_LOAD : ETL_IMAGE_DC_START,
				  load ? BASE_MIN(BASE_MAX(m->from_raw, least), ts) : ts, &t);
		}
	}
	k->count = l->count;
}

/* Code that no image has: a library came since, or a runtime made it. */
static bool is_strange(const struct image_list *l, uint64_t address)
{
	for (uint32_t i = l->count; i-- > 0;) {
		const struct image *m = &l->at[i];
		if (m->live && address - m->base < m->bytes) {
			return false;
		}
	}
	return true;
}

static void ask_for_more(struct etwd *d, struct process *p, const uint8_t *stack, uint32_t bytes)
{
	struct image_list *l = p->images;
	uint64_t now = etwd_now_ns();
	if (!p->conn || now - l->look_ns < LOOK_NS || now - l->ask_ns < l->patience_ns) {
		return;
	}
	if (!etwd_share_has_time(d, p->uid, now)) {
		return;
	}
	l->look_ns = now;
	bool strange = false;
	bytes = BASE_MIN(bytes, 8 + 8 * LOOK_FRAMES);
	for (uint32_t at = 8; at + 8 <= bytes && !strange; at += 8) {
		strange = is_strange(l, le64_get(stack + at) - 1);
	}
	etwd_share_busy(d, p->uid, now, etwd_now_ns());
	if (strange) {
		uint8_t mem[32];
		struct proto_writer w;
		l->ask_ns = now;
		l->patience_ns = BASE_MIN(2 * l->patience_ns, ASK_MOST_NS);
		proto_begin(&w, mem, sizeof mem, PROTO_IMAGES, 0);
		etwd_conn_send(d, p->conn, &w, NULL, 0);
	}
}

void etwd_images_stack(struct etwd *d, struct process *p, struct session *s, uint16_t cpu, uint64_t ts,
		       const uint8_t *stack, uint32_t bytes)
{
	struct image_list *l = p->images;
	if (!l || !s->sink) {
		return; /* it has not told anything (yet) */
	}
	struct said *k = said_of(d, l, s);
	if (BASE_UNLIKELY(k && k->count < l->count)) {
		/* A session of theirs can be made to hear it again as often as they like. */
		uint64_t now = etwd_now_ns();
		if (etwd_share_has_time(d, p->uid, now)) {
			say(d, l, s, k, cpu, ts);
			etwd_share_busy(d, p->uid, now, etwd_now_ns());
		}
	}
	ask_for_more(d, p, stack, bytes);
}

/* What is gone, to all who heard of it. */
static void say_unloaded(struct etwd *d, struct image_list *l)
{
	uint64_t now = clock_now_of(d->clock_kind);
	for (uint32_t i = 0; i < l->count; i++) {
		struct image *m = &l->at[i];
		if (!m->live || m->generation == l->generation) {
			continue;
		}
		m->live = false;
		for (uint32_t k = 0; k < l->said_count; k++) {
			struct session *s = d->session[l->said[k].id];
			if (s && s->sink && s->images_serial == l->said[k].session && i < l->said[k].count &&
			    !(s->props.mode & EVENT_TRACE_BUFFERING_MODE) && !has_kernels(s)) {
				struct to t = {.s = s};
				put_image(d, l, m, ETL_IMAGE_UNLOAD, now, &t);
			}
		}
	}
}

void etwd_images(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t parts = 0;
	const uint8_t *data = NULL;
	size_t n = 0;
	struct process *p = c->process;
	struct image_list *l = list_of(p);
	uint64_t now = etwd_now_ns();
	if (!l || !proto_get_u32(m, PROTO_TAG_CODE, &parts)) {
		etwd_reply_status(d, c, m, l ? ERROR_INVALID_PARAMETER : ERROR_NOT_ENOUGH_MEMORY, NULL);
		return;
	}
	if (parts & PROTO_IMAGES_FIRST) {
		if (now - l->tells_since_ns >= 1000000000ull) {
			l->tells_since_ns = now;
			l->tells = 0;
		}
		l->tells++;
		l->generation++;
		l->parts = 0;
	}
	if (l->tells > TELLS_A_SECOND || ++l->parts > PARTS_OF_A_TELL) {
		d->images_dropped++;
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, "this process tells its images too often");
		return;
	}
	uint32_t before = l->count;
	proto_get(m, PROTO_TAG_DATA, &data, &n);
	take_all(d, l, bytes_of(data, n));
	l->patience_ns = l->count > before ? ASK_NS : l->patience_ns;
	if (parts & PROTO_IMAGES_LAST) {
		say_unloaded(d, l);
		l->told_raw = clock_now_of(d->clock_kind);
		l->told_ns = now;
		etwd_reply_status(d, c, m, 0, NULL);
	}
}

/* ---- ends ---------------------------------------------------------------------------------------- */

void etwd_images_gone(struct etwd *d, struct process *p)
{
	struct image_list *l = p->images;
	if (!l) {
		return;
	}
	l->end_raw = clock_now_of(d->clock_kind);
	l->end_ns = etwd_now_ns();
	for (uint32_t k = 0; k < l->said_count; k++) {
		struct session *s = d->session[l->said[k].id];
		if (s && s->sink && s->images_serial == l->said[k].session && l->said[k].count > 0 &&
		    !(s->props.mode & EVENT_TRACE_BUFFERING_MODE) && !has_kernels(s)) {
			struct to t = {.s = s};
			put_process(d, l, ETL_PROCESS_END, l->end_raw, &t);
		}
	}
	free(l->said);
	l->said = NULL;
	l->said_count = 0;
	p->images = NULL;
	list_unref(d, l);
}

void etwd_images_file(struct session *s)
{
	order_add_full(&s->files_opened, 1u);
}

bool etwd_images_explain(const struct session *s)
{
	/* A copy that the kernel still explains has the explanation for itself. */
	bool busy = s->kernel && s->kernel->explaining;
	return (s->props.mode & EVENT_TRACE_BUFFERING_MODE) && s->images_told_count > 0 && !busy;
}

/* The same as was said when it lived, at the same times. */
static void say_ended(const struct etwd *d, const struct image_list *l, struct to *t)
{
	bool came = l->since_ns > t->s->start_ns;
	put_process(d, l, came ? ETL_PROCESS_START : ETL_PROCESS_DC_START, came ? l->since_raw : l->end_raw, t);
	for (uint32_t k = 0; k < l->count; k++) {
		const struct image *m = &l->at[k];
		bool load = m->from_ns > t->s->start_ns;
		if (m->live) {
			put_image(d, l, m, load ? ETL_IMAGE_LOAD : ETL_IMAGE_DC_START, load ? m->from_raw : l->end_raw,
				  t);
		}
	}
	put_process(d, l, ETL_PROCESS_END, l->end_raw, t);
}

void etwd_images_again(struct etwd *d, struct session *s)
{
	uint64_t now = clock_now_of(d->clock_kind);
	struct to t = {.s = s, .explain = (s->props.mode & EVENT_TRACE_BUFFERING_MODE) != 0};
	if (!s->sink || has_kernels(s)) {
		return;
	}
	for (uint32_t i = 0; i < s->images_told_count; i++) {
		const struct image_list *l = s->images_told[i];
		if (l->end_raw) {
			say_ended(d, l, &t);
			continue;
		}
		put_process(d, l, ETL_PROCESS_DC_END, now, &t);
		for (uint32_t k = 0; k < l->count; k++) {
			if (l->at[k].live) {
				put_image(d, l, &l->at[k], ETL_IMAGE_DC_END, now, &t);
			}
		}
	}
}

void etwd_images_stop(struct etwd *d, struct session *s)
{
	if (s->props.mode & EVENT_TRACE_FILE_MODE_CIRCULAR) {
		etwd_images_again(d, s);
	}
}

void etwd_images_forget(struct etwd *d, struct session *s)
{
	for (uint32_t i = 0; i < s->images_told_count; i++) {
		list_unref(d, s->images_told[i]);
	}
	free(s->images_told);
	s->images_told = NULL;
	s->images_told_count = 0;
}
