/* SPDX-License-Identifier: MIT
 * Filters by names against metadata written as the documentation of TraceLogging describes it.
 */
#include "filter/filter_named.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct guid provider = {{1, 2, 3}};

/* u16 size | tag | "Order" | fields */
static const uint8_t schema[] = "\x00\x00" /* size: nobody reads it here */
				"\x80\x01" /* two tag bytes */
				"Order\0"
				"Status\0\x08"    /* UINT32 */
				"Delta\0\x87\x11" /* INT32 with an out type */
				"Url\0\x01"       /* UTF-16, NUL */
				"Name\0\x17"      /* counted UTF-8 */
				"Bytes\0\x44"     /* UINT8[], u16 count */
				"Line\0\x98\x02"  /* struct of two members */
				"Price\0\x0A"
				"Unit\0\x02"
				"Lines\0\xD8\x01" /* struct array, u16 count, one member */
				"N\0\x06"
				"Three\0\x28\x03\x00"  /* UINT32[3] */
				"Rate\0\x0C"           /* DOUBLE */
				"Blob\0\x6E\x02\x00xy" /* custom */
				"Last\0\x0A";          /* UINT64 */

static size_t build(uint8_t *p, uint32_t status, int32_t delta, uint64_t last)
{
	uint8_t *at = p;
	le32_put(at, status);
	le32_put(at + 4, (uint32_t)delta);
	at += 8;
	memcpy(at, u"/shop", 12);
	at += 12;
	memcpy(at, "\x04\x00J\xC3\xB8n", 6);
	at += 6;
	memcpy(at,
	       "\x03\x00"
	       "abc",
	       5);
	at += 5;
	le64_put(at, 77);
	memcpy(at + 8, "EUR", 4);
	at += 12;
	memcpy(at,
	       "\x02\x00"
	       "\x07\x00\x08\x00",
	       6);
	at += 6;
	memset(at, 9, 12);
	at += 12;
	memset(at, 0, 8);
	at += 8;
	memcpy(at, "\x02\x00zz", 4);
	at += 4;
	le64_put(at, last);
	return (size_t)(at + 8 - p);
}

static bool passes(const char *event, bool any, const struct filter_named_condition *c, size_t n, uint32_t status,
		   int32_t delta)
{
	uint8_t blob[FILTER_BYTES_MAX], payload[256];
	size_t bytes = 0;
	struct diag d = {0};
	if (filter_named_add(blob, &bytes, &provider, event, any, c, n, &d) != 0) {
		fail_msg("%s", d.text);
	}
	size_t len = build(payload, status, delta, 1ull << 63);
	return filter_named_passes(blob, schema, sizeof schema - 1, payload, len);
}

static void every_operator_compares_as_the_fields_type_asks(void **state)
{
	(void)state;
	static const struct {
		struct filter_named_condition c;
		bool want;
	} rows[] = {
		{{"Status", "500", FILTER_EQ}, true},
		{{"Status", "0x1F4", FILTER_EQ}, true},
		{{"Status", "501", FILTER_EQ}, false},
		{{"Status", "500", FILTER_NE}, false},
		{{"Status", "-1", FILTER_GT}, false}, /* no unsigned value can be compared with it */
		{{"Status", "500", FILTER_GE}, true},
		{{"Status", "500", FILTER_LT}, false},
		{{"Status", "500", FILTER_LE}, true},
		{{"Status", "400,500", FILTER_BETWEEN}, true},
		{{"Status", "501,600", FILTER_BETWEEN}, false},
		{{"Status", "501,600", FILTER_NOTBETWEEN}, true},
		{{"Status", "100", FILTER_MODULO}, true},
		{{"Status", "7", FILTER_MODULO}, false},
		{{"Status", "many", FILTER_EQ}, false},
		{{"Status", "many", FILTER_NE}, true},
		{{"Delta", "-3", FILTER_EQ}, true},
		{{"Delta", "0", FILTER_LT}, true},
		{{"Delta", "-10,-1", FILTER_BETWEEN}, true},
		{{"Delta", "18446744073709551613", FILTER_EQ}, false},
		{{"Url", "/shop", FILTER_EQ}, true},
		{{"Url", "/Shop", FILTER_EQ}, false}, /* case counts */
		{{"Url", "hop", FILTER_CONTAINS}, true},
		{{"Url", "hip", FILTER_CONTAINS}, false},
		{{"Url", "hip", FILTER_DOESNTCONTAIN}, true},
		{{"Url", "/shop", FILTER_ISNOT}, false},
		{{"Url", "5", FILTER_GT}, false}, /* text has no order */
		{{"Name", "J\xC3\xB8n", FILTER_IS}, true},
		{{"Name", "n", FILTER_CONTAINS}, true},
		{{"Name", "", FILTER_CONTAINS}, true},
		{{"Last", "9223372036854775808", FILTER_EQ}, true}, /* behind everything else */
		{{"Last", "9223372036854775807", FILTER_GT}, true},
		{{"Rate", "0", FILTER_EQ}, false},   /* floating point is not compared */
		{{"Bytes", "97", FILTER_EQ}, false}, /* nor are arrays */
		{{"Price", "77", FILTER_EQ}, false}, /* nor members */
		{{"NoSuch", "1", FILTER_NE}, false}, /* what is not there does not hold */
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (passes("Order", false, &rows[i].c, 1, 500, -3) != rows[i].want) {
			fail_msg("%s op %u %s", rows[i].c.field, rows[i].c.op, rows[i].c.value);
		}
	}
}

