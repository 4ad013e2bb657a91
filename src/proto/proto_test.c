/* SPDX-License-Identifier: MIT */
#include "proto/proto.h"
#include "proto/proto_wait.h"

#include "base/runtime_dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <cmocka.h>

static void message_bytes_are_as_documented(void **state)
{
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_HELLO, 7);
	proto_put_u32(&w, PROTO_TAG_VERSION, 0x01020304);
	proto_put_str(&w, PROTO_TAG_EXE_NAME, "ab");
	static const uint8_t want[] = {
		36, 0, 0, 0, 1, 0, 0, 0, 7,   0,   0, 0, /* length, type, flags, id */
		3,  0, 0, 0, 4, 0, 0, 0, 4,   3,   2, 1, /* tag, flags, length, value */
		4,  0, 0, 0, 2, 0, 0, 0, 'a', 'b', 0, 0, /* padded to 4 */
	};
	assert_int_equal(proto_end(&w), sizeof want);
	assert_memory_equal(mem, want, sizeof want);
}

static void malformed_messages_are_refused(void **state)
{
	static const struct {
		const char *why;
		uint8_t bytes[32];
		size_t n;
		int want;
	} cases[] = {
		{"short header", {4, 0, 0, 0}, 4, -EBADMSG},
		{"length says more", {13, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, 12, -EBADMSG},
		{"tlv header cut", {16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0}, 16, -EBADMSG},
		{"tlv longer than message",
		 {24, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0},
		 24,
		 -EBADMSG},
		{"tlv length wraps",
		 {24, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0},
		 24,
		 -EBADMSG},
		{"unknown critical tag",
		 {20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 200, 0, 1, 0, 0, 0, 0, 0},
		 20,
		 -EOPNOTSUPP},
		{"unknown tag is skipped", {20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0}, 20, 0},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct proto_message m;
		int got = proto_parse(cases[i].bytes, cases[i].n, &m);
		if (got != cases[i].want) {
			fail_msg("%s: got %d, want %d", cases[i].why, got, cases[i].want);
		}
	}
}

static void session_survives_the_trip(void **state)
{
	static const uint16_t name[] = {'S', 0x00e9, 'n'};
	static const uint16_t file[] = {'/', 't'};
	struct proto_session in = {
		.id = 0x1122334455667788,
		.props.guid = {{1, 2, 3}},
		.props.buffer_kb = 64,
		.props.mode = 0x100,
		.latency_us = 77,
		.owner_uid = 1000,
		.loss = {[PROTO_LOSS_TORN] = 5},
		.name = name,
		.name_len = 3,
		.log_file = file,
		.log_file_len = 2,
	};
	uint8_t mem[1024] __attribute__((aligned(8)));
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_START, 1);
	proto_put_session(&w, &in);
	long n = proto_end(&w);
	assert_true(n > 0);
	struct proto_message m;
	assert_int_equal(proto_parse(mem, (size_t)n, &m), 0);
	struct proto_session out;
	assert_true(proto_get_session(&m, &out));
	assert_int_equal(out.id, in.id);
	assert_int_equal(out.latency_us, 77);
	assert_int_equal(out.owner_uid, 1000);
	assert_int_equal(out.loss[PROTO_LOSS_TORN], 5);
	assert_int_equal(out.name_len, 3);
	assert_memory_equal(out.name, name, sizeof name);
	assert_memory_equal(out.log_file, file, sizeof file);
}

static void a_name_with_an_embedded_nul_is_refused(void **state)
{
	static const uint16_t name[] = {'a', 0, 'b'};
	struct proto_session in = {.name = name, .name_len = 3};
	uint8_t mem[1024] __attribute__((aligned(8)));
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_START, 1);
	proto_put_session(&w, &in);
	struct proto_message m;
	assert_int_equal(proto_parse(mem, (size_t)proto_end(&w), &m), 0);
	struct proto_session out;
	assert_false(proto_get_session(&m, &out));
}

static void an_empty_name_is_none(void **state)
{
	struct proto_session in = {.id = 7};
	uint8_t mem[1024] __attribute__((aligned(8)));
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_START, 1);
	proto_put_session(&w, &in);
	proto_put(&w, PROTO_TAG_LOG_FILE, "", 0);
	struct proto_message m;
	assert_int_equal(proto_parse(mem, (size_t)proto_end(&w), &m), 0);
	struct proto_session out;
	assert_true(proto_get_session(&m, &out));
	assert_null(out.log_file);
	assert_int_equal(out.log_file_len, 0);
}

