/* SPDX-License-Identifier: MIT
 * Destinations: their out queues, and what their messages mean.
 */
#include "provider/provider_callback.h"
#include "provider/provider_classic.h"
#include "provider/provider_images.h"
#include "provider/provider_private.h"
#include "provider/provider_scarce.h"

#include "base/runtime_dir.h"
#include "etw/values/filter_types.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct provider_dest provider_dests[2] = {{.kind = PROVIDER_DEST_USER}, {.kind = PROVIDER_DEST_SYSTEM}};

#define LISTENER_STACK_BYTES (128u << 10)
/* What may wait for a daemon that does not read; more would only pile up. */
#define OUT_MAX 8192u

int provider_thread_create(pthread_t *ret, void *(*main)(void *), void *arg, size_t stack_bytes)
{
	sigset_t all, old;
	pthread_attr_t attr;
	sigfillset(&all);
	/* The new thread inherits the mask: no signal of the application ever lands on it. */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	int r = EINVAL;
	if (stack_bytes && pthread_attr_setstacksize(&attr, stack_bytes) == 0) {
		r = pthread_create(ret, &attr, main, arg);
	}
	if (r == EINVAL) { /* a program with much thread-local memory needs a larger stack */
		pthread_attr_destroy(&attr);
		pthread_attr_init(&attr);
		r = pthread_create(ret, &attr, main, arg);
	}
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

static struct runtime_environment surroundings PROVIDER_FEW;

int provider_user_dir(char *ret, size_t cap)
{
	/* A privileged program talks to the system's daemon only. */
	return getauxval(AT_SECURE) ? -EPERM : runtime_dir_user(&surroundings, true, ret, cap, NULL, 0);
}

static void find_user_dir(struct provider_dest *d)
{
	int r = provider_user_dir(d->dir, sizeof d->dir);
	if (r < 0) {
		d->dir[0] = 0;
	}
	d->dir_later = provider_is_shortage(r);
}

void provider_dests_init_locked(void)
{
	struct provider_dest *user = &provider_dests[0], *sys = &provider_dests[1];
	runtime_environment_get(&surroundings);
	find_user_dir(user);
	struct stat st;
	if (runtime_dir(true, false, sys->dir, sizeof sys->dir) != 0 ||
	    (stat(sys->dir, &st) != 0 && !provider_is_shortage(errno)) || strcmp(sys->dir, user->dir) == 0) {
		sys->dir[0] = 0;
	}
	for (int i = 0; i < 2; i++) {
		provider_dests[i].wait = provider_wait_map(&provider_dests[i]);
	}
}

bool provider_dests_start_locked(void)
{
	bool all = true;
	for (int i = 0; i < 2; i++) {
		struct provider_dest *d = &provider_dests[i];
		if (d->dir_later) {
			find_user_dir(d);
			all = all && !d->dir_later;
		}
		if (d->listener || d->dir[0] == 0) {
			continue;
		}
		pthread_t t;
		enum provider_dest_state was = d->state;
		if (d->state != PROVIDER_DEST_ATTACHED) {
			d->state = PROVIDER_DEST_STARTING;
		}
		d->listener = true;
		if (provider_thread_create(&t, provider_listener_main, d, LISTENER_STACK_BYTES) != 0) {
			d->listener = false; /* see provider_scarce.h */
			d->state = was == PROVIDER_DEST_NONE ? PROVIDER_DEST_DETACHED : was;
			all = false;
			continue;
		}
		pthread_detach(t);
		int fd = d->at.fd;
		if (d->handed_over) {
			while (d->handed_over) {
				pthread_cond_wait(&provider_changed, &provider_lock);
			}
			if (d->private_fds) {
				close(fd); /* the listener has its own copy */
			}
		}
	}
	return all;
}

/* ---- out ------------------------------------------------------------------------------------- */

void provider_dest_wake(struct provider_dest *d)
{
	if (!d->at.link) {
		return;
	}
	uint32_t *bell = &d->at.link->writer->bell;
	order_add_full(bell, 1u);
	syscall(SYS_futex, bell, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

uint64_t provider_post_locked(struct provider_dest *d, const void *message, size_t bytes)
{
	if (d->state != PROVIDER_DEST_ATTACHED || d->posted - d->sent >= OUT_MAX) {
		return 0;
	}
	struct provider_message *m = provider_alloc(sizeof *m + bytes);
	if (!m) {
		order_store_release(&d->behind, true);
		provider_dest_wake(d);
		return 0;
	}
	m->next = NULL;
	m->bytes = bytes;
	memcpy(m->data, message, bytes);
	if (!d->out) {
		d->out_tail = &d->out;
	}
	*d->out_tail = m;
	d->out_tail = &m->next;
	d->posted++;
	provider_dest_wake(d);
	return d->posted;
}

void provider_drop_messages_locked(struct provider_dest *d)
{
	while (d->out) {
		struct provider_message *m = d->out;
		d->out = m->next;
		provider_free(m);
	}
	d->sent = d->posted;
}

void provider_send_now_locked(struct provider_dest *d)
{
	while (d->out && d->cookie != 0 && provider_fd_cookie(d->at.fd) == d->cookie) {
		struct provider_message *m = d->out;
		if (send(d->at.fd, m->data, m->bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && provider_is_shortage(errno)) {
			return; /* with the next call */
		}
		d->out = m->next;
		provider_free(m);
		d->sent++;
	}
}

long provider_make_register(void *mem, size_t cap, uint32_t index, uint32_t more)
{
	const struct provider_registration *reg = &provider_registrations[index];
	struct proto_writer w;
	proto_begin(&w, mem, cap, PROTO_REGISTER, provider_request_id(index, reg->generation));
	proto_put(&w, PROTO_TAG_GUID, &reg->guid, sizeof reg->guid);
	proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, index);
	bool classic = (reg->flags & PROVIDER_HOT_CLASSIC) != 0;
	proto_put_u32(&w, PROTO_TAG_REG_FLAGS,
		      more | (classic ? PROTO_REG_CLASSIC : 0u) |
			      (classic || reg->enable_fn ? PROTO_REG_CALLBACK : 0u));
	if (reg->traits) {
		proto_put(&w, PROTO_TAG_TRAITS, reg->traits, reg->traits_bytes);
	}
	return proto_end(&w);
}

uint32_t provider_send_registers(struct provider_dest *d, int fd, void *buf, size_t cap)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		if (reg->state != PROVIDER_REG_LIVE || (d->told[i / 32] >> (i % 32) & 1)) {
			continue;
		}
		long n = provider_make_register(buf, cap, i, 0);
		if (n <= 0) {
			continue; /* long traits and a small buffer: who has a larger one tells it */
		}
		if (send(fd, buf, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) != n) {
			break;
		}
		reg->said[d->kind].traits_asked = false;
		reg->said[d->kind].traits_sent = reg->traits != NULL;
		d->told[i / 32] |= 1u << (i % 32);
		count++;
	}
	return count;
}

/* Traits make a message long; nothing else does. */
static void *message_buffer(uint32_t index, size_t *ret_cap)
{
	*ret_cap = 256u + provider_registrations[index].traits_bytes;
	return provider_alloc(*ret_cap);
}

void provider_post_register_locked(struct provider_dest *d, uint32_t index)
{
	size_t cap;
	void *mem = message_buffer(index, &cap);
	long n = mem ? provider_make_register(mem, cap, index, 0) : -ENOMEM;
	struct provider_said *said = &provider_registrations[index].said[d->kind];
	said->traits_asked = false;
	if (n > 0 && provider_post_locked(d, mem, (size_t)n) != 0) {
		d->told[index / 32] |= 1u << (index % 32);
		said->traits_sent = provider_registrations[index].traits != NULL;
	} else if (d->state == PROVIDER_DEST_ATTACHED) {
		order_store_release(&d->behind, true);
	}
	provider_free(mem);
}

uint64_t provider_post_traits_locked(struct provider_dest *d, uint32_t index)
{
	const struct provider_registration *reg = &provider_registrations[index];
	size_t cap;
	void *mem = message_buffer(index, &cap);
	uint64_t ticket = 0;
	if (mem) {
		struct proto_writer w;
		proto_begin(&w, mem, cap, PROTO_TRAITS, provider_request_id(index, reg->generation));
		proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, index);
		proto_put(&w, PROTO_TAG_TRAITS, reg->traits, reg->traits_bytes);
		long n = proto_end(&w);
		ticket = n > 0 ? provider_post_locked(d, mem, (size_t)n) : 0;
	}
	provider_free(mem);
	provider_registrations[index].said[d->kind].traits_sent |= ticket != 0;
	if (ticket == 0 && d->state == PROVIDER_DEST_ATTACHED) {
		order_store_release(&d->behind, true);
	}
	return ticket;
}

