/* SPDX-License-Identifier: MIT
 *
 * Names of functions that stacks in the trace go through, at its end: so that the trace says what it
 * saw on other machines, after the next boot, and when programs have been replaced. All of this runs in the
 * thread of kernel_naming.h.
 */
#include "kernel/kernel_naming.h"
#include "base/vec.h"
#include "base/file.h"

#include "symbol/symbol.h"

#include "kernel_payload.h"

#include <stdio.h>
#include <stdlib.h>

#define KALLSYMS_BYTES_MAX (256u << 20)
#define BATCH_BYTES        3000u /* fits the smallest buffers */
#define NAME_MAX_BYTES     1000u
#define BPF_BYTES_MAX      65536u      /* of a program, as what follows it may lie far away */
#define TABLE_BYTES        (64u << 20) /* of a file of somebody else's */

static const struct guid symbols_guid = KERNEL_SYMBOLS_GUID;

/* ---- a batch of one image's functions --------------------------------------------------------- */

struct batch {
	struct kernel_naming *naming;
	uint8_t p[BATCH_BYTES];
	uint32_t n, count, count_at;
	uint32_t stamp, checksum;
	char path[1024];
};

static void batch_begin(struct batch *b, const char *path, const uint8_t *build_id)
{
	uint16_t wide[512];
	b->stamp = build_id ? le32_get(build_id) : 0;
	b->checksum = build_id ? le32_get(build_id + 4) : 0;
	snprintf(b->path, sizeof b->path, "%s", path);
	long n = utf8_to_utf16(path, strlen(path), wide, BASE_ARRAY_LEN(wide));
	n = n < 0 ? 0 : BASE_MIN(n, (long)BASE_ARRAY_LEN(wide) - 1);
	wide[n] = 0;
	le32_put(b->p, b->stamp);
	le32_put(b->p + 4, b->checksum);
	memcpy(b->p + 8, wide, 2 * (size_t)n + 2);
	b->count_at = 8 + 2 * (uint32_t)n + 2;
	b->n = b->count_at + 4;
	b->count = 0;
}

static void batch_end(struct batch *b)
{
	/* event 1, level 4 */
	static const uint8_t descriptor[16] = {1, 0, 0, 0, 4, 0, 0, 0};
	if (b->count) {
		le32_put(b->p + b->count_at, b->count);
		kernel_naming_event(b->naming, &symbols_guid, descriptor, KERNEL_PID_SYSTEM, b->p, b->n);
		b->n = b->count_at + 4;
		b->count = 0;
	}
}

static void batch_add(struct batch *b, uint64_t offset, uint64_t bytes, const char *name)
{
	uint32_t n = (uint32_t)strnlen(name, NAME_MAX_BYTES);
	if (b->n + 12 + n + 1 > BATCH_BYTES) {
		batch_end(b);
	}
	if (b->n + 12 + n + 1 > BATCH_BYTES) {
		return;
	}
	le64_put(b->p + b->n, offset);
	le32_put(b->p + b->n + 8, (uint32_t)BASE_MIN(bytes, UINT32_MAX));
	memcpy(b->p + b->n + 12, name, n);
	b->p[b->n + 12 + n] = 0;
	b->n += 12 + n + 1;
	b->count++;
}

/* ---- files ------------------------------------------------------------------------------------ */

static void functions_of(struct batch *b, struct symbol_elf *f, const char *path, const struct kernel_seen *seen,
			 uint32_t count)
{
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	uint64_t start, end = 0;
	batch_begin(b, path, symbol_elf_build_id(f, id) >= 8 ? id : NULL);
	for (uint32_t i = 0; i < count; i++) {
		if (seen[i].at < end) {
			continue; /* in the one before */
		}
		const char *name = symbol_elf_function(f, seen[i].at, &start, &end);
		if (name) {
			batch_add(b, start, end - start, name);
		} else {
			end = 0;
		}
	}
	batch_end(b);
}

void kernel_name_file(struct kernel_naming *n, const struct unwind_source *file, const struct kernel_seen *seen,
		      uint32_t count)
{
	struct batch *b = calloc(1, sizeof *b);
	struct symbol_origin o = {.uid = file->uid, .most = file->uid == 0 || file->uid == geteuid() ? 0 : TABLE_BYTES};
	struct symbol_elf *f = NULL;
	int fd = b ? unwind_source_open(file, &o.root, &o.root_uid) : -1;
	if (fd >= 0 && symbol_elf_open_fd(fd, file->path, &o, &f) == 0) {
		b->naming = n;
		functions_of(b, f, file->path, seen, count);
	} else {
		kernel_naming_missed(n, count);
	}
	symbol_elf_close(f);
	if (fd >= 0) {
		base_close(&o.root);
	}
	free(b);
}

