/* SPDX-License-Identifier: MIT */
#include "query/query_fetch.h"

#include "consume/consume.h"
#include "etl/etl_pick.h"
#include "query/query_ring.h"

#include <stdlib.h>

struct fetch {
	struct etl_pick *pick; /* NULL: of a ring */
	uint8_t *scratch;      /* of a ring: the record, taken out of it */
	const struct store *store;
};

/* What the events of the trace mean stands in the trace, too. */
static void teach(struct fetch *f)
{
	uint64_t bytes, count;
	struct etl_record r;
	const uint64_t *where = store_section(f->store, STORE_TEACHERS, 0, &bytes, &count);
	for (uint64_t i = 0; i < count; i++) {
		if (fetch_record(f, where[i], &r) == 0 && consume_teaches(r.type, r.raw)) {
			consume_teach(&r);
		}
	}
}

int fetch_open(int fd, const struct store *s, struct fetch **ret, struct diag *d)
{
	struct fetch *f = calloc(1, sizeof *f);
	if (!f) {
		return -ENOMEM;
	}
	f->store = s;
	if (s->ring) { /* whoever appended the events has learned what they mean */
		f->scratch = malloc(RING_SCRATCH_BYTES);
		if (!f->scratch) {
			free(f);
			return -ENOMEM;
		}
		*ret = f;
		return 0;
	}
	int err = etl_pick_open(fd, &f->pick, d);
	if (err < 0) {
		free(f);
		return err;
	}
	teach(f);
	*ret = f;
	return 0;
}

void fetch_renew(struct fetch *f, const struct store *s)
{
	f->store = s;
}

void fetch_close(struct fetch *f)
{
	if (f) {
		etl_pick_close(f->pick);
		free(f->scratch);
		free(f);
	}
}

int fetch_record(struct fetch *f, uint64_t where, struct etl_record *ret)
{
	uint64_t buffer = where >> 32;
	if (f->scratch) {
		return f->store->ring ? ring_view_record(f->store->ring, where, f->scratch, ret) : -ENOENT;
	}
	if (buffer >= f->store->buffer_count) {
		return -ENOENT;
	}
	return etl_pick_record(f->pick, f->store->buffers[buffer], (uint32_t)where, ret);
}

uint64_t fetch_frequency(const struct fetch *f)
{
	return f->pick ? etl_pick_frequency(f->pick) : ring_view_frequency(f->store->ring);
}
