/* SPDX-License-Identifier: MIT
 *
 * The memory shared by exactly one provider process and one etwd: a document that compiles.
 *
 * Two kinds of memfd:
 *
 *   control block   written by etwd (d), sealed so that the process can only map it read-only
 *   pool segment    written by the process (p); etwd writes only free_mask, armed, cons_hint,
 *                   and what a later etwd needs: lost_told, bit_name
 *
 * Everything is little-endian, fixed width, offsets instead of pointers. The receiver of a field
 * written by the other side loads it exactly once into a local and checks the local.
 *
 *   control block:  ctl_header | heap of { ctl_entry, filter tables } handed out by etwd
 *   segment:        page 0 seg_header | page 1 chunk_desc[64] | chunk_count * chunk_size data
 *
 * Chunk life (bit = its bit in free_mask; word = generation<<33 | closed<<32 | committed bytes):
 *
 *   FREE bit=1 --writer: cas bit 1->0--> CLAIMED --writer: word={g+1,0,0}--> OPEN --publish--> OPEN
 *     ^                                                                       | next does not fit
 *     |                                                                       v writer: closed=1
 *     +------- etwd: bit 0->1, after it consumed every committed byte ---- CLOSED
 *
 * etwd may read committed bytes of an OPEN chunk at any time and never waits for CLOSED.
 * A fresh segment is all zero: free_mask 0 means "nothing to claim", so a process may map it before
 * etwd has made it ready (etwd writes seg_header and then free_mask at the first enable).
 */
#ifndef POOL_POOL_ABI_H
#define POOL_POOL_ABI_H

#include <stddef.h>
#include <stdint.h>

#define POOL_ABI_MAJOR     1
#define POOL_ABI_MINOR     0
#define POOL_CTL_MAGIC     0x4C435745u /* "EWCL" */
#define POOL_SEG_MAGIC     0x47535745u /* "EWSG" */
#define POOL_CHUNKS        64u
#define POOL_CHUNK_MIN     4096u
#define POOL_CHUNK_MAX     65536u
#define POOL_DESC_OFFSET   4096u
#define POOL_DATA_OFFSET   8192u /* page 0 header, page 1 descriptors */
#define POOL_SEGMENTS_MAX  4u
#define POOL_SESSION_BITS  64u
#define POOL_BIT_SHARED    63u /* more than 63 sessions in one process: "ask the daemon" */
#define POOL_EVENT_MAX     65535u
#define POOL_CTL_BYTES     (4u << 20) /* virtual size of a control block; touched pages only cost */
#define POOL_PROVIDERS_MAX 1024u

/* ---- control block ------------------------------------------------------------------------- */

enum pool_ctl_flags {
	POOL_CTL_BELL_ALLOWED = 1u << 0,
	POOL_CTL_LOW_LATENCY = 1u << 1, /* ring the bell on the first record after armed, not at half */
	POOL_CTL_RINGS = 1u << 2,       /* every message to the process is announced by ctl_seq */
};

struct ctl_header {
	uint32_t magic;       /* POOL_CTL_MAGIC (d) constant */
	uint16_t abi_major;   /* (d) constant */
	uint16_t abi_minor;   /* (d) constant */
	uint32_t size;        /* bytes of the block (d) constant */
	uint32_t clock_kind;  /* enum clock_kind (d) constant */
	uint64_t clock_freq;  /* ticks per second (d) constant, informational */
	uint8_t instance[16]; /* which etwd incarnation (d) constant */
	uint32_t flags;       /* enum pool_ctl_flags (d) atomic */
	uint32_t ctl_seq;     /* futex word, incremented when a message waits (d) atomic */
	uint32_t reserved[20];
};
_Static_assert(sizeof(struct ctl_header) == 128, "ABI");

