/* SPDX-License-Identifier: MIT
 * Names of the running kernel's functions, for traces of this boot: after the next one the kernel lies
 * elsewhere.
 */
#include "tools/tables/kallsyms.h"
#include "base/vec.h"

#include <stdlib.h>

#define BOOT_TOLERANCE 20000000u /* two seconds, in 100 ns: both are computed from two clocks */

struct symbol {
	uint64_t address;
	uint32_t name; /* offset */
};
struct cli_kallsyms {
	struct symbol *symbol;
	size_t count, cap;
	struct strbuf names;
};

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static bool add(struct cli_kallsyms *k, uint64_t address, const char *name)
{
	if (!VEC_ROOM(k->symbol, k->count, k->cap)) {
		return false;
	}
	k->symbol[k->count++] = (struct symbol){address, (uint32_t)k->names.len};
	strbuf_add(&k->names, name, strlen(name) + 1);
	return !k->names.failed && k->names.len < UINT32_MAX;
}

struct cli_kallsyms *cli_kallsyms_load(uint64_t trace_boot_filetime)
{
	uint64_t boot = clock_boot_filetime();
	uint64_t apart = boot > trace_boot_filetime ? boot - trace_boot_filetime : trace_boot_filetime - boot;
	FILE *f = apart <= BOOT_TOLERANCE ? fopen("/proc/kallsyms", "re") : NULL;
	struct cli_kallsyms *k = f ? calloc(1, sizeof *k) : NULL;
	char line[512], name[256], kind;
	unsigned long long address;
	bool ok = k != NULL;
	while (ok && fgets(line, sizeof line, f)) {
		/* Addresses are zero for those who may not know them. */
		if (sscanf(line, "%llx %c %255s", &address, &kind, name) == 3 && address &&
		    (kind == 't' || kind == 'T' || kind == 'w' || kind == 'W')) {
			ok = add(k, address, name);
		}
	}
	if (f) {
		fclose(f);
	}
	if (k && (!ok || k->count == 0)) {
		cli_kallsyms_free(k);
		return NULL;
	}
	if (k) {
		qsort(k->symbol, k->count, sizeof *k->symbol, by_address);
	}
	return k;
}

const char *cli_kallsyms_name(const struct cli_kallsyms *k, uint64_t address)
{
	size_t low = 0, high = k ? k->count : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (k->symbol[middle].address <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low ? k->names.s + k->symbol[low - 1].name : NULL;
}

void cli_kallsyms_free(struct cli_kallsyms *k)
{
	if (k) {
		free(k->symbol);
		strbuf_finish(&k->names);
	}
	free(k);
}
