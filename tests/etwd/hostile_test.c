/* SPDX-License-Identifier: MIT
 * Peers that flood, lie, stop reading, pass descriptors, hold connections or destroy their pool:
 * they lose what is theirs, the daemon keeps its descriptors and answers the others.
 */
#include "raw_client.h"

#include "base/order.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

static const struct guid prov_a = {{0xA2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid prov_b = {{0xB2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static struct daemon daemon_;
static struct reply reply;
static bool few_descriptors;

static int setup(void **state)
{
	struct rlimit lim;
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
		few_descriptors = lim.rlim_max < 4096;
	}
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

static int daemon_fds(void)
{
	char path[64];
	int n = 0;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon_.pid);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir)) {
		n++;
	}
	closedir(dir);
	return n;
}

static long daemon_rss_kb(void)
{
	char path[64], line[128];
	long kb = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)daemon_.pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		sscanf(line, "RssAnon: %ld", &kb);
	}
	fclose(f);
	return kb;
}

/* It answers, within the patience of a controller. */
static void still_answers(void)
{
	int fd = control_connect(&daemon_);
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_PING, 1);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 0);
	close(fd);
}

static bool is_closed(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};
	return poll(&p, 1, timeout_ms) == 1;
}

static void only_the_owner_reaches_the_sockets(void **state)
{
	struct stat st;
	char path[200];
	assert_int_equal(stat(daemon_.dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	static const char *const names[] = {"control", "provider", "lock", "wait"};
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", daemon_.dir, names[i]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

/* Each of these costs its sender the connection. */
static void malformed_messages_cost_the_connection(void **state)
{
	static uint8_t big[PROTO_MESSAGE_MAX + 4096];
	for (int kind = 0; kind < 2; kind++) {
		for (int i = 0; i < 6; i++) {
			int fd = proto_connect(daemon_.dir, kind ? "control" : "provider");
			size_t n = 24;
			assert_true(fd >= 0);
			memset(big, 0, sizeof big);
			le32_put(big, (uint32_t)n);
			le16_put(big + 4, PROTO_PING);
			switch (i) {
			case 0:
				n = 11; /* less than a header */
				break;
			case 1:
				le32_put(big, 23); /* a length that is not the message's */
				break;
			case 2:
				le32_put(big + 16, 0xFFFFFFF0); /* a TLV longer than the message */
				break;
			case 3:
				le32_put(big + 16, 5); /* one byte longer */
				break;
			case 4:
				n = 18; /* half a TLV header */
				le32_put(big, 18);
				break;
			default:
				n = sizeof big; /* longer than any message */
				le32_put(big, (uint32_t)n);
				break;
			}
			assert_int_equal(proto_send(fd, big, n, NULL, 0), 0);
			if (!is_closed(fd, 5000)) {
				fail_msg("case %d on socket %d was accepted", i, kind);
			}
			close(fd);
		}
	}
	still_answers();
}

static void unknown_messages_get_an_answer(void **state)
{
	int fd = control_connect(&daemon_);
	static const uint16_t types[] = {0, PROTO_HELLO, PROTO_REGISTER, 99, 0x7FFF};
	for (size_t i = 0; i < BASE_ARRAY_LEN(types); i++) {
		uint8_t mem[64];
		struct proto_writer w;
		proto_begin(&w, mem, sizeof mem, types[i], 5);
		call(fd, &w, &reply);
		assert_int_equal(reply.status, 50);
	}
	close(fd);
	fd = proto_connect(daemon_.dir, "provider");
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_REGISTER, 5);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 87); /* HELLO comes first */
	close(fd);
}

static void empty_messages_do_no_harm(void **state)
{
	int fd = control_connect(&daemon_);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(send(fd, "", 0, MSG_NOSIGNAL), 0);
	}
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_PING, 5);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 0);
	close(fd);
}