/* One cache line for each registration. Offsets are from the start of the control block. */
struct ctl_entry {
	uint32_t enabled;   /* number of enabling sessions, 0 = off. THE fast check (d) atomic */
	uint8_t level_max;  /* union; 255 when some session gave 0 (d) atomic */
	uint8_t rows;       /* rows in the valid table, informational (d) */
	uint16_t flags;     /* enum ctl_entry_flags (d) atomic */
	uint64_t any_union; /* union of MatchAny, all ones when some session gave 0 (d) atomic */
	uint32_t cfg;       /* generation << 1 | index of the valid table (d) atomic */
	uint32_t table[2];  /* offsets of struct filter_table; the valid one and the next one (d) */
	uint32_t reserved0;
	uint64_t all_inter; /* intersection of MatchAll (d) atomic */
	uint64_t reserved[3];
};
_Static_assert(sizeof(struct ctl_entry) == 64, "one cache line");

enum ctl_entry_flags {
	CTL_ENTRY_STACK = 1u << 0,   /* some row wants stacks */
	CTL_ENTRY_CLASSIC = 1u << 1, /* registered by RegisterTraceGuids */
};

enum filter_row_props {
	FILTER_ROW_STACK = 1u << 0,             /* capture a user stack for this session */
	FILTER_ROW_IGNORE_KEYWORD_0 = 1u << 1,  /* EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 */
	FILTER_ROW_EXCLUDE_INPRIVATE = 1u << 2, /* skip EVENT_WRITE_FLAG_INPRIVATE events */
};

/* Rows only pre-select: etwd evaluates every record again with full authority. */
struct filter_row {
	uint8_t bit;   /* bit in pool_rec.mask */
	uint8_t level; /* 0 = everything */
	uint16_t props;
	uint32_t reserved;
	uint64_t any; /* never 0: etwd stores all ones for 0 */
	uint64_t all;
};
_Static_assert(sizeof(struct filter_row) == 24, "ABI");

struct filter_table {
	uint32_t gen; /* low 16 bits go to pool_rec.cfg_gen */
	uint32_t rows;
	struct filter_row row[];
};
_Static_assert(sizeof(struct filter_table) == 8, "ABI");

/* ---- pool segment -------------------------------------------------------------------------- */

enum pool_lost_cause {
	POOL_LOST_FULL = 0,
	POOL_LOST_NESTING = 1,
	POOL_LOST_TOO_BIG = 2,
	POOL_LOST_DETACHED = 3,
};

struct seg_header {
	uint32_t magic;       /* POOL_SEG_MAGIC (d) constant */
	uint16_t abi_major;   /* (d) constant */
	uint16_t abi_minor;   /* (d) constant */
	uint32_t chunk_size;  /* (d) constant */
	uint32_t chunk_count; /* <= 64 (d) constant */
	uint8_t pool_id[16];  /* (d) constant; same in all segments of one pool */
	uint64_t pad0[4];
	uint64_t free_mask __attribute__((aligned(64))); /* set by (d) or-release, cleared by (p) cas */
	uint32_t armed __attribute__((aligned(64)));     /* (d) sets 1, (p) exchanges to 0 and rings */
	/* Segment 0 only. Claims of the process: etwd clamps the increase per tick. */
	uint64_t lost[POOL_SESSION_BITS] __attribute__((aligned(64))); /* (p) per session bit */
	uint64_t lost_cause[8];                                        /* (p) enum pool_lost_cause */
	/* Segment 0 only, for an etwd that adopts the pool. */
	uint64_t lost_told[POOL_SESSION_BITS]; /* (d) how much of lost[] a session was told */
	uint64_t bit_name[POOL_SESSION_BITS];  /* (d) hash of the session's name; 0 none */
};
_Static_assert(sizeof(struct seg_header) <= 4096, "page 0");
_Static_assert(offsetof(struct seg_header, free_mask) == 64, "own cache line");
_Static_assert(offsetof(struct seg_header, armed) == 128, "own cache line");
_Static_assert(offsetof(struct seg_header, lost) == 192, "own cache lines");

