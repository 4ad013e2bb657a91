/* SPDX-License-Identifier: MIT
 *
 * The requests are worked off one by one on a thread that exists as long as there are any: it opens and
 * waits for files, which the helper that talks to etwd must not. Created by that helper it shares its
 * descriptor table, where the application closes nothing.
 *
 * A process that may do more than its user does not write files at that user's word.
 */
#include "provider/provider_private.h"
#include "provider/provider_rights.h"
#include "provider/provider_scarce.h"

#include "inproc/inproc.h"
#include "etw/values/errors.h"
#include "etw/values/filter_types.h"
#include "etw/values/session_modes.h"

#include <stdlib.h>

#define WORKER_STACK_BYTES (256u << 10)
#define EXIT_MS            2000u /* what the end of the program may wait for etwd to hear of it */
#define PATH_BYTES         4096u

/* A program linked without private sessions cannot host any. */
#pragma weak inproc_start
#pragma weak inproc_stop
#pragma weak inproc_query
#pragma weak inproc_flush
#pragma weak inproc_update
#pragma weak inproc_enable_filtered

struct job {
	struct job *next;
	uint32_t dest;
	uint64_t serial;
	bool left; /* all sessions of that daemon end */
	bool asker_known;
	struct provider_asker asker;
	struct proto_message m;
	uint8_t body[] __attribute__((aligned(8)));
};
struct hosted {
	struct hosted *next;
	uint32_t dest;
	uint64_t id; /* etwd's */
	uint64_t here;
};
static struct job *jobs, **jobs_tail = &jobs;
static bool working;
static struct hosted *hosted; /* the worker's */
static uint32_t hosting;      /* 0: that list is empty */
static pid_t hosting_pid;
static uint32_t worker_missing; /* there is a job and no thread for it */

static void at_exit(void);

/* The system's daemon is believed that root asked, and which groups a user has who asked. Of a user's own
 * daemon the kernel says who it is. */
static const char *may_ask(const struct job *j, const struct proto_session *s)
{
	if (s->owner_uid == 0 && (j->dest == PROVIDER_DEST_SYSTEM || geteuid() == 0)) {
		return NULL;
	}
	struct provider_rights *r = malloc(sizeof *r);
	const char *why = "no memory to look at the rights of the process";
	if (r) {
		provider_rights_get(r);
		why = s->owner_uid != 0 && s->owner_uid != j->asker.uid ? "the process is another user's"
		      : !j->asker_known                                 ? "the rights of the user are not known"
									: provider_rights_exceed(r, &j->asker);
	}
	free(r);
	return why;
}

static struct hosted **find(uint32_t dest, uint64_t id)
{
	struct hosted **at = &hosted;
	while (*at && !((*at)->dest == dest && (*at)->id == id)) {
		at = &(*at)->next;
	}
	return at;
}

static bool file_name(const struct proto_session *s, uint16_t **ret_name, char path[PATH_BYTES])
{
	long n = utf16_to_utf8(s->log_file, s->log_file_len, path, PATH_BYTES);
	/* Another process's word for a file says nothing of our current directory. */
	*ret_name = n > 0 && n < (long)PATH_BYTES && path[0] == '/' ? utf16_dup(s->log_file, s->log_file_len) : NULL;
	return *ret_name != NULL;
}

static uint32_t start(const struct job *j, uint64_t id, const struct proto_session *s, struct diag *d)
{
	char path[PATH_BYTES];
	const char *why = may_ask(j, s);
	struct hosted *h = calloc(1, sizeof *h);
	uint16_t *name = s->name ? utf16_dup(s->name, s->name_len) : NULL, *file = NULL;
	struct inproc_session_args a = {
		.sink =
			{
				.name = name,
				.props = s->props,
				.clock_freq = clock_frequency(),
				.cpus = (uint16_t)BASE_MAX(1, sysconf(_SC_NPROCESSORS_CONF)),
				.other_table = provider_dests[j->dest].private_fds,
			},
		.suffix = (s->flags & PROTO_SESSION_PID_SUFFIX) != 0,
		.from_outside = true,
	};
	uint32_t code = h && name ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
	if (why) {
		diag_at(d, UINT64_MAX, "%s", why);
		code = ERROR_ACCESS_DENIED;
	} else if (code == ERROR_SUCCESS && s->log_file) {
		code = file_name(s, &file, path) ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
		a.sink.log_file = file;
		a.sink.path = path;
	}
	if (code == ERROR_SUCCESS) {
		code = inproc_start(&a, &h->here, d);
	}
	free(name);
	free(file);
	if (code != ERROR_SUCCESS) {
		free(h);
		return code;
	}
	h->dest = j->dest;
	h->id = id;
	h->next = hosted;
	hosted = h;
	if (hosting_pid != getpid()) {
		hosting_pid = getpid();
		atexit(at_exit);
	}
	order_store_relaxed(&hosting, 1u);
	return ERROR_SUCCESS;
}

