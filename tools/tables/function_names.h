/* SPDX-License-Identifier: MIT
 * Names of code: "module!function", of frames of stacks.
 */
#ifndef TOOLS_TABLES_FUNCTION_NAMES_H
#define TOOLS_TABLES_FUNCTION_NAMES_H

#include "tools/tables/inlines.h"
#include "tools/tables/kallsyms.h"

#include <openetw/state.h>

#define NAMES_FRAMES_MAX   192
#define NAMES_KERNEL_SPACE 0xFFFF000000000000ull

struct names {
	struct openetw_state *state;
	struct cli_kallsyms *kernel; /* NULL: not of this boot */
	struct inlines *inlines;     /* NULL: none */
};
/* Without characters that divide folded stacks. */
void names_of(const struct names *n, uint32_t pid, uint64_t address, uint64_t time, char *out, size_t cap);
/* The same with what was put into that function behind it: "m!outer;m!inner (inlined)". */
void names_all(const struct names *n, uint32_t pid, uint64_t address, uint64_t time, struct strbuf *out);
/* Is frame i the caller of frame i-1? Then its name is that of the code before its address. `interrupted`: the first
 * frame is where the thread was, not a call of what wrote the event. */
static inline uint64_t names_frame(const uint64_t *frames, uint32_t i, bool interrupted)
{
	bool called =
		i == 0 ? !interrupted : (frames[i - 1] >= NAMES_KERNEL_SPACE) == (frames[i] >= NAMES_KERNEL_SPACE);
	return frames[i] - (called ? 1 : 0);
}

#endif
