/* SPDX-License-Identifier: MIT
 * Group masks, flags and names against the documented values.
 */
#include "format/kernel_mask.h"

#include "format/kernel_class.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void flags_are_bits_of_the_words_that_windows_stores_them_in(void **state)
{
	/* EVENT_TRACE_FLAG_*, and the mask that a session started with it has. */
	static const struct {
		uint32_t flag, word, value;
	} row[] = {
		{0x00000001, 0, 0x1},   {0x00000002, 0, 0x2},    {0x00000004, 0, 0x4},       {0x00000010, 1, 0x4},
		{0x00000020, 1, 0x80},  {0x00000040, 1, 0x4000}, {0x00000080, 2, 0x40},      {0x00000100, 0, 0x100},
		{0x00000800, 1, 0x200}, {0x00002000, 0, 0x2000}, {0x00004000, 1, 0x8000},    {0x00010000, 0, 0x10000},
		{0x00800000, 1, 0x10},  {0x01000000, 1, 0x2},    {0x02000000, 0, 0x2000000}, {0x04000000, 0, 0x4000000},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(row); i++) {
		struct kernel_mask m, want = {0};
		want.word[row[i].word] = row[i].value;
		kernel_mask_from_flags(row[i].flag, &m);
		assert_memory_equal(&m, &want, sizeof m);
		assert_int_equal(kernel_mask_to_flags(&m), row[i].flag);
	}
}

static void names_stand_for_the_perf_constants_of_the_headers(void **state)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} row[] = {
		{"CSWITCH", 0x20000004},     {"profile", 0x20000002},    {"DISPATCHER", 0x20000200},
		{"DPC", 0x20000080},         {"INTERRUPT", 0x20004000},  {"SYSCALL", 0x40000040},
		{"VIRT_ALLOC", 0x20008000},  {"OB_HANDLE", 0x80000040},  {"POWER", 0x80008000},
		{"IDLE_STATES", 0x40008000}, {"CPU_CONFIG", 0x40010000}, {"PRIORITY", 0x20002000},
		{"MEMINFO_WS", 0x20800000},  {"PROC_THREAD", 0x3},       {"DISK_IO", 0x300},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(row); i++) {
		const struct kernel_flag *f = kernel_flag_find(row[i].name, strlen(row[i].name));
		assert_non_null(f);
		assert_int_equal(f->bits, row[i].bits);
	}
	assert_null(kernel_flag_find("CSWITC", 6));
}

static void every_group_is_made_of_flags_there_are(void **state)
{
	const struct kernel_group *g;
	for (size_t i = 0; (g = kernel_group_at(i)) != NULL; i++) {
		for (const char *s = g->flags; *s;) {
			size_t n = strcspn(s, "+");
			assert_non_null(kernel_flag_find(s, n));
			s += n + (s[n] == '+');
		}
	}
	assert_string_equal(kernel_group_find("latency", 7)->flags,
			    "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+DPC+INTERRUPT+CSWITCH+PROFILE");
}

static void masks_have_names_and_names_give_the_same_mask(void **state)
{
	const struct kernel_flag *f;
	for (size_t i = 0; (f = kernel_flag_at(i)) != NULL; i++) {
		struct kernel_mask m = {0}, back = {0};
		char names[400];
		kernel_mask_set(&m, f->bits);
		kernel_mask_names(&m, names, sizeof names);
		assert_null(strchr(names, '+'));
		kernel_mask_set(&back, kernel_flag_find(names, strlen(names))->bits);
		assert_true(kernel_mask_equal(&m, &back));
		assert_true(kernel_mask_refused(&m) == (f->none[0] ? f : NULL));
	}
	struct kernel_mask odd = {.word = {[7] = 0x2}}, unknown;
	char names[40];
	kernel_mask_names(&odd, names, sizeof names);
	assert_string_equal(names, "0xe0000002");
	assert_true(kernel_mask_unknown(&odd, &unknown));
}

