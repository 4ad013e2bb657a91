/* SPDX-License-Identifier: MIT
 *
 * Private sessions: start to stop, who is enabled where.
 */
#include "inproc/inproc_private.h"

#include "base/cancel.h"
#include "base/match.h"
#include "etw/values/enable_properties.h"
#include "etw/values/errors.h"
#include "etw/values/filter_types.h"
#include "etw/values/provider_control.h"
#include "etw/values/session_modes.h"
#include "session/session_modes.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>

#define FLUSH_WAIT_MS 1000
/* Apart from the daemon's session ids, which are small; the low 16 bits are the session's number. */
#define ID_BASE 0x0001000000000000ull

struct inproc_state inproc = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What a change means to the registrations of one provider; told after the lock is given back. */
struct news {
	uint32_t index, code;
	uint8_t level;
	uint64_t any, all;
	struct inproc_filter *filter; /* own copy with its bytes behind it, or NULL */
};
struct news_list {
	struct news *item;
	uint32_t count, cap;
};

struct inproc_destination *inproc_destination(void)
{
	return order_load_acquire(&inproc.destination); /* B: pairs with A in inproc_drain.c */
}

/* Not in `inproc`: processes that have no private session, which is nearly all, write nothing there. */
static const struct inproc_owner *current_owner __attribute__((section(".data")));

void inproc_set_owner(const struct inproc_owner *owner)
{
	order_store_release(&current_owner, owner);
}

bool inproc_registered(const struct guid *provider)
{
	const struct inproc_owner *owner = order_load_acquire(&current_owner);
	return owner && owner->registered && owner->registered(provider);
}

static void free_strings(struct inproc_session *s)
{
	free(s->name);
	free(s->log_file);
	free(s->path);
	for (uint32_t i = 0; i < s->enable_count; i++) {
		free(s->enable[i].chosen);
	}
	free(s->enable);
}

/* ---- fork, exit ------------------------------------------------------------------------------ */

static void before_fork(void)
{
	pthread_mutex_lock(&inproc.lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&inproc.lock);
}

/* Sessions stay with the parent, whose logger thread serves them. Segment and writer are left as
 * they are: a writer of this thread may have been inside when it forked. What only the drain uses
 * was at rest, since the fork holds the lock. */
static void after_fork_child(void)
{
	order_store_relaxed(&inproc.destination, NULL);
	pool_view_destroy(inproc.view);
	pool_pass_destroy(inproc.pass);
	inproc.ctl = NULL;
	inproc.segment = NULL;
	inproc.view = NULL;
	inproc.pass = NULL;
	inproc.thread_running = false;
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		if (inproc.session[i].sink) {
			sink_forget(inproc.session[i].sink);
			free_strings(&inproc.session[i]);
		}
		memset(&inproc.session[i], 0, sizeof inproc.session[i]);
	}
	pthread_mutex_unlock(&inproc.lock);
}

static void at_exit(void)
{
	if (inproc.pid != (uint32_t)getpid()) {
		return; /* a child made behind libc's back */
	}
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		pthread_mutex_lock(&inproc.lock);
		uint64_t id = inproc.session[i].sink ? inproc.session[i].id : 0;
		pthread_mutex_unlock(&inproc.lock);
		if (id != 0) {
			inproc_stop(id, NULL, NULL, NULL);
		}
	}
}

static void prepare_once(void)
{
	if (!inproc.prepared) {
		inproc.prepared = true;
		pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		atexit(at_exit);
	}
}

/* ---- enables --------------------------------------------------------------------------------- */

static struct inproc_enable *find_enable(struct inproc_session *s, const struct guid *provider)
{
	for (uint32_t i = 0; i < s->enable_count; i++) {
		if (guid_equal(&s->enable[i].provider, provider)) {
			return &s->enable[i];
		}
	}
	return NULL;
}

static uint32_t collect_rows(const struct guid *provider, struct filter_row *rows)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		struct inproc_enable *e = s->sink ? find_enable(s, provider) : NULL;
		if (e) {
			rows[n] = e->row;
			rows[n++].bit = (uint8_t)i;
		}
	}
	return n;
}

