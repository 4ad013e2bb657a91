/* SPDX-License-Identifier: MIT
 *
 * Processes with providers: their memory, their session bits, their end.
 */
#ifndef ETWD_ETWD_PROCESS_H
#define ETWD_ETWD_PROCESS_H

#include "etwd/etwd_conn.h"
#include "etwd/etwd_loop.h"
#include "pool/pool_record.h"

struct fair;
struct image_list;
struct registration;
struct session;
struct thread_map;

#define CTL_CLASSES 5u /* tables of 4, 8, 16, 32, 64 rows */

/* Offsets in use inside one control block. The block itself is never read back. */
struct ctl_heap {
	uint8_t *mem;
	uint32_t bump;
	struct {
		uint32_t *at;
		uint32_t count, cap;
	} free[CTL_CLASSES + 1]; /* the last one: entries */
};
int etwd_ctl_create(struct etwd *d, struct ctl_heap *h, int *ret_fd);
void etwd_ctl_destroy(struct ctl_heap *h);
int etwd_ctl_entry_alloc(struct ctl_heap *h, uint32_t *ret_offset);
void etwd_ctl_entry_free(struct ctl_heap *h, uint32_t offset);
int etwd_ctl_table_alloc(struct ctl_heap *h, unsigned class, uint32_t *ret_offset);
void etwd_ctl_table_free(struct ctl_heap *h, unsigned class, uint32_t offset);
/* The process's helper sleeps on a word in there: something waits for it on its socket, or an entry
 * changed in a way that it has to prepare for. */
void etwd_ctl_ring(struct ctl_heap *h);

struct process {
	LIST_ENTRY(process) link;
	struct conn *conn; /* NULL once dead */
	struct source pidfd;
	pid_t pid;
	uid_t uid;
	bool dead;          /* to be drained for the last time and dropped */
	bool drained_last;  /* that has happened */
	bool quarantined;   /* broke the rules too often: behaves as disabled */
	bool eager;         /* its pool is to grow ahead of need, when there is time */
	uint32_t described; /* modules it told of */
	bool foreign_pids;  /* lives in another pid namespace: thread ids need translation */
	struct pool_identity identity;
	uint64_t traits_until_ns; /* it registered lately and may still say its traits */
	uint8_t pool_id[16];
	char exe[256]; /* file name, attested by /proc */
	struct ctl_heap ctl;
	struct pool_view *view; /* NULL until the first enable */
	void *segment[POOL_SEGMENTS_MAX];
	uint64_t segment_bytes[POOL_SEGMENTS_MAX];
	uint32_t segment_count;
	uint64_t pool_bytes;

	struct registration **reg; /* by index */
	uint32_t reg_cap;
	uint32_t reg_live;

	/* Session bits. An owner keeps its bit until somebody else needs it, so that a late loss
	 * still finds it. */
	struct session *bit_owner[POOL_SESSION_BITS];
	uint32_t bit_uses[POOL_SESSION_BITS];
	uint32_t bit_next;

	uint64_t lost_at_ns; /* last time losses were taken */
	uint64_t lost_cause_seen[8];
	uint64_t rejected_seen;
	uint64_t torn_seen;
	struct fair *fair; /* by session bit, see etwd_fair.h; NULL: it wrote nothing yet */
	uint64_t lost_total;
	uint64_t disbelieved; /* losses that it claimed after its counters were seen to lie */
	uint64_t lost_cpu_ns; /* processor time that it had had when it lost something last */
	bool lied;
	uint64_t violations_at_ns;
	uint64_t violations_base;
	struct thread_map *threads;   /* see etwd_thread.c */
	struct image_list *images;    /* NULL: it told none */
	uint64_t since_raw, since_ns; /* HELLO */

	/* A ghost: the pool of an earlier etwd, drained once more. See etwd_adopt.c. */
	struct process *heir; /* NULL: an ordinary process */
	uint64_t adopted_ns;
	uint64_t adopted_events, adopted_unclaimed, adopted_lost;
	struct reply_to adopt_reply;
};

void etwd_process_hello(struct etwd *d, struct conn *c, const struct proto_message *m);
/* The connection or the process ended. It is drained and freed by the next pass. */
void etwd_process_gone(struct etwd *d, struct process *p);
void etwd_process_destroy(struct etwd *d, struct process *p);
int etwd_process_ready_pool(struct etwd *d, struct process *p); /* before its first enable */
/* Once a turn: an enable of many processes is not held up by making room for their first bursts. */
#define ETWD_EAGER_A_TURN 8u
void etwd_process_grow_some(struct etwd *d);
void etwd_process_grow(struct etwd *d, struct process *p, const struct pool_view_stats *st);
void etwd_process_quarantine(struct etwd *d, struct process *p);
/* The id of a thread of that process in our pid namespace, as far as it is known; in a pass. */
uint32_t etwd_thread_id(struct etwd *d, struct process *p, uint32_t theirs);
void etwd_thread_prepare(struct etwd *d, struct process *p); /* before its first enable */
void etwd_thread_forget(struct process *p);
/* Bit of a session in a process; takes one use. */
uint32_t etwd_process_bit_get(struct etwd *d, struct process *p, struct session *s);
void etwd_process_bit_put(struct process *p, uint32_t bit);

/* fds stay the caller's. */
void etwd_adopt(struct etwd *d, struct conn *c, const struct proto_message *m, const int *fds, int count);
/* May this ghost be drained (for good) in a pass now? */
bool etwd_adopt_ready(struct etwd *d, struct process *ghost, uint64_t now_ns);
void etwd_adopt_heir_gone(struct etwd *d, struct process *heir);
void etwd_adopt_done(struct etwd *d, struct process *ghost); /* before it is destroyed */
uint64_t etwd_session_name_hash(const struct session *s);

#endif
