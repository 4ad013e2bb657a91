/* SPDX-License-Identifier: MIT
 * Registrations: taking and giving back an index, waiting for answers, what enabling means.
 */
#include "base/cancel.h"
#include "inproc/inproc.h"
#include "provider/provider_callback.h"
#include "provider/provider_classic.h"
#include "provider/provider_dest.h"
#include "provider/provider_fork.h"
#include "provider/provider_images.h"
#include "provider/provider_private.h"
#include "provider/provider_scarce.h"
#include "provider/provider_unload.h"
#include "etw/values/provider_control.h"

#include <stdlib.h>
#include <time.h>

#define INDEX_WAIT_MS     1000u
#define FILTER_SAID_BYTES (4 + 1024) /* type and data of a schematized filter */
#define LATE_BUF_BYTES    1024u      /* for HELLO and REGISTER */

/* All zero is PTHREAD_MUTEX_INITIALIZER. */
struct provider_cold provider_cold __attribute__((aligned(4096)));
static uint32_t wait_ms = PROVIDER_WAIT_MS;

uint32_t provider_wait_ms(void)
{
	return wait_ms;
}

static void read_environment(void)
{
	const char *said = secure_getenv("OPENETW_WAIT_MS");
	provider_patience_init(PROVIDER_PATIENCE_MS);
	if (said && *said) {
		wait_ms = (uint32_t)BASE_MIN(strtoul(said, NULL, 10), PROVIDER_WAIT_MS_MAX);
		provider_patience_init(0);
	}
}

struct timespec provider_deadline(uint32_t ms)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += (long)(ms % 1000) * 1000000;
	ts.tv_sec += ms / 1000 + ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

void provider_registry_init(void)
{
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&provider_changed, &attr);
	pthread_condattr_destroy(&attr);
}

/* ---- in-process destination ------------------------------------------------------------------ */

/* Once there is a private session the control block exists, and the entry in it is ours. */
static void inproc_attach_locked(uint32_t index)
{
	struct provider_registration *reg = &provider_registrations[index];
	struct inproc_destination *d = inproc_destination();
	if (d && reg->inproc_known && reg->entry[PROVIDER_DEST_INPROC] == &provider_entry_off) {
		reg->entry[PROVIDER_DEST_INPROC] =
			(const struct ctl_entry *)(const void *)((uint8_t *)d->ctl + reg->inproc_offset);
		provider_refresh_locked(index);
	}
}

static void inproc_register_locked(uint32_t index)
{
	struct provider_registration *reg = &provider_registrations[index];
	bool wanted = provider_cold.inproc_wanted || inproc_destination() != NULL;
	if (!wanted || reg->inproc_known || inproc_register(index, &reg->guid, &reg->inproc_offset) != 0) {
		return;
	}
	reg->inproc_known = true;
	if (reg->traits) {
		inproc_set_traits(index, reg->traits, reg->traits_bytes);
	}
	inproc_attach_locked(index);
	const struct ctl_entry *e = reg->entry[PROVIDER_DEST_INPROC];
	if (order_load_relaxed(&e->enabled) != 0) { /* a session waited for this provider */
		uint8_t said[FILTER_SAID_BYTES];
		struct provider_notice n = {
			.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
			.level = order_load_relaxed(&e->level_max),
			.any = order_load_relaxed(&e->any_union),
			.all = order_load_relaxed(&e->all_inter),
			.classic_handle = inproc_classic_handle(index),
			.filter = said,
			.filter_bytes = inproc_filter_said(index, said, sizeof said),
		};
		n.filter = n.filter_bytes ? said : NULL;
		provider_notice_locked(index, PROVIDER_DEST_INPROC, &n);
	}
}

/* The first private session starts. */
static void inproc_wanted(void)
{
	pthread_mutex_lock(&provider_lock);
	provider_cold.inproc_wanted = true;
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		if (provider_registrations[i].state == PROVIDER_REG_LIVE) {
			inproc_register_locked(i);
		}
	}
	pthread_mutex_unlock(&provider_lock);
}

static bool registered_here(const struct guid *provider)
{
	bool found = false;
	pthread_mutex_lock(&provider_lock);
	for (uint32_t i = 0; i < provider_registrations_top && !found; i++) {
		found = provider_registrations[i].state == PROVIDER_REG_LIVE &&
			guid_equal(&provider_registrations[i].guid, provider);
	}
	pthread_mutex_unlock(&provider_lock);
	return found;
}