static void publish(uint32_t index)
{
	struct inproc_registration *r = &inproc.registration[index];
	if (!inproc.destination) {
		return;
	}
	struct filter_row rows[INPROC_SESSIONS];
	uint32_t n = r->used ? collect_rows(&r->provider, rows) : 0;
	uint16_t flags = order_load_relaxed(&inproc_entry(index)->flags) & CTL_ENTRY_CLASSIC;
	pool_ctl_publish(inproc.ctl, inproc_entry_offset(index), ++r->generation, rows, n, flags);
}

/* Least restrictive wins [doc]. */
static struct news merged_state(uint32_t index, const struct guid *provider)
{
	struct filter_row rows[INPROC_SESSIONS];
	uint32_t n = collect_rows(provider, rows);
	struct news e = {.index = index,
			 .code = n ? EVENT_CONTROL_CODE_ENABLE_PROVIDER : EVENT_CONTROL_CODE_DISABLE_PROVIDER};
	e.all = n ? UINT64_MAX : 0;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t level = match_limit(rows[i].level);
		e.level = BASE_MAX(e.level, level);
		e.any |= rows[i].any;
		e.all &= rows[i].all;
	}
	return e;
}

/* The callback runs without the lock, when the enable may be gone: it gets a copy. */
static struct inproc_filter *copy_filter(const struct inproc_filter *f)
{
	struct inproc_filter *c = f && f->type ? malloc(sizeof *c + f->bytes) : NULL;
	if (c) {
		*c = (struct inproc_filter){f->type, f->bytes, c + 1};
		memcpy(c + 1, f->data, f->bytes);
	}
	return c;
}

/* What the session that enabled the provider last has to say to it. */
static const struct inproc_filter *last_filter(const struct guid *provider)
{
	const struct inproc_enable *last = NULL;
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		struct inproc_enable *e = s->sink ? find_enable(s, provider) : NULL;
		if (e && e->chosen && e->chosen->schematized.type && (!last || e->order > last->order)) {
			last = e;
		}
	}
	return last ? &last->chosen->schematized : NULL;
}

/* Publish what is in force for `provider` now and note what to tell. Out of memory: nobody is told,
 * but what is recorded is right. */
static void provider_changed(const struct guid *provider, const struct filter_row *capture,
			     const struct inproc_filter *filter, struct news_list *list)
{
	if (!capture) {
		filter = last_filter(provider);
	}
	for (uint32_t i = 0; i < INPROC_REGISTRATIONS; i++) {
		struct inproc_registration *r = &inproc.registration[i];
		if (!r->used || !guid_equal(&r->provider, provider)) {
			continue;
		}
		if (!capture) {
			publish(i);
		}
		if (VEC_ROOM(list->item, list->count, list->cap)) {
			struct news *more = list->item;
			more[list->count] = merged_state(i, provider);
			if (capture) {
				more[list->count] = (struct news){
					.index = i,
					.code = EVENT_CONTROL_CODE_CAPTURE_STATE,
					.level = match_limit(capture->level),
					.any = capture->any,
					.all = capture->all,
				};
			}
			more[list->count].filter = copy_filter(filter);
			list->count++;
		}
	}
}

/* Without the lock: callbacks may call us. */
static void tell(struct news_list *list)
{
	const struct inproc_owner *owner = order_load_acquire(&current_owner);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct news *e = &list->item[i];
		if (owner) {
			owner->notify(e->index, e->code, e->level, e->any, e->all, &GUID_ZERO, e->filter);
		}
		free(e->filter);
	}
	free(list->item);
}

/* ---- registrations --------------------------------------------------------------------------- */

int inproc_register(uint32_t index, const struct guid *provider, uint32_t *ret_entry_offset)
{
	if (index >= INPROC_REGISTRATIONS) {
		return -EINVAL;
	}
	pthread_mutex_lock(&inproc.lock);
	struct inproc_registration *r = &inproc.registration[index];
	r->used = true;
	r->provider = *provider;
	publish(index);
	pthread_mutex_unlock(&inproc.lock);
	*ret_entry_offset = inproc_entry_offset(index);
	return 0;
}

