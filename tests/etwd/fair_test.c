/* SPDX-License-Identifier: MIT
 * Processes of one session: what a flood costs is the flood's.
 */
#include "raw_client.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#define QUIET 200u

static const struct guid prov_a = {{0xA4, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid prov_b = {{0xB4, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static struct daemon daemon_;

static int setup(void **state)
{
	daemon_start(&daemon_);
	return 0;
}

static int teardown(void **state)
{
	daemon_stop(&daemon_);
	return 0;
}

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static pid_t flood(void)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		static struct reply r;
		struct provider p;
		int code;
		static const uint8_t payload[200];
		provider_attach(&daemon_, &p);
		const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
		for (uint32_t i = 0;; i++) {
			(void)provider_write(&p, e, &(struct raw_event){.payload = payload, .payload_bytes = 200}, 0);
			if (i % 10000 == 0) {
				(void)provider_poll(&p, &r, 0);
			}
		}
	}
	return pid;
}

static uint32_t count_of(const char *path, const struct guid *g)
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	static uint8_t mem[1u << 20];
	size_t had = 0, n;
	uint32_t count = 0;
	while ((n = fread(mem + had, 1, sizeof mem - had, f)) > 0) {
		n += had;
		uint8_t *at = mem;
		while ((at = memmem(at, n - (size_t)(at - mem), g->b, 16)) != NULL) {
			count++;
			at += 16;
		}
		had = BASE_MIN(n, (size_t)15);
		memmove(mem, mem + n - had, had);
	}
	fclose(f);
	return count;
}

/* On one stream of buffers, and on one of each processor; few and small buffers. */
static void a_quiet_process_loses_nothing_beside_a_flood(void **state)
{
	for (int turn = 0; turn < 2; turn++) {
		char file[200];
		uint64_t id;
		int code, fd = control_connect(&daemon_);
		struct provider quiet;
		struct proto_session got;
		snprintf(file, sizeof file, "%s/fair%d.etl", daemon_.dir, turn);
		struct session_args args = {
			.name = "fair", .file = file, .mode = turn ? 0x10000001 : 1, .buffer_kb = 4, .buffers = 16};
		assert_int_equal(session_start(fd, &args, &id), 0);
		struct enable_request en = {.id = id, .provider = &prov_a, .code = 1};
		assert_int_equal(session_enable(fd, &en), 0);
		en.provider = &prov_b;
		assert_int_equal(session_enable(fd, &en), 0);
		provider_attach(&daemon_, &quiet);
		const struct ctl_entry *e = provider_register(&quiet, 0, &prov_b, 0, NULL, 0, &code);
		pid_t pid = flood();
		pause_ms(300);
		for (uint32_t i = 0; i < QUIET; i++) {
			assert_int_equal(provider_write(&quiet, e, &(struct raw_event){.id = (uint16_t)i}, 0), 0);
			pause_ms(10);
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(session_control(fd, id, 1, &got), 0);
		uint32_t there = count_of(file, &prov_b);
		print_message("%llu recorded, %llu lost for want of a buffer, %u of the quiet one's\n",
			      (unsigned long long)got.events, (unsigned long long)got.loss[PROTO_LOSS_NO_BUFFER],
			      QUIET - there);
		assert_true(got.loss[PROTO_LOSS_NO_BUFFER] > 0);
		assert_int_equal(there, QUIET);
		provider_detach(&quiet);
		close(fd);
		assert_int_equal(remove(file), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_process_loses_nothing_beside_a_flood),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
