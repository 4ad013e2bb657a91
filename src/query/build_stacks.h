/* SPDX-License-Identifier: MIT
 *
 * Call stacks while an index is made: each frame, each path from the outermost frame and each pair of them once.
 * Private to query.
 */
#ifndef QUERY_BUILD_STACKS_H
#define QUERY_BUILD_STACKS_H

#include "base/map.h"
#include "query/build_set.h"
#include "query/query_store.h"

/* What a cached stack's key means right now, and who waits for its meaning. */
struct build_key {
	uint64_t key;
	uint32_t now;     /* a node; 0: nobody has said it yet */
	uint32_t waiting; /* number of the promise that its users got, plus 1; 0: none */
};
#define BUILD_LAST 256u
struct build_stacks {
	struct build_set frames; /* addresses, inverted: value 0 has number 0, and 0 is an address */
	struct build_set nodes;  /* struct store_node: parent | frame << 32 */
	struct build_set pairs;  /* struct store_stack: kernel | user << 32; either may be a promise */
	struct build_key *keys;
	size_t key_count, key_cap;
	struct map keys_by_key;
	/* Whole lists of addresses that were seen, by a hash that nobody outside can foresee, and the node of each: what a
	 * program does it does again. */
	struct build_set lists;
	struct build_space list_nodes;
	/* The path of the last call, outermost first: the next one begins alike, as a rule. */
	uint64_t last_address[BUILD_LAST];
	uint32_t last_node[BUILD_LAST];
	uint32_t last_count;
	uint32_t *promises; /* nodes, when they are known */
	size_t promise_count, promise_cap;
};
#define BUILD_PROMISE 0x80000000u /* not a node: a promise of one */

int build_stacks_create(struct build_stacks *x, const char *directory);
void build_stacks_free(struct build_stacks *x);
/* What a part of a stack stands for now: its node, or 0 when a promise was not kept yet. */
uint32_t build_stacks_part(const struct build_stacks *x, uint32_t part);
/* The node of a path; innermost frame first. */
int build_stacks_node(struct build_stacks *x, const uint64_t *addresses, uint32_t count, uint32_t *ret);
/* What a key stands for: a node or a promise. */
int build_stacks_key(struct build_stacks *x, uint64_t key, uint32_t *ret);
/* A key means this node, for those who used it since it was last explained; `over`: and for nobody from now on. */
int build_stacks_explain(struct build_stacks *x, uint64_t key, uint32_t node, bool over);
/* The stack that has one part more. The first part is the kernel's unless `user` says otherwise, the second the
 * program's; a third is left out. */
int build_stacks_join(struct build_stacks *x, uint32_t stack, uint32_t part, bool user, uint32_t *ret);
/* Promises that were not kept are "no frames". Then the sets are what the index has, but for the inverted frames. */
void build_stacks_settle(struct build_stacks *x);
/* Now two stacks may have the same frames: one whose key was explained later, and one that came after that. *ret is the
 * first of these for each stack (uint32_t), 0 for those without frames; ret->p is NULL when no two are the same. -errno. */
int build_stacks_first(const struct build_stacks *x, struct build_space *ret);

#endif
