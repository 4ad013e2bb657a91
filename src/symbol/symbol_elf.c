/* SPDX-License-Identifier: MIT
 *
 * Names of functions in an ELF file (base/elf.h).
 */
#include "symbol/symbol_more.h"
#include "symbol/symbol_private.h"

#include "base/elf.h"
#include "base/open_foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SECTIONS_MAX      65536u
#define SEGMENTS_MAX      4096u
#define NOTE_MAX          65536u
#define TABLE_BYTES_MAX   (512u << 20)
#define PAGE              4096u
#define DEBUG_DIRECTORY   "/usr/lib/debug"
#define LINK_NAME_MAX     255u
#define CHUNK             65536u
#define DEBUG_PLACES      3u
#define PACKED_MAX        (16u << 20)
#define SECTION_NAMES_MAX (4u << 20)
#define CRC_BYTES_MAX     (1ull << 30) /* of a file that is read for its checksum */

struct function {
	uint64_t start, bytes;
	uint32_t name;      /* in names */
	uint32_t rank : 31; /* of the names of one function: 0 is the best */
	uint32_t open : 1;  /* no size was given: the section ends it, or the next function */
};
struct symbol_elf {
	struct elf in;
	struct symbol_origin origin;
	char *path; /* NULL: memory */
	char *source;
	struct elf_sections sections;
	struct symbol_segment *segments;
	uint32_t segment_count;
	uint64_t first, span; /* page of the first loaded segment; to the end of the last */
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
	uint32_t build_id_bytes;
	bool looked; /* functions are there, or there are none */
	struct function *functions;
	size_t count, cap;
	char *names;
	uint64_t names_bytes;
};

static int read_segments(struct symbol_elf *f)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct elf_segment s;
	if (f->in.segments > SEGMENTS_MAX) {
		return -EBADMSG;
	}
	f->segments = calloc(f->in.segments ? f->in.segments : 1, sizeof *f->segments);
	if (!f->segments) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->in.segments; i++) {
		int err = elf_segment_read(&f->in, i, &s);
		if (err < 0) {
			return err;
		}
		if (s.type == PT_LOAD && s.address + s.bytes >= s.address) {
			low = BASE_MIN(low, s.address & ~(uint64_t)(PAGE - 1));
			high = BASE_MAX(high, s.address + s.bytes);
			f->segments[f->segment_count++] = (struct symbol_segment){.offset = s.offset,
										  .bytes = s.file_bytes,
										  .address = s.address,
										  .code = s.flags & PF_X};
		}
	}
	f->first = low == UINT64_MAX ? 0 : low;
	f->span = low == UINT64_MAX ? 0 : high - low;
	return 0;
}

static void read_build_id(struct symbol_elf *f)
{
	for (uint32_t i = 0; i < f->sections.count && !f->build_id_bytes; i++) {
		const struct elf_section *s = &f->sections.list[i];
		const uint8_t *id;
		uint8_t *p;
		if (s->type != SHT_NOTE || elf_file_take(&f->in, s->offset, s->bytes, NOTE_MAX, &p) < 0) {
			continue;
		}
		uint32_t n = elf_notes_build_id(p, (size_t)s->bytes, 4, &id);
		if (n > 0 && n <= SYMBOL_BUILD_ID_MAX) {
			memcpy(f->build_id, id, n);
			f->build_id_bytes = n;
		}
		free(p);
	}
}

static int elf_parse(struct symbol_elf *f)
{
	int err = elf_file_begin(&f->in, f->in.fd, f->in.mem, f->in.bytes);
	if (err == 0) {
		err = read_segments(f);
	}
	if (err == 0) {
		err = elf_sections_read(&f->in, SECTIONS_MAX, SECTION_NAMES_MAX, &f->sections);
	}
	if (err == 0) {
		read_build_id(f);
	}
	return err;
}

static int elf_open(const struct elf *in, const char *path, const struct symbol_origin *o, struct symbol_elf **ret)
{
	struct symbol_elf *f = calloc(1, sizeof *f);
	int err = -ENOMEM;
	int fd = in->fd;
	if (!f) {
		base_close(&fd);
		return err;
	}
	f->in = *in;
	f->origin = *o;
	f->origin.most = o->most ? o->most : TABLE_BYTES_MAX;
	f->path = path ? strdup(path) : NULL;
	if (f->path || !path) {
		err = elf_parse(f);
	}
	if (err < 0) {
		symbol_elf_close(f);
		return err;
	}
	*ret = f;
	return 0;
}

