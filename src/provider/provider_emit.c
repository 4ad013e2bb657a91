/* SPDX-License-Identifier: MIT
 * The general write path: several destinations, typed descriptors, extended items, stacks.
 */
#include "provider/provider_emit.h"
#include "inproc/inproc.h"
#include "pool/pool_write.h"
#include "provider/provider_stack.h"

#include <sys/mman.h>

/* Items of usual size are built on the stack of the fast case; stacks and long metadata elsewhere.
 */
#define ITEMS_SMALL 384u
#define ITEMS_LARGE 4096u
/* A chunk is given up early for events of at most this size. */
#define PREPARE_MAX 1024u

/* The descriptors sorted by what they are. */
struct parts {
	const struct pool_piece *payload;
	uint32_t payload_count;
	uint32_t payload_bytes;
	uint32_t schema_bytes;
	uint32_t traits_bytes;
	uint64_t timestamp;
};

struct target {
	struct pool_writer *writer;
	struct pool_verdict verdict;
};

uint32_t provider_code_of(int err)
{
	switch (err) {
	case 0: return ERROR_SUCCESS;
	case -EMSGSIZE: return ERROR_MORE_DATA;
	default: return ERROR_NOT_ENOUGH_MEMORY;
	}
}

static uint8_t piece_type(const struct pool_piece *p)
{
	return (uint8_t)p->reserved;
}

const struct filter_table *provider_rows(const struct ctl_entry *e, const void *ctl, uint32_t ctl_bytes,
					 uint32_t *ret_rows)
{
	uint32_t cfg = order_load_acquire(&e->cfg);
	uint64_t at = order_load_relaxed(&e->table[cfg & 1]);
	if ((at & 7) != 0 || at + sizeof(struct filter_table) > ctl_bytes) {
		return NULL;
	}
	const struct filter_table *t = (const struct filter_table *)(const void *)((const uint8_t *)ctl + at);
	uint64_t rows = order_load_relaxed(&t->rows);
	if (rows > POOL_SESSION_BITS || at + sizeof *t + rows * sizeof(struct filter_row) > ctl_bytes) {
		return NULL;
	}
	*ret_rows = (uint32_t)rows;
	return t;
}

/* EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE: the sessions that do not want such events. */
static uint64_t sessions_without_inprivate(const struct ctl_entry *e, const void *ctl, uint32_t bytes)
{
	uint32_t rows;
	uint64_t mask = 0;
	const struct filter_table *t = provider_rows(e, ctl, bytes, &rows);
	for (uint32_t i = 0; t && i < rows; i++) {
		if (order_load_relaxed(&t->row[i].props) & FILTER_ROW_EXCLUDE_INPRIVATE) {
			mask |= 1ull << (order_load_relaxed(&t->row[i].bit) & 63);
		}
	}
	return mask;
}

static bool judge(const struct provider_event *ev, const struct ctl_entry *e, const void *ctl, uint32_t ctl_bytes,
		  struct pool_writer *writer, struct target *ret)
{
	const uint8_t *desc = ev->descriptor;
	if (order_load_relaxed(&e->enabled) == 0) {
		return false;
	}
	struct pool_verdict v = pool_ctl_evaluate(e, ctl, ctl_bytes, desc[4], le64_get(desc + 8));
	v.mask &= ~ev->exclude;
	if (ev->flags & EVENT_WRITE_FLAG_INPRIVATE) {
		v.mask &= ~sessions_without_inprivate(e, ctl, ctl_bytes);
	}
	*ret = (struct target){writer, v};
	return v.mask != 0;
}

static uint32_t targets_find(const struct provider_event *ev, struct target ret[PROVIDER_DESTS])
{
	const struct ctl_entry *only = order_load_acquire(&ev->hot->entry);
	uint32_t n = 0;
	for (int d = 0; d < PROVIDER_DEST_INPROC; d++) {
		const struct ctl_entry *e = only;
		if (only == &provider_entry_on) {
			e = order_load_acquire(&ev->hot->all[d]);
		} else if (d > 0) {
			break;
		}
		if (e && e != &provider_entry_off) {
			struct provider_link *link = provider_link_of(e);
			n += judge(ev, e, provider_ctl_of(e), link->ctl_bytes, link->writer, &ret[n]);
		}
	}
	const struct ctl_entry *e = order_load_acquire(&ev->hot->all[PROVIDER_DEST_INPROC]);
	if (e && e != &provider_entry_off) {
		struct inproc_destination *d = inproc_destination();
		if (d) {
			const struct ctl_header *h = d->ctl;
			/* Instance ids come from the daemons; the bits of private sessions are
			 * others. */
			struct provider_event all = *ev;
			all.exclude = 0;
			n += judge(&all, e, d->ctl, h->size, d->writer, &ret[n]);
		}
	}
	return n;
}