uint64_t provider_post_unregister_locked(struct provider_dest *d, uint32_t index)
{
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_UNREGISTER,
		    provider_request_id(index, provider_registrations[index].generation));
	proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, index);
	return provider_post_locked(d, mem, (size_t)proto_end(&w));
}

void provider_post_notified_locked(struct provider_dest *d, uint32_t notify_id)
{
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_NOTIFIED, 0);
	proto_put_u32(&w, PROTO_TAG_NOTIFY_ID, notify_id);
	provider_post_locked(d, mem, (size_t)proto_end(&w));
}

void provider_post_binary_locked(struct provider_dest *d, uint32_t index, const char *path)
{
	uint8_t mem[64 + PATH_MAX];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_BINARY_TRACK, 0);
	proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, index);
	proto_put_str(&w, PROTO_TAG_PATH, path);
	long n = proto_end(&w);
	if (n > 0) {
		provider_post_locked(d, mem, (size_t)n);
	}
}

/* ---- in -------------------------------------------------------------------------------------- */

static bool get_notice(const struct proto_message *m, struct provider_notice *ret)
{
	struct provider_notice n = {0};
	uint32_t level = 0;
	if (!proto_get_u32(m, PROTO_TAG_CODE, &n.code) || n.code > 2) {
		return false;
	}
	proto_get_u32(m, PROTO_TAG_LEVEL, &level);
	n.level = (uint8_t)level;
	proto_get_u64(m, PROTO_TAG_ANY, &n.any);
	proto_get_u64(m, PROTO_TAG_ALL, &n.all);
	proto_get_guid(m, PROTO_TAG_SOURCE_ID, &n.source);
	proto_get_u64(m, PROTO_TAG_CLASSIC_HANDLE, &n.classic_handle);
	n.wants_answer = proto_get_u32(m, PROTO_TAG_NOTIFY_ID, &n.notify_id);
	/* Of several filters the provider sees the schematized one (or one of the two other kinds
	 * meant for providers); the rest is for etwd. */
	size_t at = 0, bytes;
	uint16_t tag;
	const uint8_t *p;
	while (proto_next(m, &at, &tag, &p, &bytes)) {
		if (tag == PROTO_TAG_FILTER && bytes >= 4 && le32_get(p) >= EVENT_FILTER_TYPE_SCHEMATIZED &&
		    le32_get(p) <= EVENT_FILTER_TYPE_TRACEHANDLE) {
			n.filter = p;
			n.filter_bytes = bytes;
			break;
		}
	}
	*ret = n;
	return true;
}