static void passed_descriptors_are_closed(void **state)
{
	still_answers();
	int before = daemon_fds();
	for (int i = 0; i < 200; i++) {
		int fd = proto_connect(daemon_.dir, i % 2 ? "control" : "provider");
		uint8_t mem[64];
		struct proto_writer w;
		int fds[4] = {0, 1, 2, fd};
		/* A START may carry one by the protocol, a PING may not. */
		proto_begin(&w, mem, sizeof mem, i % 4 < 2 ? PROTO_PING : PROTO_START, 1);
		proto_send(fd, mem, (size_t)proto_end(&w), fds, 1 + i % 4);
		close(fd);
	}
	still_answers();
	for (int i = 0; i < 100 && daemon_fds() > before; i++) {
		pause_ms(20);
	}
	assert_true(daemon_fds() <= before);
}

/* More messages than a connection may send: it waits, the others do not. */
static void a_flood_is_slowed_and_nobody_else(void **state)
{
	int flood[4];
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_BELL, 0);
	size_t n = (size_t)proto_end(&w);
	for (int i = 0; i < 4; i++) {
		flood[i] = proto_connect(daemon_.dir, i % 2 ? "control" : "provider");
		assert_true(flood[i] >= 0);
		fcntl(flood[i], F_SETFL, O_NONBLOCK);
		int sent = 0;
		/* Nobody reads the refusals either. */
		while (sent < 20000 && proto_send(flood[i], mem, n, NULL, 0) == 0) {
			sent++;
		}
		assert_true(sent < 20000); /* the socket is full: the daemon does not keep up */
		still_answers();
	}
	for (int i = 0; i < 4; i++) {
		close(flood[i]);
	}
	still_answers();
}

/* Large answers that nobody reads: bounded memory, then the connection goes. */
static void who_does_not_read_is_dropped(void **state)
{
	int fd[8], setup_fd = control_connect(&daemon_), code, dropped = 0;
	struct provider p;
	struct guid g = prov_a;
	provider_attach(&daemon_, &p);
	for (uint32_t i = 0; i < 1000; i++) { /* so that a list of them is long */
		le32_put(g.b, i);
		provider_register(&p, i, &g, 0, NULL, 0, &code);
	}
	long before = daemon_rss_kb();
	for (int i = 0; i < 8; i++) {
		uint8_t mem[64];
		struct proto_writer w;
		fd[i] = control_connect(&daemon_);
		fcntl(fd[i], F_SETFL, O_NONBLOCK);
		proto_begin(&w, mem, sizeof mem, PROTO_GUIDS, 1);
		size_t n = (size_t)proto_end(&w);
		for (int k = 0; k < 2000; k++) {
			struct pollfd pfd = {.fd = fd[i], .events = POLLOUT};
			if (proto_send(fd[i], mem, n, NULL, 0) < 0 && poll(&pfd, 1, 200) != 1) {
				break;
			}
		}
	}
	still_answers();
	for (int i = 0; i < 8; i++) {
		dropped += is_closed(fd[i], 10000); /* its requests are slowed down, too */
		close(fd[i]);
	}
	assert_true(dropped > 0); /* how many got that far is a matter of the machine */
	assert_true(daemon_rss_kb() - before < 150 * 1024);
	still_answers();
	provider_detach(&p);
	close(setup_fd);
}

/* Connections that only exist. */
static void idle_connections_leave_room_for_others(void **state)
{
	enum { MANY = 1500 };
	static int fd[MANY];
	int refused = 0;
	if (few_descriptors) {
		print_message("ulimit -Hn is below 4096\n");
		skip();
	}
	for (int i = 0; i < MANY; i++) {
		fd[i] = proto_connect(daemon_.dir, "provider");
		if (fd[i] < 0) {
			fail_msg("connection %d: %s", i, strerror(-fd[i]));
		}
	}
	still_answers();
	for (int tries = 0; tries < 200 && refused < MANY - 256; tries++) {
		refused = 0;
		for (int i = 0; i < MANY; i++) {
			refused += is_closed(fd[i], 0);
		}
		pause_ms(refused < MANY - 256 ? 50 : 0);
	}
	assert_true(refused >= MANY - 256);
	/* The refusal is a message, not only an end. */
	assert_true(receive(fd[MANY - 1], &reply, 10000));
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_STATUS, &reply.status));
	assert_int_equal(reply.status, 1450);
	for (int i = 0; i < MANY; i++) {
		close(fd[i]);
	}
	still_answers();
	struct provider p;
	provider_attach(&daemon_, &p);
	provider_detach(&p);
}

