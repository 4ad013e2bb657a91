/* SPDX-License-Identifier: MIT */
#include "etl/etl_index.h"
#include "base/vec.h"
#include "etl/etl_run.h"

#include "base/printable.h"
#include "etw/values/session_modes.h"

#include <stdio.h>
#include <stdlib.h>

#define PROBLEMS_MAX  1000u
#define HEADER        ETL_BUFFER_HEADER_SIZE
#define FLAGS_KNOWN   0x00FFu
#define TYPES_KNOWN   8u
#define SCAN_BYTES    65536u
#define GLANCE_BYTES  1024u /* enough for the first record of nearly every buffer, read with its header */
#define GLANCE_PACKED 8192u /* the same, compressed: LZNT1 wants a whole chunk */
#define GLANCE_PLAIN  256u

long etl_source_read(const struct etl_source *s, uint64_t at, void *p, size_t n)
{
	if (at >= s->bytes) {
		return 0;
	}
	if (n > s->bytes - at) {
		n = (size_t)(s->bytes - at);
	}
	if (s->fd < 0) {
		memcpy(p, s->mem + at, n);
		return (long)n;
	}
	size_t done = 0;
	while (done < n) {
		ssize_t r = pread(s->fd, (char *)p + done, n - done, (off_t)(at + done));
		if (r < 0 && errno == EINTR) {
			continue;
		}
		if (r < 0) {
			return -errno;
		}
		if (r == 0) {
			break;
		}
		done += (size_t)r;
	}
	return (long)done;
}

void etl_problems_add(struct etl_problems *p, uint64_t file_offset, const char *fmt, ...)
{
	if (p->overflow) {
		return;
	}
	if (!VEC_ROOM(p->list, p->count, p->cap)) {
		p->overflow = true;
		return;
	}
	struct etl_problem *e = &p->list[p->count++];
	e->file_offset = file_offset;
	if (p->count > PROBLEMS_MAX) {
		p->overflow = true;
		snprintf(e->text, sizeof e->text, "and more damage, not listed");
		return;
	}
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
}

static int index_add(struct etl_index *x, const struct etl_index_entry *e)
{
	if (!VEC_ROOM(x->list, x->count, x->cap)) {
		return -ENOMEM;
	}
	x->list[x->count++] = *e;
	return 0;
}

/* What there is to know about the layout before walking. */
struct walk {
	const struct etl_source *s;
	struct etl_problems *problems;
	uint32_t step;       /* size of every buffer; 0: each has its own */
	uint32_t used_limit; /* decompressed */
	bool old;            /* flags, type and sequence number mean nothing */
};
#define LOSS_FLAGS (ETL_BF_EVENTS_LOST | ETL_BF_BUFFER_LOST | ETL_BF_RTBACKUP_CORRUPT)

static bool all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i]) {
			return false;
		}
	}
	return true;
}

/* Could this be a buffer header at that place? */
static bool header_plausible(const struct walk *w, const uint8_t *h)
{
	uint32_t bytes = le32_get(h + ETL_BH_BUFFER_SIZE);
	uint32_t used = le32_get(h + ETL_BH_OFFSET);
	uint16_t flags = le16_get(h + ETL_BH_FLAG);
	bool compressed = (flags & ETL_BF_COMPRESSED) != 0;
	return bytes >= HEADER && bytes <= ETL_BUFFER_MAX && used >= HEADER &&
	       used <= (compressed ? ETL_BUFFER_MAX : bytes) && (flags & ~FLAGS_KNOWN) == 0 &&
	       le16_get(h + ETL_BH_TYPE) < TYPES_KNOWN && le32_get(h + ETL_BH_STATE) < 0x10000u;
}

/* Compressed files only: the next place where a buffer header is followed by another one or by the
 * end of the file. */
static uint64_t header_search(const struct walk *w, uint64_t at, uint8_t *window)
{
	while (at + HEADER <= w->s->bytes) {
		long n = etl_source_read(w->s, at, window, SCAN_BYTES);
		if (n < (long)HEADER) {
			break;
		}
		for (long i = 0; i + (long)HEADER <= n; i++) {
			const uint8_t *h = window + i;
			if (!header_plausible(w, h) || !(le16_get(h + ETL_BH_FLAG) & ETL_BF_COMPRESSED) ||
			    le64_get(h + ETL_BH_SEQUENCE) > UINT32_MAX) {
				continue;
			}
			uint64_t next = at + (uint64_t)i + le32_get(h + ETL_BH_BUFFER_SIZE);
			uint8_t after[HEADER];
			if (next == w->s->bytes || (etl_source_read(w->s, next, after, HEADER) == (long)HEADER &&
						    header_plausible(w, after))) {
				return at + (uint64_t)i;
			}
		}
		at += (uint64_t)n - (HEADER - 1);
	}
	return w->s->bytes;
}

