/* SPDX-License-Identifier: MIT
 *
 * Names against what the dynamic linker and binutils say of the same files.
 */
#include "symbol/symbol.h"

#include "base/open_foreign.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int __attribute__((noinline)) find_me(int x)
{
	return x * 3 + getpid();
}

/* Page of the first loaded segment of this program, and its build id as it lies in memory. */
struct self {
	uint64_t base;
	uint8_t id[64];
	uint32_t id_bytes;
};

static int look_at_self(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct self *s = ctx;
	s->base = UINT64_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD) {
			s->base = BASE_MIN(s->base, at & ~4095ull);
		}
		const uint8_t *n = (const uint8_t *)(uintptr_t)at;
		const uint8_t *end = n + p->p_memsz;
		while (p->p_type == PT_NOTE && end - n >= 12) {
			uint32_t name = le32_get(n), bytes = le32_get(n + 4);
			if (le32_get(n + 8) == 3 && name == 4 && bytes <= sizeof s->id) {
				memcpy(s->id, n + 16, bytes);
				s->id_bytes = bytes;
			}
			n += 12 + ((name + 3) & ~3u) + ((bytes + 3) & ~3u);
		}
	}
	return 1; /* the program is the first */
}

static void a_function_of_this_program_is_found_by_its_address(void **state)
{
	struct self self = {0};
	struct symbol_elf *f;
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	uint64_t start, at;
	dl_iterate_phdr(look_at_self, &self);
	char *path = realpath("/proc/self/exe", NULL);
	assert_non_null(path);
	assert_int_equal(symbol_elf_open(path, &f), 0);
	free(path);
	at = (uint64_t)(uintptr_t)find_me - self.base;
	assert_string_equal(symbol_elf_find(f, at, &start), "find_me");
	assert_int_equal(start, at);
	assert_string_equal(symbol_elf_find(f, at + 1, &start), "find_me");
	assert_int_equal(start, at);
	assert_null(symbol_elf_find(f, symbol_elf_span(f) + 100, &start));
	assert_int_equal(symbol_elf_build_id(f, id), self.id_bytes);
	assert_memory_equal(id, self.id, self.id_bytes);
	assert_string_equal(symbol_elf_source(f), "");
	symbol_elf_close(f);
}

/* A library without a symbol table still exports names. */
static void an_exported_function_of_libc_is_found(void **state)
{
	Dl_info info;
	struct symbol_elf *f;
	uint64_t start;
	void *p = dlsym(RTLD_DEFAULT, "qsort_r");
	assert_non_null(p);
	assert_int_not_equal(dladdr(p, &info), 0);
	assert_int_equal(symbol_elf_open(info.dli_fname, &f), 0);
	const char *name = symbol_elf_find(f, (uint64_t)(uintptr_t)p - (uint64_t)(uintptr_t)info.dli_fbase + 4, &start);
	assert_non_null(name);
	assert_non_null(strstr(name, "qsort_r"));
	symbol_elf_close(f);
}

static bool run(const char *format, const char *dir)
{
	char command[1024];
	snprintf(command, sizeof command, format, dir, dir, dir, dir, dir, dir);
	return system(command) == 0;
}

static void a_stripped_file_takes_names_from_the_file_its_debug_link_names(void **state)
{
	char dir[] = "/tmp/openetw-symbol-XXXXXX", path[128];
	struct self self = {0};
	struct symbol_elf *f;
	uint64_t start, at;
	if (system("command -v objcopy >/dev/null") != 0) {
		skip();
	}
	assert_non_null(mkdtemp(dir));
	dl_iterate_phdr(look_at_self, &self);
	at = (uint64_t)(uintptr_t)find_me - self.base;
	snprintf(path, sizeof path, "cp /proc/%d/exe %s/all", (int)getpid(), dir);
	assert_int_equal(system(path), 0);
	/* without a build id the checksum decides */
	assert_true(run("cd %s && objcopy -R .note.gnu.build-id all && mkdir .debug && "
			"objcopy --only-keep-debug all .debug/part.debug && objcopy --strip-all "
			"all part && "
			"objcopy --add-gnu-debuglink=.debug/part.debug part",
			dir));
	snprintf(path, sizeof path, "%s/part", dir);
	assert_int_equal(symbol_elf_open(path, &f), 0);
	assert_string_equal(symbol_elf_find(f, at + 2, &start), "find_me");
	assert_non_null(strstr(symbol_elf_source(f), "/.debug/part.debug"));
	symbol_elf_close(f);
	/* another build's names would be wrong ones */
	assert_true(run("cd %s && printf x >>.debug/part.debug", dir));
	assert_int_equal(symbol_elf_open(path, &f), 0);
	const char *name = symbol_elf_find(f, at + 2, &start);
	assert_true(!name || strcmp(name, "find_me") != 0);
	symbol_elf_close(f);
	assert_true(run("rm -r %s", dir));
}

