/* SPDX-License-Identifier: MIT
 *
 * All interleavings of a small model of the protocol: two slots, two chunks of two records each,
 * one drain, every shared access one step, a writer may die before any step. Searched exhaustively
 * with a set of visited states.
 *
 * The writers' stores go through a FIFO store buffer (x86-TSO: also what store-release promises
 * elsewhere, as far as these variables are concerned), so that a step that must wait for the buffer
 * (compare-and-swap, exchange, fence) is distinguished from one that need not.
 *
 * Checked in every reachable state: a published record is delivered once and unchanged, an
 * unpublished one never; the drain never copies a chunk while a new owner writes it; a chunk is
 * never owned twice; and the drain never sleeps for good while the pool is half full and a writer
 * found the bell armed. The last tests break the protocol on purpose: a checker that finds nothing
 * must be able to find something.
 */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNKS = 2, ROOM = 2, WRITERS = 2, EVENTS = 3, BUFFER = 4 };

/* Names of shared variables, as addresses of the store buffer. */
enum { VAR_WORD = 0, VAR_DATA = 8, VAR_NONE = 255 };

struct word {
	uint8_t gen, closed, committed;
};

struct store {
	uint8_t var; /* VAR_WORD + chunk, or VAR_DATA + chunk * ROOM + position */
	struct word word;
	uint8_t value;
};

struct writer {
	uint8_t pc, dead, chunk, next_chunk, pos, gen, event, bell_seen;
	uint8_t buffered;
	struct store buffer[BUFFER];
};

struct machine {
	/* shared */
	uint8_t free_mask, armed, bell;
	struct word word[CHUNKS];
	uint8_t data[CHUNKS][ROOM];
	struct writer w[WRITERS];
	/* drain */
	uint8_t pc, chunk, asleep, freeing, passes;
	struct word look;
	uint8_t copy[ROOM];
	uint8_t live[CHUNKS], gen[CHUNKS], consumed[CHUNKS];
	/* books, not part of the protocol */
	uint8_t published[WRITERS]; /* bit: event, once its word has become visible */
	uint8_t delivered[WRITERS];
	uint8_t lost[WRITERS];
};

/* Ways to break the protocol. */
enum fault {
	FAULT_NONE,
	FAULT_PUBLISH_BEFORE_FILL,
	FAULT_FREE_BEFORE_COPY,
	FAULT_FREE_OPEN_CHUNKS,
	FAULT_SAME_GENERATION,
	FAULT_NO_BELL_RECHECK,
	FAULT_CLAIM_WITHOUT_CAS,
};
static enum fault fault;
static const char *violation;

/* ---- the set of visited states -------------------------------------------------------------- */

static struct machine *table;
static uint8_t *used;
static size_t table_size, table_count;

static uint64_t hash_state(const struct machine *s)
{
	const uint8_t *p = (const uint8_t *)s;
	uint64_t h = 1469598103934665603ull;
	for (size_t i = 0; i < sizeof *s; i++) {
		h = (h ^ p[i]) * 1099511628211ull;
	}
	return h ^ h >> 29;
}

static bool visit(const struct machine *s)
{
	size_t at = hash_state(s) & (table_size - 1);
	while (used[at]) {
		if (memcmp(&table[at], s, sizeof *s) == 0) {
			return false;
		}
		at = (at + 1) & (table_size - 1);
	}
	if (table_count * 10 > table_size * 9) {
		violation = "the table of states is too small";
		return false;
	}
	used[at] = 1;
	table[at] = *s;
	table_count++;
	return true;
}

/* ---- steps of a writer ---------------------------------------------------------------------- */

static uint8_t value_of(uint8_t writer, uint8_t event)
{
	return (uint8_t)(1 + writer * 16 + event);
}

static void flush_one(struct machine *s, struct writer *w)
{
	struct store st = w->buffer[0];
	memmove(&w->buffer[0], &w->buffer[1], sizeof w->buffer - sizeof w->buffer[0]);
	memset(&w->buffer[BUFFER - 1], 0, sizeof w->buffer[0]);
	w->buffered--;
	if (st.var >= VAR_DATA) {
		s->data[(st.var - VAR_DATA) / ROOM][(st.var - VAR_DATA) % ROOM] = st.value;
		return;
	}
	uint8_t i = (uint8_t)(w - s->w);
	s->word[st.var] = st.word;
	if (st.value) {
		s->published[i] |= (uint8_t)(1 << (st.value - 1));
	}
}