/* In a file of buffers of many sizes: does the claimed size lead to another header or exactly to
 * the end? */
static bool chain_sound(const struct walk *w, const uint8_t *h, uint64_t at)
{
	uint64_t next = at + le32_get(h + ETL_BH_BUFFER_SIZE);
	uint8_t after[HEADER];
	return header_plausible(w, h) &&
	       (next == w->s->bytes || (etl_source_read(w->s, next, after, HEADER) == (long)HEADER &&
					(header_plausible(w, after) || all_zero(after, HEADER))));
}

/* Look at the header of one buffer. Fills e; false when there is nothing to read here. */
static bool entry_judge(const struct walk *w, const uint8_t *h, uint64_t at, struct etl_index_entry *e)
{
	uint32_t bytes = le32_get(h + ETL_BH_BUFFER_SIZE);
	uint32_t used = le32_get(h + ETL_BH_OFFSET);
	uint16_t flags = w->old ? 0 : le16_get(h + ETL_BH_FLAG);
	uint64_t left = w->s->bytes - at;
	*e = (struct etl_index_entry){
		.file_offset = at,
		.sequence = w->old ? at : le64_get(h + ETL_BH_SEQUENCE),
		.loss = flags & LOSS_FLAGS,
		.cpu = etl_buffer_cpu(h),
		.compressed = (flags & ETL_BF_COMPRESSED) != 0,
	};
	if (w->step) {
		if (bytes != w->step) {
			etl_problems_add(w->problems, at, "buffer claims %u bytes, all others have %u", bytes, w->step);
			if (!(used >= HEADER && used <= w->step && (flags & ~FLAGS_KNOWN) == 0 &&
			      le16_get(h + ETL_BH_TYPE) < TYPES_KNOWN)) {
				return false;
			}
			bytes = w->step;
		}
	} else if (bytes < HEADER || bytes > ETL_BUFFER_MAX) {
		return false;
	}
	e->file_bytes = (uint32_t)BASE_MIN(bytes, left);
	uint32_t limit = e->compressed ? w->used_limit : bytes;
	if (used < HEADER || used > limit) {
		etl_problems_add(w->problems, at, "buffer says its data ends at %u of %u", used, limit);
		uint32_t saved = le32_get(h + ETL_BH_SAVED_OFFSET);
		used = saved >= HEADER && saved <= limit ? saved : limit;
	}
	e->cut = e->file_bytes < (e->compressed ? bytes : used);
	if (e->cut) {
		etl_problems_add(w->problems, at, "file ends inside a buffer: %u of %u bytes are there", e->file_bytes,
				 bytes);
		if (!e->compressed) {
			used = e->file_bytes;
		}
	} else if (e->file_bytes < bytes) {
		/* Through the filler: nothing is lost, but what came behind may be. */
		etl_problems_add(w->problems, at,
				 "file ends inside a buffer, behind its last record: %u of %u bytes "
				 "are there",
				 e->file_bytes, bytes);
	}
	e->used_bytes = used;
	return true;
}

static bool type_has_records(const struct walk *w, const uint8_t *h)
{
	switch (w->old ? 0 : le16_get(h + ETL_BH_TYPE)) {
	case 3: /* reference time */
	case 6: /* empty marker */
	case 7: /* debug information */ return false;
	default: return true;
	}
}

/* Time of the first record of a buffer whose first bytes do not tell. */
static int first_time_slow(const struct etl_index *x, const struct etl_source *s, const struct etl_index_entry *e,
			   uint64_t *ret)
{
	uint8_t *packed = malloc(e->file_bytes);
	uint8_t *plain = malloc(e->used_bytes);
	int r = -ENOMEM;
	if (packed && plain) {
		long n = etl_source_read(s, e->file_offset, packed, e->file_bytes);
		r = n < 0 ? (int)n : 0;
		size_t used = 0;
		if (n >= (long)HEADER) {
			size_t room = e->used_bytes - HEADER, done = BASE_MIN((size_t)n - HEADER, room);
			memcpy(plain, packed, HEADER);
			if (e->compressed) {
				etl_decompress(x->compression, packed + HEADER, (size_t)n - HEADER, plain + HEADER,
					       room, &done);
			} else {
				memcpy(plain + HEADER, packed + HEADER, done);
			}
			used = HEADER + done;
		}
		struct etl_run run;
		if (used > HEADER && etl_run_start(&run, plain, (uint32_t)used, 0, NULL) > 0) {
			*ret = run.head.time_raw;
			etl_run_finish(&run);
		}
	}
	free(packed);
	free(plain);
	return r;
}

/* `p` are the first n bytes of the buffer. A buffer that tells no time goes first: too early costs
 * memory, too late would cost the order. */