void inproc_unregister(uint32_t index)
{
	if (index >= INPROC_REGISTRATIONS) {
		return;
	}
	pthread_mutex_lock(&inproc.lock);
	struct inproc_registration *r = &inproc.registration[index];
	if (inproc.destination && r->used) {
		inproc_pass(true); /* its events still need its GUID */
	}
	r->used = false;
	publish(index);
	free(r->traits);
	r->traits = NULL;
	r->traits_bytes = 0;
	pthread_mutex_unlock(&inproc.lock);
}

uint64_t inproc_classic_handle(uint32_t index)
{
	uint64_t handle = 0, order = 0;
	if (index >= INPROC_REGISTRATIONS) {
		return 0;
	}
	pthread_mutex_lock(&inproc.lock);
	const struct inproc_registration *r = &inproc.registration[index];
	for (uint32_t i = 0; r->used && i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		const struct inproc_enable *e = s->sink ? find_enable(s, &r->provider) : NULL;
		if (e && e->order > order) {
			uint64_t flags = e->row.any == UINT64_MAX ? 0 : e->row.any & UINT32_MAX;
			order = e->order;
			handle = s->options.logger_id | (uint64_t)e->row.level << 16 | flags << 32;
		}
	}
	pthread_mutex_unlock(&inproc.lock);
	return handle;
}

size_t inproc_filter_said(uint32_t index, void *mem, size_t cap)
{
	size_t bytes = 0;
	if (index >= INPROC_REGISTRATIONS) {
		return 0;
	}
	pthread_mutex_lock(&inproc.lock);
	const struct inproc_registration *r = &inproc.registration[index];
	const struct inproc_filter *f = r->used ? last_filter(&r->provider) : NULL;
	if (f && cap >= 4 && f->bytes <= cap - 4) {
		le32_put(mem, f->type);
		memcpy((uint8_t *)mem + 4, f->data, f->bytes);
		bytes = 4 + f->bytes;
	}
	pthread_mutex_unlock(&inproc.lock);
	return bytes;
}

void inproc_set_traits(uint32_t index, const void *traits, uint32_t bytes)
{
	uint8_t *copy = bytes > 0 && bytes <= 0xFFF0 ? malloc(bytes) : NULL;
	if (index >= INPROC_REGISTRATIONS || !copy) {
		free(copy);
		return;
	}
	memcpy(copy, traits, bytes);
	pthread_mutex_lock(&inproc.lock);
	struct inproc_registration *r = &inproc.registration[index];
	if (inproc.destination && r->used) {
		inproc_pass(true);
	}
	free(r->traits);
	r->traits = copy;
	r->traits_bytes = bytes;
	pthread_mutex_unlock(&inproc.lock);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static struct inproc_session *find_session(uint64_t id, const uint16_t *name, const struct guid *guid)
{
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		if (!s->sink) {
			continue;
		}
		if (id != 0 ? s->id == id
			    : (name && name[0] && s->name && utf16_equal_nocase(s->name, name)) ||
				      (guid && guid_equal(&s->guid, guid))) {
			return s;
		}
	}
	return NULL;
}

static int copy_strings(struct inproc_session *s, const struct sink_options *o)
{
	s->name = o->name ? utf16_dup(o->name, utf16_len(o->name)) : NULL;
	s->log_file = o->log_file ? utf16_dup(o->log_file, utf16_len(o->log_file)) : NULL;
	s->path = o->path ? strdup(o->path) : NULL;
	return (o->name && !s->name) || (o->log_file && !s->log_file) || (o->path && !s->path) ? -ENOMEM : 0;
}

