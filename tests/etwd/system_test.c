/* SPDX-License-Identifier: MIT
 * The instance for all users: who may do what in it. Needs to be root, to be somebody else too.
 */
#include "raw_client.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#define SOMEBODY 65534u

static const struct guid prov_a = {{0xA3, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static struct daemon daemon_;
static struct reply reply;
static int told[2], go[2];

static int setup(void **state)
{
	if (geteuid() != 0) {
		return 0;
	}
	daemon_start_with(&daemon_, "--system");
	/* mkdtemp makes it private; /run/openetw is 0755 */
	return chmod(daemon_.dir, 0755);
}

static int teardown(void **state)
{
	if (geteuid() == 0) {
		daemon_stop(&daemon_);
	}
	return 0;
}

static void skip_unless_root(void)
{
	if (geteuid() != 0) {
		print_message("needs root\n");
		skip();
	}
}

/* A child ends with us, also when an assertion of ours fails while it waits: then nobody goes on with it. */
static void end_with_parent(void)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
		_exit(3);
	}
}

static void become(uid_t uid)
{
	gid_t none = SOMEBODY;
	if (setgroups(1, &none) < 0 || setgid(SOMEBODY) < 0 || setuid(uid) < 0) {
		_exit(3);
	}
	end_with_parent(); /* other rights undo it */
}