/* The names are right, but a stranger says them. */
static void a_debug_file_of_a_stranger_is_not_believed(void **state)
{
	char dir[] = "/tmp/openetw-symbol-XXXXXX", path[128];
	struct self self = {0};
	struct symbol_elf *f;
	uint64_t start, at;
	if (geteuid() != 0 || system("command -v objcopy >/dev/null") != 0) {
		skip();
	}
	assert_non_null(mkdtemp(dir));
	dl_iterate_phdr(look_at_self, &self);
	at = (uint64_t)(uintptr_t)find_me - self.base;
	snprintf(path, sizeof path, "cp /proc/%d/exe %s/all", (int)getpid(), dir);
	assert_int_equal(system(path), 0);
	assert_true(run("cd %s && mkdir .debug && objcopy --only-keep-debug all .debug/part.debug && "
			"objcopy --strip-all all part && objcopy --add-gnu-debuglink=.debug/part.debug part && "
			"chown 1234 part && chown 1235 .debug/part.debug",
			dir));
	snprintf(path, sizeof path, "%s/part", dir);
	assert_int_equal(symbol_elf_open(path, &f), 0);
	const char *name = symbol_elf_find(f, at + 2, &start);
	assert_true(!name || strcmp(name, "find_me") != 0);
	symbol_elf_close(f);
	assert_true(run("chown 1234 %s/.debug/part.debug", dir));
	assert_int_equal(symbol_elf_open(path, &f), 0);
	assert_string_equal(symbol_elf_find(f, at + 2, &start), "find_me");
	symbol_elf_close(f);
	assert_true(run("rm -r %s", dir));
}

/* As in a container: what lies beside it outside is not meant. */
static void a_debug_file_is_looked_for_in_the_root_of_the_process(void **state)
{
	char dir[] = "/tmp/openetw-symbol-XXXXXX", path[128];
	struct self self = {0};
	struct symbol_elf *f;
	uint64_t start, at;
	if (system("command -v objcopy >/dev/null") != 0) {
		skip();
	}
	assert_non_null(mkdtemp(dir));
	dl_iterate_phdr(look_at_self, &self);
	at = (uint64_t)(uintptr_t)find_me - self.base;
	snprintf(path, sizeof path, "cp /proc/%d/exe %s/all", (int)getpid(), dir);
	assert_int_equal(system(path), 0);
	assert_true(run("cd %s && objcopy -R .note.gnu.build-id all && mkdir -p in/usr/lib/debug/opt in/opt && "
			"objcopy --only-keep-debug all in/usr/lib/debug/opt/part.debug && "
			"objcopy --strip-all all in/opt/part && "
			"objcopy --add-gnu-debuglink=in/usr/lib/debug/opt/part.debug in/opt/part && "
			"mkfifo in/opt/part.debug",
			dir));
	snprintf(path, sizeof path, "%s/in", dir);
	struct symbol_origin o = {.root = open(path, O_PATH | O_CLOEXEC), .uid = geteuid()};
	assert_true(o.root >= 0);
	int fd = open_foreign(o.root, "/opt/part", 0, NULL);
	assert_true(fd >= 0);
	assert_int_equal(symbol_elf_open_fd(fd, "/opt/part", &o, &f), 0);
	assert_string_equal(symbol_elf_find(f, at + 2, &start), "find_me");
	assert_string_equal(symbol_elf_source(f), "/usr/lib/debug/opt/part.debug");
	symbol_elf_close(f);
	close(o.root);
	assert_true(run("rm -r %s", dir));
}

static bool can_link(void)
{
	return system("command -v gcc objdump strip >/dev/null") == 0;
}

static unsigned number_from(const char *command)
{
	unsigned n = 0;
	FILE *out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%u", &n), 1);
	assert_true(pclose(out) >= 0);
	return n;
}

