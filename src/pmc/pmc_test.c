/* SPDX-License-Identifier: MIT
 * Sources by number and name, and a processor's named events as the kernel describes them.
 */
#include "pmc/pmc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void put(const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof full, "%s/sys/bus/event_source/devices/%s", root, path);
	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')) != NULL; s++) {
		*s = 0;
		mkdir(full, 0700);
		*s = '/';
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static int make_root(void **state)
{
	snprintf(root, sizeof root, "/tmp/pmc-test-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
	char command[100];
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command) == 0 ? 0 : -1;
}

static void numbers_are_those_of_windows(void **state)
{
	/* KPROFILE_SOURCE, and the numbers that 'xperf -pmcsources' shows on Intel processors. */
	static const struct {
		uint32_t id;
		const char *name;
	} row[] = {{0, "Timer"},
		   {2, "TotalIssues"},
		   {6, "BranchInstructions"},
		   {8, "DcacheMisses"},
		   {9, "IcacheMisses"},
		   {10, "CacheMisses"},
		   {11, "BranchMispredictions"},
		   {19, "TotalCycles"},
		   {25, "UnhaltedCoreCycles"},
		   {26, "InstructionRetired"},
		   {27, "UnhaltedReferenceCycles"},
		   {28, "LLCReference"},
		   {29, "LLCMisses"},
		   {30, "BranchInstructionRetired"},
		   {31, "BranchMispredictsRetired"}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(row); i++) {
		struct pmc_source by_id = {.id = 77}, by_name = {.id = 77};
		struct diag d;
		diag_clear(&d);
		int err = pmc_find(row[i].id, &by_id, &d);
		assert_int_equal(pmc_find_name(row[i].name, strlen(row[i].name), &by_name, NULL), err);
		if (err == 0) {
			assert_string_equal(by_id.name, row[i].name);
			assert_int_equal(by_name.id, row[i].id);
		} else { /* not on this machine: said with its name, and nothing written */
			assert_int_equal(err, -ENODEV);
			assert_non_null(strstr(d.text, row[i].name));
			assert_int_equal(by_id.id, 77);
		}
	}
}

static void names_are_found_in_any_case_and_numbers_as_text(void **state)
{
	struct pmc_source s;
	struct diag d;
	diag_clear(&d);
	assert_int_equal(pmc_find_name("pagefaults,x", 10, &s, NULL), 0);
	assert_string_equal(s.name, "PageFaults");
	assert_int_equal(pmc_find_name("0x100", 5, &s, NULL), 0);
	assert_string_equal(s.name, "ContextSwitches");
	assert_int_equal(pmc_find_name("Nonsense", 8, &s, &d), -ENOENT);
	assert_non_null(strstr(d.text, "Nonsense"));
	assert_int_equal(pmc_find(9999, &s, NULL), -ENOENT);
}

static void the_list_is_what_can_be_found(void **state)
{
	struct pmc_source all[PMC_SOURCES_MAX], one;
	size_t n = pmc_list(all, PMC_SOURCES_MAX);
	assert_true(n > 1 && n <= PMC_SOURCES_MAX);
	assert_int_equal(pmc_list(&one, 1), n);
	assert_int_equal(one.id, PMC_TIMER);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(pmc_find(all[i].id, &one, NULL), 0);
		assert_string_equal(one.name, all[i].name);
		assert_true(one.interval >= one.least && one.interval <= one.most);
		assert_true(i == 0 || all[i].id > all[i - 1].id);
	}
	assert_true(pmc_most() <= PMC_COUNTERS_MAX && pmc_most() > 0);
}

