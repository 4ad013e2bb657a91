/* SPDX-License-Identifier: MIT
 *
 * Stacks of this program against what the compiler's own runtime (backtrace) says of the same stack.
 */
#include "unwind/unwind_private.h"

#include <execinfo.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#define STACK_COPY 32768u
#define FRAMES     64u

static struct unwind_regs regs_of(const ucontext_t *c)
{
	struct unwind_regs r = {{0}};
#if defined(__x86_64__)
	static const int places[UNWIND_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
						REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
						REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	for (unsigned i = 0; i < UNWIND_REGS; i++) {
		r.r[i] = (uint64_t)c->uc_mcontext.gregs[places[i]];
	}
#else
	for (unsigned i = 0; i < 31; i++) {
		r.r[i] = c->uc_mcontext.regs[i];
	}
	r.r[UNWIND_SP] = c->uc_mcontext.sp;
	r.r[UNWIND_PC] = c->uc_mcontext.pc;
#endif
	return r;
}

/* Where this thread's stack ends. */
static uint64_t stack_end(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned long long from, to, sp = (uintptr_t)&f, end = 0;
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%llx-%llx", &from, &to) == 2 && sp >= from && sp < to) {
			end = to;
		}
	}
	if (f) {
		fclose(f);
	}
	return end;
}

/* The sanitizer knows which of these bytes belong to nobody. */
static void __attribute__((noinline, no_sanitize("address")))
take_copy(uint8_t *to, const volatile uint8_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		to[i] = from[i];
	}
}

static uint32_t walk(struct unwind *u, const struct unwind_regs *regs, uint64_t *frames)
{
	uint64_t sp = regs->r[UNWIND_SP];
	uint32_t bytes = (uint32_t)BASE_MIN(stack_end() - sp, (uint64_t)STACK_COPY);
	uint8_t *copy = malloc(bytes);
	assert_non_null(copy);
	take_copy(copy, (const volatile uint8_t *)(uintptr_t)sp, bytes);
	uint32_t n = unwind_walk(u, (uint32_t)getpid(), regs, copy, bytes, frames, FRAMES);
	free(copy);
	return n;
}

struct seen {
	struct unwind *u;
	uint64_t frames[FRAMES];
	uint32_t count;
	void *truth[FRAMES];
	int truths;
};

/* Our frames 1… are callers; so are the truth's, from one call deeper. */
static void assert_same_callers(const struct seen *s)
{
	int first = -1;
	for (int i = 0; i < s->truths && first < 0; i++) {
		first = (uint64_t)(uintptr_t)s->truth[i] == s->frames[1] ? i : -1;
	}
	assert_true(first >= 0);
	assert_true(s->truths - first >= 4);
	for (int i = first; i < s->truths; i++) {
		assert_true((uint32_t)(i - first) + 1 < s->count);
		assert_int_equal(s->frames[i - first + 1], (uintptr_t)s->truth[i]);
	}
}

static void __attribute__((noinline)) look(struct seen *s)
{
	ucontext_t c;
	s->truths = backtrace(s->truth, FRAMES);
	getcontext(&c);
	struct unwind_regs r = regs_of(&c);
	s->count = walk(s->u, &r, s->frames);
}

static struct seen *now; /* for those who get no argument */

static int __attribute__((noinline)) compare(const void *a, const void *b)
{
	if (now->count == 0) {
		look(now);
	}
	return *(const int *)a - *(const int *)b;
}

static void __attribute__((noinline)) sort(struct seen *s)
{
	int list[16];
	for (int i = 0; i < 16; i++) {
		list[i] = 16 - i;
	}
	now = s;
	qsort(list, 16, sizeof list[0], compare);
	assert_int_equal(list[0], 1);
}

static void callers_through_libc_are_those_that_the_compilers_runtime_finds(void **state)
{
	struct seen s = {.u = unwind_create()};
	sort(&s);
	assert_same_callers(&s);
	struct unwind_stats before, after;
	unwind_stats(s.u, &before);
	assert_true(before.whole == 1);
	/* the second time rules are at hand */
	s.count = 0;
	sort(&s);
	assert_same_callers(&s);
	unwind_stats(s.u, &after);
	assert_true(after.known >= before.known + 4);
	unwind_destroy(s.u);
}