/* Counts the stubs that objdump knows of this file; each must have the name that it has there, and no more than its own
 * bytes. */
static unsigned compare_stubs(const char *path)
{
	char command[256], line[512], name[256];
	struct symbol_elf *f;
	unsigned count = 0;
	snprintf(command, sizeof command, "objdump -d %s 2>/dev/null | grep '@plt>:'", path);
	FILE *out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(symbol_elf_open(path, &f), 0);
	while (fgets(line, sizeof line, out)) {
		unsigned long long at;
		uint64_t start, end;
		assert_int_equal(sscanf(line, "%llx <%255[^>]", &at, name), 2);
		at -= symbol_elf_first(f);
		for (unsigned k = 0; k < 8; k += 4) { /* a stub is 8 bytes at least */
			const char *ours = symbol_elf_function(f, at + k, &start, &end);
			assert_non_null(ours);
			assert_string_equal(ours, name);
			assert_int_equal(start, at);
			assert_true(end - start >= 8 && end - start <= 24);
		}
		count++;
	}
	symbol_elf_close(f);
	assert_int_equal(pclose(out), 0);
	return count;
}

/* In a static program stubs stand for functions that are chosen when it starts, one for each such relocation; objdump
 * does not know them. With a symbol table they have names. */
static void static_stubs(const char *path, bool named)
{
	static const char *const sections[] = {".plt", ".iplt"};
	char command[256];
	uint64_t last = UINT64_MAX, start, end;
	unsigned count = 0;
	bool has_strlen = false;
	for (size_t i = 0; i < BASE_ARRAY_LEN(sections); i++) {
		struct symbol_elf *f;
		uint8_t *p;
		size_t n;
		uint64_t at;
		assert_int_equal(symbol_elf_open(path, &f), 0);
		if (symbol_elf_section(f, sections[i], 1 << 20, &p, &n, &at) == 0) {
			free(p);
			for (uint64_t k = 0; k < n; k += 4) {
				const char *name = symbol_elf_function(f, at - symbol_elf_first(f) + k, &start, &end);
				if (name && start != last && strstr(name, "@plt")) {
					last = start;
					count++;
					has_strlen = has_strlen || strstr(name, "strlen"); /* or strlen_ifunc */
					assert_true(named || strncmp(name, "*ABS*+0x", 8) == 0);
				}
			}
		}
		symbol_elf_close(f);
	}
	snprintf(command, sizeof command, "readelf -rW %s | grep -c IRELATIV", path);
	assert_int_equal(count, number_from(command));
	assert_int_equal(has_strlen, named);
}

static void stubs_are_called_after_what_they_jump_to(void **state)
{
	static const char source[] =
		"#include <stdlib.h>\n#include <stdio.h>\n#include <string.h>\n"
		"int main(int c, char **v) { void (*volatile f)(void *) = free; f(malloc(3)); free(getenv(*v));"
		" puts(*v); return (int)strlen(*v) + (int)(strchr(*v, c) - *v); }\n";
	static const struct {
		const char *flags;
		bool may_fail; /* not every linker knows it */
	} ways[] = {
		{"-fpie -pie", false},
		{"-fpie -pie -Wl,-z,lazy", false},
		{"-fpie -pie -Wl,-z,now", false},
		{"-fno-pie -no-pie", false},
		{"-fpie -pie -fcf-protection -Wl,-z,ibtplt", true},
		{"-fpie -pie -fcf-protection -Wl,-z,ibtplt,-z,now", true},
		{"-fpie -pie -mbranch-protection=standard -Wl,-z,force-bti", true},
		{"-fpic -shared", false},
		{"-static", true},
		{"-static-pie", true},
	};
	char dir[] = "/tmp/openetw-symbol-XXXXXX", path[128], command[512];
	if (!can_link()) {
		skip();
	}
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/stubs.c", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(source, f);
	fclose(f);
	for (size_t i = 0; i < BASE_ARRAY_LEN(ways); i++) {
		snprintf(command, sizeof command,
			 "cd %s && gcc -O1 -fno-builtin %s stubs.c -o stubs 2>/dev/null && strip -o stripped stubs",
			 dir, ways[i].flags);
		if (system(command) != 0) {
			assert_true(ways[i].may_fail);
			continue;
		}
		snprintf(path, sizeof path, "%s/stripped", dir);
		snprintf(command, sizeof command, "%s/stubs", dir);
		if (strstr(ways[i].flags, "-static")) {
			static_stubs(command, true);
			static_stubs(path, false);
		} else {
			unsigned all = compare_stubs(command);
			assert_true(all >= 5);
			assert_int_equal(compare_stubs(path), all);
		}
	}
	assert_true(run("rm -r %s", dir));
}

