/* SPDX-License-Identifier: MIT
 *
 * All images are told again when one has come or gone: that is rare, and etwd sees what is new. Application threads do
 * it when they register or unregister, our own when a session asks for stacks or etwd has seen code that it does not
 * know. Writing an event never looks at any of this.
 */
#include "provider/provider_images.h"

#include "base/loaded_images.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_BYTES  32768u
#define HEAD_BYTES     64u
#define LIST_BYTES_MAX (1u << 20)

/* Of each daemon: the number of changes it was told, and which of our messages it has answered. */
static struct {
	uint64_t changes;
	uint32_t asked, answered;
} told[2] PROVIDER_FEW; /* under the lock */

bool provider_stacks_wanted_of_locked(uint32_t index)
{
	const struct provider_registration *reg = &provider_registrations[index];
	for (int d = 0; d < 2; d++) {
		const struct ctl_entry *e = reg->entry[d];
		if (reg->state == PROVIDER_REG_LIVE && order_load_acquire(&e->enabled) != 0 &&
		    (order_load_relaxed(&e->flags) & CTL_ENTRY_STACK)) {
			return true;
		}
	}
	return false;
}

bool provider_stacks_wanted(const struct provider_dest *d)
{
	bool wanted = false;
	pthread_mutex_lock(&provider_lock);
	for (uint32_t i = 0; i < provider_registrations_top && !wanted; i++) {
		const struct ctl_entry *e = provider_registrations[i].entry[d->kind];
		wanted = provider_registrations[i].state == PROVIDER_REG_LIVE && order_load_acquire(&e->enabled) != 0 &&
			 (order_load_relaxed(&e->flags) & CTL_ENTRY_STACK);
	}
	pthread_mutex_unlock(&provider_lock);
	return wanted;
}

void provider_images_forget_locked(struct provider_dest *d)
{
	told[d->kind].changes = 0;
	told[d->kind].answered = told[d->kind].asked;
}

void provider_images_answered_locked(struct provider_dest *d, uint32_t id)
{
	if (id == told[d->kind].asked) {
		told[d->kind].answered = id;
	}
}

/* ---- the list ------------------------------------------------------------------------------------ */

struct list {
	uint8_t *p;
	size_t n, cap;
	char *program; /* its path; "" when nobody could say */
};

/* The dynamic linker has no name for the program. etwd could look, but by then we may have ended. */
static const char *program_path(struct list *l)
{
	static const char gone[] = " (deleted)";
	if (!l->program && (l->program = malloc(PATH_MAX)) != NULL) {
		ssize_t n = readlink("/proc/self/exe", l->program, PATH_MAX - 1);
		n = n > 0 && l->program[0] == '/' ? n : 0;
		l->program[n] = 0;
		size_t k = sizeof gone - 1;
		if ((size_t)n > k && strcmp(l->program + n - k, gone) == 0) {
			l->program[(size_t)n - k] = 0;
		}
	}
	return l->program ? l->program : "";
}

/* context: the dynamic linker's lock is held. */
static int add(void *ctx, const struct loaded_image *i)
{
	struct list *l = ctx;
	const char *path = !i->path[0] ? program_path(l) : strchr(i->path, '/') ? i->path : "[vdso]";
	size_t path_bytes = strlen(path), bytes = 8 + 8 + 1 + PROTO_IMAGES_BUILD_ID + 2 + path_bytes;
	if (path_bytes >= PATH_MAX || l->n + bytes > LIST_BYTES_MAX) {
		return 0;
	}
	if (l->n + bytes > l->cap) {
		size_t cap = BASE_MAX(2 * l->cap, l->n + bytes + 4096);
		uint8_t *more = realloc(l->p, cap);
		if (!more) {
			return 1;
		}
		l->p = more;
		l->cap = cap;
	}
	uint8_t *p = l->p + l->n;
	le64_put(p, i->base);
	le64_put(p + 8, i->bytes);
	p[16] = (uint8_t)i->build_id_bytes;
	memset(p + 17, 0, PROTO_IMAGES_BUILD_ID);
	memcpy(p + 17, i->build_id, i->build_id_bytes);
	le16_put(p + 17 + PROTO_IMAGES_BUILD_ID, (uint16_t)path_bytes);
	memcpy(p + 19 + PROTO_IMAGES_BUILD_ID, path, path_bytes);
	l->n += bytes;
	return 0;
}
_Static_assert(LOADED_IMAGE_BUILD_ID_MAX == PROTO_IMAGES_BUILD_ID, "as they are");