static void on_signal(int number)
{
	look(now);
}

static void a_signal_handlers_stack_goes_on_in_what_was_interrupted(void **state)
{
	struct seen s = {.u = unwind_create()};
	struct sigaction a = {.sa_handler = on_signal}, old;
	now = &s;
	assert_int_equal(sigaction(SIGUSR1, &a, &old), 0);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	assert_same_callers(&s);
	unwind_destroy(s.u);
}

/* Code without tables: frame pointers lead on, and nothing that is no code. */
static void code_of_no_file_is_walked_by_frame_pointers(void **state)
{
	struct unwind *u = unwind_create();
	uint64_t frames[FRAMES], stack[64] = {0}, at = 0x7000000000, jit = 0x5000000000;
	struct unwind_regs r = {{0}};
	unwind_exec(u, 77777777);
	unwind_map(u, 77777777, jit, 0x10000, 0, "//anon");
	r.r[UNWIND_PC] = jit + 0x100;
	r.r[UNWIND_SP] = at;
	r.r[UNWIND_FP] = at + 64;
	stack[8] = at + 160;
	stack[9] = jit + 0x200;
	stack[20] = at + 320;
	stack[21] = jit + 0x300;
	stack[40] = 0;
	stack[41] = 0x1234; /* no code: the end */
	uint32_t n = unwind_walk(u, 77777777, &r, (const uint8_t *)stack, sizeof stack, frames, FRAMES);
	assert_int_equal(n, 3);
	assert_int_equal(frames[1], jit + 0x200);
	assert_int_equal(frames[2], jit + 0x300);
	unwind_destroy(u);
}

static void a_file_lies_where_its_segments_say_and_forks_inherit_it(void **state)
{
	struct unwind *u = unwind_create();
	struct unwind_module m;
	uint32_t pid = (uint32_t)getpid();
	uint64_t here = (uint64_t)(uintptr_t)&look;
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	assert_true(n > 0);
	exe[n] = 0;
	assert_true(unwind_module_at(u, pid, here, &m));
	assert_string_equal(m.path, exe);
	assert_true(here >= m.base && here - m.base < m.span);
	assert_memory_equal((const void *)(uintptr_t)m.base, "\177ELF", 4);
	assert_int_equal(m.build_id_bytes, 20);
	uint64_t base = m.base;
	unwind_fork(u, 77777777, pid);
	assert_true(unwind_module_at(u, 77777777, here, &m));
	assert_int_equal(m.base, base);
	/* another mapping takes its place, and an exec all of them */
	unwind_map(u, 77777777, here & ~4095ull, 4096, 0, "/no/such/file");
	assert_false(unwind_module_at(u, 77777777, here, &m));
	unwind_exec(u, 77777777);
	assert_false(unwind_module_at(u, 77777777, base, &m));
	assert_true(unwind_module_at(u, pid, here, &m));
	unwind_destroy(u);
}