/* Whoever enables a provider of their own process finds it called, unless it takes long. */
static void wait_called_locked(uint32_t index)
{
	const struct provider_registration *reg = &provider_registrations[index];
	struct timespec until = provider_deadline(wait_ms);
	uint32_t generation = reg->generation, want = reg->jobs_queued;
	while (!provider_callback_is_self() && reg->generation == generation && (int32_t)(want - reg->jobs_done) > 0 &&
	       pthread_cond_timedwait(&provider_changed, &provider_lock, &until) == 0) {
	}
}

static void inproc_notified(uint32_t index, uint32_t code, uint8_t level, uint64_t any, uint64_t all,
			    const struct guid *source, const struct inproc_filter *filter)
{
	struct provider_notice n = {.code = code, .level = level, .any = any, .all = all};
	uint8_t said[FILTER_SAID_BYTES];
	if (index >= PROVIDER_REGISTRATIONS_MAX) {
		return;
	}
	if (filter && filter->bytes <= sizeof said - 4) {
		le32_put(said, filter->type);
		memcpy(said + 4, filter->data, filter->bytes);
		n.filter = said;
		n.filter_bytes = 4 + filter->bytes;
	}
	if (source) {
		n.source = *source;
	}
	n.classic_handle = inproc_classic_handle(index);
	pthread_mutex_lock(&provider_lock);
	if (provider_registrations[index].state == PROVIDER_REG_LIVE) {
		inproc_attach_locked(index);
		provider_notice_locked(index, PROVIDER_DEST_INPROC, &n);
		wait_called_locked(index);
	}
	pthread_mutex_unlock(&provider_lock);
}

static const struct inproc_owner inproc_owner = {
	.notify = inproc_notified,
	.wanted = inproc_wanted,
	.registered = registered_here,
};

/* ---- what enabling means --------------------------------------------------------------------- */

void provider_refresh_locked(uint32_t index)
{
	const struct provider_registration *reg = &provider_registrations[index];
	struct provider_hot *hot = &provider_memory.hot[index];
	const struct ctl_entry *only = &provider_entry_off;
	uint32_t count = 0;
	for (int d = 0; d < PROVIDER_DESTS; d++) {
		order_store_release(&hot->all[d], reg->entry[d]);
		if (reg->entry[d] != &provider_entry_off) {
			only = reg->entry[d];
			count++;
		}
	}
	/* The in-process control block has no link behind it, so it always takes the general path.
	 */
	bool general = count > 1 || reg->entry[PROVIDER_DEST_INPROC] != &provider_entry_off;
	order_store_release(&hot->entry, general ? &provider_entry_on : only);
}

/* Least restrictive over the destinations; each daemon has merged its sessions already. A capture
 * of state is one session's business: it carries what that session asked for. */
struct provider_notice provider_notice_merged(const struct provider_registration *reg, const struct provider_notice *n)
{
	struct provider_notice m = *n;
	bool on = false;
	if (n->code == EVENT_CONTROL_CODE_CAPTURE_STATE) {
		return m;
	}
	m.level = 0;
	m.any = 0;
	m.all = 0;
	for (int d = 0; d < PROVIDER_DESTS; d++) {
		const struct provider_said *s = &reg->said[d];
		if (!s->on) {
			continue;
		}
		m.level = BASE_MAX(m.level, s->level);
		m.any |= s->any;
		m.all = on ? m.all & s->all : s->all;
		on = true;
	}
	m.code = on ? EVENT_CONTROL_CODE_ENABLE_PROVIDER : EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	return m;
}

void provider_notice_locked(uint32_t index, uint32_t dest, const struct provider_notice *n)
{
	struct provider_registration *reg = &provider_registrations[index];
	struct provider_said *said = &reg->said[dest];
	if (reg->state == PROVIDER_REG_LIVE) {
		uint64_t old_handle = said->classic_handle;
		if (n->code != EVENT_CONTROL_CODE_CAPTURE_STATE) {
			said->on = n->code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
			said->level = n->level;
			said->any = n->any;
			said->all = n->all;
			said->classic_handle = said->on ? n->classic_handle : 0;
		}
		struct provider_notice job = *n;
		if (reg->flags & PROVIDER_HOT_CLASSIC) {
			provider_classic_refresh_locked();
			if (job.classic_handle == 0) {
				job.classic_handle = old_handle;
			}
		} else {
			job = provider_notice_merged(reg, n);
		}
		if ((reg->enable_fn || reg->wmi_fn) && provider_callback_push_locked(index, dest, &job) == 0) {
			return;
		}
	}
	if (n->wants_answer && dest < BASE_ARRAY_LEN(provider_dests)) {
		provider_post_notified_locked(&provider_dests[dest], n->notify_id);
	}
}