/* "x.etl" -> "x.etl_<pid>" in both spellings. */
static int add_pid_suffix(struct inproc_session *s)
{
	char suffix[16];
	int n = snprintf(suffix, sizeof suffix, "_%u", inproc.pid);
	char *path = malloc(strlen(s->path) + (size_t)n + 1);
	size_t units = s->log_file ? utf16_len(s->log_file) : 0;
	uint16_t *log_file = malloc(2 * (units + (size_t)n + 1));
	if (!path || !log_file) {
		free(path);
		free(log_file);
		return -ENOMEM;
	}
	sprintf(path, "%s%s", s->path, suffix);
	if (units > 0) {
		memcpy(log_file, s->log_file, 2 * units);
	}
	for (int i = 0; i <= n; i++) {
		log_file[units + (size_t)i] = (uint8_t)suffix[i];
	}
	free(s->path);
	s->path = path;
	if (s->log_file) {
		free(s->log_file);
		s->log_file = log_file;
	} else {
		free(log_file);
	}
	return 0;
}

static int create_sink(struct inproc_session *s, bool suffixed, struct diag *d)
{
	bool in_proc = suffixed || (s->options.props.mode & EVENT_TRACE_PRIVATE_IN_PROC);
	for (int attempt = 0;; attempt++) {
		s->options.name = s->name;
		s->options.log_file = s->log_file;
		s->options.path = s->path;
		if (d) {
			diag_clear(d);
		}
		int err = sink_create(&s->options, &s->sink, d);
		/* Several processes run the same private session: the first one has the plain
		 * name, all others add their id [doc]. */
		if (err == -EBUSY && !in_proc && attempt == 0) {
			err = add_pid_suffix(s);
			if (err == 0) {
				continue;
			}
		}
		return err;
	}
}

/* A free slot, or NULL with the reason. */
static struct inproc_session *claim_slot(const struct inproc_session_args *a, uint32_t *ret_code)
{
	uint32_t in_proc = 0;
	struct inproc_session *free_slot = NULL;
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		if (!s->sink) {
			free_slot = free_slot ? free_slot : s;
			continue;
		}
		in_proc += (s->options.props.mode & EVENT_TRACE_PRIVATE_IN_PROC) != 0;
		if ((a->sink.name && s->name && utf16_equal_nocase(s->name, a->sink.name)) ||
		    (!a->from_outside && !guid_is_zero(&a->sink.props.guid) &&
		     guid_equal(&s->guid, &a->sink.props.guid))) {
			*ret_code = ERROR_ALREADY_EXISTS;
			return NULL;
		}
	}
	*ret_code = ERROR_NO_SYSTEM_RESOURCES;
	if ((a->sink.props.mode & EVENT_TRACE_PRIVATE_IN_PROC) && in_proc >= INPROC_IN_PROC_MAX) {
		return NULL;
	}
	return free_slot;
}

static uint32_t start_locked(struct inproc_session_args *a, uint64_t *ret_id, struct diag *d)
{
	if (inproc.pid != (uint32_t)getpid()) {
		inproc.pid = (uint32_t)getpid();
		pool_identity_learn(&inproc.identity, inproc.pid, (uint32_t)getuid());
	}
	uint32_t code;
	struct inproc_session *slot = claim_slot(a, &code);
	if (!slot) {
		return code;
	}
	prepare_once();
	struct inproc_session s = {.guid = a->sink.props.guid, .options = a->sink};
	s.options.logger_id = (uint16_t)(INPROC_LOGGER_BASE + (slot - inproc.session));
	int err = guid_is_zero(&s.guid) ? guid_random(&s.guid) : 0;
	if (err == 0) {
		err = inproc_memory_create();
	}
	if (err == 0) {
		err = copy_strings(&s, &a->sink);
	}
	if (err == 0 && a->suffix && s.path) {
		err = add_pid_suffix(&s);
	}
	if (err == 0) {
		err = sink_adjust(&s.options);
	}
	if (err == 0) {
		clock_pair(&s.start_raw, &s.start_filetime);
		err = create_sink(&s, a->suffix, d);
	}
	if (err == 0) {
		err = inproc_thread_start();
		if (err < 0) {
			sink_stop(s.sink, NULL);
		}
	}
	if (err < 0) {
		free_strings(&s);
		return err == -EBUSY                       ? ERROR_BAD_PATHNAME
		       : err == -ENOENT || err == -ENOTDIR ? ERROR_PATH_NOT_FOUND
							   : win32_from_errno(err);
	}
	s.id = ID_BASE | (++inproc.next_id & 0xFFFFFFFFu) << 16 | s.options.logger_id;
	*slot = s;
	*ret_id = s.id;
	return ERROR_SUCCESS;
}