static void registered(struct provider_dest *d, const struct proto_message *m, uint32_t index)
{
	struct provider_registration *reg = &provider_registrations[index];
	struct provider_said *said = &reg->said[d->kind];
	uint32_t status = 1, offset = 0;
	proto_get_u32(m, PROTO_TAG_STATUS, &status);
	const struct ctl_entry *e = NULL;
	if (status == 0 && proto_get_u32(m, PROTO_TAG_ENTRY_OFFSET, &offset)) {
		e = provider_attach_entry(&d->at, offset);
	}
	said->registered = true; /* refused counts too: nobody waits any longer */
	reg->entry[d->kind] = e ? e : &provider_entry_off;
	provider_refresh_locked(index);
	struct provider_notice n;
	if (status == 0 && get_notice(m, &n)) {
		provider_notice_locked(index, d->kind, &n);
	} else if (said->on) { /* enabled before the daemon was replaced, and not now */
		n = (struct provider_notice){.code = 0};
		provider_notice_locked(index, d->kind, &n);
	}
}

void provider_dispatch_locked(struct provider_dest *d, const struct proto_message *m, int *fds, int fd_count)
{
	uint32_t index = m->id & 0xFFFFu, chunk_size = 0;
	struct provider_notice n;
	d->unresponsive = false;
	switch (m->type) {
	case PROTO_REGISTER | PROTO_REPLY:
	case PROTO_UNREGISTER | PROTO_REPLY:
	case PROTO_TRAITS | PROTO_REPLY:
		if (index >= PROVIDER_REGISTRATIONS_MAX ||
		    m->id != provider_request_id(index, provider_registrations[index].generation)) {
			break;
		}
		if (m->type == (PROTO_UNREGISTER | PROTO_REPLY)) {
			provider_left_locked(index, d->kind);
		} else if (provider_registrations[index].state == PROVIDER_REG_LIVE) {
			struct provider_said *said = &provider_registrations[index].said[d->kind];
			if (m->type == (PROTO_TRAITS | PROTO_REPLY)) {
				said->traits_asked = false;
			}
			if (!said->traits_asked) {
				said->traits_known = true; /* also those it refused */
				provider_traits_known_locked(index);
			}
			if (m->type == (PROTO_REGISTER | PROTO_REPLY)) {
				registered(d, m, index);
			} else if (get_notice(m, &n)) { /* its group was enabled */
				provider_notice_locked(index, d->kind, &n);
			}
		}
		break;
	case PROTO_NOTIFY:
		if (proto_get_u32(m, PROTO_TAG_PROVIDER_INDEX, &index) && index < PROVIDER_REGISTRATIONS_MAX &&
		    get_notice(m, &n)) {
			provider_notice_locked(index, d->kind, &n);
		}
		break;
	case PROTO_IMAGES | PROTO_REPLY: provider_images_answered_locked(d, m->id); break;
	case PROTO_PRIVATE: provider_private_asked_locked(d, m); break;
	case PROTO_POOL:
		/* Not populated here: most processes that are enabled write little or nothing, and the
		 * pages of a burst come with it. */
		if (fd_count == 1 && proto_get_u32(m, PROTO_TAG_CHUNK_SIZE, &chunk_size) &&
		    provider_attach_segment(&d->at, fds[0], chunk_size) == 0 && d->private_fds) {
			d->at.segment_fd[d->at.segments - 1] = fds[0]; /* ours now */
			fds[0] = -1;
		}
		break;
	case PROTO_ADOPT | PROTO_REPLY: {
		uint32_t status = 1;
		proto_get_u32(m, PROTO_TAG_STATUS, &status);
		provider_adopt_answered_locked(d, m->id, status);
		break;
	}
	case PROTO_PING: {
		uint8_t mem[64];
		struct proto_writer w;
		proto_begin(&w, mem, sizeof mem, PROTO_PING | PROTO_REPLY, m->id);
		proto_put_u32(&w, PROTO_TAG_STATUS, 0);
		provider_post_locked(d, mem, (size_t)proto_end(&w));
		break;
	}
	default: break; /* a newer daemon */
	}
	pthread_cond_broadcast(&provider_changed);
}

void provider_dest_mute_locked(struct provider_dest *d, bool notify)
{
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		reg->entry[d->kind] = &provider_entry_off;
		reg->said[d->kind].registered = false;
		if (reg->state == PROVIDER_REG_LIVE) {
			provider_refresh_locked(i);
			if (notify && reg->said[d->kind].on) {
				struct provider_notice off = {.code = 0};
				provider_notice_locked(i, d->kind, &off);
			}
		}
	}
}