/* The function of which there is no name is called by its address, whichever byte of it is asked for; what stands
 * before it does not swallow it. */
static void a_function_without_a_name_is_called_by_its_address(void **state)
{
	char dir[] = "/tmp/openetw-symbol-XXXXXX", path[128], wanted[32];
	struct self self = {0};
	struct symbol_elf *f;
	uint64_t start, end, named_start, named_end;
	if (!can_link()) {
		skip();
	}
	assert_non_null(mkdtemp(dir));
	dl_iterate_phdr(look_at_self, &self);
	uint64_t at = (uint64_t)(uintptr_t)find_me - self.base;
	char *own = realpath("/proc/self/exe", NULL);
	assert_int_equal(symbol_elf_open(own, &f), 0);
	free(own);
	assert_string_equal(symbol_elf_function(f, at, &named_start, &named_end), "find_me");
	symbol_elf_close(f);
	snprintf(path, sizeof path, "strip -o %s/part /proc/%d/exe", dir, (int)getpid());
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof path, "%s/part", dir);
	assert_int_equal(symbol_elf_open(path, &f), 0);
	snprintf(wanted, sizeof wanted, "0x%llx", (unsigned long long)(at + symbol_elf_first(f)));
	for (uint64_t k = 0; k < named_end - named_start; k++) {
		assert_string_equal(symbol_elf_function(f, at + k, &start, &end), wanted);
		assert_int_equal(start, named_start);
		assert_int_equal(end, named_end);
	}
	symbol_elf_close(f);
	assert_true(run("rm -r %s", dir));
}

/* _init has no size, and after its section come the stubs. */
static void a_symbol_without_a_size_ends_with_its_section(void **state)
{
	struct self self = {0};
	struct symbol_elf *f;
	uint64_t start, end;
	uint8_t *p;
	size_t n;
	uint64_t linked;
	char *own = realpath("/proc/self/exe", NULL);
	assert_int_equal(symbol_elf_open(own, &f), 0);
	free(own);
	if (symbol_elf_section(f, ".init", 4096, &p, &n, &linked) < 0) {
		symbol_elf_close(f);
		skip();
	}
	free(p);
	linked -= symbol_elf_first(f);
	dl_iterate_phdr(look_at_self, &self);
	assert_string_equal(symbol_elf_function(f, linked, &start, &end), "_init");
	assert_int_equal(end - start, n);
	const char *behind = symbol_elf_function(f, linked + n + 8, &start, &end);
	assert_true(!behind || strcmp(behind, "_init") != 0);
	symbol_elf_close(f);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	struct symbol_elf *f;
	assert_int_equal(symbol_elf_open("/etc/passwd", &f), -EBADMSG);
	assert_int_equal(symbol_elf_open("/", &f), -EBADMSG);
	assert_int_equal(symbol_elf_open("/nonexistent", &f), -ENOENT);
	assert_int_equal(symbol_elf_open_memory("\x7f"
						"ELF",
						4, &f),
			 -EBADMSG);
}

/* Symbols whose names all lie in one long string, all of one address: the table is read once, not once
 * for each of them, or this takes until tomorrow. */
