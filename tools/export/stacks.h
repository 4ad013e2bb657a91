/* SPDX-License-Identifier: MIT
 *
 * Call stacks that were counted: each frame and each stack is kept once, as a node of a tree whose root is nothing.
 * The forms "folded" and "speedscope" are written from it; report and export share them.
 */
#ifndef TOOLS_EXPORT_STACKS_H
#define TOOLS_EXPORT_STACKS_H

#include "tools/export/intern.h"

#include <stdio.h>

#define STACKS_ROOT 0u

struct stacks_node {
	uint32_t parent, frame;
	uint64_t weight; /* of the stacks that end here */
};
struct stacks {
	struct intern frames;
	struct stacks_node *node; /* [STACKS_ROOT] is the root */
	uint32_t nodes, node_cap;
	struct map node_of;
	bool failed; /* out of memory: what follows is left out */
};

/* All zero is empty. */
void stacks_free(struct stacks *s);
uint32_t stacks_frame(struct stacks *s, const char *name, size_t n);
/* The stack of `parent` with this frame called by it. */
uint32_t stacks_node(struct stacks *s, uint32_t parent, uint32_t frame);
/* Frames divided by ';', the outermost first, below `parent`. */
uint32_t stacks_line(struct stacks *s, uint32_t parent, const char *line, size_t n);
void stacks_weigh(struct stacks *s, uint32_t node, uint64_t weight);

/* One line a stack: "outer;inner 12". False: the file takes no more. */
bool stacks_write_folded(const struct stacks *s, FILE *f);
/* The file format of speedscope: frames once, then stacks as lists of their numbers. `unit`: "none", "microseconds". */
bool stacks_write_speedscope(const struct stacks *s, FILE *f, const char *name, const char *unit);

#endif