/* ---- the kernel ------------------------------------------------------------------------------- */

struct symbol {
	uint64_t address;
	char *name;   /* in the text */
	char *module; /* "[ext4]"; NULL: the kernel itself */
};
struct kallsyms {
	char *text;
	struct symbol *list;
	size_t count;
	uint64_t base; /* of the kernel itself */
};

static int by_address(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;
	return a->address < b->address ? -1 : a->address > b->address;
}

static void kallsyms_load(struct kallsyms *k)
{
	size_t cap = 0;
	struct strbuf text = {0};
	(void)file_read("/proc/kallsyms", KALLSYMS_BYTES_MAX, &text); /* nothing: no names */
	*k = (struct kallsyms){.text = text.s};
	char *rest = k->text;
	for (char *line; rest && (line = strsep(&rest, "\n")) != NULL;) {
		char *end;
		uint64_t address = strtoull(line, &end, 16);
		if (!address || end[0] != ' ' || !end[1] || end[2] != ' ') {
			continue;
		}
		char kind = end[1], *name = end + 3, *tab = strchr(name, '\t');
		if (tab) {
			*tab++ = 0;
		}
		if (strcmp(name, "_text") == 0) {
			k->base = address;
		}
		if (!strchr("tTwW", kind)) {
			continue;
		}
		if (!VEC_ROOM(k->list, k->count, cap)) {
			break;
		}
		k->list[k->count++] = (struct symbol){address, name, tab};
	}
	if (k->count) {
		qsort(k->list, k->count, sizeof *k->list, by_address);
	}
}

static uint64_t module_base(const char *module)
{
	char line[512], name[128], wanted[130];
	unsigned long long address;
	FILE *f = fopen("/proc/modules", "re");
	uint64_t base = 0;
	while (f && !base && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%127s %*s %*s %*s %*s %llx", name, &address) == 2) {
			snprintf(wanted, sizeof wanted, "[%s]", name);
			base = strcmp(wanted, module) == 0 ? address : 0;
		}
	}
	if (f) {
		fclose(f);
	}
	return base;
}

/* As its Image record says; a program of BPF's, which has none yet, gets one that is just its function. */
static uint64_t image_begin(struct batch *b, const struct kallsyms *k, const struct symbol *y, uint64_t end)
{
	struct kernel_build build = {.n = 0};
	const char *name = y->module ? y->module : "[kernel.kallsyms]";
	char path[192];
	if (y->module && strcmp(name, "[bpf]") == 0) {
		snprintf(path, sizeof path, "[%.180s]", y->name);
		kernel_naming_image(b->naming, y->address, end - y->address, path);
		batch_begin(b, path, NULL);
		return y->address;
	}
	if (y->module) {
		snprintf(path, sizeof path, "/sys/module/%.*s/notes/.note.gnu.build-id", (int)strlen(name) - 2,
			 name + 1);
	}
	build = kernel_build_read(y->module ? path : "/sys/kernel/notes");
	batch_begin(b, name, build.n >= 8 ? build.id : NULL);
	return y->module ? module_base(name) : k->base;
}

static void functions_of_kernel(struct batch *b, const struct kernel_seen *seen, uint32_t count)
{
	struct kallsyms k;
	const char *image = NULL;
	uint64_t base = 0;
	size_t i = 0, last = SIZE_MAX;
	kallsyms_load(&k);
	for (uint32_t s = 0; s < count && k.count; s++) {
		while (i + 1 < k.count && k.list[i + 1].address <= seen[s].at) {
			i++;
		}
		const struct symbol *y = &k.list[i];
		if (y->address > seen[s].at || i == last) {
			continue;
		}
		last = i;
		size_t next = i + 1;
		while (next < k.count && k.list[next].address == y->address) {
			next++;
		}
		uint64_t end = next < k.count ? k.list[next].address : y->address + 4096;
		const char *in = y->module ? y->module : "[kernel.kallsyms]";
		bool of_bpf = strcmp(in, "[bpf]") == 0;
		if (of_bpf) {
			end = BASE_MIN(end, y->address + BPF_BYTES_MAX);
		}
		if (!image || of_bpf || strcmp(in, image) != 0) {
			batch_end(b);
			base = image_begin(b, &k, y, end);
			image = in;
		}
		if (base && y->address >= base) {
			batch_add(b, y->address - base, end - y->address, y->name);
		}
	}
	batch_end(b);
	free(k.text);
	free(k.list);
}

void kernel_name_kernel(struct kernel_naming *n, const struct kernel_seen *seen, uint32_t count)
{
	struct batch *b = calloc(1, sizeof *b);
	if (b) {
		b->naming = n;
		functions_of_kernel(b, seen, count);
	} else {
		kernel_naming_missed(n, count);
	}
	free(b);
}
