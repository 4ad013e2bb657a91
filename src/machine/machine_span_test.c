/* SPDX-License-Identifier: MIT
 *
 * For how long an address means the same: modules and code that come and go at random.
 */
#include "machine/machine.h"

#include "format/etl_layout.h"

#include "kernel_payload.h"

#include "etw/values/guids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define TIMES 300u

static const uint32_t pids[] = {0, 4, 7, 9, 11, MACHINE_NO_ID};

static uint32_t below(uint32_t n)
{
	static uint64_t state = 88172645463325252ull;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) * n >> 32);
}

static uint32_t put_text(uint8_t *p, const char *text)
{
	uint32_t n = 0;
	do {
		le16_put(p + n, (uint8_t)*text);
		n += 2;
	} while (*text++);
	return n;
}

/* A module is loaded, unloaded, or told of by a rundown. */
static void image(struct machine *s, uint64_t time, uint32_t pid)
{
	static const struct guid class = GUID_INIT(ETW_GUID_CLASS_IMAGE);
	static const uint8_t opcodes[] = {2, 3, 4, 10};
	uint8_t payload[128] = {0};
	char path[32];
	snprintf(path, sizeof path, "C:\\m%u.dll", below(50));
	le64_put(payload, 0x1000 * (1 + below(6)));
	le64_put(payload + 8, 0x1000 * (1 + below(3)));
	le32_put(payload + 16, pid);
	struct etl_record r = {.type = ETL_RT_FULL64,
			       .pointer_size = 8,
			       .version = 1,
			       .opcode = opcodes[below(4)],
			       .provider = class,
			       .pid = pid,
			       .time_filetime = time,
			       .payload = payload,
			       .payload_bytes = 20 + put_text(payload + 20, path)};
	machine_add(s, &r);
}

/* A method is compiled, or told of by a rundown. */
static void method(struct machine *s, uint64_t time, uint32_t pid)
{
	static const struct guid runtime = GUID_INIT(KP_DOT_NETRUNTIME_GUID);
	static const struct guid rundown = GUID_INIT(KP_DOT_NETRUNTIME_RUNDOWN_GUID);
	bool loaded = below(3) > 0;
	uint8_t payload[128] = {0};
	char name[32];
	uint32_t n = 36;
	snprintf(name, sizeof name, "M%u", below(50));
	le64_put(payload + 16, 0x1000 * (1 + below(8)) + 0x100 * below(4));
	le32_put(payload + 24, 0x100 * (1 + below(12)));
	n += put_text(payload + n, "Space");
	n += put_text(payload + n, name);
	n += put_text(payload + n, "void ()");
	struct etl_record r = {.type = ETL_RT_EVENT64,
			       .pointer_size = 8,
			       .id = loaded ? KP_DOT_NETRUNTIME_METHOD_LOAD_VERBOSE
					    : KP_DOT_NETRUNTIME_RUNDOWN_METHOD_DCEND_VERBOSE,
			       .provider = loaded ? runtime : rundown,
			       .pid = pid,
			       .time_filetime = time,
			       .payload = payload,
			       .payload_bytes = n};
	machine_add(s, &r);
}

static struct machine *make(void)
{
	struct machine *s = machine_create(0);
	assert_non_null(s);
	for (uint64_t time = 1; time < TIMES; time += below(3)) {
		uint32_t pid = pids[below(4)]; /* of two processes nothing is told */
		if (below(2)) {
			image(s, time, pid);
		} else {
			method(s, time, pid);
		}
	}
	return s;
}

static void an_address_means_the_same_while_its_span_says_so(void **state)
{
	uint64_t start, known = 0, changed = 0;
	for (int round = 0; round < 4; round++) {
		struct machine *s = make();
		for (int i = 0; i < 400; i++) {
			uint32_t pid = pids[below(BASE_ARRAY_LEN(pids))];
			uint64_t address = 0x1000 + below(0x9000), time = below(TIMES + 9), from, to;
			const struct machine_image *was = machine_image_at(s, pid, address, time);
			const char *code = machine_code_at(s, pid, address, time, &start);
			machine_address_span(s, pid, address, time, &from, &to);
			assert_in_range(time, from, to);
			for (uint64_t t = from; t <= to && t < TIMES + 20; t++) {
				assert_ptr_equal(machine_image_at(s, pid, address, t), was);
				assert_ptr_equal(machine_code_at(s, pid, address, t, &start), code);
			}
			known += was && code;
			changed += from > 0 || to < UINT64_MAX;
		}
		machine_destroy(s);
	}
	assert_true(known > 50 && changed > 200);
}

static void processes_without_modules_are_alike(void **state)
{
	struct machine *s = make();
	assert_true(machine_knows_addresses(s, 0) && machine_knows_addresses(s, 9));
	assert_false(machine_knows_addresses(s, 11) || machine_knows_addresses(s, MACHINE_NO_ID));
	for (int i = 0; i < 2000; i++) {
		uint64_t address = 0x1000 + below(0x9000), time = below(TIMES + 9);
		assert_ptr_equal(machine_image_at(s, 11, address, time),
				 machine_image_at(s, MACHINE_NO_ID, address, time));
	}
	machine_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_means_the_same_while_its_span_says_so),
		cmocka_unit_test(processes_without_modules_are_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