/* ---- register -------------------------------------------------------------------------------- */

/* Round robin, so that an index rests as long as possible before it means another provider. */
static int take_index_locked(uint32_t *ret)
{
	for (uint32_t k = 0; k < PROVIDER_REGISTRATIONS_MAX; k++) {
		uint32_t i = (provider_cold.next_index + k) % PROVIDER_REGISTRATIONS_MAX;
		if (provider_registrations[i].state == PROVIDER_REG_FREE) {
			provider_cold.next_index = i + 1;
			provider_registrations_top = BASE_MAX(provider_registrations_top, i + 1);
			*ret = i;
			return 0;
		}
	}
	return -ENOSPC;
}

static bool some_leave(void)
{
	for (uint32_t i = 0; i < PROVIDER_REGISTRATIONS_MAX; i++) {
		if (provider_registrations[i].state == PROVIDER_REG_LEAVING) {
			return true;
		}
	}
	return false;
}

/* All are taken. Those of libraries that were unloaded without a word are given back, as soon as the daemons
 * have answered. */
static int make_index_locked(uint32_t *ret)
{
	struct timespec until = provider_deadline(INDEX_WAIT_MS);
	int r = -ENOSPC, waited = 0;
	provider_module_sweep_locked(true);
	while ((r = take_index_locked(ret)) < 0 && some_leave() && waited == 0) {
		waited = pthread_cond_timedwait(&provider_changed, &provider_lock, &until);
	}
	return r;
}

void provider_left_locked(uint32_t index, uint32_t dest)
{
	struct provider_registration *reg = &provider_registrations[index];
	reg->leaving &= ~(1u << dest);
	if (reg->state == PROVIDER_REG_LEAVING && reg->leaving == 0) {
		reg->state = PROVIDER_REG_FREE;
	}
}

/* A daemon that will answer, as far as we know. */
static bool answer_missing(const struct provider_registration *reg, int d)
{
	const struct provider_dest *dest = &provider_dests[d];
	return dest->state == PROVIDER_DEST_STARTING ||
	       (dest->state == PROVIDER_DEST_ATTACHED && !reg->said[d].registered);
}

/* Nobody waits any longer for daemons whose answer is missing. What a session misses for that is to be counted. */
static void tell_late_locked(uint32_t index)
{
	const struct provider_registration *reg = &provider_registrations[index];
	uint8_t buf[LATE_BUF_BYTES];
	for (int d = 0; d < 2; d++) {
		struct provider_dest *dest = &provider_dests[d];
		bool missing = answer_missing(reg, d) ||
			       (dest->state == PROVIDER_DEST_ATTACHED && reg->traits && !reg->said[d].traits_known);
		if (missing && !reg->said[d].on && provider_patience_wanted(dest, reg)) {
			provider_attach_late(dest, index, buf, sizeof buf);
		}
	}
}

/* The callback of a provider that is enabled did not get its turn yet, or no processor, and that is waited for on. One
 * that sleeps may wait for a lock of our caller. */
static bool callback_due_locked(const struct provider_registration *reg, struct timespec *until)
{
	return !provider_callback_is_self() && reg->jobs_done != reg->jobs_queued &&
	       (!reg->running || provider_callback_is_runnable()) && provider_patience_more(NULL, true, until);
}

/* So that the very first event after EventRegister is captured, as on Windows; and who enables it
 * after our return finds it registered. */