static uint32_t update(uint64_t here, const struct proto_session *s, struct diag *d)
{
	char path[PATH_BYTES];
	uint16_t *file = NULL;
	if (s->log_file && !file_name(s, &file, path)) {
		return ERROR_INVALID_PARAMETER;
	}
	uint32_t code = inproc_update(here, s->props.flush_timer, file ? path : NULL, file, d);
	free(file);
	return code;
}

/* Only what is kept in memory goes to a file that is named. */
static uint32_t flush(uint64_t here, const struct proto_session *s, struct diag *d)
{
	struct sink_stats stats;
	struct sink_options options;
	uint64_t found;
	bool memory = s->log_file && inproc_query(here, NULL, NULL, &stats, &options, &found) == ERROR_SUCCESS &&
		      (options.props.mode & EVENT_TRACE_BUFFERING_MODE);
	return memory ? update(here, s, d) : inproc_flush(here, NULL, NULL);
}

static uint32_t enable(uint64_t here, const struct proto_message *m)
{
	struct inproc_filter filter[MAX_EVENT_FILTERS_COUNT];
	struct guid guid;
	uint32_t n = 0, code = 0, level = 0, properties = 0;
	uint64_t any = 0, all = 0;
	size_t at = 0, bytes;
	uint16_t tag;
	const uint8_t *p;
	if (!proto_get_guid(m, PROTO_TAG_GUID, &guid) || !proto_get_u32(m, PROTO_TAG_CODE, &code)) {
		return ERROR_INVALID_PARAMETER;
	}
	proto_get_u32(m, PROTO_TAG_LEVEL, &level);
	proto_get_u64(m, PROTO_TAG_ANY, &any);
	proto_get_u64(m, PROTO_TAG_ALL, &all);
	proto_get_u32(m, PROTO_TAG_PROPERTIES, &properties);
	while (n < MAX_EVENT_FILTERS_COUNT && proto_next(m, &at, &tag, &p, &bytes)) {
		if (tag == PROTO_TAG_FILTER && bytes >= 4 && le32_get(p) != 0) {
			filter[n++] = (struct inproc_filter){le32_get(p), (uint32_t)bytes - 4, p + 4};
		}
	}
	return inproc_enable_filtered(here, &guid, code, (uint8_t)level, any, all, properties, filter, n);
}

static void put_state(struct proto_writer *w, const struct sink_options *o, const struct sink_stats *st)
{
	struct proto_session s = {
		.props = o->props,
		.number_of_buffers = st->buffers,
		.free_buffers = st->free_buffers,
		.events_lost = (uint32_t)BASE_MIN(st->events_lost, (uint64_t)UINT32_MAX),
		.buffers_written = (uint32_t)st->buffers_written,
		.log_buffers_lost = (uint32_t)(st->lost_disk_buffers + st->gone_buffers),
		.file_fate = (uint32_t)st->file_fate,
		.file_fate_filetime = st->file_fate_filetime,
		.logger_thread_id = (uint64_t)st->file_thread_id,
		.events = st->events,
		.bytes_written = st->bytes_written,
		.log_file = o->log_file,
		.log_file_len = o->log_file ? (uint32_t)utf16_len(o->log_file) : 0,
	};
	s.loss[PROTO_LOSS_NO_BUFFER] = st->lost_no_buffer;
	s.loss[PROTO_LOSS_TOO_BIG] = st->lost_too_big;
	s.loss[PROTO_LOSS_DISK_EVENTS] = st->lost_disk_events;
	s.loss[PROTO_LOSS_DISK_BUFFERS] = st->lost_disk_buffers;
	s.loss[PROTO_LOSS_GONE_EVENTS] = st->gone_events;
	s.loss[PROTO_LOSS_GONE_BUFFERS] = st->gone_buffers;
	s.loss[PROTO_LOSS_OVERWRITTEN] = st->overwritten_events;
	proto_put_session(w, &s);
}

static void end(struct hosted **at, struct sink_stats *ret)
{
	struct hosted *h = *at;
	*at = h->next;
	order_store_relaxed(&hosting, hosted ? 1u : 0u);
	inproc_stop(h->here, NULL, NULL, ret);
	free(h);
}

static void put_done(struct proto_writer *w, void *mem, size_t cap, uint32_t notify, uint64_t id)
{
	proto_begin(w, mem, cap, PROTO_PRIVATE_DONE, 0);
	proto_put_u32(w, PROTO_TAG_NOTIFY_ID, notify);
	proto_put_u64(w, PROTO_TAG_SESSION_ID, id);
}