static void named_events_of_a_processor_are_taken_apart_by_its_format(void **state)
{
	/* As an Intel processor has them: terms in two pieces, without a value, to be filled in, unknown. */
	struct pmc_source s[16];
	put("cpu/type", "4");
	put("cpu/format/event", "config:0-7");
	put("cpu/format/umask", "config:8-15,40-47");
	put("cpu/format/edge", "config:18");
	put("cpu/format/ldlat", "config1:0-15");
	put("cpu/events/cpu-cycles", "event=0x3c");
	put("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3");
	put("cpu/events/mem-loads.unit", "x");
	put("cpu/events/split", "event=0xc0,umask=0x1a2,edge");
	put("cpu/events/open", "event=0x1,ldlat=?");
	put("cpu/events/strange", "event=0x1,nonsense=3");
	put("cpu/events/wide", "event=0x1ff");
	put("uncore_imc/type", "9");
	put("uncore_imc/format/event", "config:0-7");
	put("uncore_imc/events/reads", "event=1");
	put("cpu_atom/type", "10");
	put("cpu_atom/cpus", "8-15");
	put("cpu_atom/format/event", "config:0-7");
	put("cpu_atom/events/stalls", "event=0xa3");
	assert_int_equal(pmc_named_events(root, s, 16), 3);
	assert_string_equal(s[0].name, "mem-loads");
	assert_int_equal(s[0].type, 4);
	assert_int_equal(s[0].config[0], 0x1cd);
	assert_int_equal(s[0].config[1], 3);
	assert_string_equal(s[1].name, "split");
	assert_true(s[1].config[0] == ((uint64_t)1 << 40 | 1 << 18 | 0xa2 << 8 | 0xc0));
	assert_string_equal(s[2].name, "cpu_atom:stalls");
	assert_int_equal(s[2].type, 10);
	/* What cannot be used keeps its number, so that the others keep theirs. */
	assert_int_equal(s[0].id, 0x200);
	assert_int_equal(s[1].id, 0x202);
	assert_int_equal(s[2].id, 0x205);
	assert_int_equal(pmc_named_events(root, s, 1), 1);
	assert_int_equal(pmc_named_events("/nonexistent", s, 16), 0);
}

static void put_cpuinfo(const char *text)
{
	char path[100];
	snprintf(path, sizeof path, "%s/cpuinfo", root);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s", text);
	fclose(f);
}

static void a_processor_is_known_by_its_maker_family_model_and_stepping(void **state)
{
	char path[100];
	struct pmc_processor p;
	snprintf(path, sizeof path, "%s/cpuinfo", root);
	put_cpuinfo("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\n"
		    "model name\t: Intel 12\nstepping\t: 3\n\nprocessor\t: 1\nmodel\t\t: 7\n");
	assert_true(pmc_processor(path, &p));
	assert_string_equal(p.architecture, "INTEL");
	assert_int_equal(p.family, 6);
	assert_int_equal(p.model, 94);
	assert_int_equal(p.stepping, 3);
	put_cpuinfo("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\nCPU revision\t: 1\n");
	assert_true(pmc_processor(path, &p));
	assert_string_equal(p.architecture, "ARM");
	assert_int_equal(p.model, 0xd0c);
	assert_false(pmc_processor("/nonexistent", &p));
}

static void codes_make_a_number_that_says_them(void **state)
{
	const struct pmc_processor intel = {"INTEL", 6, 94, 3};
	struct pmc_definition def = {.name = "Stalls",
				     .architecture = "intel",
				     .family = 6,
				     .model = 94,
				     .stepping = -1,
				     .event = 0xA2,
				     .unit = 1,
				     .least = 4,
				     .invert = true};
	struct pmc_source s = {.id = 77}, again;
	struct diag d;
	diag_clear(&d);
	int err = pmc_define(&def, &intel, &s, &d);
	if (err == 0) { /* this machine gives its counters */
		assert_int_equal(s.id, 0xC04010A2);
		assert_int_equal(s.config[0], 0x048001A2);
		assert_int_equal(pmc_find(s.id, &again, NULL), 0);
		assert_int_equal(again.config[0], s.config[0]);
	} else {
		assert_int_equal(err, -ENODEV);
		assert_non_null(strstr(d.text, "Stalls"));
		assert_int_equal(s.id, 77);
	}
	assert_true(pmc_record_id(0xC04010A2) >= 0x8000);
	assert_int_not_equal(pmc_record_id(0xC04010A2), pmc_record_id(0xC04010A3));
	assert_int_equal(pmc_record_id(0x201), 0x201);
	def.model = 95;
	diag_clear(&d);
	assert_int_equal(pmc_define(&def, &intel, &s, &d), -ENODEV);
	assert_non_null(strstr(d.text, "intel family 6 model 95, and this one is INTEL family 6 model 94 stepping 3"));
	def.model = 94;
	def.event = 0x1000;
	assert_int_equal(pmc_define(&def, &intel, &s, &d), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_windows),
		cmocka_unit_test(names_are_found_in_any_case_and_numbers_as_text),
		cmocka_unit_test(the_list_is_what_can_be_found),
		cmocka_unit_test_setup_teardown(named_events_of_a_processor_are_taken_apart_by_its_format, make_root,
						drop_root),
		cmocka_unit_test_setup_teardown(a_processor_is_known_by_its_maker_family_model_and_stepping, make_root,
						drop_root),
		cmocka_unit_test(codes_make_a_number_that_says_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