/* ---- items ----------------------------------------------------------------------------------- */

struct items {
	uint8_t *mem;
	uint32_t len;
	uint8_t *last; /* header of the latest item, for Linkage */
};

static uint8_t *item_add(struct items *it, uint16_t type, uint32_t bytes)
{
	uint32_t total = BASE_ALIGN8(ETL_ITEM_HEADER_SIZE + bytes);
	uint8_t *p = it->mem + it->len;
	if (it->last) {
		le16_put(it->last + 4, 1);
	}
	le64_put(p + total - 8, 0); /* padding */
	le16_put(p, (uint16_t)total);
	le16_put(p + 2, type);
	le16_put(p + 4, 0);
	le16_put(p + 6, (uint16_t)bytes);
	it->last = p;
	it->len += total;
	return p + ETL_ITEM_HEADER_SIZE;
}

static void item_add_pieces(struct items *it, uint16_t item, const struct provider_event *ev, uint8_t type,
			    uint32_t bytes)
{
	if (bytes == 0) {
		return;
	}
	uint8_t *to = item_add(it, item, bytes);
	for (uint32_t i = 0; i < ev->count; i++) {
		if (piece_type(&ev->piece[i]) == type) {
			uint32_t n = BASE_MIN(ev->piece[i].size, bytes);
			pool_copy(to, ev->piece[i].ptr, n);
			to += n;
			bytes -= n;
		}
	}
}

static uint32_t item_bytes(uint32_t data)
{
	return data ? BASE_ALIGN8(ETL_ITEM_HEADER_SIZE + data) : 0;
}

static uint32_t write_all(const struct provider_event *ev, const struct parts *p, const struct target *target,
			  uint32_t targets, const uint64_t *stack, uint32_t stack_frames, uint8_t *mem)
{
	struct items it = {.mem = mem};
	if (ev->related) {
		memcpy(item_add(&it, ETL_ITEM_RELATED_ACTIVITYID, 16), ev->related, 16);
	}
	if (stack_frames > 0) {
		uint8_t *to = item_add(&it, ETL_ITEM_STACK_TRACE64, 8 + 8 * stack_frames);
		le64_put(to, 0); /* MatchId: the stack is complete */
		memcpy(to + 8, stack, 8 * stack_frames);
	}
	item_add_pieces(&it, ETL_ITEM_PROV_TRAITS, ev, EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA, p->traits_bytes);
	item_add_pieces(&it, ETL_ITEM_EVENT_SCHEMA_TL, ev, EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA, p->schema_bytes);
	struct pool_write_args args = {
		.kind = POOL_REC_EVENT,
		.prov = (uint16_t)provider_hot_index(ev->hot),
		.tid = provider_tid(),
		.descriptor = ev->descriptor,
		.activity = provider_activity_or(ev->activity),
		.items = it.mem,
		.items_bytes = it.len,
		.piece = p->payload,
		.piece_count = p->payload_count,
		.payload_bytes = p->payload_bytes,
		.timestamp = p->timestamp,
		.frame = ev->frame,
	};
	args.flags = (uint8_t)(ev->rec_flags | (args.activity ? POOL_REC_ACTIVITY : 0) | (it.len ? POOL_REC_ITEMS : 0) |
			       (ev->flags & EVENT_WRITE_FLAG_INPRIVATE ? POOL_REC_INPRIVATE : 0));
	uint32_t code = ERROR_SUCCESS;
	for (uint32_t i = 0; i < targets; i++) {
		args.mask = target[i].verdict.mask;
		args.cfg_gen = target[i].verdict.cfg_gen;
		uint32_t c = provider_code_of(pool_write_slow(target[i].writer, &args));
		code = code == ERROR_SUCCESS ? c : code;
	}
	return code;
}