/* Runs as another user in a child; its failures are the test's. */
static void as_user(uid_t uid, void (*body)(void))
{
	int status = -1;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		become(uid);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void as_somebody(void (*body)(void))
{
	as_user(SOMEBODY, body);
}

#define must(x)                                                                 \
	do {                                                                    \
		if (!(x)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			_exit(1);                                               \
		}                                                               \
	} while (0)

static void try_to_control(void)
{
	must(proto_connect(daemon_.dir, "control") == -EACCES);
}

static void only_the_group_of_the_socket_controls(void **state)
{
	struct stat st;
	char path[200];
	skip_unless_root();
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	snprintf(path, sizeof path, "%s/provider", daemon_.dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	as_somebody(try_to_control);
}

static void write_one_event(void)
{
	struct provider p;
	int code;
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	must(code == 1);
	must(provider_write(&p, e, &(struct raw_event){.id = 7}, 0) == 0);
	provider_detach(&p);
}

static void roots_session_gets_anybodys_events_under_his_name(void **state)
{
	char file[200];
	uint64_t id;
	skip_unless_root();
	int fd = control_connect(&daemon_);
	snprintf(file, sizeof file, "%s/all.etl", daemon_.dir);
	assert_int_equal(session_start(fd, &(struct session_args){.name = "all", .file = file, .mode = 1}, &id), 0);
	struct enable_request en = {.id = id, .provider = &prov_a, .code = 1, .properties = 1 /* SID */};
	assert_int_equal(session_enable(fd, &en), 0);
	as_somebody(write_one_event);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	struct etl_bytes f;
	etl_load(file, &f);
	assert_int_equal(f.count, 1);
	assert_int_equal(le16_get(f.record[0] + 0x52), 2);
	assert_int_equal(le32_get(f.record[0] + 0x58 + 12), SOMEBODY); /* S-1-22-1-uid */
	etl_free(&f);
	close(fd);
}

/* The control socket opened to all, as an administrator might: what a user may do then. */
static void do_what_a_user_may(void)
{
	struct provider p;
	int code, fd = control_connect(&daemon_);
	uint64_t id, other;
	uint8_t mem[256];
	struct proto_writer w;
	uint32_t count = 77;
	/* The user's own real-time session; no files with the daemon's rights. */
	must(session_start(fd, &(struct session_args){.name = "mine", .mode = 0x100}, &id) == 0);
	must(session_start(fd, &(struct session_args){.name = "file", .file = "/tmp/openetw-evil.etl", .mode = 1},
			   &other) == 5);
	/* The user may take the name, although root has a session of that name. */
	must(session_start(fd, &(struct session_args){.name = "roots", .mode = 0x100}, &other) == 0);
	must(session_control(fd, other, 1, NULL) == 0);
	/* Root's session is not there for them: id 1. */
	for (uint64_t i = 1; i <= 8; i++) {
		struct proto_session s;
		if (session_control(fd, i, 0, &s) == 0) {
			must(s.owner_uid == SOMEBODY);
		}
	}
	proto_begin(&w, mem, sizeof mem, PROTO_LIST, 3);
	call(fd, &w, &reply);
	must(proto_get_u32(&reply.m, PROTO_TAG_COUNT, &count) && count == 1);
	must(receive(fd, &reply, 5000));
	/* Their enable does not reach root's process, which has the provider registered. */
	struct enable_request en = {.id = id, .provider = &prov_a, .code = 1};
	must(session_enable(fd, &en) == 0);
	proto_begin(&w, mem, sizeof mem, PROTO_PROCESSES, 4);
	call(fd, &w, &reply);
	must(proto_get_u32(&reply.m, PROTO_TAG_COUNT, &count) && count == 0);
	/* It reaches their own process. */
	provider_attach(&daemon_, &p);
	provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	must(code == 1);
	provider_detach(&p);
	/* What belongs to the owner: rights, the end. */
	proto_begin(&w, mem, sizeof mem, PROTO_SHUTDOWN, 5);
	call(fd, &w, &reply);
	must(reply.status == 5);
	proto_begin(&w, mem, sizeof mem, PROTO_ACCESS_SET, 6);
	proto_put(&w, PROTO_TAG_GUID, prov_a.b, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, 16);
	call(fd, &w, &reply);
	must(reply.status == 5);
	must(session_control(fd, id, 1, NULL) == 0);
}

static void start_sessions_until_refused(void)
{
	char name[32];
	uint64_t id;
	uint32_t code = 0, n = 0;
	int fd = control_connect(&daemon_);
	for (; code == 0 && n < 1100; n++) {
		snprintf(name, sizeof name, "users%u", n);
		/* with 128 buffers of 4 KB, then of as much as there is */
		code = session_start(fd, &(struct session_args){.name = name, .mode = 0x10000100, .buffer_kb = 4}, &id);
	}
	must(code == 1450);
	must(n == 128 + 1);
	for (uint32_t i = 1; i < 128; i++) {
		must(session_control(fd, id - i, 1, NULL) == 0);
	}
	code = 0;
	for (n = 0; code == 0 && n < 1100; n++) {
		snprintf(name, sizeof name, "large%u", n);
		code = session_start(fd, &(struct session_args){.name = name, .mode = 0x10000100, .buffer_kb = 1024},
				     &id);
	}
	must(code == 1450);
	must(n > 2 && n < 100);
	char byte = 'x';
	must(write(told[1], &byte, 1) == 1);
	must(read(go[0], &byte, 1) == 1);
	close(fd);
}

/* All limits of the instance for all users are not one user's to use up. */
static void a_user_cannot_take_all_sessions_or_all_memory_for_them(void **state)
{
	char path[200], byte;
	uint64_t id;
	int status;
	skip_unless_root();
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(go), 0);
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(chmod(path, 0666), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		become(SOMEBODY);
		start_sessions_until_refused();
		_exit(0);
	}
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	int fd = control_connect(&daemon_);
	assert_int_equal(
		session_start(fd, &(struct session_args){.name = "roots", .mode = 0x100, .buffer_kb = 1024}, &id), 0);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	close(told[0]);
	close(go[0]);
	close(go[1]);
	assert_int_equal(chmod(path, 0660), 0);
}

static void a_user_sees_and_reaches_only_what_is_his(void **state)
{
	char path[200];
	struct provider p;
	int code;
	uint64_t id;
	skip_unless_root();
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(chmod(path, 0666), 0);
	int fd = control_connect(&daemon_);
	assert_int_equal(session_start(fd, &(struct session_args){.name = "roots", .mode = 0x100}, &id), 0);
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	as_somebody(do_what_a_user_may);
	assert_int_equal(e->enabled, 0);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	provider_detach(&p);
	close(fd);
	assert_int_equal(chmod(path, 0660), 0);
}

/* ---- the sessions of one provider ------------------------------------------------------------- */

#define SLOTS 64u

static uint32_t enable_one_more(int fd, const char *name, uint64_t *ret_id)
{
	uint64_t id;
	struct session_args args = {.name = name, .mode = 0x10000100, .buffer_kb = 4};
	must(session_start(fd, &args, &id) == 0);
	*ret_id = id;
	return session_enable(fd, &(struct enable_request){.id = id, .provider = &prov_a, .code = 1});
}

static void stop_all(int fd, const uint64_t *id, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		must(session_control(fd, id[i], 1, NULL) == 0);
	}
}