static int first_time(const struct etl_index *x, const struct etl_source *s, const struct etl_file_info *info,
		      const uint8_t *p, size_t n, struct etl_index_entry *e)
{
	uint8_t packed[GLANCE_PACKED], plain[GLANCE_PLAIN];
	e->first_raw = 0;
	if (e->file_offset == 0 && !info->spill) {
		return 0; /* the header: before all others */
	}
	const uint8_t *records = p + HEADER;
	size_t there = BASE_MIN(n, e->used_bytes) - HEADER;
	if (e->compressed) {
		size_t got = n;
		if (e->file_bytes > n && x->compression != ETL_COMPRESSION_XPRESS) {
			long more = etl_source_read(s, e->file_offset, packed, BASE_MIN(sizeof packed, e->file_bytes));
			if (more < (long)HEADER) {
				return more < 0 ? (int)more : 0;
			}
			p = packed;
			got = (size_t)more;
		}
		got = BASE_MIN(got, e->file_bytes);
		there = BASE_MIN(sizeof plain, e->used_bytes - HEADER);
		etl_decompress(x->compression, p + HEADER, got - HEADER, plain, there, &there);
		records = plain;
	}
	if (etl_record_first_time(records, there, &e->first_raw) || e->used_bytes <= HEADER) {
		return 0;
	}
	return first_time_slow(x, s, e, &e->first_raw);
}

int etl_index_build(struct etl_index *x, const struct etl_source *s, const struct etl_file_info *info,
		    const uint8_t *buf0, struct etl_problems *problems)
{
	struct walk w = {.s = s, .problems = problems, .used_limit = info->buffer_size, .old = info->old};
	uint32_t first = le32_get(buf0 + ETL_BH_BUFFER_SIZE);
	uint8_t h[GLANCE_BYTES];
	bool varying = !info->old && ((info->log_file_mode & EVENT_TRACE_COMPRESSED_MODE) ||
				      (etl_source_read(s, first, h, HEADER) == (long)HEADER &&
				       (le16_get(h + ETL_BH_FLAG) & ETL_BF_COMPRESSED) && header_plausible(&w, h)));
	w.step = varying ? 0 : first;
	if (w.used_limit < HEADER || w.used_limit > ETL_BUFFER_MAX) {
		w.used_limit = ETL_BUFFER_MAX;
	}
	x->compression = (uint16_t)le32_get(buf0 + ETL_BH_STATE);

	uint8_t *window = NULL;
	uint64_t unwritten = 0, unwritten_at = 0;
	int r = 0;
	for (uint64_t at = 0; at < s->bytes;) {
		long n = etl_source_read(s, at, h, sizeof h);
		if (n < 0) {
			r = (int)n;
			break;
		}
		if (n < (long)HEADER) {
			etl_problems_add(problems, at, "file ends inside a buffer header: %ld bytes", n);
			break;
		}
		if (all_zero(h, HEADER)) {
			/* Preallocated and never reached; the rest of it, too, unless buffers are
			 * written out of order. */
			unwritten_at = unwritten ? unwritten_at : at;
			uint64_t step = w.step ? w.step : s->bytes - at;
			unwritten += BASE_MIN(step, s->bytes - at);
			at += step;
			continue;
		}
		uint64_t next = at + w.step;
		if (w.step == 0 && !chain_sound(&w, h, at)) {
			window = window ? window : malloc(SCAN_BYTES);
			if (!window) {
				r = -ENOMEM;
				break;
			}
			next = header_search(&w, at + HEADER, window);
			if (next < s->bytes && header_plausible(&w, h) && next - at <= ETL_BUFFER_MAX) {
				etl_problems_add(problems, at, "buffer claims %u bytes, the next one starts after %llu",
						 le32_get(h + ETL_BH_BUFFER_SIZE), (unsigned long long)(next - at));
				le32_put(h + ETL_BH_BUFFER_SIZE, (uint32_t)(next - at));
			}
		}
		struct etl_index_entry e;
		if (!entry_judge(&w, h, at, &e)) {
			next = BASE_MIN(next, s->bytes);
			etl_problems_add(problems, at, "no buffer here, skipped %llu bytes",
					 (unsigned long long)(next - at));
			at = next;
			continue;
		}
		at += e.file_bytes;
		if (type_has_records(&w, h)) {
			r = first_time(x, s, info, h, (size_t)n, &e);
			if (r == 0) {
				r = index_add(x, &e);
			}
			if (r < 0) {
				break;
			}
		}
	}
	if (r == 0 && unwritten) {
		etl_problems_add(problems, unwritten_at,
				 "%llu bytes were set aside and never written: the session did not stop",
				 (unsigned long long)unwritten);
	}
	free(window);
	return r;
}
