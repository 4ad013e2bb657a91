/* SPDX-License-Identifier: MIT
 *
 * Processes that map more than anybody needs: what is kept of them has an end, others have theirs, and who comes
 * back to a file that was let go of has it again.
 */
#include "unwind/unwind_private.h"

#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#define SOMEBODY 4242u
#define NOBODY   77777777u /* no process has this number */
#define MANY     3000u

struct place {
	char dir[64];
	char self[4096]; /* this program */
	uint64_t code;   /* where in the file its code lies */
	struct unwind *u;
};

static int look_at_self(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *p = ctx;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		p->code = h->p_type == PT_LOAD && (h->p_flags & PF_X) ? h->p_offset & ~4095ull : p->code;
	}
	return 1;
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	assert_non_null(p);
	snprintf(p->dir, sizeof p->dir, "/tmp/openetw-unwind-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(chmod(p->dir, 0777), 0);
	ssize_t n = readlink("/proc/self/exe", p->self, sizeof p->self - 1);
	assert_true(n > 0);
	dl_iterate_phdr(look_at_self, p);
	p->u = unwind_create();
	assert_non_null(p->u);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	char command[128];
	unwind_destroy(p->u);
	snprintf(command, sizeof command, "rm -r %s", p->dir);
	assert_int_equal(system(command), 0);
	free(p);
	return 0;
}

/* The least ELF file with a segment of code. */
static void put_small(const char *path, unsigned number)
{
	uint8_t e[64 + 56 + 64] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
	le16_put(e + 16, 3);
	le16_put(e + 18, 62);
	le32_put(e + 20, 1);
	le64_put(e + 32, 64);
	le16_put(e + 52, 64);
	le16_put(e + 54, 56);
	le16_put(e + 56, 1);
	le32_put(e + 64, 1);
	le32_put(e + 68, 5);
	le64_put(e + 64 + 32, sizeof e);
	le64_put(e + 64 + 40, sizeof e);
	le32_put(e + 120, number);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, e, sizeof e), sizeof e);
	close(fd);
}

static const char *name(const struct place *p, const char *stem, unsigned i)
{
	static char path[2][128];
	static unsigned n;
	char *out = path[n++ % 2];
	snprintf(out, sizeof path[0], "%s/%s%u", p->dir, stem, i);
	return out;
}

static uint64_t at(unsigned i)
{
	return 0x10000000ull + 0x10000ull * i;
}

static void many_names_of_one_file_are_one_file(void **state)
{
	struct place *p = *state;
	struct unwind_stats s;
	struct unwind_module m, first;
	put_small(name(p, "base", 0), 0);
	unwind_exec(p->u, NOBODY);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(link(name(p, "base", 0), name(p, "l", i)), 0);
		unwind_map(p->u, NOBODY, at(i), 4096, 0, name(p, "l", i));
	}
	unwind_stats(p->u, &s);
	assert_int_equal(s.open, 1);
	assert_int_equal(s.files, MANY);
	assert_int_equal(s.closed + s.unread + s.unmapped, 0);
	assert_true(unwind_module_at(p->u, NOBODY, at(0), &first));
	assert_true(unwind_module_at(p->u, NOBODY, at(MANY - 1) + 100, &m));
	assert_string_equal(m.path, name(p, "l", MANY - 1));
	assert_int_equal(m.base, at(MANY - 1));
	assert_int_not_equal(m.file, first.file);
	unwind_exit(p->u, NOBODY);
	unwind_stats(p->u, &s);
	assert_true(s.files <= 1);
}

static void descriptors_are_few_and_what_was_let_go_of_is_opened_again(void **state)
{
	struct place *p = *state;
	struct unwind_stats s;
	struct unwind_regs r = {{0}};
	uint64_t stack[64] = {0}, frames[8];
	unwind_exec(p->u, NOBODY);
	/* One that has tables, and is then pushed out by others. */
	unwind_map(p->u, NOBODY, 0x700000, 0x100000, p->code, p->self);
	r.r[UNWIND_PC] = 0x700000 + ((uint64_t)(uintptr_t)&put_small & 0xFFFF);
	r.r[UNWIND_SP] = 0x7000000;
	unwind_walk(p->u, NOBODY, &r, (const uint8_t *)stack, sizeof stack, frames, 8);
	unwind_stats(p->u, &s);
	assert_true(s.table_bytes > 0);
	uint64_t tables = s.table_bytes;
	for (unsigned i = 0; i < MANY; i++) {
		put_small(name(p, "f", i), i);
		unwind_map(p->u, NOBODY, at(i), 4096, 0, name(p, "f", i));
	}
	unwind_stats(p->u, &s);
	assert_true(s.open <= 512);
	assert_true(s.closed >= MANY - 512);
	assert_int_equal(s.table_bytes, 0);
	assert_int_equal(s.unread + s.unmapped, 0);
	unwind_walk(p->u, NOBODY, &r, (const uint8_t *)stack, sizeof stack, frames, 8);
	unwind_stats(p->u, &s);
	assert_int_equal(s.table_bytes, tables);
	assert_int_equal(s.cut, 0);
}

