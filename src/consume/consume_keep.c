/* SPDX-License-Identifier: MIT */
#include "consume/consume_keep.h"

#include <pthread.h>
#include <stdlib.h>

struct kept {
	struct kept *next;
	const void *buf, *owner;
	uint32_t references;
	bool settled;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t dropped = PTHREAD_COND_INITIALIZER;
static struct kept *list;

static struct kept **find_locked(const void *buf)
{
	struct kept **at = &list;
	while (*at && (*at)->buf != buf) {
		at = &(*at)->next;
	}
	return at;
}

int keep_add(const void *buf, const void *owner)
{
	int r = 0;
	pthread_mutex_lock(&lock);
	struct kept *k = *find_locked(buf);
	if (!k) {
		k = calloc(1, sizeof *k);
		if (k) {
			k->buf = buf;
			k->owner = owner;
			k->next = list;
			list = k;
		} else {
			r = -ENOMEM;
		}
	}
	if (k) {
		k->references++;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

bool keep_has(const void *buf, const void *owner)
{
	pthread_mutex_lock(&lock);
	struct kept *k = *find_locked(buf);
	bool has = k && k->owner == owner;
	pthread_mutex_unlock(&lock);
	return has;
}

bool keep_settle(const void *buf)
{
	pthread_mutex_lock(&lock);
	struct kept *k = *find_locked(buf);
	if (k) {
		k->settled = true;
	}
	pthread_mutex_unlock(&lock);
	return k != NULL;
}

int keep_drop(const void *buf)
{
	pthread_mutex_lock(&lock);
	struct kept **at = find_locked(buf), *k = *at;
	bool last = k && --k->references == 0;
	if (last) {
		*at = k->next;
		pthread_cond_broadcast(&dropped);
	}
	pthread_mutex_unlock(&lock);
	if (last) {
		if (k->settled) {
			free((void *)(uintptr_t)buf);
		}
		free(k);
	}
	return k ? 0 : -ENOENT;
}

void keep_wait(const void *owner)
{
	pthread_mutex_lock(&lock);
	for (struct kept *k = list; k;) {
		if (k->owner == owner) {
			pthread_cond_wait(&dropped, &lock);
			k = list;
		} else {
			k = k->next;
		}
	}
	pthread_mutex_unlock(&lock);
}