static void wait_registered_locked(uint32_t index, uint32_t generation)
{
	struct provider_registration *reg = &provider_registrations[index];
	struct timespec until = provider_deadline(provider_wait_ms());
	bool self = provider_callback_is_self(), given_up[2];
	for (int d = 0; d < 2; d++) {
		const struct provider_dest *dest = &provider_dests[d];
		given_up[d] = dest->unresponsive &&
			      !provider_patience_more(dest, provider_patience_wanted(dest, reg), &until);
	}
	while (reg->generation == generation && reg->state == PROVIDER_REG_LIVE) {
		bool missing = false, longer = false;
		for (int d = 0; d < 2; d++) {
			missing |= !given_up[d] && answer_missing(reg, d);
		}
		/* A private session somebody started for this provider begins with its first event. */
		bool preparing = !self && provider_private_busy_locked();
		if (!missing && !preparing && (self || reg->jobs_done == reg->jobs_queued)) {
			return;
		}
		if (pthread_cond_timedwait(&provider_changed, &provider_lock, &until) != ETIMEDOUT) {
			continue;
		}
		for (int d = 0; d < 2; d++) {
			struct provider_dest *dest = &provider_dests[d];
			if (given_up[d] || !answer_missing(reg, d)) {
				continue;
			}
			if (provider_patience_more(dest, provider_patience_wanted(dest, reg), &until)) {
				longer = true;
			} else {
				given_up[d] = dest->unresponsive = true;
			}
		}
		if (!longer && !callback_due_locked(reg, &until)) {
			return;
		}
	}
}

static void init_once_locked(void)
{
	if (!provider_cold.initialised) {
		provider_cold.initialised = true;
		provider_registry_init();
		read_environment();
		provider_dests_init_locked();
		provider_fork_watch();
		inproc_set_owner(&inproc_owner);
	}
}

int provider_register(const struct provider_register_args *a, uint64_t *ret_handle, uint32_t *ret_wmi_result)
{
	BASE_NOT_CANCELLED;
	int saved = errno;
	uint32_t index;
	provider_fork_check();
	int r = provider_region_ready();
	if (r < 0) {
		return r;
	}
	provider_described_look();
	pthread_mutex_lock(&provider_lock);
	init_once_locked();
	r = take_index_locked(&index);
	if (r < 0) {
		r = make_index_locked(&index);
	}
	if (r < 0) {
		pthread_mutex_unlock(&provider_lock);
		errno = saved;
		return r;
	}
	struct provider_registration *reg = &provider_registrations[index];
	uint32_t generation = reg->generation + 1 ? reg->generation + 1 : 1;
	const void *code = a->wmi_fn ? (const void *)(uintptr_t)a->wmi_fn : (const void *)(uintptr_t)a->enable_fn;
	*reg = (struct provider_registration){
		.state = PROVIDER_REG_LIVE,
		.generation = generation,
		.guid = a->guid,
		.enable_fn = a->enable_fn,
		.wmi_fn = a->wmi_fn,
		.context = a->context,
		.module = provider_module_get_locked(code ? code : a->caller),
		.module_only = code == NULL,
		.flags = a->classic ? PROVIDER_HOT_CLASSIC : 0,
		.entry = {&provider_entry_off, &provider_entry_off, &provider_entry_off},
	};
	struct provider_hot *hot = &provider_memory.hot[index];
	hot->flags = reg->flags;
	provider_refresh_locked(index);
	uint64_t handle = (uint64_t)generation << 32 | (index + 1);
	provider_handle_publish_locked(index, handle);
	/* Before any callback: providers write events from inside it. */
	*ret_handle = handle;
	if (code && provider_callback_start_locked()) {
		provider_fork_tell_locked();
	}
	inproc_register_locked(index);
	for (int d = 0; d < 2; d++) {
		provider_post_register_locked(&provider_dests[d], index);
	}
	provider_threads_start_locked(true);
	wait_registered_locked(index, generation);
	if (reg->generation == generation && reg->state == PROVIDER_REG_LIVE) {
		tell_late_locked(index);
	}
	*ret_wmi_result = reg->generation == generation ? reg->wmi_result : 0;
	bool stacks = provider_stacks_wanted_of_locked(index);
	pthread_mutex_unlock(&provider_lock);
	if (BASE_UNLIKELY(stacks)) {
		provider_images_look(true);
	}
	errno = saved;
	return 0;
}

/* ---- with a handle ----------------------------------------------------------------------------
 */

/* The live registration of a handle, with the lock held; NULL (and no lock) otherwise. */
static struct provider_registration *acquire(uint64_t handle, bool classic)
{
	provider_fork_check();
	uint32_t index = (uint32_t)handle - 1;
	if (index >= PROVIDER_REGISTRATIONS_MAX || handle >> 32 == 0) {
		return NULL;
	}
	pthread_mutex_lock(&provider_lock);
	struct provider_registration *reg = &provider_registrations[index];
	if (reg->state == PROVIDER_REG_LIVE && reg->generation == (uint32_t)(handle >> 32) &&
	    classic == ((reg->flags & PROVIDER_HOT_CLASSIC) != 0)) {
		return reg;
	}
	pthread_mutex_unlock(&provider_lock);
	return NULL;
}