struct chunk_desc {
	uint64_t word;      /* (p) generation:31 | closed:1 | committed bytes:32. THE sync variable */
	uint64_t begun;     /* (p) as word; > committed while a record is being written (relaxed) */
	uint32_t span;      /* (p) contiguous chunks of a large event, normally 1 */
	uint32_t cons_hint; /* (d) low 13 bits of the generation << 19 | bytes consumed / 8;
			       only read by an etwd that adopts the pool */
	uint64_t reserved[5];
};
_Static_assert(sizeof(struct chunk_desc) == 64, "own cache line");

#define POOL_WORD_CLOSED (1ull << 32)
static inline uint64_t pool_word(uint32_t gen, uint32_t committed)
{
	return (uint64_t)gen << 33 | committed;
}
static inline uint32_t pool_word_gen(uint64_t w)
{
	return (uint32_t)(w >> 33);
}
static inline uint32_t pool_word_committed(uint64_t w)
{
	return (uint32_t)w;
}

/* chunk_desc.cons_hint names the generation it belongs to: a stale one must not hide new bytes. */
#define POOL_HINT_SHIFT 19u
/* Instead of a position: consumed, and its bit is being set. An etwd that finds this cannot know whether
 * the bit was set, or even claimed again; without it, it was not. */
#define POOL_HINT_FREEING ((1u << POOL_HINT_SHIFT) - 1)
static inline uint32_t pool_hint_bytes(uint32_t hint, uint32_t gen)
{
	int same = hint >> POOL_HINT_SHIFT == (gen << POOL_HINT_SHIFT) >> POOL_HINT_SHIFT;
	return same ? (hint & ((1u << POOL_HINT_SHIFT) - 1)) * 8 : 0;
}

/* ---- record -------------------------------------------------------------------------------- */

enum pool_rec_kind {
	POOL_REC_EVENT = 1,    /* EventWrite family; payload = user data */
	POOL_REC_CLASSIC = 2,  /* TraceEvent: payload = guid class[16] | user data; desc carries
				 Id=0, Version=Class.Version, Level=Class.Level, Opcode=Class.Type */
	POOL_REC_MESSAGE = 3,  /* TraceMessage: payload = on-disk optional fields and arguments from
				 offset 8 on (etl-format 19); desc.id = number, desc.task = flags.
				 Fields SEQUENCE and TIMESTAMP are filled by etwd */
	POOL_REC_INSTANCE = 4, /* TraceEventInstance: payload = guid class | u32 id | u32 parent id |
				  guid parent class | user data */
};

enum pool_rec_flags {
	POOL_REC_ACTIVITY = 1u << 0,    /* 16 bytes activity id first */
	POOL_REC_ITEMS = 1u << 1,       /* extended items next, in on-disk form with Linkage */
	POOL_REC_STRING_ONLY = 1u << 2, /* EventWriteString */
	POOL_REC_INPRIVATE = 1u << 3,   /* EVENT_WRITE_FLAG_INPRIVATE */
};

/* Not in here, because etwd supplies them and so they cannot be forged: process id, provider GUID,
 * user, process start key, registered traits. */
struct pool_rec {
	uint16_t size8; /* total size in 8-byte units, >= 6 */
	uint8_t kind;   /* enum pool_rec_kind */
	uint8_t flags;  /* enum pool_rec_flags */
	uint16_t prov;  /* index of the registration in this process */
	uint16_t cpu;
	uint32_t tid;      /* as the thread sees itself */
	uint16_t user_len; /* payload bytes; the payload sits at the end, then zero padding to 8 */
	uint16_t cfg_gen;  /* low 16 bits of the filter table generation used */
	uint64_t ts;       /* raw clock ticks */
	uint64_t mask;     /* session bits that want it */
	/* EVENT_DESCRIPTOR */
	uint16_t id;
	uint8_t version;
	uint8_t channel;
	uint8_t level;
	uint8_t opcode;
	uint16_t task;
	uint64_t keyword;
};
_Static_assert(sizeof(struct pool_rec) == 48, "ABI");

#endif