/* DWARF 5, 6.4.2: each instruction once, in a table made by hand. */
static void every_instruction_does_what_the_standard_says(void **state)
{
	static const uint8_t table[] = {
		20,   0,    0,    0,  0,  0,    0,    0,                    /* a CIE */
		1,    'z',  'R',  0,  1,  0x78, 16,   1,  0x00, 0x0C, 7, 8, /* def_cfa r7 + 8 */
		0x90, 1,                                                    /* offset r16 at cfa-8 */
		0,    0,    48,   0,  0,  0,    28,   0,  0,    0,          /* an FDE */
		0,    0x10, 0,    0,  0,  0,    0,    0,  0x40, 0,    0, 0,
		0,    0,    0,    0,  0,  0x41, 0x0E, 16, 0x86, 2, /* advance 1; cfa offset 16; r6 at cfa-16 */
		0x02, 3,    0x0D, 6,                               /* advance 3; cfa register r6 */
		0x0A,                                              /* remember */
		0x02, 1,    0x09, 3,  12,                          /* advance 1; r3 in r12 */
		0x02, 1,    0x0B,                                  /* advance 1; restore state */
		0x02, 1,    0xC6,                                  /* advance 1; restore r6 */
		0x02, 1,    0x07, 16,                              /* advance 1; r16 undefined */
		0,    0,
	};
	struct unwind_table *t;
	struct unwind_row row;
	uint8_t *p = malloc(sizeof table);
	memcpy(p, table, sizeof table);
	assert_int_equal(unwind_table_create(p, sizeof table, 0x100000, false, &t), 0);
	assert_false(unwind_table_row(t, 0xFFF, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_false(unwind_table_row(t, 0x1040, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_true(unwind_table_row(t, 0x1000, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_int_equal(row.cfa.reg, 7);
	assert_int_equal(row.cfa.n, 8);
	assert_int_equal(row.r[16].kind, RULE_OFFSET);
	assert_int_equal(row.r[16].n, -8);
	assert_true(unwind_table_row(t, 0x1001, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_int_equal(row.cfa.n, 16);
	assert_int_equal(row.r[6].n, -16);
	assert_true(unwind_table_row(t, 0x1004, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_int_equal(row.cfa.reg, 6);
	assert_true(unwind_table_row(t, 0x1005, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_int_equal(row.r[3].kind, RULE_REGISTER);
	assert_int_equal(row.r[3].reg, 12);
	assert_true(unwind_table_row(t, 0x1006, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_int_equal(row.r[3].kind, RULE_SAME);
	assert_int_equal(row.r[6].n, -16);
	assert_true(unwind_table_row(t, 0x1007, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_int_equal(row.r[6].kind, RULE_SAME);
	assert_true(unwind_table_row(t, 0x103F, &(uint32_t){UNWIND_STEPS_MAX}, &row));
	assert_int_equal(row.r[16].kind, RULE_UNDEFINED);
	unwind_table_destroy(t);
}

/* Tables are made by whoever runs a program: one that would keep us busy is none. */
static void a_row_of_a_million_instructions_is_not_worked_out(void **state)
{
	enum { NOPS = 1 << 20 };
	static const uint8_t head[] = {
		20, 0,    0,   0, 0, 0,    0,  0,                                                           /* a CIE */
		1,  'z',  'R', 0, 1, 0x78, 16, 1, 0x00, 0x0C, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, /* an FDE */
		0,  0x10, 0,   0, 0, 0,    0,  0, 0x40, 0,    0, 0, 0,    0, 0, 0, 0,
	};
	struct unwind_table *t;
	struct unwind_row row;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t nops = i == 0 ? 1000 : NOPS;
		uint8_t *p = calloc(1, sizeof head + nops);
		assert_non_null(p);
		memcpy(p, head, sizeof head);
		le32_put(p + 24, (uint32_t)sizeof head - 28 + nops);
		assert_int_equal(unwind_table_create(p, sizeof head + nops, 0x100000, false, &t), 0);
		assert_int_equal(unwind_table_row(t, 0x1001, &(uint32_t){UNWIND_STEPS_MAX}, &row), i == 0);
		unwind_table_destroy(t);
	}
	/* and numbers of a million digits are no numbers */
	struct bytes b;
	uint8_t *digits = malloc(1000);
	memset(digits, 0x80, 1000);
	b = bytes_of(digits, 1000);
	unwind_uleb(&b);
	assert_true(b.bad);
	b = bytes_of(digits, 1000);
	unwind_sleb(&b);
	assert_true(b.bad);
	free(digits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_through_libc_are_those_that_the_compilers_runtime_finds),
		cmocka_unit_test(a_signal_handlers_stack_goes_on_in_what_was_interrupted),
		cmocka_unit_test(code_of_no_file_is_walked_by_frame_pointers),
		cmocka_unit_test(a_file_lies_where_its_segments_say_and_forks_inherit_it),
		cmocka_unit_test(every_instruction_does_what_the_standard_says),
		cmocka_unit_test(a_row_of_a_million_instructions_is_not_worked_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