int provider_unregister(uint64_t handle, bool classic)
{
	BASE_NOT_CANCELLED;
	struct provider_registration *reg = acquire(handle, classic);
	if (!reg) {
		return -EBADF;
	}
	uint32_t index = (uint32_t)(reg - provider_registrations);
	if (BASE_UNLIKELY(provider_stacks_wanted_of_locked(index))) {
		/* Mostly a program's last act: what it loaded since is told before it ends. */
		pthread_mutex_unlock(&provider_lock);
		provider_images_look(true);
		reg = acquire(handle, classic);
		if (!reg) {
			return -EBADF;
		}
	}
	provider_handle_publish_locked(index, 0);
	reg->state = PROVIDER_REG_LEAVING;
	for (int d = 0; d < PROVIDER_DESTS; d++) {
		reg->entry[d] = &provider_entry_off;
		reg->said[d].classic_handle = 0;
	}
	provider_refresh_locked(index);
	provider_classic_refresh_locked();
	/* Events in flight carry the index: it is free again when every daemon has answered. */
	reg->leaving = 1u << PROVIDER_DESTS;
	for (int d = 0; d < 2; d++) {
		struct provider_dest *dest = &provider_dests[d];
		if (dest->state == PROVIDER_DEST_ATTACHED && (dest->told[index / 32] >> (index % 32) & 1)) {
			reg->leaving |= 1u << d;
			dest->told[index / 32] &= ~(1u << (index % 32));
			if (provider_post_unregister_locked(dest, index) == 0) {
				dest->stale[index / 32] |= 1u << (index % 32);
			}
		} else if (dest->told[index / 32] >> (index % 32) & 1) {
			/* Told before the daemon has answered our HELLO: taken back after that. */
			dest->told[index / 32] &= ~(1u << (index % 32));
			dest->stale[index / 32] |= 1u << (index % 32);
		}
	}
	if (reg->inproc_known) {
		inproc_unregister(index);
	}
	if (provider_is_scarce()) {
		provider_threads_start_locked(false);
	}
	/* After return no callback runs; from inside a callback there is nothing to wait for. */
	while (reg->running && !provider_callback_is_self()) {
		pthread_cond_wait(&provider_changed, &provider_lock);
	}
	provider_module_put_locked(reg->module);
	reg->module = NULL;
	free(reg->binary);
	reg->binary = NULL;
	free(reg->traits);
	reg->traits = NULL;
	reg->traits_bytes = 0;
	provider_left_locked(index, PROVIDER_DESTS);
	pthread_mutex_unlock(&provider_lock);
	return 0;
}

static bool traits_valid(const uint8_t *blob, uint32_t bytes)
{
	if (bytes < 3 || bytes > UINT16_MAX || le16_get(blob) != bytes) {
		return false;
	}
	const uint8_t *nul = memchr(blob + 2, 0, bytes - 2);
	for (const uint8_t *p = nul ? nul + 1 : NULL; p && p < blob + bytes; p += le16_get(p)) {
		size_t left = (size_t)(blob + bytes - p);
		if (left < 3 || le16_get(p) < 3 || le16_get(p) > left) {
			return false;
		}
	}
	return nul != NULL;
}

/* Before the attachment REGISTER will carry them, and that is waited for only when a session may be
 * waiting for this provider's group. */
static bool traits_missing(const struct provider_registration *reg, int d)
{
	const struct provider_dest *dest = &provider_dests[d];
	const struct provider_said *said = &reg->said[d];
	if (dest->state == PROVIDER_DEST_ATTACHED && !said->traits_known) {
		return true;
	}
	return answer_missing(reg, d) && provider_patience_wanted(dest, reg);
}

/* Until each daemon knows them: before the first event that relies on it is in the pool, and so
 * that a session which enabled the provider's group has it from the first event on. */