static bool push(struct writer *w, struct store st)
{
	if (w->buffered == BUFFER) {
		return false;
	}
	w->buffer[w->buffered++] = st;
	return true;
}

enum { W_START, W_FILL, W_PUBLISH, W_CLAIM, W_CLOSE, W_OPEN, W_ARMED, W_DONE };

static bool half_full(const struct machine *s)
{
	return s->free_mask != (1 << CHUNKS) - 1; /* one of two chunks taken */
}

/* False when the step cannot be taken now. */
static bool writer_step(struct machine *s, uint8_t i)
{
	struct writer *w = &s->w[i];
	switch (w->pc) {
	case W_START:
		if (w->event == EVENTS) {
			w->pc = W_DONE;
			return true;
		}
		w->pc = w->chunk == VAR_NONE || w->pos == ROOM ? W_CLAIM
			: fault == FAULT_PUBLISH_BEFORE_FILL   ? W_PUBLISH
							       : W_FILL;
		return true;
	case W_FILL:
		if (!push(w, (struct store){.var = (uint8_t)(VAR_DATA + w->chunk * ROOM + w->pos),
					    .value = value_of(i, w->event)})) {
			return false;
		}
		if (fault == FAULT_PUBLISH_BEFORE_FILL) {
			w->pos++;
			w->event++;
			w->pc = W_START;
		} else {
			w->pc = W_PUBLISH;
		}
		return true;
	case W_PUBLISH:
		if (!push(w, (struct store){.var = w->chunk,
					    .word = {w->gen, 0, (uint8_t)(w->pos + 1)},
					    .value = (uint8_t)(w->event + 1)})) {
			return false;
		}
		if (fault == FAULT_PUBLISH_BEFORE_FILL) {
			w->pc = W_FILL;
			return true;
		}
		w->pos++;
		w->event++;
		w->pc = W_START;
		return true;
	case W_CLAIM: /* compare-and-swap: the buffer is empty, read and write are one */
		if (w->buffered) {
			return false;
		}
		if (s->free_mask == 0 && fault != FAULT_CLAIM_WITHOUT_CAS) {
			s->lost[i] |= (uint8_t)(1 << w->event);
			w->event++;
			w->pc = W_START;
			return true;
		}
		w->next_chunk = s->free_mask & 1 || s->free_mask == 0 ? 0 : 1;
		s->free_mask &= (uint8_t) ~(1 << w->next_chunk);
		w->pc = w->chunk == VAR_NONE ? W_OPEN : W_CLOSE;
		return true;
	case W_CLOSE:
		if (!push(w, (struct store){.var = w->chunk, .word = {w->gen, 1, w->pos}})) {
			return false;
		}
		w->chunk = VAR_NONE; /* no longer ours once the store is seen */
		w->pc = W_OPEN;
		return true;
	case W_OPEN: { /* the chunk is ours: nobody else writes its word */
		uint8_t gen = s->word[w->next_chunk].gen;
		gen = (uint8_t)(fault == FAULT_SAME_GENERATION && gen ? gen : gen + 1);
		if (!push(w, (struct store){.var = w->next_chunk, .word = {gen, 0, 0}})) {
			return false;
		}
		w->chunk = w->next_chunk;
		w->gen = gen;
		w->pos = 0;
		w->pc = half_full(s) ? W_ARMED : W_START;
		return true;
	}
	case W_ARMED: /* fence, exchange */
		if (w->buffered) {
			return false;
		}
		s->bell |= s->armed;
		s->armed = 0;
		w->pc = W_START;
		return true;
	default: return false;
	}
}

/* ---- steps of the drain --------------------------------------------------------------------- */

enum { D_SCAN, D_LOOK, D_COPY, D_FREE, D_NEXT, D_ARM, D_RECHECK, D_SLEEP };

