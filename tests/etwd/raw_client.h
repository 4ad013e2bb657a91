/* SPDX-License-Identifier: MIT
 *
 * A client that speaks proto.h by hand: what libetw says, without libetw, so that the daemon is
 * tested against the protocol and not against our other half of it. Every helper fails the running
 * test.
 */
#ifndef TESTS_ETWD_RAW_CLIENT_H
#define TESTS_ETWD_RAW_CLIENT_H

#include "base/base.h"
#include "pool/pool_writer.h"
#include "proto/proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#include <cmocka.h>

struct daemon {
	char dir[128];
	pid_t pid;
};
void daemon_start(struct daemon *d);                          /* a private one, in a fresh directory */
void daemon_start_with(struct daemon *d, const char *option); /* one more option; may be NULL */
void daemon_stop(struct daemon *d);                           /* SIGTERM; it must leave cleanly */

struct reply {
	uint8_t mem[PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	struct proto_message m;
	uint32_t status;
	int fds[PROTO_FDS_MAX];
	int fd_count;
};

int control_connect(const struct daemon *d);
/* Sends and waits for the reply. */
void call(int fd, struct proto_writer *w, struct reply *r);
/* The next message that is no reply; false after timeout_ms. */
bool receive(int fd, struct reply *r, int timeout_ms);

struct session_args {
	const char *name, *file;
	uint32_t mode, buffer_kb, maximum_size, clock, flags, buffers;
};
/* Win32 code; *ret_id when 0. */
uint32_t session_start(int fd, const struct session_args *a, uint64_t *ret_id);
uint32_t session_control(int fd, uint64_t id, uint32_t code, struct proto_session *ret);

struct enable_request {
	uint64_t id;
	const struct guid *provider;
	uint32_t code, level, properties, timeout_ms;
	uint64_t any, all;
	const void *filter;
	uint32_t filter_bytes;
};
uint32_t session_enable(int fd, const struct enable_request *e);

struct provider {
	int fd;
	uint8_t *ctl;
	int ctl_fd;
	struct pool_writer *writer;
	void *segment[POOL_SEGMENTS_MAX];
	uint32_t segments;
};
void provider_attach(const struct daemon *d, struct provider *p);
void provider_detach(struct provider *p);
/* Returns the entry; *ret_code: -1 not enabled, else what the reply said. */
const struct ctl_entry *provider_register(struct provider *p, uint32_t index, const struct guid *g, uint32_t flags,
					  const void *traits, size_t traits_bytes, int *ret_code);
/* Maps growth segments that wait on the socket. Anything else that waits goes to *r; true then. */
bool provider_poll(struct provider *p, struct reply *r, int timeout_ms);
struct raw_event {
	uint16_t index;
	uint8_t kind, level, opcode;
	uint16_t id, task;
	uint64_t keyword;
	const void *activity;
	const uint8_t *items;
	uint32_t items_bytes;
	const void *payload;
	uint32_t payload_bytes;
	uint32_t tid; /* 0: our own */
};
/* As EventWrite would; 0 also when nobody wants it. `mask_override` != 0: claim that mask. */
int provider_write(struct provider *p, const struct ctl_entry *e, const struct raw_event *ev, uint64_t mask_override);

/* The data records of an .etl file, in file order. `head` points into the file's bytes. */
struct etl_bytes {
	uint8_t *mem;
	size_t bytes;
	const uint8_t *record[4096];
	uint32_t count;
};
void etl_load(const char *path, struct etl_bytes *ret);
void etl_free(struct etl_bytes *e);

#endif