static void a_process_registers_so_much_and_no_more(void **state)
{
	struct provider p;
	int code;
	struct guid g = prov_a;
	uint8_t mem[128];
	struct proto_writer w;
	provider_attach(&daemon_, &p);
	for (uint32_t i = 0; i < 1024; i++) {
		le32_put(g.b, i);
		provider_register(&p, i, &g, 0, NULL, 0, &code);
	}
	static const struct {
		uint32_t index, status;
	} cases[] = {{1024, 1450}, {5, 87}, {70000, 87}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		proto_begin(&w, mem, sizeof mem, PROTO_REGISTER, 9);
		proto_put(&w, PROTO_TAG_GUID, g.b, 16);
		proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, cases[i].index);
		call(p.fd, &w, &reply);
		assert_int_equal(reply.status, cases[i].status);
	}
	/* Traits that do not parse are refused and cost nothing. */
	static const uint8_t bad[][8] = {{9, 0, 'a', 0}, {4, 0, 'a', 'b'}, {7, 0, 'a', 0, 2, 0, 1}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		proto_begin(&w, mem, sizeof mem, PROTO_TRAITS, 9);
		proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, 0);
		proto_put(&w, PROTO_TAG_TRAITS, bad[i], i == 2 ? 7 : 4);
		call(p.fd, &w, &reply);
		assert_int_equal(reply.status, 87);
	}
	provider_detach(&p);
}

static void there_are_so_many_sessions_and_no_more(void **state)
{
	static uint64_t id[1100];
	int fd;
	uint32_t n = 0, code = 0;
	if (few_descriptors) {
		print_message("ulimit -Hn is below 4096\n");
		skip();
	}
	fd = control_connect(&daemon_);
	for (; n < 1100; n++) {
		char name[32];
		snprintf(name, sizeof name, "limit%u", n);
		/* One stream of small buffers: the count is the point, not the memory. */
		code = session_start(fd, &(struct session_args){.name = name, .mode = 0x10000100, .buffer_kb = 4},
				     &id[n]);
		if (code != 0) {
			break;
		}
	}
	assert_int_equal(code, 1450);
	assert_int_equal(n, 1024);
	assert_int_equal(session_control(fd, id[500], 1, NULL), 0);
	assert_int_equal(session_start(fd, &(struct session_args){.name = "again", .mode = 0x10000100, .buffer_kb = 4},
				       &id[500]),
			 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(session_control(fd, id[i], 1, NULL), 0);
	}
	close(fd);
}

/* What PROCESSES says about this process's first connection that has words about it. */
static bool says_disabled(int fd)
{
	uint8_t mem[64];
	struct proto_writer w;
	uint32_t count;
	bool found = false;
	proto_begin(&w, mem, sizeof mem, PROTO_PROCESSES, 4);
	call(fd, &w, &reply);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_COUNT, &count));
	for (uint32_t i = 0; i < count; i++) {
		char text[128];
		assert_true(receive(fd, &reply, 5000));
		found |= proto_get_str(&reply.m, PROTO_TAG_TEXT, text, sizeof text);
	}
	return found;
}