static void deliver(struct machine *s, uint8_t value)
{
	uint8_t i = (uint8_t)((value - 1) / 16), event = (uint8_t)((value - 1) % 16);
	if (value == 0 || i >= WRITERS || event >= EVENTS) {
		violation = "bytes that nobody published were delivered";
	} else if (!(s->published[i] >> event & 1)) {
		violation = "a record was delivered before it was published";
	} else if (s->delivered[i] >> event & 1) {
		violation = "a record was delivered twice";
	} else {
		s->delivered[i] |= (uint8_t)(1 << event);
	}
}

static void drain_copy(struct machine *s)
{
	uint8_t c = s->chunk;
	for (uint8_t k = s->consumed[c]; k < s->look.committed; k++) {
		deliver(s, s->data[c][k]);
	}
	if (s->look.committed > s->consumed[c]) {
		s->consumed[c] = s->look.committed;
	}
}

static bool drain_step(struct machine *s)
{
	uint8_t c = s->chunk;
	switch (s->pc) {
	case D_SCAN: s->pc = s->free_mask >> c & 1 ? D_NEXT : D_LOOK; return true;
	case D_LOOK:
		s->look = s->word[c];
		if (!s->live[c] && s->look.gen == s->gen[c]) {
			s->pc = D_NEXT; /* claimed, not opened */
			return true;
		}
		if (s->live[c] && s->look.gen != s->gen[c]) {
			violation = "a generation vanished";
		}
		if (!s->live[c]) {
			s->live[c] = 1;
			s->gen[c] = s->look.gen;
			s->consumed[c] = 0;
		}
		s->pc = fault == FAULT_FREE_BEFORE_COPY ? D_FREE : D_COPY;
		return true;
	case D_COPY:
		drain_copy(s);
		s->pc = fault == FAULT_FREE_BEFORE_COPY ? D_NEXT : D_FREE;
		return true;
	case D_FREE:
		if (s->look.closed || (fault == FAULT_FREE_OPEN_CHUNKS && s->look.committed)) {
			if (s->free_mask >> c & 1) {
				violation = "a chunk was freed twice";
			}
			s->free_mask |= (uint8_t)(1 << c);
			s->live[c] = 0;
		}
		s->pc = fault == FAULT_FREE_BEFORE_COPY ? D_COPY : D_NEXT;
		return true;
	case D_NEXT:
		s->chunk = (uint8_t)((c + 1) % CHUNKS);
		s->pc = s->chunk ? D_SCAN : D_ARM;
		memset(&s->look, 0, sizeof s->look);
		return true;
	case D_ARM:
		s->armed = 1; /* and a fence: visible at once */
		s->pc = fault == FAULT_NO_BELL_RECHECK ? D_SLEEP : D_RECHECK;
		return true;
	case D_RECHECK: /* look again at free_mask; here: whether a closed chunk waits */
		s->pc = D_SLEEP;
		for (uint8_t k = 0; k < CHUNKS; k++) {
			if (!(s->free_mask >> k & 1) && s->word[k].closed &&
			    (s->live[k] || s->word[k].gen != s->gen[k])) {
				s->pc = D_SCAN;
			}
		}
		return true;
	case D_SLEEP:
		if (!s->bell) {
			return false;
		}
		s->bell = 0;
		s->pc = D_SCAN;
		return true;
	default: return false;
	}
}

/* ---- the search ----------------------------------------------------------------------------- */

static void check_owners(const struct machine *s)
{
	const struct writer *a = &s->w[0], *b = &s->w[1];
	if (a->chunk != VAR_NONE && a->chunk == b->chunk) {
		violation = "a chunk has two owners";
	}
	for (uint8_t i = 0; i < WRITERS; i++) {
		if (s->w[i].chunk != VAR_NONE && (s->free_mask >> s->w[i].chunk & 1)) {
			violation = "a chunk is free while it is being written";
		}
	}
}