int symbol_elf_open_fd(int fd, const char *path, const struct symbol_origin *o, struct symbol_elf **ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EBADMSG;
	}
	struct elf in = {.fd = fd, .bytes = (uint64_t)st.st_size};
	return elf_open(&in, path, o, ret);
}

int symbol_elf_open(const char *path, struct symbol_elf **ret)
{
	struct stat st;
	int fd = open_foreign(-1, path, 0, &st);
	/* Whose process it was nobody says: what is in the file its owner could have said, too. */
	struct symbol_origin o = {.root = -1, .uid = st.st_uid, .root_uid = geteuid()};
	struct elf in = {.fd = fd, .bytes = (uint64_t)st.st_size};
	return fd < 0 ? fd : elf_open(&in, path, &o, ret);
}

int symbol_elf_open_memory(const void *p, size_t n, struct symbol_elf **ret)
{
	struct symbol_origin o = {.root = -1};
	struct elf in = {.fd = -1, .mem = p, .bytes = n};
	return elf_open(&in, NULL, &o, ret);
}

void symbol_elf_close(struct symbol_elf *f)
{
	if (f) {
		base_close(&f->in.fd);
		free(f->path);
		free(f->source);
		elf_sections_finish(&f->sections);
		free(f->segments);
		free(f->functions);
		free(f->names);
		free(f);
	}
}

uint32_t symbol_elf_build_id(const struct symbol_elf *f, uint8_t out[SYMBOL_BUILD_ID_MAX])
{
	memcpy(out, f->build_id, f->build_id_bytes);
	return f->build_id_bytes;
}

uint64_t symbol_elf_span(const struct symbol_elf *f)
{
	return f->span;
}

const char *symbol_elf_source(const struct symbol_elf *f)
{
	return f->source ? f->source : "";
}

/* ---- functions ---- */

static const struct elf_section *section_of_type(const struct symbol_elf *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->sections.count; i++) {
		if (f->sections.list[i].type == type) {
			return &f->sections.list[i];
		}
	}
	return NULL;
}

uint64_t symbol_elf_first(const struct symbol_elf *f)
{
	return f->first;
}

uint32_t symbol_elf_segments(const struct symbol_elf *f, struct symbol_segment *ret, uint32_t cap)
{
	if (cap > 0) {
		memcpy(ret, f->segments, BASE_MIN(cap, f->segment_count) * sizeof *ret);
	}
	return f->segment_count;
}

bool symbol_segments_linked(const struct symbol_segment *list, uint32_t count, uint64_t offset, uint64_t *ret)
{
	const struct symbol_segment *found = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol_segment *s = &list[i];
		/* Pages are mapped whole: the one that a segment begins in has the end of the one before. */
		if (offset >= (s->offset & ~(uint64_t)(PAGE - 1)) && offset - s->offset + PAGE < s->bytes + PAGE &&
		    (!found || s->code)) {
			found = s;
		}
	}
	if (found) {
		*ret = found->address + (offset - found->offset);
	}
	return found != NULL;
}