static void conditions_join_and_other_events_pass(void **state)
{
	(void)state;
	static const struct filter_named_condition c[] = {{"Status", "500", FILTER_GE}, {"Delta", "0", FILTER_LT}};
	assert_true(passes("Order", false, c, 2, 500, -1));
	assert_false(passes("Order", false, c, 2, 500, 1));
	assert_true(passes("Order", true, c, 2, 500, 1));
	assert_true(passes("Order", true, c, 2, 1, -1));
	assert_false(passes("Order", true, c, 2, 1, 1));
	assert_true(passes("order", false, c, 2, 1, 1)); /* another event */
	/* Two filters of one event: one is enough. */
	uint8_t blob[FILTER_BYTES_MAX], payload[256];
	size_t bytes = 0, len = build(payload, 500, 1, 0);
	assert_int_equal(filter_named_add(blob, &bytes, &provider, "Order", false, &c[1], 1, NULL), 0);
	assert_false(filter_named_passes(blob, schema, sizeof schema - 1, payload, len));
	assert_int_equal(filter_named_add(blob, &bytes, &provider, "Order", false, &c[0], 1, NULL), 0);
	assert_true(filter_named_passes(blob, schema, sizeof schema - 1, payload, len));
	struct guid g;
	assert_int_equal(filter_named_check(blob, bytes, &g, NULL), 0);
	assert_true(guid_equal(&g, &provider));
}

static void nothing_that_is_cut_or_changed_does_harm(void **state)
{
	(void)state;
	static const struct filter_named_condition c[] = {{"Last", "1", FILTER_GE}, {"Name", "n", FILTER_CONTAINS}};
	uint8_t blob[FILTER_BYTES_MAX], payload[256];
	size_t bytes = 0, len = build(payload, 1, 1, 1);
	assert_int_equal(filter_named_add(blob, &bytes, &provider, "Order", false, c, 2, NULL), 0);
	for (size_t i = 0; i < bytes; i++) {
		struct diag d = {0};
		assert_int_equal(filter_named_check(blob, i, NULL, &d), -EINVAL);
		assert_true(d.text[0] != 0);
		uint8_t kept = blob[i];
		for (unsigned k = 1; k < 256; k += 50) {
			blob[i] = (uint8_t)(kept + k);
			if (filter_named_check(blob, bytes, NULL, NULL) == 0) {
				filter_named_passes(blob, schema, sizeof schema - 1, payload, len);
			}
		}
		blob[i] = kept;
	}
	for (size_t i = 0; i < len; i++) { /* a payload that ends early does not hold */
		assert_false(filter_named_passes(blob, schema, sizeof schema - 1, payload, i));
	}
	for (size_t i = 0; i < sizeof schema - 1; i++) {
		filter_named_passes(blob, schema, i, payload, len);
	}
}

static void mistakes_are_named(void **state)
{
	(void)state;
	static const struct filter_named_condition bad[] = {
		{"", "1", FILTER_EQ},       {"A", "x", FILTER_GT},
		{"A", "5", FILTER_BETWEEN}, {"A", "5,x", FILTER_NOTBETWEEN},
		{"A", "0", FILTER_MODULO},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		uint8_t blob[FILTER_BYTES_MAX];
		size_t bytes = 0;
		struct diag d = {0};
		assert_int_equal(filter_named_add(blob, &bytes, &provider, "E", false, &bad[i], 1, &d), -EINVAL);
		assert_true(d.text[0] != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operator_compares_as_the_fields_type_asks),
		cmocka_unit_test(conditions_join_and_other_events_pass),
		cmocka_unit_test(nothing_that_is_cut_or_changed_does_harm),
		cmocka_unit_test(mistakes_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
