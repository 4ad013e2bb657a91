/* SPDX-License-Identifier: MIT */
#include "query/query_kept.h"

#include "query/query_durations.h"
#include "query/query_spans.h"
#include "query/query_stays.h"

#include <stdlib.h>

struct kept {
	pthread_mutex_t lock; /* of making them */
	uint64_t bytes;       /* order_… */
	uint32_t file_count;
	void *files[][KEPT_KINDS];
};

static struct kept *all_of(struct openetw_index *x)
{
	pthread_mutex_lock(&x->lock);
	if (!x->kept) {
		x->kept = calloc(1, sizeof *x->kept + x->file_count * sizeof x->kept->files[0]);
		if (x->kept) {
			pthread_mutex_init(&x->kept->lock, NULL);
			x->kept->file_count = x->file_count;
		}
	}
	struct kept *k = x->kept;
	pthread_mutex_unlock(&x->lock);
	return k;
}

/* What older views have. */
static uint64_t bytes_before(const struct openetw_index *x)
{
	uint64_t sum = 0;
	for (struct openetw_index *o = x->older; o; o = o->older) {
		pthread_mutex_lock(&o->lock);
		sum += o->kept ? order_load_relaxed(&o->kept->bytes) : 0;
		pthread_mutex_unlock(&o->lock);
	}
	return sum;
}

int kept_of(struct openetw_query *q, uint32_t file, enum kept_kind kind, kept_make_fn *make, const void **ret)
{
	struct kept *k = all_of(q->x);
	int err = 0;
	if (!k) {
		return -ENOMEM;
	}
	uint64_t before = bytes_before(q->x);
	pthread_mutex_lock(&k->lock);
	if (!k->files[file][kind]) {
		uint64_t bytes = before + k->bytes;
		err = make(q, file, &bytes, &k->files[file][kind]);
		if (err == 0) {
			order_store_relaxed(&k->bytes, bytes - before);
		}
	}
	pthread_mutex_unlock(&k->lock);
	if (err == 0) {
		*ret = k->files[file][kind];
	}
	return err;
}

/* Under the lock of making them, or by whoever made it. */
const void *kept_there(const struct openetw_query *q, uint32_t file, enum kept_kind kind)
{
	return q->x->kept ? q->x->kept->files[file][kind] : NULL;
}

void kept_leave(const struct openetw_query *q, uint32_t file, enum kept_kind kind, void *p)
{
	q->x->kept->files[file][kind] = p;
}

int kept_give(struct openetw_index *x, uint32_t file, enum kept_kind kind, void *p)
{
	struct kept *k = all_of(x);
	if (k) {
		k->files[file][kind] = p;
	}
	return k ? 0 : -ENOMEM;
}

void kept_free(struct kept *k)
{
	if (k) {
		for (uint32_t i = 0; i < k->file_count; i++) {
			stays_free(k->files[i][KEPT_STAYS]);
			stays_begun_free(k->files[i][KEPT_STAYS_BEGUN]);
			for (uint32_t kind = KEPT_EVENTS; kind <= KEPT_FILES; kind++) {
				spans_free(k->files[i][kind]);
			}
			durations_free(k->files[i][KEPT_DURATIONS]);
		}
		pthread_mutex_destroy(&k->lock);
		free(k);
	}
}
