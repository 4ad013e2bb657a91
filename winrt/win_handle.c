/* SPDX-License-Identifier: MIT
 *
 * The table of handles. A handle says a place in it and how often the place was given away before, so that one
 * that was closed is refused and not looked at through freed memory:
 *
 *	31     30 .. 20     19 .. 2    1 0
 *	 0    generation     place      0       places count from 1
 *
 * It fits into 31 bits, since Windows' programs may keep handles in 32. A place that becomes free waits behind
 * REST others, so its generation comes again after half a million closed handles at the earliest.
 */
#include "winrt/win.h"

#include "base/vec.h"
#include "win/windows.h"

#include <stdlib.h>
#include <sys/stat.h>

#define PLACE_BITS      18u
#define PLACES_MAX      ((1u << PLACE_BITS) - 1)
#define GENERATION_BITS 11u
#define REST            256u

struct place {
	struct win_object *object; /* NULL: free */
	uint32_t generation;
	uint32_t next; /* free one, + 1; 0: none */
	bool stays;    /* closing the handle does nothing */
};
static struct {
	struct place *place;
	uint32_t count, cap;
	uint32_t free_count, first, last; /* + 1 */
} handles;                                /* under the lock of all objects */

static uint32_t take_place_locked(void)
{
	if (handles.free_count > REST || (handles.free_count > 0 && handles.count == PLACES_MAX)) {
		uint32_t i = handles.first - 1;
		handles.first = handles.place[i].next;
		handles.free_count--;
		return i;
	}
	if (!VEC_ROOM_UP_TO(handles.place, handles.count, handles.cap, PLACES_MAX)) {
		return UINT32_MAX;
	}
	handles.place[handles.count] = (struct place){0};
	return handles.count++;
}

static void *give(struct win_object *o, bool stays)
{
	if (!o) {
		return NULL;
	}
	win_objects_lock();
	uint32_t i = take_place_locked();
	uintptr_t handle = 0;
	if (i != UINT32_MAX) {
		struct place *p = &handles.place[i];
		p->object = o;
		p->next = 0;
		p->stays = stays;
		handle = (uintptr_t)p->generation << (PLACE_BITS + 2) | (uintptr_t)(i + 1) << 2;
	}
	win_objects_unlock(false);
	if (!handle) {
		win_object_unref(o);
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	}
	return (void *)handle;
}

void *win_handle_give(struct win_object *o)
{
	return give(o, false);
}

void *win_handle_give_for_good(struct win_object *o)
{
	return give(o, true);
}

static struct place *place_of_locked(const void *handle)
{
	/* Windows takes no notice of the two lowest bits. Pseudo handles are small negative numbers. */
	uintptr_t h = (uintptr_t)handle;
	uint32_t i = (uint32_t)(h >> 2) & PLACES_MAX;
	bool fits = h >> (2 + PLACE_BITS + GENERATION_BITS) == 0 && i > 0 && i <= handles.count;
	struct place *p = fits ? &handles.place[i - 1] : NULL;
	return p && p->object && p->generation == h >> (2 + PLACE_BITS) ? p : NULL;
}

/* Is the descriptor of the program still the file that it was? Two descriptors of one file are not told apart. */
bool win_object_has_file(const struct win_object *o)
{
	struct stat st;
	return !o->of_fd || (fstat(o->fd, &st) == 0 && st.st_dev == o->dev && st.st_ino == o->ino);
}

struct win_object *win_object_find(const void *handle, enum win_kind kind)
{
	win_objects_lock();
	struct place *p = place_of_locked(handle);
	struct win_object *o = p && (!kind || p->object->kind == kind) ? p->object : NULL;
	if (o) {
		o->refs++;
	}
	win_objects_unlock(false);
	if (o && !win_object_has_file(o)) {
		win_object_unref(o);
		return NULL;
	}
	return o;
}

const void *win_handle_object(const void *handle)
{
	win_objects_lock();
	struct place *p = place_of_locked(handle);
	const void *o = p ? p->object : NULL;
	win_objects_unlock(false);
	return o;
}

struct win_object *win_object_of(const void *handle, enum win_kind kind)
{
	struct win_object *o = win_object_find(handle, kind);
	if (!o) {
		SetLastError(ERROR_INVALID_HANDLE);
	}
	return o;
}

bool win_handle_is(const void *handle, enum win_kind kind)
{
	struct win_object *o = win_object_of(handle, kind);
	win_object_unref(o);
	return o != NULL;
}

static bool close_handle(const void *handle, bool wait)
{
	win_objects_lock();
	struct place *p = place_of_locked(handle);
	struct win_object *o = p && (p->object->kind == WIN_WAIT) == wait ? p->object : NULL;
	bool gone = o && !p->stays;
	if (gone) {
		uint32_t number = (uint32_t)(p - handles.place) + 1;
		p->object = NULL;
		p->generation = (p->generation + 1) & ((1u << GENERATION_BITS) - 1);
		if (handles.free_count++ > 0) {
			handles.place[handles.last - 1].next = number;
		} else {
			handles.first = number;
		}
		handles.last = number;
	}
	win_objects_unlock(false);
	bool file = gone && win_object_has_file(o);
	if (gone) {
		win_object_unref(o);
	}
	return (o && file == gone) || win_fail(ERROR_INVALID_HANDLE);
}

bool win_handle_close(const void *handle)
{
	return close_handle(handle, false);
}

bool win_handle_close_wait(const void *handle)
{
	return close_handle(handle, true);
}
