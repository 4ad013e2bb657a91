/* SPDX-License-Identifier: MIT
 *
 * What the write path touches. The region is one anonymous MADV_WIPEONFORK mapping: in a forked
 * child every generation reads as 0, so every handle misses and comes to the slow path.
 *
 * A ctl_entry pointer is the whole truth about where an event goes: control blocks are mapped at
 * addresses aligned to PROVIDER_LINK_ALIGN, with struct provider_link before them. One load of
 * hot->entry therefore gives a consistent picture without a lock, however often we re-attach.
 */
#ifndef PROVIDER_PROVIDER_REGION_H
#define PROVIDER_PROVIDER_REGION_H

#include "base/order.h"
#include "pool/pool_writer.h"
#include "provider/provider.h"

enum provider_dest_kind {
	PROVIDER_DEST_USER = 0,
	PROVIDER_DEST_SYSTEM = 1,
	PROVIDER_DEST_INPROC = 2,
	PROVIDER_DESTS = 3,
};

/* [0, 64 KB) struct provider_link, wiped on fork; [64 KB, + 4 MB) control block, read-only. Side by
 * side, so that a quiet process has one page table for both, and one page of its own. */
#define PROVIDER_LINK_ALIGN (2ull * POOL_CTL_BYTES)
#define PROVIDER_LINK_BYTES 65536u

struct provider_link {
	uint32_t ctl_bytes;
	uint32_t kind; /* enum provider_dest_kind */
	struct pool_writer writer[1];
};
_Static_assert(sizeof(struct provider_link) <= PROVIDER_LINK_BYTES, "before the control block");

enum provider_hot_flags {
	PROVIDER_HOT_TYPED = 1u << 0,  /* descriptor types are honoured */
	PROVIDER_HOT_TRAITS = 1u << 1, /* traits registered: etwd adds them, Type 2 is dropped */
	PROVIDER_HOT_CLASSIC = 1u << 2,
	PROVIDER_HOT_MULTI = 1u << 3, /* more than one destination: look at all[] */
};

/* One answer to "which sessions want this level and keyword", with all that an event needs to be
 * written for them. Asking the control block instead means a chain of loads, each waiting for the one
 * before (entry, table offset, rows), and a loop over the sessions. Protocol: provider_cache.c. */
struct provider_verdict {
	uint64_t tag; /* the entry's cfg : 32 | sequence : 32; or PROVIDER_TAG_BUSY() */
	uint64_t keyword;
	const struct ctl_entry *entry;
	struct pool_writer *writer;
	uint64_t head[2]; /* the first 16 bytes of the record, see pool_rec_head() */
	uint64_t level;   /* before the mask as the time in a record is, see pool_quick.mask */
	uint64_t mask;    /* 0: nobody */
};
_Static_assert(sizeof(struct provider_verdict) == 64, "one cache line");
/* Being written, by that thread. No cfg is that high. */
#define PROVIDER_TAG_BUSY(tid) ((uint64_t)UINT32_MAX << 32 | (tid))
static inline bool provider_tag_is_busy(uint64_t tag)
{
	return tag >> 32 == UINT32_MAX;
}
#define PROVIDER_VERDICTS 4u

/* Is the verdict's tag (whose value is `tag`) of another cfg? */
static inline bool provider_tag_differs(const struct provider_verdict *v, uint64_t tag, uint32_t cfg)
{
#if defined(__x86_64__) && !defined(ORDER_SANITIZED)
	/* The half in memory. Should it have changed, the last look at the whole of it says so. */
	(void)tag;
	return order_differs((const uint32_t *)(const void *)&v->tag + 1, cfg);
#else
	return (uint32_t)(tag >> 32) != cfg;
#endif
}

/* A registration; a write reads the first cache line and one of the others. */
struct provider_hot {
	uint64_t handle; /* what EventRegister gave; 0 = no registration here */
	/* The one destination's entry; or an all-zero one; or, with several destinations (or the
	 * in-process one), an entry that is always enabled, which leads to the general path. Never
	 * NULL in a live one. */
	const struct ctl_entry *entry;
	uint32_t flags;
	uint32_t conflicts; /* verdicts asked for in vain; see provider_cache_fill() */
	const struct ctl_entry *all[PROVIDER_DESTS];
	uint64_t hidden; /* the handle, while threads of ours are missing: see provider_scarce.h */
	uint64_t reserved;
	struct provider_verdict verdict[PROVIDER_VERDICTS];
	uint64_t unused[3][8]; /* a power of two: found by a shift */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct provider_hot) == 512, "a power of two");