static void a_file_that_was_replaced_is_not_taken_for_the_one_that_was_mapped(void **state)
{
	struct place *p = *state;
	struct unwind_source src;
	struct unwind_module m;
	uint32_t root_uid;
	int root;
	put_small(name(p, "f", 0), 0);
	unwind_exec(p->u, NOBODY);
	unwind_map(p->u, NOBODY, at(0), 4096, 0, name(p, "f", 0));
	assert_true(unwind_module_at(p->u, NOBODY, at(0), &m));
	unwind_file_keep(p->u, m.file);
	unwind_exit(p->u, NOBODY);
	assert_int_equal(unwind_file_source(p->u, m.file, &src), 0);
	base_close(&src.fd); /* as if it had been let go of */
	int fd = unwind_source_open(&src, &root, &root_uid);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(root, -1);
	unlink(name(p, "f", 0));
	put_small(name(p, "f", 0), 1);
	assert_int_equal(unwind_source_open(&src, &root, &root_uid), -ESTALE);
	unwind_source_finish(&src);
}

static struct unwind_identity identity(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return (struct unwind_identity){st.st_dev, st.st_ino};
}

static uint64_t inode_at(struct place *p, uint32_t pid, uint64_t address)
{
	const struct unwind_mapping *m = unwind_mapping_at(unwind_space_of(p->u, pid), address);
	assert_non_null(m);
	assert_non_null(m->file);
	return m->file->content->inode;
}

static void a_file_that_is_not_what_was_mapped_is_not_remembered_as_that(void **state)
{
	struct place *p = *state;
	put_small(name(p, "real", 0), 0);
	put_small(name(p, "forged", 0), 1);
	put_small(name(p, "f", 0), 2);
	struct unwind_identity real = identity(name(p, "real", 0)), forged = identity(name(p, "forged", 0));
	/* A process maps the real one, and has another under its path when it is looked at. */
	assert_int_equal(rename(name(p, "forged", 0), name(p, "f", 0)), 0);
	unwind_exec(p->u, NOBODY);
	unwind_map_identified(p->u, NOBODY, at(0), 4096, 0, name(p, "f", 0), &real);
	assert_int_equal(inode_at(p, NOBODY, at(0)), forged.inode);
	assert_int_equal(rename(name(p, "real", 0), name(p, "f", 0)), 0);
	unwind_exec(p->u, NOBODY + 1);
	unwind_map_identified(p->u, NOBODY + 1, at(0), 4096, 0, name(p, "f", 0), &real);
	assert_int_equal(inode_at(p, NOBODY + 1, at(0)), real.inode);
	/* This one is remembered: as long as it is said to be the same. */
	put_small(name(p, "forged", 0), 1);
	forged = identity(name(p, "forged", 0));
	assert_int_equal(rename(name(p, "forged", 0), name(p, "f", 0)), 0);
	unwind_map_identified(p->u, NOBODY + 1, at(1), 4096, 0, name(p, "f", 0), &forged);
	assert_int_equal(inode_at(p, NOBODY + 1, at(1)), forged.inode);
	assert_int_equal(inode_at(p, NOBODY + 1, at(0)), real.inode);
}

static void what_is_no_file_is_not_opened(void **state)
{
	struct place *p = *state;
	struct unwind_module m;
	assert_int_equal(mkfifo(name(p, "pipe", 0), 0666), 0);
	unwind_exec(p->u, NOBODY);
	unwind_map(p->u, NOBODY, at(0), 4096, 0, name(p, "pipe", 0));
	assert_false(unwind_module_at(p->u, NOBODY, at(0), &m));
	assert_int_equal(unlink(name(p, "pipe", 0)), 0);
}

static void a_process_with_too_many_mappings_keeps_the_first_ones(void **state)
{
	struct place *p = *state;
	struct unwind_stats s;
	struct unwind_module m;
	put_small(name(p, "f", 0), 0);
	unwind_exec(p->u, NOBODY);
	for (unsigned i = 0; i < 20000; i++) {
		unwind_map(p->u, NOBODY, at(i), 4096, 0, name(p, "f", 0));
	}
	unwind_stats(p->u, &s);
	assert_true(s.unmapped > 0);
	assert_true(unwind_module_at(p->u, NOBODY, at(0), &m));
	assert_true(unwind_module_at(p->u, NOBODY, at(10000), &m));
	assert_false(unwind_module_at(p->u, NOBODY, at(19999), &m));
}