static void begin_done(struct proto_writer *w, void *mem, size_t cap, const struct proto_message *m)
{
	uint32_t notify = 0;
	uint64_t id = 0;
	proto_get_u32(m, PROTO_TAG_NOTIFY_ID, &notify);
	proto_get_u64(m, PROTO_TAG_SESSION_ID, &id);
	put_done(w, mem, cap, notify, id);
}

/* Stops one and says to its daemon how it ended. Ticket of that message, or 0. */
static uint64_t last_word(struct hosted **at)
{
	uint8_t mem[1024];
	struct sink_stats stats;
	struct sink_options options;
	struct proto_writer w;
	uint64_t found, ticket = 0;
	uint32_t dest = (*at)->dest;
	put_done(&w, mem, sizeof mem, 0, (*at)->id);
	proto_put_u32(&w, PROTO_TAG_STATUS, ERROR_SUCCESS);
	bool known = inproc_query((*at)->here, NULL, NULL, &stats, &options, &found) == ERROR_SUCCESS;
	options.log_file = NULL;
	end(at, &stats);
	if (known) {
		put_state(&w, &options, &stats);
	}
	long n = proto_end(&w);
	pthread_mutex_lock(&provider_lock);
	if (known && n > 0) {
		ticket = provider_post_locked(&provider_dests[dest], mem, (size_t)n);
	}
	pthread_mutex_unlock(&provider_lock);
	return ticket;
}

/* Before inproc's, which would end them without a word. */
static void at_exit(void)
{
	uint64_t ticket[2] = {0};
	if (!hosted || hosting_pid != getpid()) {
		return;
	}
	struct timespec until = provider_deadline(EXIT_MS);
	pthread_mutex_lock(&provider_lock);
	int r = 0;
	while (working && r == 0) {
		r = pthread_cond_timedwait(&provider_changed, &provider_lock, &until);
	}
	bool mine = !working;
	working = true; /* for good: what is asked from now on comes too late */
	pthread_mutex_unlock(&provider_lock);
	while (mine && hosted) {
		uint32_t dest = hosted->dest;
		uint64_t t = last_word(&hosted);
		ticket[dest] = t ? t : ticket[dest];
	}
	pthread_mutex_lock(&provider_lock);
	for (int i = 0; i < 2; i++) {
		struct provider_dest *d = &provider_dests[i];
		r = 0;
		while (ticket[i] && d->state == PROVIDER_DEST_ATTACHED && d->sent < ticket[i] && r == 0) {
			r = pthread_cond_timedwait(&provider_changed, &provider_lock, &until);
		}
	}
	pthread_mutex_unlock(&provider_lock);
}

long provider_private_refuse(void *mem, size_t cap, const struct proto_message *m)
{
	struct proto_writer w;
	begin_done(&w, mem, cap, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, ERROR_BUSY);
	return proto_end(&w);
}

static void work(const struct job *j)
{
	static const size_t cap = 2 * PATH_BYTES + 1024;
	struct diag d = {0};
	struct proto_session s = {0};
	struct sink_stats stats = {0};
	struct sink_options options = {0};
	uint32_t op = 0, code;
	uint64_t id = 0, found;
	proto_get_u32(&j->m, PROTO_TAG_CONTROL_CODE, &op);
	proto_get_u64(&j->m, PROTO_TAG_SESSION_ID, &id);
	bool said = proto_get_session(&j->m, &s);
	struct hosted **at = find(j->dest, id);
	uint8_t *mem = provider_alloc(cap);
	if (!mem) {
		return; /* etwd's patience ends */
	}
	struct proto_writer w;
	begin_done(&w, mem, cap, &j->m);
	if (op == PROTO_PRIVATE_START) {
		code = !inproc_start  ? ERROR_NOT_SUPPORTED
		       : said && !*at ? start(j, id, &s, &d)
				      : ERROR_INVALID_PARAMETER;
		at = find(j->dest, id);
	} else if (!*at) {
		code = ERROR_WMI_INSTANCE_NOT_FOUND;
	} else if (op == PROTO_PRIVATE_ENABLE) {
		code = enable((*at)->here, &j->m);
	} else if (op == PROTO_PRIVATE_FLUSH) {
		code = flush((*at)->here, &s, &d);
	} else if (op == PROTO_PRIVATE_UPDATE) {
		code = update((*at)->here, &s, &d);
	} else {
		code = op <= PROTO_PRIVATE_STOP ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
	}
	proto_put_u32(&w, PROTO_TAG_STATUS, code);
	if (d.text[0]) {
		proto_put_str(&w, PROTO_TAG_TEXT, d.text);
	}
	if (*at && inproc_query((*at)->here, NULL, NULL, &stats, &options, &found) == ERROR_SUCCESS) {
		if (op == PROTO_PRIVATE_STOP) {
			options.log_file = NULL; /* it goes with the session */
			end(at, &stats);
		}
		put_state(&w, &options, &stats);
	}
	long n = proto_end(&w);
	pthread_mutex_lock(&provider_lock);
	if (n > 0 && provider_dests[j->dest].serial == j->serial) {
		provider_post_locked(&provider_dests[j->dest], mem, (size_t)n);
	}
	pthread_mutex_unlock(&provider_lock);
	provider_free(mem);
}

