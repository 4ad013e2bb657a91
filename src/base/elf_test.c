/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* One loaded segment, and the sections "", ".a" and that of names. */
struct made {
	uint8_t bytes[1024];
	size_t n;
};
enum { NAMES_AT = 300, CONTENT_AT = 320, SECTIONS_AT = 400 };
static const char names[] = "\0.a\0.names";

static struct made make64(void)
{
	struct made m = {.n = SECTIONS_AT + 3 * sizeof(Elf64_Shdr)};
	Elf64_Ehdr h = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
			.e_machine = EM_X86_64,
			.e_phoff = 64,
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shoff = SECTIONS_AT,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2};
	Elf64_Phdr p = {PT_LOAD, PF_R | PF_X, 11, 22, 0, 33, 44, 0};
	Elf64_Shdr s[3] = {{0},
			   {.sh_name = 1,
			    .sh_type = SHT_PROGBITS,
			    .sh_addr = 55,
			    .sh_offset = CONTENT_AT,
			    .sh_size = 5,
			    .sh_entsize = 7},
			   {.sh_name = 4, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = sizeof names}};
	memcpy(m.bytes, &h, sizeof h);
	memcpy(m.bytes + 64, &p, sizeof p);
	memcpy(m.bytes + NAMES_AT, names, sizeof names);
	memcpy(m.bytes + CONTENT_AT, "hello", 5);
	memcpy(m.bytes + SECTIONS_AT, s, sizeof s);
	return m;
}

static struct made make32(void)
{
	struct made m = {.n = SECTIONS_AT + 3 * sizeof(Elf32_Shdr)};
	Elf32_Ehdr h = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB},
			.e_machine = EM_386,
			.e_phoff = 64,
			.e_phentsize = sizeof(Elf32_Phdr),
			.e_phnum = 1,
			.e_shoff = SECTIONS_AT,
			.e_shentsize = sizeof(Elf32_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2};
	Elf32_Phdr p = {PT_LOAD, 11, 22, 0, 33, 44, PF_R | PF_X, 0};
	Elf32_Shdr s[3] = {{0},
			   {.sh_name = 1,
			    .sh_type = SHT_PROGBITS,
			    .sh_addr = 55,
			    .sh_offset = CONTENT_AT,
			    .sh_size = 5,
			    .sh_entsize = 7},
			   {.sh_name = 4, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = sizeof names}};
	memcpy(m.bytes, &h, sizeof h);
	memcpy(m.bytes + 64, &p, sizeof p);
	memcpy(m.bytes + NAMES_AT, names, sizeof names);
	memcpy(m.bytes + CONTENT_AT, "hello", 5);
	memcpy(m.bytes + SECTIONS_AT, s, sizeof s);
	return m;
}

static void both_widths_say_the_same(void **state)
{
	for (int wide = 0; wide < 2; wide++) {
		struct made m = wide ? make64() : make32();
		struct elf e;
		struct elf_segment g;
		struct elf_sections s;
		assert_int_equal(elf_file_begin(&e, -1, m.bytes, m.n), 0);
		assert_int_equal(e.wide, wide);
		assert_int_equal(e.machine, wide ? EM_X86_64 : EM_386);
		assert_int_equal(e.segments, 1);
		assert_int_equal(elf_segment_read(&e, 0, &g), 0);
		assert_int_equal(g.type, PT_LOAD);
		assert_int_equal(g.flags, PF_R | PF_X);
		assert_int_equal(g.offset, 11);
		assert_int_equal(g.address, 22);
		assert_int_equal(g.file_bytes, 33);
		assert_int_equal(g.bytes, 44);
		assert_int_equal(elf_sections_read(&e, 16, 4096, &s), 0);
		const struct elf_section *a = elf_section_find(&s, ".a");
		assert_non_null(a);
		assert_int_equal(a->type, SHT_PROGBITS);
		assert_int_equal(a->address, 55);
		assert_int_equal(a->bytes, 5);
		assert_int_equal(a->entry, 7);
		assert_null(elf_section_find(&s, ".b"));
		elf_sections_finish(&s);
		assert_int_equal(elf_sections_read(&e, 2, 4096, &s), -EBADMSG); /* more than are wanted */
		assert_int_equal(elf_sections_read(&e, 16, 3, &s), 0);          /* names that are too long are none */
		assert_int_equal(s.names_err, -EBADMSG);
		assert_null(elf_section_find(&s, ".a"));
		elf_sections_finish(&s);
	}
}

