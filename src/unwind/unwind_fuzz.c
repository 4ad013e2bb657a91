/* SPDX-License-Identifier: MIT
 * The input as an unwind table: every rule of it, applied to registers and a stack that are the input
 * again.
 */
#include "unwind/unwind_private.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int debug = 0; debug < 2; debug++) {
		struct unwind_table *t;
		uint8_t *p = malloc(size ? size : 1);
		if (!p) {
			return 0;
		}
		if (size) {
			memcpy(p, data, size);
		}
		if (unwind_table_create(p, size, 0x1000, debug == 1, &t) < 0) {
			continue;
		}
		/* Addresses that may be in it: what stands in the input. */
		for (size_t at = 0; at + 8 <= size && at < 4096; at += 4) {
			uint64_t pc[] = {le32_get(data + at), le64_get(data + at), 0x1000 + at + le32_get(data + at)};
			for (unsigned i = 0; i < BASE_ARRAY_LEN(pc); i++) {
				struct unwind_row row;
				struct unwind_regs r;
				for (unsigned k = 0; k < UNWIND_REGS; k++) {
					r.r[k] = 0x7000 + 8 * k + data[k % size];
				}
				r.r[UNWIND_SP] = 0x7000;
				struct unwind_stack m = {0x7000, data, (uint32_t)BASE_MIN(size, (size_t)8192)};
				if (unwind_table_row(t, pc[i], &(uint32_t){UNWIND_STEPS_MAX}, &row)) {
					sum += (uint64_t)unwind_row_apply(t, &row, &m, &r) + r.r[UNWIND_PC];
				}
			}
		}
		sum += unwind_table_bytes(t);
		unwind_table_destroy(t);
	}
	return 0;
}