static void classes_and_hooks_are_joined_as_readers_dispatch(void **state)
{
	static const struct {
		const char *guid;
		uint8_t type;
		uint16_t hook;
	} row[] = {
		{"ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", 46, 0x0F2E}, /* SampledProfile */
		{"3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 36, 0x0524}, /* CSwitch */
		{"2cb15d1d-5fc1-11d2-abe1-00a0c911f518", 10, 0x030A}, /* Image Load: of the process's group */
		{"2cb15d1d-5fc1-11d2-abe1-00a0c911f518", 2, 0x1402},
		{"9a280ac0-c8e0-11d1-84e2-00c04fb998a2", 10, 0x060A},
		{"bf3a50c5-a9c9-4988-a005-2df0b7c80f80", 10, 0x080A},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(row); i++) {
		struct guid g, back;
		uint16_t hook = 0;
		assert_int_equal(guid_parse(row[i].guid, &g), 0);
		assert_true(kernel_hook_of_class(&g, row[i].type, &hook));
		assert_int_equal(hook, row[i].hook);
		assert_true(kernel_class_of_hook(hook, &back));
		assert_true(guid_equal(&g, &back));
	}
	uint16_t hook;
	assert_true(kernel_stack_find("profile", 7, &hook) && hook == 0x0F2E);
	assert_true(kernel_stack_find("0x0f330000", 10, &hook) && hook == 0x0F33);
	assert_false(kernel_stack_find("0xFFFF", 6, &hook));
	assert_false(kernel_stack_find("Profiles", 8, &hook));
}

static void each_class_is_found_by_its_guid_and_no_other_guid_is_one(void **state)
{
	unsigned groups = 0;
	for (; !guid_is_zero(kernel_class_of_group(groups)); groups++) {
		struct guid g = *kernel_class_of_group(groups);
		assert_int_equal(kernel_class_group(&g), groups);
		g.b[15] ^= 1; /* alike in what the search begins with */
		assert_int_equal(kernel_class_group(&g), -ENOENT);
	}
	assert_int_equal(groups, KERNEL_GROUP_HYPERVISOR_X + 1);
	assert_int_equal(kernel_class_group(&GUID_ZERO), -ENOENT);
}

static void system_providers_turn_their_keywords_into_bits(void **state)
{
	struct guid process, io, other = {{1}};
	struct kernel_mask m;
	guid_parse("151f55dc-467d-471f-83b5-5f889d46ff66", &process);
	guid_parse("3d5c43e3-0f1c-4202-b817-174c0070dc79", &io);
	assert_true(kernel_provider_mask(&process, 0x1801, &m)); /* general, thread, loader */
	assert_int_equal(m.word[0], 0x7);
	assert_true(kernel_provider_mask(&io, 0x210, &m)); /* file, network */
	assert_int_equal(m.word[0], 0x2010000);
	assert_true(kernel_provider_mask(&io, 0, &m)); /* everything that there is */
	assert_null(kernel_mask_refused(&m));
	assert_true(kernel_mask_has(&m, KERNEL_BIT_DISK_IO));
	assert_true(kernel_provider_mask(&io, 8, &m)); /* split I/O is refused by name */
	assert_string_equal(kernel_mask_refused(&m)->name, "SPLIT_IO");
	assert_false(kernel_provider_mask(&other, 1, &m));
	assert_string_equal(kernel_provider_name(&process), "SystemProcessProvider");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_are_bits_of_the_words_that_windows_stores_them_in),
		cmocka_unit_test(names_stand_for_the_perf_constants_of_the_headers),
		cmocka_unit_test(every_group_is_made_of_flags_there_are),
		cmocka_unit_test(masks_have_names_and_names_give_the_same_mask),
		cmocka_unit_test(classes_and_hooks_are_joined_as_readers_dispatch),
		cmocka_unit_test(each_class_is_found_by_its_guid_and_no_other_guid_is_one),
		cmocka_unit_test(system_providers_turn_their_keywords_into_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