/* All chunks claimed, closed, and full of noise: as many broken rules as a pass can find. */
static void scribble(void *segment, uint32_t gen, uint64_t *seed)
{
	struct seg_header *h = segment;
	struct chunk_desc *desc = (void *)((uint8_t *)segment + 4096);
	uint8_t *data = (uint8_t *)segment + POOL_DATA_OFFSET;
	order_store_relaxed(&h->free_mask, 0u);
	for (uint32_t k = 0; k < POOL_CHUNKS; k++) {
		for (uint32_t i = 0; i < 64; i += 8) {
			*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
			le64_put(data + (size_t)k * h->chunk_size + i, *seed);
		}
		order_store_release(&desc[k].word, pool_word(gen, 64) | POOL_WORD_CLOSED);
	}
}

/* A pool full of rubbish, again and again, beside an honest one: the liar is disabled and named,
 * the honest one's events are all there. */
static void a_process_that_destroys_its_pool_is_quarantined(void **state)
{
	int fd = control_connect(&daemon_), code;
	struct provider bad, good;
	struct reply *r = &reply;
	char file[200];
	uint64_t id, seed = 7;
	provider_attach(&daemon_, &bad);
	provider_attach(&daemon_, &good);
	const struct ctl_entry *be = provider_register(&bad, 0, &prov_a, 0, NULL, 0, &code);
	const struct ctl_entry *ge = provider_register(&good, 0, &prov_b, 0, NULL, 0, &code);
	snprintf(file, sizeof file, "%s/quarantine.etl", daemon_.dir);
	assert_int_equal(
		session_start(fd,
			      &(struct session_args){.name = "quarantine", .file = file, .mode = 1, .buffer_kb = 64},
			      &id),
		0);
	struct enable_request en = {.id = id, .provider = &prov_a, .code = 1};
	assert_int_equal(session_enable(fd, &en), 0);
	en.provider = &prov_b;
	assert_int_equal(session_enable(fd, &en), 0);
	while (provider_poll(&bad, r, 50)) { /* growth segments */
	}
	while (provider_poll(&good, r, 50)) {
	}
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_BELL, 0);
	size_t n = (size_t)proto_end(&w);
	uint16_t written = 0;
	bool quarantined = false;
	for (uint32_t gen = 1; gen < 20000 && !quarantined; gen++) {
		for (uint32_t k = 0; k < bad.segments; k++) {
			scribble(bad.segment[k], gen, &seed);
		}
		proto_send(bad.fd, mem, n, NULL, 0); /* a pass, please */
		if (written < 1000) {
			assert_int_equal(provider_write(&good, ge, &(struct raw_event){.id = written}, 0), 0);
			written++;
		}
		if (gen % 100 == 99) {
			quarantined = says_disabled(fd);
		}
	}
	assert_true(quarantined);
	assert_int_equal(order_load_relaxed(&be->enabled), 0);
	struct proto_session s;
	assert_int_equal(session_control(fd, id, 1, &s), 0);
	struct etl_bytes f;
	etl_load(file, &f);
	uint16_t next = 0;
	for (uint32_t i = 0; i < f.count; i++) {
		if (memcmp(f.record[i] + 0x18, prov_b.b, 16) == 0) {
			next++;
		}
	}
	assert_int_equal(next, written);
	etl_free(&f);
	still_answers();
	provider_detach(&bad);
	provider_detach(&good);
	close(fd);
}

/* ---- pools of an earlier daemon ---------------------------------------------------------------- */

static int sealed_file(uint64_t bytes, int seals)
{
	int fd = base_memfd("adopt-test", bytes);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static uint32_t adopt(const struct provider *p, const int *fds, int count)
{
	uint8_t mem[16];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_ADOPT, 5);
	assert_int_equal(proto_send(p->fd, mem, (size_t)proto_end(&w), fds, count), 0);
	for (;;) { /* growth segments may come in between */
		reply.fd_count = PROTO_FDS_MAX;
		long n = proto_recv(p->fd, reply.mem, sizeof reply.mem, reply.fds, &reply.fd_count, 10000);
		assert_true(n > 0);
		for (int i = 0; i < reply.fd_count; i++) {
			close(reply.fds[i]);
		}
		assert_int_equal(proto_parse(reply.mem, (size_t)n, &reply.m), 0);
		if (reply.m.type == (PROTO_ADOPT | PROTO_REPLY)) {
			uint32_t status = 0xFFFF;
			assert_int_equal(reply.m.id, 5);
			assert_true(proto_get_u32(&reply.m, PROTO_TAG_STATUS, &status));
			return status;
		}
	}
}