static int open_fds(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++) {
		n += fcntl(fd, F_GETFD) >= 0;
	}
	return n;
}

static void unexpected_fds_are_closed_and_the_message_refused(void **state)
{
	int sv[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), 0);
	int before = open_fds();
	uint8_t mem[16] = {0};
	int fds[3] = {0, 0, 0};
	assert_int_equal(proto_send(sv[0], mem, 12, fds, 3), 0);
	int got[1], room = 1;
	assert_int_equal(proto_recv(sv[1], mem, sizeof mem, got, &room, 1000), -EBADMSG);
	assert_int_equal(room, 0);
	assert_int_equal(open_fds(), before);
	/* an oversized message is refused as well */
	uint8_t big[64] = {0};
	assert_int_equal(proto_send(sv[0], big, sizeof big, NULL, 0), 0);
	assert_int_equal(proto_recv(sv[1], mem, sizeof mem, NULL, NULL, 1000), -EBADMSG);
	close(sv[0]);
	close(sv[1]);
}

/* Whoever closes such a connection closes the descriptors in it, too, which may take long. */
static void what_nobody_read_is_seen_when_a_connection_ends(void **state)
{
	for (int i = 0; i < 8; i++) {
		bool sent = i & 1, answered = i & 2, gone = i & 4;
		int s[2];
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
		assert_true(!sent || send(s[1], "x", 1, 0) == 1);
		assert_true(!answered || send(s[0], "y", 1, 0) == 1);
		if (gone) {
			close(s[1]); /* with an answer that it did not read: a reset, which is told first */
		}
		assert_int_equal(proto_end_unread(s[0]), sent);
		close(s[0]);
		if (!gone) {
			close(s[1]);
		}
	}
}

static void a_runtime_dir_others_can_write_is_refused(void **state)
{
	char dir[] = "/tmp/openetw-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	setenv("OPENETW_RUNTIME_DIR", dir, 1);
	char out[512];
	assert_int_equal(runtime_dir(false, false, out, sizeof out), 0);
	assert_string_equal(out, dir);
	chmod(dir, 0777);
	assert_int_equal(runtime_dir(false, false, out, sizeof out), -EPERM);
	char link[64];
	snprintf(link, sizeof link, "%s-link", dir);
	chmod(dir, 0700);
	assert_int_equal(symlink(dir, link), 0);
	setenv("OPENETW_RUNTIME_DIR", link, 1);
	assert_int_equal(runtime_dir(false, false, out, sizeof out), -ENOTDIR);
	unlink(link);
	rmdir(dir);
	unsetenv("OPENETW_RUNTIME_DIR");
}

/* A wrong "no" would cost first events; a wrong "yes" costs a little waiting. */
static void the_wait_page_never_denies_a_guid_that_is_wanted(void **state)
{
	static struct proto_wait_page p = {.magic = PROTO_WAIT_MAGIC};
	struct guid g = {{0}};
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < 400; i++) {
		le32_put(g.b, i * 2654435761u);
		g.b[15] = (uint8_t)i;
		assert_false(i == 0 && proto_wait_wants(&p, &g));
		proto_wait_want(&p, &g);
	}
	for (uint32_t i = 0; i < 400; i++) {
		le32_put(g.b, i * 2654435761u);
		g.b[15] = (uint8_t)i;
		assert_true(proto_wait_wants(&p, &g));
	}
	for (uint32_t i = 0; i < 4000; i++) {
		le32_put(g.b + 4, i + 1);
		wrong += proto_wait_wants(&p, &g);
	}
	assert_true(wrong < 40);
	/* Nothing known: somebody may want it. */
	p.magic = 0;
	assert_true(proto_wait_wants(&p, &g));
	assert_true(proto_wait_wants(NULL, &g));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(message_bytes_are_as_documented),
		cmocka_unit_test(malformed_messages_are_refused),
		cmocka_unit_test(session_survives_the_trip),
		cmocka_unit_test(a_name_with_an_embedded_nul_is_refused),
		cmocka_unit_test(an_empty_name_is_none),
		cmocka_unit_test(unexpected_fds_are_closed_and_the_message_refused),
		cmocka_unit_test(what_nobody_read_is_seen_when_a_connection_ends),
		cmocka_unit_test(a_runtime_dir_others_can_write_is_refused),
		cmocka_unit_test(the_wait_page_never_denies_a_guid_that_is_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