static void have_one_session_with_it(void)
{
	int fd = control_connect(&daemon_);
	uint64_t id;
	must(enable_one_more(fd, "one", &id) == 0);
	stop_all(fd, &id, 1);
	close(fd);
}

static void have_all_sessions_with_it(void)
{
	char name[32], byte = 'x';
	static uint64_t id[SLOTS + 1];
	struct provider p;
	int code, fd = control_connect(&daemon_);
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	for (uint32_t i = 0; i <= SLOTS; i++) {
		snprintf(name, sizeof name, "slots%u", i);
		must(enable_one_more(fd, name, &id[i]) == (i < SLOTS ? 0 : 1450));
	}
	must(write(told[1], &byte, 1) == 1);
	must(read(go[0], &byte, 1) == 1);
	for (int i = 0; i < 5; i++) {
		must(provider_write(&p, e, &(struct raw_event){.id = 7}, 0) == 0);
	}
	must(write(told[1], &byte, 1) == 1);
	must(read(go[0], &byte, 1) == 1);
	stop_all(fd, id, SLOTS + 1);
	provider_detach(&p);
	close(fd);
}

static void nobody_takes_a_provider_from_root_or_from_other_users(void **state)
{
	char path[200], byte;
	uint64_t id;
	int status;
	struct proto_session s;
	skip_unless_root();
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(go), 0);
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(chmod(path, 0666), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		end_with_parent();
		as_somebody(have_all_sessions_with_it);
		_exit(0);
	}
	assert_int_equal(read(told[0], &byte, 1), 1);
	as_user(SOMEBODY - 1, have_one_session_with_it);
	int fd = control_connect(&daemon_);
	assert_int_equal(enable_one_more(fd, "roots", &id), 0);
	/* It gets the events of the user's process, too, and has a bit of its own there: what is lost is known. */
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(read(told[0], &byte, 1), 1);
	assert_int_equal(session_control(fd, id, 3, NULL), 0);
	assert_int_equal(session_control(fd, id, 0, &s), 0);
	assert_int_equal(s.events, 5);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	stop_all(fd, &id, 1);
	close(fd);
	for (int i = 0; i < 2; i++) {
		close(told[i]);
		close(go[i]);
	}
	assert_int_equal(chmod(path, 0660), 0);
}

/* A classic provider has one session; a user's does not take it from root's. */
static void have_a_classic_provider(void)
{
	struct provider p;
	int code, fd = control_connect(&daemon_);
	uint64_t id;
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, PROTO_REG_CLASSIC, NULL, 0, &code);
	must(code == 1);
	must(enable_one_more(fd, "mine", &id) == 0);
	static const uint8_t payload[24] = {1, 2, 3};
	struct raw_event ev = {.kind = POOL_REC_CLASSIC, .payload = payload, .payload_bytes = sizeof payload};
	must(provider_write(&p, e, &ev, 0) == 0);
	must(session_control(fd, id, 3, NULL) == 0);
	struct proto_session s;
	must(session_control(fd, id, 0, &s) == 0 && s.events == 0);
	stop_all(fd, &id, 1);
	provider_detach(&p);
	close(fd);
}

static void a_classic_provider_of_roots_session_stays_its(void **state)
{
	char path[200];
	uint64_t id;
	struct proto_session s;
	skip_unless_root();
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(chmod(path, 0666), 0);
	int fd = control_connect(&daemon_);
	assert_int_equal(enable_one_more(fd, "roots", &id), 0);
	as_somebody(have_a_classic_provider);
	assert_int_equal(session_control(fd, id, 3, NULL), 0);
	assert_int_equal(session_control(fd, id, 0, &s), 0);
	assert_int_equal(s.events, 1);
	stop_all(fd, &id, 1);
	close(fd);
	assert_int_equal(chmod(path, 0660), 0);
}

