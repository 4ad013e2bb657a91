/* SPDX-License-Identifier: MIT
 * One rule for what a provider's name means.
 */
#include "base/provider_guid.h"

#include <strings.h>
#include <setjmp.h>
#include <cmocka.h>

#define MANIFEST "11111111-2222-3333-4444-555555555555"
#define OTHER    "99999999-2222-3333-4444-555555555555"

static bool installed(const char *name, struct guid *ret)
{
	return strcasecmp(name, "Test-Installed") == 0 && guid_parse(MANIFEST, ret) == 0;
}

static const char *guid_of(const char *text, provider_installed f)
{
	static char out[37];
	struct guid g = {{0xEE}};
	if (provider_guid(text, f, &g) < 0) {
		assert_int_equal(g.b[0], 0xEE); /* untouched */
		return "none";
	}
	return guid_format(&g, out);
}

static const char *computed(const char *name)
{
	static char out[37];
	struct guid g;
	assert_int_equal(guid_from_provider_name(name, &g), 0);
	return guid_format(&g, out);
}

static void a_guid_is_itself_in_each_spelling(void **state)
{
	assert_string_equal(guid_of(OTHER, installed), OTHER);
	assert_string_equal(guid_of("{" OTHER "}", installed), OTHER);
	assert_string_equal(guid_of("#" OTHER, installed), OTHER);
	assert_string_equal(guid_of("#{" OTHER "}", installed), OTHER);
}

static void an_installed_manifest_goes_before_the_computed_guid(void **state)
{
	assert_string_equal(guid_of("Test-Installed", installed), MANIFEST);
	assert_string_equal(guid_of("test-INSTALLED", installed), MANIFEST);
	assert_string_equal(guid_of("Test-Installed", NULL), computed("Test-Installed"));
	assert_string_equal(guid_of("Test-Other", installed), computed("Test-Other"));
}

static void a_star_asks_for_the_computed_guid(void **state)
{
	assert_string_equal(guid_of("*Test-Installed", installed), computed("Test-Installed"));
}

static void what_is_neither_name_nor_guid_is_refused(void **state)
{
	static const char *const wrong[] = {"", "*", "#", "#Test-Installed", ("{" OTHER), "a{b", "a}b", "\xff\xfe"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		assert_string_equal(guid_of(wrong[i], installed), "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guid_is_itself_in_each_spelling),
		cmocka_unit_test(an_installed_manifest_goes_before_the_computed_guid),
		cmocka_unit_test(a_star_asks_for_the_computed_guid),
		cmocka_unit_test(what_is_neither_name_nor_guid_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