/* One process lost five events, and another says that it lost all that there ever were. */
static void what_a_liar_claims_does_not_hide_what_others_lost(void **state)
{
	int code, fd = control_connect(&daemon_);
	uint64_t id;
	struct proto_session got;
	struct session_args args = {.name = "honest", .mode = 0x10000100, .buffer_kb = 4};
	struct provider honest, liar;
	assert_int_equal(session_start(fd, &args, &id), 0);
	assert_int_equal(session_enable(fd, &(struct enable_request){.id = id, .provider = &prov_a, .code = 1}), 0);
	provider_attach(&daemon_, &honest);
	provider_attach(&daemon_, &liar);
	assert_non_null(provider_register(&honest, 0, &prov_a, 0, NULL, 0, &code));
	assert_non_null(provider_register(&liar, 0, &prov_a, 0, NULL, 0, &code));
	struct seg_header *h = liar.segment[0];
	for (int round = 0; round < 5; round++) {
		pool_count_lost(honest.writer, 1, POOL_LOST_FULL);
		for (uint32_t i = 0; i < POOL_SESSION_BITS; i++) {
			h->lost[i] += round % 2 ? 12345 : UINT64_MAX / 3;
		}
		assert_int_equal(session_control(fd, id, 3, NULL), 0);
		pause_ms(60);
	}
	assert_int_equal(session_control(fd, id, 3, NULL), 0);
	assert_int_equal(session_control(fd, id, 0, &got), 0);
	assert_int_equal(got.loss[PROTO_LOSS_POOL_FULL], 5);
	assert_int_equal(got.events_lost, 5);
	assert_true(got.loss[PROTO_LOSS_DISBELIEVED] > 0);
	provider_detach(&liar);
	provider_detach(&honest);
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	close(fd);
}

static void only_what_a_daemon_made_is_adopted(void **state)
{
	const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	uint64_t bytes = pool_segment_bytes(POOL_CHUNK_MIN);
	struct provider p;
	provider_attach(&daemon_, &p);
	int before = daemon_fds();
	int fd = sealed_file(bytes, F_SEAL_GROW | F_SEAL_SEAL); /* could shrink under its reader */
	assert_int_equal(adopt(&p, &fd, 1), 87);
	close(fd);
	fd = sealed_file(bytes + 4096, all); /* no size of ours */
	assert_int_equal(adopt(&p, &fd, 1), 87);
	close(fd);
	fd = open("/dev/null", O_RDWR);
	assert_int_equal(adopt(&p, &fd, 1), 87);
	close(fd);
	assert_int_equal(adopt(&p, NULL, 0), 87);
	fd = sealed_file(bytes, all); /* no pool's first word */
	assert_int_equal(adopt(&p, &fd, 1), 87);
	close(fd);
	/* One that looks right and is full of nonsense: taken, and nothing comes of it. */
	for (uint32_t seed = 1; seed <= 4; seed++) {
		fd = sealed_file(bytes, all);
		uint8_t *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_true(mem != MAP_FAILED);
		uint32_t x = seed * 2654435761u;
		for (uint64_t i = POOL_DESC_OFFSET; i < bytes; i++) {
			x = x * 1664525u + 1013904223u;
			mem[i] = (uint8_t)(x >> 24);
		}
		struct seg_header *h = (struct seg_header *)(void *)mem;
		memset(h->lost, 0xEE, sizeof h->lost + sizeof h->lost_cause);
		h->magic = POOL_SEG_MAGIC;
		h->abi_major = POOL_ABI_MAJOR;
		h->chunk_size = POOL_CHUNK_MIN;
		h->chunk_count = POOL_CHUNKS;
		h->free_mask = seed; /* most are taken */
		assert_int_equal(adopt(&p, &fd, 1), 0);
		munmap(mem, bytes);
		close(fd);
	}
	for (int i = 0; i < 500 && daemon_fds() > before; i++) {
		pause_ms(20); /* processes that received them for the daemon have just ended */
	}
	assert_true(daemon_fds() <= before);
	provider_detach(&p);
}