uint32_t inproc_start(struct inproc_session_args *a, uint64_t *ret_id, struct diag *d)
{
	BASE_NOT_CANCELLED;
	const char *why;
	uint32_t code = session_modes_check(&a->sink.props, a->sink.path ? SESSION_FILE_PLAIN : SESSION_FILE_NONE,
					    SESSION_RUNNER_HERE, &why);
	if (code != ERROR_SUCCESS) {
		diag_at(d, UINT64_MAX, "%s", why);
		return code;
	}
	pthread_mutex_lock(&inproc.lock);
	code = start_locked(a, ret_id, d);
	pthread_mutex_unlock(&inproc.lock);
	const struct inproc_owner *owner = order_load_acquire(&current_owner);
	/* Afterwards: who registers from now on finds the destination, who did before is found. */
	if (code == ERROR_SUCCESS && owner && owner->wanted) {
		owner->wanted();
	}
	return code;
}

static bool any_session(void)
{
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		if (inproc.session[i].sink) {
			return true;
		}
	}
	return false;
}

uint32_t inproc_stop(uint64_t id, const uint16_t *name, const struct guid *guid, struct sink_stats *ret)
{
	BASE_NOT_CANCELLED;
	struct news_list list = {0};
	pthread_mutex_lock(&inproc.lock);
	struct inproc_session *slot = find_session(id, name, guid);
	if (!slot) {
		pthread_mutex_unlock(&inproc.lock);
		return ERROR_WMI_INSTANCE_NOT_FOUND;
	}
	/* Writers stop first, then what they wrote is drained, then the slot is free. */
	struct inproc_session s = *slot;
	slot->enable_count = 0;
	for (uint32_t i = 0; i < s.enable_count; i++) {
		provider_changed(&s.enable[i].provider, NULL, NULL, &list);
	}
	slot->enable_count = s.enable_count;
	inproc_pass(true);
	if (slot->images && (s.options.props.mode & EVENT_TRACE_FILE_MODE_CIRCULAR)) {
		/* What was said at the beginning may be overwritten. */
		inproc_images_say(slot, inproc_session_time(slot, clock_now()), false);
	}
	memset(slot, 0, sizeof *slot);
	bool last = !any_session() && inproc.thread_running;
	pthread_t thread = inproc.thread;
	if (last) {
		inproc_thread_dismiss();
	}
	pthread_mutex_unlock(&inproc.lock);
	if (last) {
		pthread_join(thread, NULL);
	}
	int err = sink_stop(s.sink, ret);
	free_strings(&s);
	tell(&list);
	return win32_from_errno(err);
}

void inproc_retire_full(void)
{
	struct news_list list = {0};
	pthread_mutex_lock(&inproc.lock);
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		struct sink_stats st;
		if (!s->sink || s->enable_count == 0) {
			continue;
		}
		sink_stats(s->sink, &st);
		while (st.file_full && s->enable_count > 0) {
			struct inproc_enable *e = &s->enable[--s->enable_count];
			free(e->chosen);
			provider_changed(&e->provider, NULL, NULL, &list);
		}
	}
	pthread_mutex_unlock(&inproc.lock);
	tell(&list);
}

uint32_t inproc_query(uint64_t id, const uint16_t *name, const struct guid *guid, struct sink_stats *ret,
		      struct sink_options *ret_options, uint64_t *ret_id)
{
	BASE_NOT_CANCELLED;
	pthread_mutex_lock(&inproc.lock);
	struct inproc_session *s = find_session(id, name, guid);
	if (s) {
		sink_stats(s->sink, ret);
		*ret_options = s->options;
		*ret_id = s->id;
	}
	pthread_mutex_unlock(&inproc.lock);
	return s ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
}