static uint64_t granted;

static void look_and_try_to_stop(void)
{
	struct proto_session s;
	int fd = control_connect(&daemon_);
	must(session_control(fd, granted, 0, &s) == 0 && s.owner_uid == 0);
	must(session_control(fd, granted, 1, NULL) == 4201);
	must(session_enable(fd, &(struct enable_request){.id = granted, .provider = &prov_a, .code = 1}) == 4201);
	close(fd);
}

static void look_in_vain(void)
{
	int fd = control_connect(&daemon_);
	must(session_control(fd, granted, 0, NULL) == 4201);
	close(fd);
}

/* S-1-22-1-65534 */
static const uint8_t somebody_sid[] = {1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0, 0xFE, 0xFF, 0, 0};

static void set_access(int fd, const struct guid *g, uint32_t op)
{
	uint8_t mem[256];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_ACCESS_SET, 6);
	proto_put(&w, PROTO_TAG_GUID, g->b, 16);
	proto_put_u32(&w, PROTO_TAG_CODE, op);
	proto_put(&w, PROTO_TAG_SID, somebody_sid, sizeof somebody_sid);
	proto_put_u32(&w, PROTO_TAG_RIGHTS, 0x1); /* WMIGUID_QUERY */
	proto_put_u32(&w, PROTO_TAG_ALLOW, 1);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 0);
}

static void a_user_may_do_with_roots_session_what_he_was_granted_on_it(void **state)
{
	char path[200];
	struct proto_session s;
	skip_unless_root();
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(chmod(path, 0666), 0);
	int fd = control_connect(&daemon_);
	assert_int_equal(session_start(fd, &(struct session_args){.name = "granted", .mode = 0x100}, &granted), 0);
	assert_int_equal(session_control(fd, granted, 0, &s), 0);
	as_somebody(look_in_vain);
	set_access(fd, &s.props.guid, 2); /* EventSecurityAddDACL */
	as_somebody(look_and_try_to_stop);
	set_access(fd, &s.props.guid, 16); /* remove */
	as_somebody(look_in_vain);
	assert_int_equal(session_control(fd, granted, 1, NULL), 0);
	close(fd);
	assert_int_equal(chmod(path, 0660), 0);
}

static void try_a_strangers_daemon(void)
{
	/* The client refuses a daemon that is neither root's nor the user's; here it is root's, and the
	 * daemon refuses the user. */
	for (int i = 0; i < 2; i++) {
		int fd = proto_connect(daemon_.dir, i ? "control" : "provider");
		must(fd >= 0);
		must(receive(fd, &reply, 5000));
		must(proto_get_u32(&reply.m, PROTO_TAG_STATUS, &reply.status));
		must(reply.status == 5);
		struct pollfd pfd = {.fd = fd, .events = POLLRDHUP};
		must(poll(&pfd, 1, 5000) == 1);
		close(fd);
	}
}

/* Even with the doors open: a user's daemon is told by the kernel who is there. */
static void a_users_daemon_serves_nobody_else(void **state)
{
	struct daemon system = daemon_;
	char path[200];
	skip_unless_root();
	daemon_start(&daemon_);
	assert_int_equal(chmod(daemon_.dir, 0755), 0);
	static const char *const names[] = {"control", "provider"};
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", daemon_.dir, names[i]);
		assert_int_equal(chmod(path, 0666), 0);
	}
	as_somebody(try_a_strangers_daemon);
	daemon_stop(&daemon_);
	daemon_ = system;
}

/* Without sessions and controllers a daemon leaves; with one of either it stays. */
static void an_idle_daemon_leaves(void **state)
{
	struct daemon d;
	uint64_t id;
	int status = -1;
	daemon_start_with(&d, "--idle-exit=1");
	int fd = control_connect(&d);
	assert_int_equal(session_start(fd, &(struct session_args){.name = "s", .mode = 0x100}, &id), 0);
	close(fd);
	struct pollfd none = {.fd = -1};
	poll(&none, 1, 1500);
	assert_int_equal(waitpid(d.pid, &status, WNOHANG), 0); /* the session keeps it */
	fd = control_connect(&d);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	poll(&none, 1, 1500);
	assert_int_equal(waitpid(d.pid, &status, WNOHANG), 0); /* the controller keeps it */
	close(fd);
	assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(proto_connect(d.dir, "control"), -ENOENT); /* its names are gone */
	char command[200];
	snprintf(command, sizeof command, "rm -rf %s", d.dir);
	assert_int_equal(system(command), 0);
}