int symbol_elf_dup(const struct symbol_elf *f)
{
	int fd = f->in.fd < 0 ? -1 : fcntl(f->in.fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

int symbol_elf_section(const struct symbol_elf *f, const char *name, size_t most, uint8_t **ret, size_t *ret_n,
		       uint64_t *ret_linked)
{
	const struct elf_section *s = elf_section_find(&f->sections, name);
	if (!s || s->type == SHT_NOBITS || s->bytes == 0) {
		return -ENOENT;
	}
	if (s->bytes > most) {
		return -EFBIG;
	}
	int err = elf_file_take(&f->in, s->offset, s->bytes, most, ret);
	if (err == 0) {
		*ret_n = (size_t)s->bytes;
		*ret_linked = s->address;
	}
	return err;
}

static int by_start(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;
	if (a->start != b->start) {
		return a->start < b->start ? -1 : 1;
	}
	/* Aliases of no size say less; then what others call it, then the longer one. */
	if (a->open != b->open) {
		return a->open ? 1 : -1;
	}
	if (a->rank != b->rank) {
		return a->rank < b->rank ? -1 : 1;
	}
	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

/* The best name of each start stays: who asks need not step over the others, however many they are. */
static void functions_sort(struct symbol_elf *f)
{
	size_t kept = 0;
	qsort(f->functions, f->count, sizeof *f->functions, by_start);
	for (size_t i = 0; i < f->count; i++) {
		if (kept == 0 || f->functions[kept - 1].start != f->functions[i].start) {
			f->functions[kept++] = f->functions[i];
		}
	}
	f->count = kept;
}

/* Names without the symbols' versions. All at once: names may lie in one another, and to look for the
 * end of each would be to read the table as often as there are symbols. */
static void names_cut(char *names, size_t n)
{
	char *p = names;
	while ((p = memchr(p, '@', n - (size_t)(p - names))) != NULL) {
		if (p > names && p[-1]) {
			*p = 0;
		}
		p++;
	}
}

static uint32_t underscores(const char *name)
{
	uint32_t n = 0;
	while (n < 8 && name[n] == '_') {
		n++;
	}
	return n;
}

/* Beside those that are there already. All three become f's, or are freed. */
static bool functions_join(struct symbol_elf *f, struct function *list, size_t count, char *names, uint64_t names_bytes)
{
	if (f->count) {
		struct function *all = realloc(f->functions, (f->count + count) * sizeof *all);
		f->functions = all ? all : f->functions;
		char *text = all && f->names_bytes + names_bytes < UINT32_MAX
				     ? realloc(f->names, (size_t)(f->names_bytes + names_bytes) + 1)
				     : NULL;
		f->names = text ? text : f->names;
		for (size_t i = 0; text && i < count; i++) {
			all[f->count + i] = list[i];
			all[f->count + i].name += (uint32_t)f->names_bytes;
		}
		if (text) {
			memcpy(text + f->names_bytes, names, (size_t)names_bytes + 1);
			f->count += count;
			f->names_bytes += names_bytes;
		}
		free(list);
		free(names);
	} else {
		f->functions = list;
		f->count = count;
		f->names = names;
		f->names_bytes = names_bytes;
	}
	functions_sort(f);
	return true;
}

/* Of a symbol without a size, such as _init: not beyond its section. What follows are often stubs, which belong to
 * others. */
static void function_end(const struct symbol_elf *f, const struct symbol_elf *from, uint16_t where, struct function *x)
{
	if (x->bytes) {
		return;
	}
	const struct elf_section *s = where < from->sections.count ? &from->sections.list[where] : NULL;
	uint64_t at = s ? x->start + from->first - s->address : 0;
	x->open = 1;
	x->bytes = s && at < s->bytes ? s->bytes - at : f->span > x->start ? f->span - x->start : 0;
}

/* Functions of `from` become those of `f`. False when it has no such table. */
static bool functions_take(struct symbol_elf *f, const struct symbol_elf *from, uint32_t type)
{
	const struct elf_section *s = section_of_type(from, type);
	uint32_t size = elf_symbol_bytes(from->in.wide);
	uint8_t *table = NULL, *names = NULL;
	if (!s || s->link >= from->sections.count || s->entry != size || s->bytes < size ||
	    elf_file_take(&from->in, s->offset, s->bytes, f->origin.most, &table) < 0) {
		return false;
	}
	const struct elf_section *n = &from->sections.list[s->link];
	struct function *list = NULL;
	size_t count = 0;
	if (elf_file_take(&from->in, n->offset, n->bytes, f->origin.most, &names) == 0) {
		list = malloc((size_t)(s->bytes / size) * sizeof *list);
		names_cut((char *)names, (size_t)n->bytes);
	}
	for (uint64_t i = 0; list && i < s->bytes / size; i++) {
		struct elf_symbol symbol;
		elf_symbol_parse(from->in.wide, table + i * size, &symbol);
		struct function x = {.name = symbol.name, .start = symbol.value, .bytes = symbol.bytes};
		unsigned kind = symbol.info & 0xF;
		if ((kind == STT_FUNC || kind == STT_GNU_IFUNC) && symbol.section != SHN_UNDEF && x.name < n->bytes &&
		    names[x.name] && x.start >= from->first) {
			const char *name = (const char *)names + x.name;
			bool mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
			x.start -= from->first;
			x.rank = (symbol.info >> 4 == STB_LOCAL ? 16u : 0u) + (mangled ? 0 : underscores(name));
			function_end(f, from, symbol.section, &x);
			list[count++] = x;
		}
	}
	free(table);
	if (count == 0) {
		free(list);
		free(names);
		return false;
	}
	return functions_join(f, list, count, (char *)names, n->bytes);
}

static bool same_build(const struct symbol_elf *a, const struct symbol_elf *b)
{
	return a->build_id_bytes && a->build_id_bytes == b->build_id_bytes &&
	       memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

/* The checksum of .gnu_debuglink: CRC-32 as in gzip. */
static int file_crc(const struct elf *in, uint32_t *ret)
{
	uint32_t table[256];
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++) {
			c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
		}
		table[i] = c;
	}
	uint8_t *p = malloc(CHUNK);
	int err = !p ? -ENOMEM : in->bytes > CRC_BYTES_MAX ? -EFBIG : 0;
	uint32_t crc = UINT32_MAX;
	for (uint64_t at = 0; err == 0 && at < in->bytes; at += CHUNK) {
		size_t n = (size_t)BASE_MIN(in->bytes - at, (uint64_t)CHUNK);
		err = elf_file_read(in, at, p, n);
		for (size_t i = 0; err == 0 && i < n; i++) {
			crc = table[(crc ^ p[i]) & 0xFF] ^ crc >> 8;
		}
	}
	free(p);
	*ret = ~crc;
	return err;
}

/* `crc`: what the file must have when it has not our build id; NULL: it must have that. */
static bool try_debug_file(struct symbol_elf *f, const char *path, const uint32_t *crc)
{
	struct symbol_elf *d;
	struct stat st;
	uint32_t got;
	int fd = open_foreign(f->origin.root, path, 0, &st);
	if (fd < 0) {
		return false;
	}
	/* A stranger would say what others read of this program. */
	if (!open_foreign_believed(&st, f->origin.uid, f->origin.root_uid)) {
		close(fd);
		return false;
	}
	struct elf in = {.fd = fd, .bytes = (uint64_t)st.st_size};
	if (elf_open(&in, path, &f->origin, &d) < 0) {
		return false;
	}
	bool ours = same_build(f, d) ||
		    (crc && (!f->build_id_bytes || !d->build_id_bytes) && file_crc(&d->in, &got) == 0 && got == *crc);
	/* Segments of debug information keep their addresses. */
	bool taken = ours && functions_take(f, d, SHT_SYMTAB);
	if (taken) {
		f->source = strdup(path);
	}
	symbol_elf_close(d);
	return taken;
}

static bool by_build_id(struct symbol_elf *f)
{
	char path[sizeof DEBUG_DIRECTORY + 32 + 2 * SYMBOL_BUILD_ID_MAX];
	if (f->build_id_bytes < 2) {
		return false;
	}
	int n = snprintf(path, sizeof path, DEBUG_DIRECTORY "/.build-id/%02x/", f->build_id[0]);
	for (uint32_t i = 1; i < f->build_id_bytes; i++) {
		n += snprintf(path + n, sizeof path - (size_t)n, "%02x", f->build_id[i]);
	}
	snprintf(path + n, sizeof path - (size_t)n, ".debug");
	return try_debug_file(f, path, NULL);
}

static bool by_debug_link(struct symbol_elf *f)
{
	const struct elf_section *s = elf_section_find(&f->sections, ".gnu_debuglink");
	uint8_t *p;
	if (!s || s->bytes < 8 || s->bytes > LINK_NAME_MAX + 8 ||
	    elf_file_take(&f->in, s->offset, s->bytes, LINK_NAME_MAX + 8, &p) < 0) {
		return false;
	}
	uint32_t crc = le32_get(p + s->bytes - 4);
	const char *name = (const char *)p, *slash = strrchr(f->path, '/');
	int directory = slash ? (int)(slash - f->path) : 0;
	char path[PATH_MAX];
	/* A name, not a way to somewhere else. */
	bool sound = memchr(p, 0, (size_t)s->bytes - 4) != NULL && !strchr(name, '/');
	bool found = false;
	for (size_t i = 0; sound && i < DEBUG_PLACES && !found; i++) {
		int n;
		switch (i) {
		case 0: n = snprintf(path, sizeof path, "%.*s/%s", directory, f->path, name); break;
		case 1: n = snprintf(path, sizeof path, "%.*s/.debug/%s", directory, f->path, name); break;
		default: n = snprintf(path, sizeof path, DEBUG_DIRECTORY "%.*s/%s", directory, f->path, name); break;
		}
		found = n > 0 && (size_t)n < sizeof path && try_debug_file(f, path, &crc);
	}
	free(p);
	return found;
}

/* What a distribution left of the symbol table: all that .dynsym does not have. */
static bool by_debug_data(struct symbol_elf *f)
{
	uint8_t *packed;
	size_t n, unpacked_n;
	uint64_t linked;
	if (symbol_elf_section(f, ".gnu_debugdata", PACKED_MAX, &packed, &n, &linked) != 0) {
		return false;
	}
	uint8_t *p = symbol_unxz(packed, n, &unpacked_n);
	free(packed);
	struct symbol_elf *d = NULL;
	bool taken = p && symbol_elf_open_memory(p, unpacked_n, &d) == 0;
	if (taken) {
		d->first = f->first; /* it may have lost its segments */
		taken = functions_take(f, d, SHT_SYMTAB);
	}
	symbol_elf_close(d);
	free(p);
	return taken;
}

/* The last function that begins there or before; NULL: none. */
static const struct function *function_before(const struct symbol_elf *f, uint64_t at)
{
	size_t low = 0, high = f->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (f->functions[mid].start <= at) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low ? &f->functions[low - 1] : NULL;
}

static bool has_name(const struct symbol_elf *f, uint64_t linked)
{
	uint64_t at = linked - f->first;
	const struct function *x = linked < f->first ? NULL : function_before(f, at);
	return x && (x->start == at || (!x->open && at - x->start < x->bytes));
}

static void functions_add(struct symbol_elf *f, struct symbol_more *m)
{
	struct function *list = m->count ? malloc(m->count * sizeof *list) : NULL;
	size_t count = 0;
	for (size_t i = 0; list && i < m->count; i++) {
		const struct symbol_more_one *one = &m->list[i];
		if (one->linked >= f->first && one->linked - f->first < f->span) {
			uint64_t start = one->linked - f->first;
			list[count++] = (struct function){.start = start,
							  .bytes = one->bytes ? one->bytes : f->span - start,
							  .open = one->bytes == 0,
							  .name = one->name};
		}
	}
	if (count) {
		functions_join(f, list, count, m->text.s, m->text.len);
		m->text = (struct strbuf){0};
	} else {
		free(list);
	}
	symbol_more_free(m);
}

/* What no table of symbols has. */
static void functions_without_symbols(struct symbol_elf *f)
{
	struct symbol_more m = {0};
	symbol_plt_find(f, f->in.wide ? f->in.machine : EM_NONE, f->origin.most, &m);
	functions_add(f, &m);
	symbol_frames_find(f, f->origin.most, has_name, &m);
	functions_add(f, &m);
}

size_t symbol_elf_load(struct symbol_elf *f)
{
	if (!f->looked) {
		f->looked = true;
		if (!functions_take(f, f, SHT_SYMTAB) && !(f->path && (by_build_id(f) || by_debug_link(f)))) {
			by_debug_data(f);
			functions_take(f, f, SHT_DYNSYM);
		}
		functions_without_symbols(f);
		base_close(&f->in.fd);
	}
	return f->count * sizeof *f->functions + (size_t)f->names_bytes;
}

const char *symbol_elf_find(struct symbol_elf *f, uint64_t at, uint64_t *ret_start)
{
	uint64_t end;
	return symbol_elf_function(f, at, ret_start, &end);
}

const char *symbol_elf_function(struct symbol_elf *f, uint64_t at, uint64_t *ret_start, uint64_t *ret_end)
{
	symbol_elf_load(f);
	const struct function *x = function_before(f, at);
	if (!x) {
		return NULL;
	}
	uint64_t end = x->start + x->bytes;
	if (x->open && x + 1 < f->functions + f->count) {
		end = BASE_MIN(end, x[1].start);
	}
	if (at >= end) {
		return NULL;
	}
	*ret_start = x->start;
	*ret_end = end;
	return f->names + x->name;
}
