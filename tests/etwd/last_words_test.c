/* SPDX-License-Identifier: MIT
 * What a process said before it ended counts, also when etwd comes to it late. OPENETW_ETWD names the
 * program. etwd is stopped while the process ends, so that it finds message and end at once.
 */
#include "raw_client.h"

#include "etw/values/session_modes.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODE_PRIVATE_FILE (EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL)

static const struct guid first_guid = {{0xC1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid second_guid = {{0xC2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid third_guid = {{0xC3, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static struct daemon daemon_;
static struct reply reply;

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

static void send_plain(int fd, uint16_t type, uint32_t id)
{
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, type, id);
	proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, 0);
	assert_int_equal(proto_send(fd, mem, (size_t)proto_end(&w), NULL, 0), 0);
}

static void send_done(int fd, uint32_t notify, uint64_t session, uint64_t events)
{
	uint8_t mem[1024];
	struct proto_session s = {.events = events};
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_PRIVATE_DONE, 0);
	proto_put_u32(&w, PROTO_TAG_NOTIFY_ID, notify);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, session);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_session(&w, &s);
	assert_int_equal(proto_send(fd, mem, (size_t)proto_end(&w), NULL, 0), 0);
}

/* A private session of that provider, hosted by the process at p. */
static uint64_t host_session(int control, struct provider *p, const struct guid *guid, const char *name)
{
	static struct reply asked;
	uint8_t mem[4096];
	uint16_t name16[64], file[256];
	char path[200];
	uint32_t op = 0, notify = 0;
	uint64_t id = 0;
	struct proto_writer w;
	snprintf(path, sizeof path, "%s/%s.etl", daemon_.dir, name);
	struct proto_session s = {.props.mode = MODE_PRIVATE_FILE, .props.guid = *guid};
	s.name_len = (uint32_t)utf8_to_utf16(name, strlen(name), name16, BASE_ARRAY_LEN(name16));
	s.name = name16;
	s.log_file_len = (uint32_t)utf8_to_utf16(path, strlen(path), file, BASE_ARRAY_LEN(file));
	s.log_file = file;
	proto_begin(&w, mem, sizeof mem, PROTO_START, 7);
	proto_put_session(&w, &s);
	assert_int_equal(proto_send(control, mem, (size_t)proto_end(&w), NULL, 0), 0);
	assert_true(provider_poll(p, &asked, 10000));
	assert_int_equal(asked.m.type, PROTO_PRIVATE);
	assert_true(proto_get_u32(&asked.m, PROTO_TAG_CONTROL_CODE, &op));
	assert_int_equal(op, PROTO_PRIVATE_START);
	assert_true(proto_get_u32(&asked.m, PROTO_TAG_NOTIFY_ID, &notify));
	assert_true(proto_get_u64(&asked.m, PROTO_TAG_SESSION_ID, &id));
	send_done(p->fd, notify, id, 0);
	assert_true(receive(control, &reply, 10000));
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_STATUS, &reply.status));
	assert_int_equal(reply.status, 0);
	return id;
}

/* Within 20 seconds: others may be served before that process is. */
static void expect_events(int control, uint64_t id, uint64_t wanted)
{
	struct proto_session s = {0};
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(session_control(control, id, 0, &s), 0);
		if (s.events == wanted) {
			return;
		}
		usleep(20000);
	}
	fail_msg("%llu events, not %llu", (unsigned long long)s.events, (unsigned long long)wanted);
}

static void wait_unread(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 10000), 1);
}

/* A socket that is closed with unread messages resets its peer: the peer's next read says so, before it
 * gives what the process sent. */
static void the_last_word_of_a_process_that_did_not_read_everything_counts(void **state)
{
	int control = control_connect(&daemon_), code;
	struct provider p;
	provider_attach(&daemon_, &p);
	provider_register(&p, 0, &first_guid, 0, NULL, 0, &code);
	uint64_t id = host_session(control, &p, &first_guid, "unread");
	send_plain(p.fd, PROTO_UNREGISTER, 1);
	wait_unread(p.fd);
	kill(daemon_.pid, SIGSTOP);
	send_done(p.fd, 0, id, 1000);
	provider_detach(&p);
	kill(daemon_.pid, SIGCONT);
	expect_events(control, id, 1000);
	assert_int_equal(session_control(control, id, 1, NULL), 0);
	close(control);
}

/* etwd answers what it reads first, and finds that nobody takes the answer. */
static void the_last_word_counts_though_nobody_takes_the_answer_before_it(void **state)
{
	int control = control_connect(&daemon_), code;
	struct provider p;
	provider_attach(&daemon_, &p);
	provider_register(&p, 0, &third_guid, 0, NULL, 0, &code);
	uint64_t id = host_session(control, &p, &third_guid, "untaken");
	kill(daemon_.pid, SIGSTOP);
	send_plain(p.fd, PROTO_UNREGISTER, 1);
	send_done(p.fd, 0, id, 3000);
	provider_detach(&p);
	kill(daemon_.pid, SIGCONT);
	expect_events(control, id, 3000);
	assert_int_equal(session_control(control, id, 1, NULL), 0);
	close(control);
}

/* The kernel tells of the end of a process and of its messages separately. */
static void the_last_word_counts_though_the_end_of_the_process_is_seen_first(void **state)
{
	int control = control_connect(&daemon_), code, told[2], status = -1;
	assert_int_equal(pipe(told), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct provider p;
		int own = control_connect(&daemon_);
		provider_attach(&daemon_, &p);
		provider_register(&p, 0, &second_guid, 0, NULL, 0, &code);
		uint64_t id = host_session(own, &p, &second_guid, "many");
		kill(daemon_.pid, SIGSTOP);
		for (uint32_t i = 0; i < 40; i++) { /* more than etwd reads in a turn */
			send_plain(p.fd, PROTO_NOTIFIED, 0);
		}
		send_done(p.fd, 0, id, 2000);
		assert_int_equal(write(told[1], &id, sizeof id), sizeof id);
		_exit(0);
	}
	uint64_t id = 0;
	assert_int_equal(read(told[0], &id, sizeof id), sizeof id);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	kill(daemon_.pid, SIGCONT);
	expect_events(control, id, 2000);
	assert_int_equal(session_control(control, id, 1, NULL), 0);
	close(told[0]);
	close(told[1]);
	close(control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_word_of_a_process_that_did_not_read_everything_counts),
		cmocka_unit_test(the_last_word_counts_though_nobody_takes_the_answer_before_it),
		cmocka_unit_test(the_last_word_counts_though_the_end_of_the_process_is_seen_first),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