/* What is in memory is copied with what its stacks mean. */
static int flush(struct inproc_session *s, const char *path, struct diag *d)
{
	bool explain = s->images && (s->options.props.mode & EVENT_TRACE_BUFFERING_MODE);
	int err = explain ? sink_flush_held(s->sink, path, d) : sink_flush(s->sink, path, d);
	if (err == 0 && explain) {
		inproc_images_say(s, inproc_session_time(s, clock_now()), true);
		sink_flush_explained(s->sink);
	}
	return err;
}

uint32_t inproc_flush(uint64_t id, const uint16_t *name, const struct guid *guid)
{
	BASE_NOT_CANCELLED;
	pthread_mutex_lock(&inproc.lock);
	struct inproc_session *s = find_session(id, name, guid);
	int err = -ENOENT;
	if (s) {
		inproc_pass(true);
		err = flush(s, NULL, NULL);
		/* With the lock, because the sink must not go meanwhile; hence not for long. A
		 * timeout is no failure: the file thread goes on. */
		if (err == 0) {
			sink_drain_wait(s->sink, FLUSH_WAIT_MS);
		}
	}
	pthread_mutex_unlock(&inproc.lock);
	return s ? win32_from_errno(err) : ERROR_WMI_INSTANCE_NOT_FOUND;
}

/* With the lock: the next file of a session, with the suffix if another process has it. */
static int switch_file(struct inproc_session *s, const char *path, const uint16_t *log_file, struct diag *d)
{
	struct inproc_session next = {.path = strdup(path), .log_file = utf16_dup(log_file, utf16_len(log_file))};
	bool in_proc = s->options.props.mode & EVENT_TRACE_PRIVATE_IN_PROC;
	int err = next.path && next.log_file ? 0 : -ENOMEM;
	if (err == 0) {
		inproc_pass(true);
		err = sink_set_file(s->sink, next.path, next.log_file, in_proc ? d : NULL);
	}
	if (err == -EBUSY && !in_proc) {
		err = add_pid_suffix(&next);
		err = err ? err : sink_set_file(s->sink, next.path, next.log_file, d);
	}
	if (err < 0) {
		free_strings(&next);
		return err;
	}
	free(s->path);
	free(s->log_file);
	s->options.path = s->path = next.path;
	s->options.log_file = s->log_file = next.log_file;
	return 0;
}

uint32_t inproc_update(uint64_t id, uint32_t flush_timer, const char *path, const uint16_t *log_file, struct diag *d)
{
	BASE_NOT_CANCELLED;
	int err = 0;
	pthread_mutex_lock(&inproc.lock);
	struct inproc_session *s = find_session(id, NULL, NULL);
	if (s && path && s->options.props.mode & EVENT_TRACE_BUFFERING_MODE) {
		inproc_pass(true);
		err = flush(s, path, d);
		if (err == 0) {
			sink_drain_wait(s->sink, FLUSH_WAIT_MS);
		}
	} else if (s && path && s->path && strcmp(path, s->path) == 0) {
		err = -EBUSY;
	} else if (s && path) {
		err = switch_file(s, path, log_file, d);
	}
	if (s && err == 0 && flush_timer != 0) {
		s->options.props.flush_timer = flush_timer;
		sink_set_limits(s->sink, 0, flush_timer);
	}
	pthread_mutex_unlock(&inproc.lock);
	return !s ? ERROR_WMI_INSTANCE_NOT_FOUND : err == -EBUSY ? ERROR_BAD_PATHNAME : win32_from_errno(err);
}