static void many_symbols_in_one_long_name_cost_no_more_than_others(void **state)
{
	enum { SYMBOLS = 300000, NAME = 4 << 20, TABLE = 64 + 3 * 64, NAMES = TABLE + 24 * SYMBOLS };
	uint8_t *p = calloc(1, NAMES + NAME);
	struct symbol_elf *f;
	uint64_t start;
	assert_non_null(p);
	memcpy(p,
	       "\x7f"
	       "ELF\2\1\1",
	       7);
	le64_put(p + 40, 64); /* sections */
	le16_put(p + 58, 64);
	le16_put(p + 60, 3);
	uint8_t *s = p + 128;
	le32_put(s + 4, 2); /* .symtab */
	le64_put(s + 24, TABLE);
	le64_put(s + 32, 24ull * SYMBOLS);
	le32_put(s + 40, 2);
	le64_put(s + 56, 24);
	s += 64;
	le32_put(s + 4, 3); /* .strtab */
	le64_put(s + 24, NAMES);
	le64_put(s + 32, NAME);
	memset(p + NAMES, '_', NAME - 1);
	memcpy(p + NAMES + NAME - 9, "tail@V1", 8);
	for (uint32_t i = 0; i < SYMBOLS; i++) {
		uint8_t *y = p + TABLE + 24 * (size_t)i;
		le32_put(y, i + 1 < SYMBOLS ? i : NAME - 9);
		y[4] = 0x12; /* global, a function */
		le16_put(y + 6, 1);
		le64_put(y + 8, 0x1000);
		le64_put(y + 16, 16);
	}
	assert_int_equal(symbol_elf_open_memory(p, NAMES + NAME, &f), 0);
	for (unsigned i = 0; i < 10000; i++) {
		const char *name = symbol_elf_find(f, 0x1008, &start);
		assert_string_equal(name, "tail"); /* others call it so: no underscores in front */
	}
	assert_int_equal(start, 0x1000);
	symbol_elf_close(f);
	free(p);
}

/* Each type is the one before it, twice, in a part of the name that is not shown. */
static void a_name_of_rust_that_refers_to_itself_ends(void **state)
{
	char name[1024] = "_RNvMINvC1a1b";
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t last = strlen(name) - 2;
	strcat(name, "TuuE");
	for (unsigned i = 0; i < 40; i++) {
		size_t here = strlen(name) - 2;
		char back[16];
		if (last < 62) {
			snprintf(back, sizeof back, "B%c_", digits[last - 1]);
		} else {
			snprintf(back, sizeof back, "B%c%c_", digits[(last - 1) / 62], digits[(last - 1) % 62]);
		}
		strcat(strcat(strcat(strcat(name, "T"), back), back), "E");
		last = here;
	}
	strcat(name, "Eu3foo");
	char *text = symbol_demangle(name);
	assert_string_equal(text, "<()>::foo");
	free(text);
}

/* A part that is read in silence, thousands of times: nothing of it is in the text, but it takes time. */
static void a_name_of_rust_that_is_read_again_and_again_ends(void **state)
{
	enum { LONG = 30000, FEW = 100 };
	char *name = malloc(LONG + 1024);
	uint64_t left = 1u << 20;
	assert_non_null(name);
	for (unsigned zeros = FEW; zeros <= LONG; zeros += LONG - FEW) {
		strcpy(name, "_RINvC1a1fTMs");
		size_t to = strlen(name) - 4, n = strlen(name);
		memset(name + n, '0', zeros);
		strcpy(name + n + zeros, "_C1xmE");
		for (unsigned i = 0; i < 12; i++) {
			size_t here = strlen(name) - 2;
			char back[16], digits[8] = "";
			for (size_t v = to - 1, k = 0; v || k == 0; v /= 62, k++) {
				memmove(digits + 1, digits, k + 1);
				digits[0] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[v % 62];
			}
			snprintf(back, sizeof back, "B%s_", digits);
			strcat(strcat(strcat(strcat(name, "T"), back), back), "E");
			to = here;
		}
		strcat(name, "E");
		uint64_t before = left;
		char *text = symbol_demangle_within(name, &left);
		assert_true(before - left <= 300000);
		if (zeros == LONG) {
			assert_string_equal(text, name);
		}
		free(text);
	}
	free(name);
}

static void names_have_a_budget(void **state)
{
	uint64_t left = 1000;
	unsigned n = 0;
	for (bool read = true; read; n += read) {
		char *text = symbol_demangle_within("_ZN3foo3barEi", &left);
		read = strcmp(text, "foo::bar(int)") == 0;
		assert_true(read || strcmp(text, "_ZN3foo3barEi") == 0);
		free(text);
	}
	assert_int_equal(left, 0);
	assert_true(n > 1 && n < 1000 / 4 / strlen("foo::bar(int)") + 2);
}

static void names_that_are_of_no_language_stay(void **state)
{
	static const char *const names[] = {"qsort", "_Z", "_R", "", "_", "_ZZZZ", "Z3foov"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		char *name = symbol_demangle(names[i]);
		assert_string_equal(name, names[i]);
		free(name);
	}
}