static void files_that_are_cut_are_refused_at_every_length(void **state)
{
	for (int wide = 0; wide < 2; wide++) {
		struct made m = wide ? make64() : make32();
		for (size_t n = 0; n < m.n; n++) {
			uint8_t *p = malloc(n ? n : 1); /* of its own size, for the sanitizer */
			struct elf e;
			struct elf_sections s;
			assert_non_null(p);
			memcpy(p, m.bytes, n);
			if (elf_file_begin(&e, -1, p, n) == 0) {
				assert_true(elf_sections_read(&e, 16, 4096, &s) < 0);
			}
			free(p);
		}
	}
}

/* As files with more sections than fit have it: the first section says how many, and which has the names. */
static void numbers_that_do_not_fit_stand_in_the_first_section(void **state)
{
	struct made m = make64();
	struct elf e;
	struct elf_sections s;
	le16_put(m.bytes + offsetof(Elf64_Ehdr, e_shnum), 0);
	le16_put(m.bytes + offsetof(Elf64_Ehdr, e_shstrndx), SHN_XINDEX);
	le64_put(m.bytes + SECTIONS_AT + offsetof(Elf64_Shdr, sh_size), 3);
	le32_put(m.bytes + SECTIONS_AT + offsetof(Elf64_Shdr, sh_link), 2);
	assert_int_equal(elf_file_begin(&e, -1, m.bytes, m.n), 0);
	assert_int_equal(elf_sections_read(&e, 16, 4096, &s), 0);
	assert_int_equal(s.count, 3);
	assert_non_null(elf_section_find(&s, ".a"));
	elf_sections_finish(&s);
}

static int read_section(const struct made *m, const char *name, size_t most, char out[16])
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	uint8_t *p;
	size_t n;
	assert_int_equal(write(fd, m->bytes, m->n), m->n);
	int err = elf_section_read(fd, name, most, &p, &n);
	if (err == 0) {
		assert_true(n < 16);
		memcpy(out, p, n + 1);
		free(p);
	}
	close(fd);
	return err;
}

static void a_section_is_read_by_its_name_and_refusals_have_their_reasons(void **state)
{
	struct made m = make64(), narrow = make32(), text = {.bytes = "no program", .n = 100};
	char out[16];
	assert_int_equal(read_section(&m, ".a", 100, out), 0);
	assert_string_equal(out, "hello");
	assert_int_equal(read_section(&m, ".a", 4, out), -EFBIG);
	assert_int_equal(read_section(&m, ".b", 100, out), -ENOENT);
	assert_int_equal(read_section(&narrow, ".a", 100, out), -ENOEXEC);
	assert_int_equal(read_section(&text, ".a", 100, out), -ENOEXEC);
	le32_put(m.bytes + SECTIONS_AT + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_type), SHT_NOBITS);
	assert_int_equal(read_section(&m, ".a", 100, out), -EBADMSG);
}

static void notes_are_found_behind_others_and_without_padding_at_the_end(void **state)
{
	static const uint8_t notes[] = {4, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, 'A', 'B', 'C', 0, 1, 2, 3,
					0, /* another one */
					4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 7, 8, 9};
	const uint8_t *id;
	assert_int_equal(elf_notes_build_id(notes, sizeof notes, 4, &id), 3);
	assert_memory_equal(id, ((uint8_t[]){7, 8, 9}), 3);
	for (size_t n = 0; n < sizeof notes; n++) {
		assert_int_equal(elf_notes_build_id(notes, n, 4, &id), 0);
	}
	static const uint8_t long_owner[] = {0xFF, 0xFF, 0xFF, 0xFF, 3,   0, 0, 0, 3, 0,
					     0,    0,    'G',  'N',  'U', 0, 7, 8, 9, 0};
	assert_int_equal(elf_notes_build_id(long_owner, sizeof long_owner, 4, &id), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_widths_say_the_same),
		cmocka_unit_test(files_that_are_cut_are_refused_at_every_length),
		cmocka_unit_test(numbers_that_do_not_fit_stand_in_the_first_section),
		cmocka_unit_test(a_section_is_read_by_its_name_and_refusals_have_their_reasons),
		cmocka_unit_test(notes_are_found_behind_others_and_without_padding_at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