/* Nobody can move: the timer would wake the drain. Let it, and look at the books. */
static void check_end(struct machine s, bool deaths)
{
	for (uint8_t k = 0; k < CHUNKS && !deaths; k++) {
		if (s.word[k].closed && (s.live[k] || s.word[k].gen != s.gen[k])) {
			violation = "the drain sleeps while a closed chunk waits, and no bell rang";
		}
	}
	for (unsigned n = 0; n < 3 * (4 * CHUNKS + 3); n++) {
		s.bell = 1;
		drain_step(&s);
	}
	for (uint8_t i = 0; i < WRITERS; i++) {
		if (s.delivered[i] != s.published[i]) {
			violation = "a published record was not delivered";
		}
		if (!deaths && (s.delivered[i] ^ s.lost[i]) != (1 << EVENTS) - 1) {
			violation = "an event is neither delivered nor counted, or both";
		}
	}
}

struct stack {
	struct machine *at;
	size_t count, cap;
};

static void add(struct stack *k, const struct machine *s)
{
	if (violation || !visit(s)) {
		return;
	}
	if (k->count == k->cap) {
		k->cap = k->cap ? k->cap * 2 : 1024;
		k->at = realloc(k->at, k->cap * sizeof *k->at);
		if (!k->at) {
			abort();
		}
	}
	k->at[k->count++] = *s;
}

static size_t explore(bool deaths)
{
	violation = NULL;
	table_count = 0;
	table_size = (size_t)1 << 22;
	table = malloc(table_size * sizeof *table);
	used = calloc(table_size, 1);
	assert_true(table && used);
	struct machine first;
	memset(&first, 0, sizeof first);
	first.free_mask = (1 << CHUNKS) - 1;
	for (uint8_t i = 0; i < WRITERS; i++) {
		first.w[i].chunk = VAR_NONE;
	}
	struct stack k = {0};
	add(&k, &first);
	while (k.count > 0 && !violation) {
		struct machine s = k.at[--k.count];
		bool moved = false;
		check_owners(&s);
		for (uint8_t i = 0; i < WRITERS && !violation; i++) {
			struct machine n = s;
			if (s.w[i].buffered) {
				flush_one(&n, &n.w[i]);
				add(&k, &n);
				moved = true;
				n = s;
			}
			if (!s.w[i].dead && s.w[i].pc != W_DONE) {
				if (writer_step(&n, i)) {
					add(&k, &n);
					moved = true;
				}
				if (deaths) { /* killed here; its buffered stores still arrive */
					n = s;
					n.w[i].dead = 1;
					add(&k, &n);
				}
			}
		}
		struct machine n = s;
		if (!violation && drain_step(&n)) {
			add(&k, &n);
			moved = true;
		}
		if (!moved && !violation) {
			check_end(s, deaths);
		}
	}
	free(k.at);
	free(table);
	free(used);
	return table_count;
}

static void every_interleaving_delivers_what_was_published_once(void **state)
{
	fault = FAULT_NONE;
	size_t n = explore(false);
	print_message("%zu states\n", n);
	if (violation) {
		fail_msg("%s", violation);
	}
	assert_true(n > 1000);
}

static void a_death_before_any_step_changes_nothing_for_the_other_writer(void **state)
{
	fault = FAULT_NONE;
	size_t n = explore(true);
	print_message("%zu states\n", n);
	if (violation) {
		fail_msg("%s", violation);
	}
}

static void the_checker_finds_each_broken_protocol(void **state)
{
	static const enum fault faults[] = {
		FAULT_PUBLISH_BEFORE_FILL, FAULT_FREE_BEFORE_COPY, FAULT_FREE_OPEN_CHUNKS,
		FAULT_SAME_GENERATION,     FAULT_NO_BELL_RECHECK,  FAULT_CLAIM_WITHOUT_CAS,
	};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(faults); i++) {
		fault = faults[i];
		explore(false);
		if (!violation) {
			fail_msg("fault %u was not found", (unsigned)fault);
		}
		print_message("fault %u: %s\n", (unsigned)fault, violation);
	}
	fault = FAULT_NONE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_interleaving_delivers_what_was_published_once),
		cmocka_unit_test(a_death_before_any_step_changes_nothing_for_the_other_writer),
		cmocka_unit_test(the_checker_finds_each_broken_protocol),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