/* ---- images ------------------------------------------------------------------------------------- */

static uint64_t stat_of(const char *key)
{
	int fd = control_connect(&daemon_);
	uint8_t mem[64];
	struct proto_writer w;
	const uint8_t *text;
	size_t n;
	static char copy[8192];
	proto_begin(&w, mem, sizeof mem, PROTO_STATS, 1);
	call(fd, &w, &reply);
	assert_true(proto_get(&reply.m, PROTO_TAG_TEXT, &text, &n) && n < sizeof copy);
	memcpy(copy, text, n);
	copy[n] = 0;
	close(fd);
	const char *at = strstr(copy, key);
	assert_non_null(at);
	return strtoull(at + strlen(key) + 2, NULL, 10);
}

/* As libetw says it; the path has that many bytes. */
static size_t put_image(uint8_t *p, uint64_t base, uint64_t bytes, uint32_t path)
{
	le64_put(p, base);
	le64_put(p + 8, bytes);
	p[16] = 20;
	memset(p + 17, (int)(base >> 16 & 0xFF), 20);
	le16_put(p + 37, (uint16_t)path);
	memset(p + 39, 'p', path);
	p[39] = '/';
	return 39 + path;
}

static uint32_t tell(struct provider *p, uint32_t parts, const void *data, size_t n)
{
	static uint8_t mem[PROTO_MESSAGE_MAX];
	struct proto_writer w;
	struct proto_message m;
	proto_begin(&w, mem, sizeof mem, PROTO_IMAGES, 7);
	proto_put_u32(&w, PROTO_TAG_CODE, parts);
	proto_put(&w, PROTO_TAG_DATA, data, n);
	assert_int_equal(proto_send(p->fd, mem, (size_t)proto_end(&w), NULL, 0), 0);
	if (!(parts & PROTO_IMAGES_LAST)) {
		return 0;
	}
	do {
		int count = PROTO_FDS_MAX;
		long got = proto_recv(p->fd, reply.mem, sizeof reply.mem, reply.fds, &count, 5000);
		assert_true(got > 0 && proto_parse(reply.mem, (size_t)got, &m) == 0);
		for (int i = 0; i < count; i++) {
			close(reply.fds[i]);
		}
	} while (m.type != (PROTO_IMAGES | PROTO_REPLY));
	uint32_t status = UINT32_MAX;
	proto_get_u32(&m, PROTO_TAG_STATUS, &status);
	return status;
}