/* ---- what a user makes etwd keep and write ------------------------------------------------------ */

static uint64_t image_bytes(void)
{
	uint8_t mem[64];
	struct proto_writer w;
	const uint8_t *text;
	size_t n;
	int fd = control_connect(&daemon_);
	proto_begin(&w, mem, sizeof mem, PROTO_STATS, 1);
	call(fd, &w, &reply);
	must(proto_get(&reply.m, PROTO_TAG_TEXT, &text, &n));
	close(fd);
	static const char key[] = "\"images_bytes\":";
	const char *at = memmem(text, n, key, sizeof key - 1);
	must(at != NULL);
	return strtoull(at + sizeof key - 1, NULL, 10);
}

/* `count` images with long paths; true when the last part was answered well. */
static bool tell_images(struct provider *p, uint32_t count)
{
	static uint8_t list[50000], mem[PROTO_MESSAGE_MAX];
	static const uint32_t path = 900;
	struct proto_writer w;
	for (uint32_t i = 0; i < count;) {
		size_t n = 0;
		uint32_t parts = i == 0 ? PROTO_IMAGES_FIRST : 0;
		for (; i < count && n + 39 + path <= sizeof list; i++, n += 39 + path) {
			le64_put(list + n, 0x100000000 + i * 0x10000ull);
			le64_put(list + n + 8, 0x10000);
			list[n + 16] = 0;
			le16_put(list + n + 37, (uint16_t)path);
			memset(list + n + 39, '/', path);
		}
		parts |= i == count ? PROTO_IMAGES_LAST : 0;
		proto_begin(&w, mem, sizeof mem, PROTO_IMAGES, 7);
		proto_put_u32(&w, PROTO_TAG_CODE, parts);
		proto_put(&w, PROTO_TAG_DATA, list, n);
		must(proto_send(p->fd, mem, (size_t)proto_end(&w), NULL, 0) == 0);
	}
	do {
		must(provider_poll(p, &reply, 20000));
	} while (reply.m.type != (PROTO_IMAGES | PROTO_REPLY));
	uint32_t status = 1;
	return proto_get_u32(&reply.m, PROTO_TAG_STATUS, &status) && status == 0;
}

/* Processes come, tell as much as one may, have a stack in a session that remembers them, and end. */
static void have_images_remembered(void)
{
	struct provider p;
	uint64_t id;
	uint8_t item[16 + 8] = {0}, mem[64];
	struct proto_writer w;
	int code, fd = control_connect(&daemon_);
	must(session_start(fd, &(struct session_args){.name = "ring", .mode = 0x400, .buffer_kb = 64}, &id) == 0);
	struct enable_request en = {.id = id, .provider = &prov_a, .code = 1, .properties = 4 /* stacks */};
	must(session_enable(fd, &en) == 0);
	le16_put(item, 24);
	le16_put(item + 2, 6);
	le16_put(item + 6, 16);
	le64_put(item + 16, 0x100000010);
	for (uint32_t i = 0; i < 70; i++) {
		provider_attach(&daemon_, &p);
		const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
		must(code == 1);
		tell_images(&p, 1000);
		must(provider_write(&p, e, &(struct raw_event){.id = 9, .items = item, .items_bytes = sizeof item},
				    0) == 0);
		provider_detach(&p);
		/* until it has ended for etwd */
		for (uint32_t count = 1; count > 0;) {
			proto_begin(&w, mem, sizeof mem, PROTO_PROCESSES, 4);
			call(fd, &w, &reply);
			must(proto_get_u32(&reply.m, PROTO_TAG_COUNT, &count));
			for (uint32_t k = 0; k < count; k++) {
				must(receive(fd, &reply, 5000));
			}
			poll(NULL, 0, 2);
		}
	}
	must(image_bytes() > 1 << 20);
	must(image_bytes() <= 16 << 20);
	char byte = 'x';
	must(write(told[1], &byte, 1) == 1);
	must(read(go[0], &byte, 1) == 1);
	must(session_control(fd, id, 1, NULL) == 0);
	close(fd);
}