static uint32_t refuse(const struct target *target, uint32_t targets)
{
	for (uint32_t i = 0; i < targets; i++) {
		pool_count_lost(target[i].writer, target[i].verdict.mask, POOL_LOST_TOO_BIG);
	}
	return ERROR_ARITHMETIC_OVERFLOW;
}

static __attribute__((noinline)) uint32_t write_with_stack(const struct provider_event *ev, const struct parts *p,
							   const struct target *target, uint32_t targets,
							   uint32_t items_bytes)
{
	uint64_t stack[PROVIDER_STACK_FRAMES_MAX];
	uint32_t frames = provider_stack_walk(ev->frame, stack, PROVIDER_STACK_FRAMES_MAX);
	items_bytes += item_bytes(8 + 8 * frames);
	if (items_bytes + p->payload_bytes > PROVIDER_EVENT_ROOM) {
		return refuse(target, targets);
	}
	uint8_t mem[ITEMS_LARGE];
	if (items_bytes <= sizeof mem) {
		return write_all(ev, p, target, targets, stack, frames, mem);
	}
	/* Rare: kilobytes of metadata and a stack. */
	uint8_t *big = mmap(NULL, items_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (big == MAP_FAILED) {
		return refuse(target, targets);
	}
	uint32_t code = write_all(ev, p, target, targets, stack, frames, big);
	munmap(big, items_bytes);
	return code;
}

static __attribute__((noinline)) uint32_t write_long_items(const struct provider_event *ev, const struct parts *p,
							   const struct target *target, uint32_t targets,
							   uint32_t items_bytes)
{
	uint8_t *big = mmap(NULL, items_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (big == MAP_FAILED) {
		return refuse(target, targets);
	}
	uint32_t code = write_all(ev, p, target, targets, NULL, 0, big);
	munmap(big, items_bytes);
	return code;
}

static uint32_t write_parts(const struct provider_event *ev, const struct parts *p, const struct target *target,
			    uint32_t targets)
{
	uint64_t items = (ev->related ? item_bytes(16) : 0) + (uint64_t)item_bytes(p->traits_bytes) +
			 item_bytes(p->schema_bytes);
	uint16_t props = 0;
	for (uint32_t i = 0; i < targets; i++) {
		props |= target[i].verdict.props;
	}
	if (items + p->payload_bytes > PROVIDER_EVENT_ROOM) {
		return refuse(target, targets);
	}
	if (BASE_UNLIKELY(props & FILTER_ROW_STACK)) {
		return write_with_stack(ev, p, target, targets, (uint32_t)items);
	}
	if (BASE_UNLIKELY(items > ITEMS_SMALL)) {
		return write_long_items(ev, p, target, targets, (uint32_t)items);
	}
	uint8_t mem[ITEMS_SMALL];
	return write_all(ev, p, target, targets, NULL, 0, mem);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Sizes are summed saturating: 128 of 32 bits would wrap. */
static uint32_t add_size(uint32_t sum, uint32_t n)
{
	return n > PROVIDER_EVENT_ROOM || sum > PROVIDER_EVENT_ROOM ? PROVIDER_EVENT_ROOM + 1 : sum + n;
}

/* Payload descriptors between metadata: they have to become one array. 2 KB of stack, so apart. */
static __attribute__((noinline)) uint32_t write_scattered(const struct provider_event *ev, struct parts *p,
							  const struct target *target, uint32_t targets)
{
	struct pool_piece payload[MAX_EVENT_DATA_DESCRIPTORS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < ev->count && n < MAX_EVENT_DATA_DESCRIPTORS; i++) {
		if (piece_type(&ev->piece[i]) == EVENT_DATA_DESCRIPTOR_TYPE_NONE) {
			payload[n++] = ev->piece[i];
		}
	}
	p->payload = payload;
	p->payload_count = n;
	return write_parts(ev, p, target, targets);
}

uint32_t provider_emit(const struct provider_event *ev)
{
	struct target target[PROVIDER_DESTS];
	uint32_t targets = targets_find(ev, target);
	if (targets == 0) {
		return ERROR_SUCCESS;
	}
	uint32_t flags = order_load_relaxed(&ev->hot->flags);
	struct parts p = {.payload = ev->piece, .payload_count = ev->count};
	uint32_t first = 0;
	bool scattered = false;
	for (uint32_t i = 0; i < ev->count; i++) {
		const struct pool_piece *d = &ev->piece[i];
		uint8_t type = flags & PROVIDER_HOT_TYPED ? piece_type(d) : EVENT_DATA_DESCRIPTOR_TYPE_NONE;
		if (type == EVENT_DATA_DESCRIPTOR_TYPE_NONE) {
			p.payload_bytes = add_size(p.payload_bytes, d->size);
			continue;
		}
		scattered = scattered || i != first;
		first++;
		if (type == EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA) {
			p.schema_bytes = add_size(p.schema_bytes, d->size);
		} else if (type == EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA && !(flags & PROVIDER_HOT_TRAITS)) {
			p.traits_bytes = add_size(p.traits_bytes, d->size);
		} else if (type == EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE && d->size == 8) {
			memcpy(&p.timestamp, d->ptr, 8);
		}
	}
	if (BASE_UNLIKELY(scattered)) {
		return write_scattered(ev, &p, target, targets);
	}
	p.payload += first;
	p.payload_count -= first;
	return write_parts(ev, &p, target, targets);
}

uint32_t provider_emit_plain(struct provider_hot *hot, const void *descriptor, const void *activity,
			     const struct pool_piece *piece, uint32_t count, const void *frame)
{
	struct provider_event ev = {
		.hot = hot,
		.descriptor = descriptor,
		.activity = activity,
		.piece = piece,
		.count = count,
		.frame = frame,
	};
	return provider_emit(&ev);
}

__attribute__((noinline)) uint32_t provider_emit_again(struct provider_hot *hot, const void *descriptor,
						       const void *activity, const struct pool_piece *piece,
						       uint32_t count, const void *frame)
{
	const struct ctl_entry *e = order_load_acquire(&hot->entry);
	if (e == &provider_entry_on || order_load_relaxed(&e->enabled) == 0) {
		/* several destinations; or none by now */
		return provider_emit_plain(hot, descriptor, activity, piece, count, frame);
	}
	const uint8_t *desc = descriptor;
	struct provider_link *link = provider_link_of(e);
	uint32_t cfg = order_load_acquire(&e->cfg);
	struct pool_verdict v = pool_ctl_evaluate(e, provider_ctl_of(e), link->ctl_bytes, desc[4], le64_get(desc + 8));
	order_fence_acquire();
	if (order_load_relaxed(&e->cfg) != cfg || (v.props & FILTER_ROW_STACK) != 0) {
		return provider_emit_plain(hot, descriptor, activity, piece, count, frame);
	}
	provider_cache_fill(hot, descriptor, e, cfg, &v);
	if (v.mask == 0) {
		return ERROR_SUCCESS;
	}
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++) {
		total += piece[i].size;
	}
	/* A full chunk is why we are here mostly. Too large an event is counted further down. */
	if (total <= PREPARE_MAX) {
		if (!pool_writer_is_quick(link->writer)) {
			return provider_emit_plain(hot, descriptor, activity, piece, count, frame);
		}
		pool_writer_prepare(link->writer, provider_tid(), POOL_QUICK_ROOM + (uint32_t)total);
		order_pair head = pool_rec_head(POOL_REC_EVENT, (uint16_t)provider_hot_index(hot), v.cfg_gen);
		order_pair mask = {0, v.mask};
		bool typed = (order_load_relaxed(&hot->flags) & PROVIDER_HOT_TYPED) != 0;
		enum pool_quick_result result =
			typed ? provider_write_known(hot, descriptor, activity, piece, count, link->writer, head, mask,
						     PROVIDER_SHAPE_ANY | PROVIDER_SHAPE_TYPED, NULL)
			      : provider_write_known(hot, descriptor, activity, piece, count, link->writer, head, mask,
						     PROVIDER_SHAPE_ANY, NULL);
		if (result == POOL_QUICK_DONE) {
			return ERROR_SUCCESS;
		}
	}
	return provider_emit_plain(hot, descriptor, activity, piece, count, frame);
}