static void *worker_main(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "etw-private-ctl");
	pthread_mutex_lock(&provider_lock);
	for (struct job *j; (j = jobs) != NULL;) {
		pthread_mutex_unlock(&provider_lock);
		if (j->left) {
			for (struct hosted **at = &hosted; *at;) {
				if ((*at)->dest == j->dest) {
					end(at, NULL);
				} else {
					at = &(*at)->next;
				}
			}
		} else {
			work(j);
		}
		pthread_mutex_lock(&provider_lock);
		/* Taken out now: whoever waits for it waits until it is done. */
		jobs = j->next;
		if (!jobs) {
			jobs_tail = &jobs;
		}
		provider_free(j);
		pthread_cond_broadcast(&provider_changed);
	}
	working = false;
	pthread_mutex_unlock(&provider_lock);
	return NULL;
}

/* Who asks. A user's own daemon has its user's rights; the one of all users serves many, and says whose word
 * it passes on. */
static bool asker_of(const struct provider_dest *d, const struct proto_message *m, struct provider_asker *ret)
{
	struct proto_session s;
	const uint8_t *p;
	size_t n = 0;
	if (d->kind != PROVIDER_DEST_SYSTEM) {
		return provider_asker_of(d->at.fd, ret);
	}
	if (!proto_get_session(m, &s)) {
		return true; /* only a START needs it */
	}
	*ret = (struct provider_asker){.uid = s.owner_uid, .gid = UINT32_MAX};
	if (proto_get(m, PROTO_TAG_GROUPS, &p, &n) && n >= 4 && n / 4 <= PROVIDER_GROUPS_MAX) {
		ret->gid = le32_get(p);
		for (size_t at = 4; at + 4 <= n; at += 4) {
			ret->group[ret->group_count++] = le32_get(p + at);
		}
	}
	return true;
}

/* Created by the listener: see the beginning of this file. */
static void start_locked(void)
{
	pthread_t t;
	if (jobs && !working) {
		working = provider_thread_create(&t, worker_main, NULL, WORKER_STACK_BYTES) == 0;
		if (working) {
			pthread_detach(t);
		}
	}
	order_store_relaxed(&worker_missing, jobs && !working ? 1u : 0u);
}

bool provider_private_start(void)
{
	if (order_load_relaxed(&worker_missing) != 0) {
		pthread_mutex_lock(&provider_lock);
		start_locked();
		pthread_mutex_unlock(&provider_lock);
	}
	return order_load_relaxed(&worker_missing) == 0;
}

static void push_locked(struct provider_dest *d, const struct proto_message *m)
{
	struct job *j = provider_alloc(sizeof *j + (m ? m->body_bytes : 0));
	if (!j) {
		uint8_t mem[64];
		long n = m ? provider_private_refuse(mem, sizeof mem, m) : 0;
		if (n > 0) {
			provider_post_locked(d, mem, (size_t)n); /* etwd asks again */
		}
		return;
	}
	*j = (struct job){0};
	j->dest = d->kind;
	j->serial = d->serial;
	j->left = m == NULL;
	if (m) {
		j->m = *m;
		j->m.body = j->body;
		memcpy(j->body, m->body, m->body_bytes);
		j->asker_known = asker_of(d, m, &j->asker);
	}
	*jobs_tail = j;
	jobs_tail = &j->next;
	start_locked();
}

void provider_private_asked_locked(struct provider_dest *d, const struct proto_message *m)
{
	push_locked(d, m);
}

void provider_private_left_locked(struct provider_dest *d)
{
	if (order_load_relaxed(&hosting) != 0 || jobs) { /* the list is the worker's */
		push_locked(d, NULL);
	}
}

bool provider_private_hosting(void)
{
	return order_load_relaxed(&hosting) != 0;
}

bool provider_private_busy_locked(void)
{
	return working && jobs != NULL;
}

void provider_private_forget(void)
{
	jobs = NULL; /* these leak, and so does what was hosted: freeing is not for signal handlers */
	jobs_tail = &jobs;
	working = false;
	order_store_relaxed(&worker_missing, 0u);
	hosted = NULL;
	order_store_relaxed(&hosting, 0u);
}