static void a_user_cannot_take_the_room_for_images_from_others(void **state)
{
	char path[200], byte;
	struct provider p;
	int status, code;
	skip_unless_root();
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(go), 0);
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(chmod(path, 0666), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		become(SOMEBODY);
		close(told[0]);
		have_images_remembered();
		_exit(0);
	}
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	uint64_t before = image_bytes();
	provider_attach(&daemon_, &p);
	provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	assert_true(tell_images(&p, 1000));
	assert_true(image_bytes() >= before + 900000);
	provider_detach(&p);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(told[0]);
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 500 && image_bytes() > 0; i++) {
		poll(NULL, 0, 20);
	}
	assert_true(image_bytes() == 0);
	assert_int_equal(chmod(path, 0660), 0);
}

static void start_and_stop_many_times(void)
{
	uint64_t id;
	int fd = control_connect(&daemon_);
	for (uint32_t i = 0; i < 500; i++) {
		must(session_start(fd, &(struct session_args){.name = "again", .mode = 0x100, .buffer_kb = 4}, &id) ==
		     0);
		must(session_control(fd, id, 1, NULL) == 0);
	}
	close(fd);
}

static uint32_t lines_with(FILE *f, const char *text)
{
	char line[2000];
	uint32_t n = 0;
	rewind(f);
	while (fgets(line, sizeof line, f)) {
		n += strstr(line, text) != NULL;
	}
	return n;
}

static void a_user_does_not_fill_the_log(void **state)
{
	char path[200];
	uint64_t id;
	skip_unless_root();
	struct daemon before = daemon_;
	FILE *log = tmpfile();
	assert_non_null(log);
	int err = dup(2);
	dup2(fileno(log), 2);
	setenv("ETWD_TEST_LOG", "1", 1);
	daemon_start_with(&daemon_, "--system");
	unsetenv("ETWD_TEST_LOG");
	dup2(err, 2);
	close(err);
	snprintf(path, sizeof path, "%s/control", daemon_.dir);
	assert_int_equal(chmod(daemon_.dir, 0755), 0);
	assert_int_equal(chmod(path, 0666), 0);
	time_t begun = time(NULL);
	as_somebody(start_and_stop_many_times);
	uint32_t lines = lines_with(log, "\"again\"");
	assert_true(lines >= 100 && lines <= 100 + (uint32_t)(time(NULL) - begun) + 1);
	/* Root's are all there. */
	int fd = control_connect(&daemon_);
	for (uint32_t i = 0; i < 200; i++) {
		assert_int_equal(
			session_start(fd, &(struct session_args){.name = "roots", .mode = 0x100, .buffer_kb = 4}, &id),
			0);
		assert_int_equal(session_control(fd, id, 1, NULL), 0);
	}
	close(fd);
	assert_int_equal(lines_with(log, "\"roots\""), 400);
	daemon_stop(&daemon_);
	daemon_ = before;
	fclose(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_group_of_the_socket_controls),
		cmocka_unit_test(roots_session_gets_anybodys_events_under_his_name),
		cmocka_unit_test(a_user_sees_and_reaches_only_what_is_his),
		cmocka_unit_test(a_user_may_do_with_roots_session_what_he_was_granted_on_it),
		cmocka_unit_test(a_users_daemon_serves_nobody_else),
		cmocka_unit_test(nobody_takes_a_provider_from_root_or_from_other_users),
		cmocka_unit_test(a_classic_provider_of_roots_session_stays_its),
		cmocka_unit_test(a_user_cannot_take_all_sessions_or_all_memory_for_them),
		cmocka_unit_test(a_user_cannot_take_the_room_for_images_from_others),
		cmocka_unit_test(a_user_does_not_fill_the_log),
		cmocka_unit_test(an_idle_daemon_leaves),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