/* Another user's process, which waits. */
static pid_t somebody(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setresgid(SOMEBODY, SOMEBODY, SOMEBODY) < 0 || setresuid(SOMEBODY, SOMEBODY, SOMEBODY) < 0) {
			_exit(1);
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* forgotten with the change */
		prctl(PR_SET_DUMPABLE, 0);
		for (;;) {
			pause();
		}
	}
	while (unwind_owner_of((uint32_t)pid) != SOMEBODY && waitpid(pid, NULL, WNOHANG) == 0) {
		usleep(1000);
	}
	return pid;
}

static void a_user_with_many_files_leaves_room_for_others(void **state)
{
	struct place *p = *state;
	struct unwind_stats s;
	struct unwind_module m;
	if (geteuid() != 0) {
		skip();
	}
	pid_t pid = somebody();
	unwind_exec(p->u, (uint32_t)pid);
	for (unsigned i = 0; i < MANY; i++) {
		put_small(name(p, "f", i), i);
		unwind_map(p->u, (uint32_t)pid, at(i), 4096, 0, name(p, "f", i));
	}
	unwind_stats(p->u, &s);
	assert_true(s.open <= 256); /* half of what there is at most, when nobody else has any */
	assert_true(s.open >= 16);
	/* Root's are all there, and do not go for theirs. */
	unwind_exec(p->u, NOBODY);
	unwind_exec(p->u, (uint32_t)getpid());
	for (unsigned i = 0; i < 100; i++) {
		put_small(name(p, "r", i), MANY + i);
		unwind_map(p->u, (uint32_t)getpid(), at(i), 4096, 0, name(p, "r", i));
	}
	unwind_stats(p->u, &s);
	uint32_t before = s.open;
	for (unsigned i = 0; i < MANY; i++) {
		unwind_map(p->u, (uint32_t)pid, at(i), 4096, 0, name(p, "f", (i * 7) % MANY));
	}
	unwind_stats(p->u, &s);
	assert_true(s.open <= before + 16);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(unwind_module_at(p->u, (uint32_t)getpid(), at(i), &m));
		assert_non_null(
			unwind_mapping_at(unwind_space_of(p->u, (uint32_t)getpid()), at(i))->file->content->elf);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void whose_a_process_is_it_cannot_hide(void **state)
{
	if (geteuid() != 0) {
		skip();
	}
	pid_t pid = somebody();
	struct stat st;
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 0); /* as it says of itself */
	assert_int_equal(unwind_owner_of((uint32_t)pid), SOMEBODY);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(unwind_owner_of((uint32_t)pid), UINT32_MAX);
}

static void shares_leave_something_for_the_next(void **state)
{
	struct unwind_shares s;
	unwind_shares_init(&s);
	s.limit[UNWIND_OPEN] = 800;
	uint32_t had = 0, before = UINT32_MAX;
	for (uint32_t uid = 10; uid < 14; uid++) {
		struct unwind_user *u = unwind_share_user(&s, uid);
		uint32_t n = 0;
		while (unwind_share_take(&s, u, UNWIND_OPEN, 1)) {
			n++;
		}
		assert_true(n > 0 && n < before);
		before = n;
		had += n;
	}
	assert_true(had <= 700); /* an eighth is root's */
	struct unwind_user *root = unwind_share_user(&s, 0);
	uint32_t n = 0;
	while (unwind_share_take(&s, root, UNWIND_OPEN, 1)) {
		n++;
	}
	assert_int_equal(n + had, 800);
	assert_ptr_equal(unwind_share_owing(&s, unwind_share_user(&s, 10), UNWIND_OPEN), unwind_share_user(&s, 10));
	assert_ptr_equal(unwind_share_owing(&s, root, UNWIND_OPEN), unwind_share_user(&s, 10));
	/* and work: two seconds, then no more for now */
	struct unwind_user *busy = unwind_share_user(&s, 10);
	assert_true(unwind_work_left(busy));
	unwind_work_add(busy, 5000000000ull);
	assert_false(unwind_work_left(busy));
	assert_true(unwind_work_left(unwind_share_user(&s, 11)));
	unwind_work_add(root, 5000000000ull);
	assert_true(unwind_work_left(root));
	unwind_shares_finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(many_names_of_one_file_are_one_file, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors_are_few_and_what_was_let_go_of_is_opened_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_that_was_replaced_is_not_taken_for_the_one_that_was_mapped,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_not_what_was_mapped_is_not_remembered_as_that, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_not_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_with_too_many_mappings_keeps_the_first_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(a_user_with_many_files_leaves_room_for_others, setup, teardown),
		cmocka_unit_test(whose_a_process_is_it_cannot_hide),
		cmocka_unit_test(shares_leave_something_for_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