static void a_process_that_lies_about_its_images_lies_about_itself_and_within_bounds(void **state)
{
	static uint8_t list[60000];
	struct provider p;
	struct etl_bytes f;
	uint64_t id;
	char path[200];
	int fd = control_connect(&daemon_), code;
	snprintf(path, sizeof path, "%s/images.etl", daemon_.dir);
	assert_int_equal(
		session_start(fd, &(struct session_args){.name = "images", .file = path, .mode = 1, .buffer_kb = 64},
			      &id),
		0);
	assert_int_equal(session_enable(fd, &(struct enable_request){.id = id,
								     .provider = &prov_a,
								     .code = 1,
								     .properties = 4 /* stacks */}),
			 0);
	provider_attach(&daemon_, &p);
	const struct ctl_entry *e = provider_register(&p, 0, &prov_a, 0, NULL, 0, &code);
	uint64_t before = stat_of("images_bytes");
	/* Nonsense: cut off, sizes that overflow, no length, no path; then so many that no process has them. */
	memset(list, 0xFF, sizeof list);
	for (size_t n = 0; n < 64; n++) {
		tell(&p, n == 0 ? PROTO_IMAGES_FIRST : 0, list, n);
	}
	size_t n = put_image(list, UINT64_MAX - 4095, 8192, 10);
	n += put_image(list + n, 0x1000, 0, 10);
	n += put_image(list + n, 0x1000, UINT64_MAX, 10);
	assert_int_equal(tell(&p, PROTO_IMAGES_FIRST | PROTO_IMAGES_LAST, list, n), 0);
	assert_int_equal(stat_of("images_bytes"), before);
	n = put_image(list, 0x100000000, 0x10000, 100);
	assert_int_equal(tell(&p, PROTO_IMAGES_FIRST | PROTO_IMAGES_LAST, list, n), 0);
	/* What is recorded of it names its own process. */
	uint8_t item[16 + 8] = {0};
	le16_put(item, 24);
	le16_put(item + 2, 6);
	le16_put(item + 6, 16);
	le64_put(item + 16, 0x100000010);
	assert_int_equal(
		provider_write(&p, e, &(struct raw_event){.id = 9, .items = item, .items_bytes = sizeof item}, 0), 0);
	assert_int_equal(session_control(fd, id, 3, NULL), 0);
	bool refused = false;
	for (uint64_t turn = 0; turn < 200; turn++) {
		n = 0;
		for (uint64_t i = 0; n + 139 <= sizeof list; i++) {
			n += put_image(list + n, 0x100000000 + (turn * 1000 + i) * 0x10000, 0x10000, 100);
		}
		refused |= tell(&p, turn % 2 ? PROTO_IMAGES_LAST : PROTO_IMAGES_FIRST, list, n) != 0;
	}
	assert_true(refused);
	assert_true(stat_of("images_dropped") > 0);
	assert_true(stat_of("images_bytes") - before <= 1u << 20);

	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	etl_load(path, &f);
	uint32_t images = 0, events = 0;
	for (uint32_t i = 0; i < f.count; i++) {
		const uint8_t *r = f.record[i];
		bool shorter = r[2] == 0x11,
		     image = (r[2] == 0x02 || shorter) && le16_get(r + 6) == (shorter ? 0x1403 : 0x030A);
		images += image;
		events += r[2] == 0x13;
		if (image) {
			assert_int_equal(le32_get(r + (shorter ? 16 : 32) + 16), (uint32_t)getpid());
		}
	}
	assert_true(events >= 1);
	assert_true(images > 0 && images <= 4096);
	etl_free(&f);
	provider_detach(&p);
	close(fd);
	still_answers();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_liar_claims_does_not_hide_what_others_lost),
		cmocka_unit_test(only_what_a_daemon_made_is_adopted),
		cmocka_unit_test(only_the_owner_reaches_the_sockets),
		cmocka_unit_test(malformed_messages_cost_the_connection),
		cmocka_unit_test(unknown_messages_get_an_answer),
		cmocka_unit_test(empty_messages_do_no_harm),
		cmocka_unit_test(passed_descriptors_are_closed),
		cmocka_unit_test(a_flood_is_slowed_and_nobody_else),
		cmocka_unit_test(who_does_not_read_is_dropped),
		cmocka_unit_test(idle_connections_leave_room_for_others),
		cmocka_unit_test(a_process_registers_so_much_and_no_more),
		cmocka_unit_test(there_are_so_many_sessions_and_no_more),
		cmocka_unit_test(a_process_that_lies_about_its_images_lies_about_itself_and_within_bounds),
		cmocka_unit_test(a_process_that_destroys_its_pool_is_quarantined),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