static void wait_traits_locked(uint32_t index)
{
	struct provider_registration *reg = &provider_registrations[index];
	uint32_t generation = reg->generation;
	struct timespec until = provider_deadline(provider_wait_ms());
	for (int d = 0; d < 2; d++) {
		struct provider_dest *dest = &provider_dests[d];
		reg->said[d].traits_asked = provider_post_traits_locked(dest, index) != 0;
		reg->said[d].traits_known = !reg->said[d].traits_asked && dest->state != PROVIDER_DEST_ATTACHED;
	}
	for (int d = 0; d < 2; d++) {
		struct provider_dest *dest = &provider_dests[d];
		bool late = dest->unresponsive;
		while (reg->generation == generation && reg->state == PROVIDER_REG_LIVE && traits_missing(reg, d)) {
			if (!late && pthread_cond_timedwait(&provider_changed, &provider_lock, &until) != ETIMEDOUT) {
				continue;
			}
			late = !provider_patience_more(dest, provider_patience_wanted(dest, reg), &until);
			if (late) {
				dest->unresponsive = true;
				break;
			}
		}
	}
	if (reg->generation == generation && reg->state == PROVIDER_REG_LIVE) {
		tell_late_locked(index);
	}
	/* Its group was enabled: the macros of the program hear that from the callback. */
	while (reg->generation == generation && reg->state == PROVIDER_REG_LIVE && !provider_callback_is_self() &&
	       reg->jobs_done != reg->jobs_queued) {
		if (pthread_cond_timedwait(&provider_changed, &provider_lock, &until) == ETIMEDOUT &&
		    !callback_due_locked(reg, &until)) {
			break;
		}
	}
}

/* Events carry their traits (Type 2) until every daemon that listens has them: a daemon that is slow
 * to answer must not cost the first events their provider's name. */
void provider_traits_known_locked(uint32_t index)
{
	struct provider_registration *reg = &provider_registrations[index];
	bool known = reg->traits != NULL;
	for (int d = 0; d < 2; d++) {
		known &= reg->said[d].traits_known || provider_dests[d].state != PROVIDER_DEST_ATTACHED;
	}
	if (known && !(reg->flags & PROVIDER_HOT_TRAITS)) {
		reg->flags |= PROVIDER_HOT_TRAITS;
		order_store_release(&provider_memory.hot[index].flags, reg->flags);
	}
}

int provider_set_traits(uint64_t handle, const void *blob, uint32_t bytes)
{
	BASE_NOT_CANCELLED;
	struct provider_registration *reg = acquire(handle, false);
	if (!reg) {
		return -EBADF;
	}
	uint32_t index = (uint32_t)(reg - provider_registrations);
	int r = reg->traits ? -EEXIST : traits_valid(blob, bytes) ? 0 : -EINVAL;
	uint8_t *copy = r == 0 ? malloc(bytes) : NULL;
	if (r == 0 && !copy) {
		r = -ENOMEM;
	}
	if (r == 0) {
		memcpy(copy, blob, bytes);
		reg->traits = copy;
		reg->traits_bytes = bytes;
		uint32_t generation = reg->generation;
		if (provider_is_scarce()) {
			provider_threads_start_locked(false);
		}
		wait_traits_locked(index);
		if (reg->generation != generation || reg->state != PROVIDER_REG_LIVE) {
			pthread_mutex_unlock(&provider_lock);
			return 0; /* unregistered meanwhile */
		}
		if (reg->inproc_known) {
			inproc_set_traits(index, copy, bytes);
		}
		reg->flags |= PROVIDER_HOT_TYPED;
		order_store_release(&provider_memory.hot[index].flags, reg->flags);
		provider_traits_known_locked(index);
	}
	pthread_mutex_unlock(&provider_lock);
	return r;
}

int provider_set_typed(uint64_t handle, bool typed)
{
	BASE_NOT_CANCELLED;
	struct provider_registration *reg = acquire(handle, false);
	if (!reg) {
		return -EBADF;
	}
	uint32_t index = (uint32_t)(reg - provider_registrations);
	reg->flags = typed ? reg->flags | PROVIDER_HOT_TYPED : reg->flags & ~(uint32_t)PROVIDER_HOT_TYPED;
	order_store_release(&provider_memory.hot[index].flags, reg->flags);
	pthread_mutex_unlock(&provider_lock);
	return 0;
}

int provider_track_binary(uint64_t handle, const char *path)
{
	BASE_NOT_CANCELLED;
	struct provider_registration *reg = acquire(handle, false);
	if (!reg) {
		return -EBADF;
	}
	char *copy = strdup(path);
	if (copy) {
		free(reg->binary);
		reg->binary = copy;
	}
	for (int d = 0; d < 2; d++) {
		provider_post_binary_locked(&provider_dests[d], (uint32_t)(reg - provider_registrations), path);
	}
	pthread_mutex_unlock(&provider_lock);
	return copy ? 0 : -ENOMEM;
}