static int set_enable(struct inproc_session *s, const struct guid *provider, const struct filter_row *row,
		      uint32_t properties, struct inproc_chosen *chosen)
{
	struct inproc_enable *e = find_enable(s, provider);
	if (!e) {
		if (!VEC_ROOM(s->enable, s->enable_count, s->enable_cap)) {
			return -ENOMEM;
		}
		e = &s->enable[s->enable_count++];
		*e = (struct inproc_enable){.provider = *provider};
	}
	free(e->chosen);
	e->chosen = chosen;
	e->row = *row;
	e->properties = properties;
	e->order = ++inproc.next_order;
	return 0;
}

/* Copies the filters; *ret NULL when there are none. A Win32 code. */
static uint32_t choose(const struct guid *provider, const struct inproc_filter *filter, uint32_t count,
		       struct inproc_chosen **ret)
{
	size_t bytes = 0;
	struct diag d = {0};
	for (uint32_t i = 0; i < count; i++) {
		bytes += BASE_ALIGN8(filter[i].bytes);
	}
	*ret = NULL;
	if (count == 0) {
		return ERROR_SUCCESS;
	}
	struct inproc_chosen *c = calloc(1, sizeof *c + bytes);
	if (!c) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	uint8_t *at = c->bytes;
	for (uint32_t i = 0; i < count; i++) {
		const struct inproc_filter *f = &filter[i];
		if (f->bytes) {
			memcpy(at, f->data, f->bytes);
		}
		if (filter_select_add(&c->select, provider, f->type, at, f->bytes, &d) < 0) {
			free(c);
			return ERROR_INVALID_PARAMETER;
		}
		if (f->type == EVENT_FILTER_TYPE_SCHEMATIZED) {
			c->schematized = (struct inproc_filter){f->type, f->bytes, at};
		}
		at += BASE_ALIGN8(f->bytes);
	}
	*ret = c;
	return ERROR_SUCCESS;
}

uint32_t inproc_enable(uint64_t id, const struct guid *provider, uint32_t code, uint8_t level, uint64_t any,
		       uint64_t all, uint32_t properties)
{
	return inproc_enable_filtered(id, provider, code, level, any, all, properties, NULL, 0);
}

uint32_t inproc_enable_filtered(uint64_t id, const struct guid *provider, uint32_t code, uint8_t level, uint64_t any,
				uint64_t all, uint32_t properties, const struct inproc_filter *filter, uint32_t count)
{
	BASE_NOT_CANCELLED;
	struct inproc_chosen *chosen;
	uint32_t result = code > EVENT_CONTROL_CODE_CAPTURE_STATE ? (uint32_t)ERROR_INVALID_PARAMETER
								  : choose(provider, filter, count, &chosen);
	if (result != ERROR_SUCCESS) {
		return result;
	}
	struct filter_row row = {
		.level = level,
		.any = match_any(any),
		.all = all,
		.props = pool_row_props(properties),
	};
	struct news_list list = {0};
	pthread_mutex_lock(&inproc.lock);
	struct inproc_session *s = find_session(id, NULL, NULL);
	result = s ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
	if (s && code != EVENT_CONTROL_CODE_CAPTURE_STATE) {
		inproc_pass(true); /* by the rules that held until now */
	}
	struct inproc_enable *old = s ? find_enable(s, provider) : NULL;
	if (s && code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
		if (set_enable(s, provider, &row, properties, chosen) < 0) {
			result = ERROR_NOT_ENOUGH_MEMORY;
		} else {
			chosen = NULL; /* the enable's */
		}
	} else if (s && code == EVENT_CONTROL_CODE_DISABLE_PROVIDER && old) {
		free(old->chosen);
		*old = s->enable[--s->enable_count];
	}
	/* A rundown is the affair of providers this session listens to. */
	if (result == ERROR_SUCCESS && (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER || old)) {
		bool capture = code == EVENT_CONTROL_CODE_CAPTURE_STATE;
		/* Nothing said: what the session has enabled. */
		const struct filter_row *wish = level == 0 && any == 0 && old ? &old->row : &row;
		provider_changed(provider, capture ? wish : NULL, chosen ? &chosen->schematized : NULL, &list);
	}
	pthread_mutex_unlock(&inproc.lock);
	free(chosen);
	tell(&list);
	return result;
}