/* Whole images, of at most so many bytes from there on. */
static size_t stretch(const struct list *l, size_t at)
{
	size_t n = 0;
	while (at + n < l->n) {
		size_t one = 19 + PROTO_IMAGES_BUILD_ID + le16_get(l->p + at + n + 17 + PROTO_IMAGES_BUILD_ID);
		if (n + one > MESSAGE_BYTES) {
			break;
		}
		n += one;
	}
	return n;
}

static void post_locked(struct provider_dest *d, const struct list *l, uint64_t changes)
{
	uint8_t *mem = malloc(MESSAGE_BYTES + HEAD_BYTES);
	size_t at = 0;
	uint64_t posted = mem != NULL;
	uint32_t id = told[d->kind].asked + 1;
	do {
		size_t n = stretch(l, at);
		struct proto_writer w;
		if (!mem || !posted) {
			break;
		}
		proto_begin(&w, mem, MESSAGE_BYTES + HEAD_BYTES, PROTO_IMAGES, id);
		proto_put_u32(&w, PROTO_TAG_CODE,
			      (at == 0 ? PROTO_IMAGES_FIRST : 0u) | (at + n >= l->n ? PROTO_IMAGES_LAST : 0u));
		proto_put(&w, PROTO_TAG_DATA, l->p + at, n);
		long bytes = proto_end(&w);
		posted = bytes > 0 ? provider_post_locked(d, mem, (size_t)bytes) : 0;
		at += n;
	} while (at < l->n);
	if (posted) {
		told[d->kind].asked = id;
		told[d->kind].changes = changes;
	}
	free(mem);
}

/* Without a listener nobody would read the answer. */
static void wait_answered(void)
{
	pthread_mutex_lock(&provider_lock);
	struct timespec until = provider_deadline(provider_wait_ms());
	for (int d = 0; d < 2; d++) {
		struct provider_dest *dest = &provider_dests[d];
		while (dest->listener && dest->state == PROVIDER_DEST_ATTACHED && !dest->unresponsive &&
		       told[d].answered != told[d].asked) {
			if (pthread_cond_timedwait(&provider_changed, &provider_lock, &until) == ETIMEDOUT &&
			    !provider_patience_more(dest, true, &until)) {
				dest->unresponsive = true;
			}
		}
	}
	pthread_mutex_unlock(&provider_lock);
}

void provider_images_look(bool wait)
{
	bool due[2] = {false, false};
	uint64_t now = loaded_images_changes();
	for (int d = 0; d < 2; d++) {
		due[d] = provider_stacks_wanted(&provider_dests[d]);
		pthread_mutex_lock(&provider_lock);
		due[d] = due[d] && provider_dests[d].state == PROVIDER_DEST_ATTACHED &&
			 (told[d].changes == 0 || told[d].changes != now);
		pthread_mutex_unlock(&provider_lock);
	}
	if (!due[0] && !due[1]) {
		return;
	}
	struct list l = {0};
	uint64_t changes = loaded_images_each(add, &l);
	pthread_mutex_lock(&provider_lock);
	for (int d = 0; d < 2; d++) {
		if (due[d] && told[d].changes != (changes ? changes : 1)) {
			post_locked(&provider_dests[d], &l, changes ? changes : 1);
			if (!provider_dests[d].listener) { /* a forked child, or threads are short */
				provider_send_now_locked(&provider_dests[d]);
			}
		}
	}
	pthread_mutex_unlock(&provider_lock);
	free(l.p);
	free(l.program);
	if (wait) {
		wait_answered();
	}
}