_Static_assert(offsetof(struct provider_hot, verdict) == 64, "the second one starts here");

/* A few bytes that every process writes: into the page that the loader has written already. */
#define PROVIDER_FEW __attribute__((section(".data")))

#if defined(__aarch64__)
#define PROVIDER_PAGE 65536 /* the largest the kernel may use */
#else
#define PROVIDER_PAGE 4096
#endif

struct provider_region {
	uint32_t epoch; /* process id; 0 = no registration yet, or a forked child */
	uint32_t activity_ready;
	uint64_t activity_salt;
	uint64_t activity_next;
	uint64_t reserved[5];
	struct provider_hot hot[PROVIDER_REGISTRATIONS_MAX];
} __attribute__((aligned(PROVIDER_PAGE)));
_Static_assert(sizeof(struct provider_region) % PROVIDER_PAGE == 0, "mapped over");
/* A fixed place in our own zeroed data, over which the wiped-on-fork mapping is put: no pointer to
 * load. */
extern struct provider_region provider_memory __attribute__((visibility("hidden")));
/* All zero: a disabled provider. */
extern const struct ctl_entry provider_entry_off __attribute__((visibility("hidden")));
/* Enabled: "look at all[]". */
extern const struct ctl_entry provider_entry_on __attribute__((visibility("hidden")));

/* Map the region. context: async-signal-safe. 0 or -ENOMEM. */
int provider_region_ready(void);

struct provider_thread {
	uint64_t activity[2]; /* EventActivityIdControl */
	uint32_t tid;         /* valid when epoch is the region's */
	uint32_t epoch;
	uint32_t plain_epoch; /* the same while there is no activity, else 0 */
	uint32_t reserved;
	const void *stack_end; /* see provider_stack.c */
};
/* initial-exec: reachable from signal handlers without allocation. */
extern __thread struct provider_thread provider_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

uint32_t provider_tid_slow(void);
/* After a change of activity or epoch. */
void provider_thread_refresh(void);
/* A fork copies the thread's cached id into the child, where it is wrong; hence the epoch. No thread
 * has a valid epoch before it has asked for its id. */
static inline bool provider_tid_known(void)
{
	return provider_thread.epoch == provider_memory.epoch;
}
/* And it has no activity. */
static inline bool provider_thread_plain(void)
{
	return !order_differs(&provider_thread.plain_epoch, provider_memory.epoch);
}
static inline uint32_t provider_tid(void)
{
	return BASE_LIKELY(provider_tid_known()) ? provider_thread.tid : provider_tid_slow();
}

/* Where a miss goes: a forked child gets its registrations back, a wrong handle gives NULL. */
struct provider_hot *provider_lookup_slow(uint64_t handle);

static inline struct provider_hot *provider_lookup_fast(uint64_t handle)
{
	uint32_t index = (uint32_t)handle - 1;
	if (BASE_LIKELY(index < PROVIDER_REGISTRATIONS_MAX)) {
		struct provider_hot *hot = &provider_memory.hot[index];
		__asm__("" : "+r"(hot)); /* one base register for all of it */
		if (!hot) {
			__builtin_unreachable();
		}
		if (BASE_LIKELY(!order_differs(&hot->handle, handle))) {
			order_fence_acquire();
			return hot;
		}
	}
	return NULL;
}
static inline struct provider_hot *provider_lookup(uint64_t handle)
{
	struct provider_hot *hot = provider_lookup_fast(handle);
	return BASE_LIKELY(hot != NULL) ? hot : provider_lookup_slow(handle);
}

static inline uint32_t provider_hot_index(const struct provider_hot *hot)
{
	return (uint32_t)(hot - provider_memory.hot);
}

static inline struct provider_link *provider_link_of(const struct ctl_entry *e)
{
	return (struct provider_link *)((uintptr_t)e & ~(uintptr_t)(PROVIDER_LINK_ALIGN - 1));
}
static inline const void *provider_ctl_of(const struct ctl_entry *e)
{
	return (const uint8_t *)provider_link_of(e) + PROVIDER_LINK_BYTES;
}

#endif