/* The new kind as its specification (RFC 2603) spells them out, the old kind as rustc 1.0 to 1.6x wrote
 * them. */
static void names_of_rust_become_readable(void **state)
{
	static const char *const names[][2] = {
		{"_RNvC7mycrate3foo", "mycrate::foo"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
		{"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
		{"_RNCNvC7mycrate4main0", "mycrate::main::{closure#0}"},
		{"_RNCNvC7mycrate4mains_0", "mycrate::main::{closure#1}"},
		{"_RNvMs_C7mycrateNtB4_3Foo3bar", "<mycrate::Foo>::bar"},
		{"_RNvXC7mycrateNtB2_3FooNtB2_3Bar3baz", "<mycrate::Foo as mycrate::Bar>::baz"},
		{"_RINvC7mycrate3fooTlmEE", "mycrate::foo::<(i32, u32)>"},
		{"_RINvC7mycrate3fooRShE", "mycrate::foo::<&[u8]>"},
		{"_RINvC7mycrate3fooFUKCmEuE", "mycrate::foo::<unsafe extern \"C\" fn(u32)>"},
		{"_RINvC7mycrate3fooKj2a_E", "mycrate::foo::<42>"},
		{"_ZN64_$LT$alloc..vec..Vec$LT$u8$GT$$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
		 "<alloc::vec::Vec<u8> as core::clone::Clone>::clone"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.4967640123944100834",
		 "core::fmt::Write::write_fmt"},
		{"_RNvC7mycrate", "_RNvC7mycrate"},
		{"_RBZZZZZZZZ_", "_RBZZZZZZZZ_"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		char *name = symbol_demangle(names[i][0]);
		assert_string_equal(name, names[i][1]);
		free(name);
	}
}

/* As distributions make it (the GDB manual, "MiniDebugInfo"). */
static void a_stripped_file_takes_names_from_the_table_packed_into_it(void **state)
{
	char dir[] = "/tmp/openetw-symbol-XXXXXX", path[128];
	struct self self = {0};
	struct symbol_elf *f;
	uint64_t start, at;
	if (system("command -v objcopy >/dev/null && command -v xz >/dev/null") != 0 ||
	    !dlopen("liblzma.so.5", RTLD_NOW)) {
		skip();
	}
	assert_non_null(mkdtemp(dir));
	dl_iterate_phdr(look_at_self, &self);
	at = (uint64_t)(uintptr_t)find_me - self.base;
	snprintf(path, sizeof path, "cp /proc/%d/exe %s/all", (int)getpid(), dir);
	assert_int_equal(system(path), 0);
	assert_true(run("cd %s && objcopy -S --remove-section .gnu_debuglink --keep-symbol=find_me all mini && "
			"objcopy --strip-all -R .note.gnu.build-id all part && xz mini && "
			"objcopy --add-section .gnu_debugdata=mini.xz part",
			dir));
	snprintf(path, sizeof path, "%s/part", dir);
	assert_int_equal(symbol_elf_open(path, &f), 0);
	assert_string_equal(symbol_elf_find(f, at + 2, &start), "find_me");
	assert_int_equal(start, at);
	symbol_elf_close(f);
	assert_true(run("rm -r %s", dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_this_program_is_found_by_its_address),
		cmocka_unit_test(an_exported_function_of_libc_is_found),
		cmocka_unit_test(a_stripped_file_takes_names_from_the_file_its_debug_link_names),
		cmocka_unit_test(a_debug_file_of_a_stranger_is_not_believed),
		cmocka_unit_test(a_debug_file_is_looked_for_in_the_root_of_the_process),
		cmocka_unit_test(stubs_are_called_after_what_they_jump_to),
		cmocka_unit_test(a_function_without_a_name_is_called_by_its_address),
		cmocka_unit_test(a_symbol_without_a_size_ends_with_its_section),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		cmocka_unit_test(many_symbols_in_one_long_name_cost_no_more_than_others),
		cmocka_unit_test(a_name_of_rust_that_refers_to_itself_ends),
		cmocka_unit_test(a_name_of_rust_that_is_read_again_and_again_ends),
		cmocka_unit_test(names_have_a_budget),
		cmocka_unit_test(names_that_are_of_no_language_stay),
		cmocka_unit_test(names_of_rust_become_readable),
		cmocka_unit_test(a_stripped_file_takes_names_from_the_table_packed_into_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
