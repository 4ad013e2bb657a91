/* SPDX-License-Identifier: MIT
 * A file system that does not answer must not stop the loop.
 *
 * START and STOP open and close their file in a job altogether. UPDATE, FLUSH to a file and the
 * next file of a new-file session change the sink, which belongs to the loop, so they open it
 * there; but only after a job has looked the directory up, on whose server or disk the open could
 * hang. The request waits in the meantime, as it came, and is looked at again from the beginning:
 * its session may be another one by then. What remains on the loop is the open() of a file in a
 * directory that answered a moment ago.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>

struct reach_job {
	struct job job;
	struct reply_to reply;
	char path[4096];
	uint16_t flags;
	size_t bytes;
	uint8_t body[] __attribute__((aligned(8)));
};

static void reach_run(struct job *j)
{
	struct reach_job *r = (struct reach_job *)j;
	struct statvfs st;
	char dir[sizeof r->path];
	size_t n = (size_t)(strrchr(r->path, '/') - r->path);
	n = n ? n : 1;
	memcpy(dir, r->path, n);
	dir[n] = 0;
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		/* The answer does not matter, that there is one does; errors are the open's. */
		(void)fstatvfs(fd, &st);
		close(fd);
	}
	/* A file that a session has just left is being described, under the lock of who writes it. */
	etwd_embed_wait_for(r->path);
}

static void reach_done(struct etwd *d, struct job *j)
{
	struct reach_job *r = (struct reach_job *)j;
	struct conn *c = r->reply.conn;
	struct proto_message m = {
		.type = r->reply.type, .flags = r->flags, .id = r->reply.id, .body = r->body, .body_bytes = r->bytes};
	etwd_reply_drop(&r->reply);
	if (c && !c->closing) {
		etwd_session_control_reached(d, c, &m);
	}
}

bool etwd_reach_first(struct etwd *d, struct conn *c, const struct proto_message *m, const char *path)
{
	struct reach_job *r = NULL;
	if (path && strchr(path, '/') && strlen(path) < sizeof r->path && c->reply_count < ETWD_PENDING_MAX &&
	    d->jobs_running < ETWD_JOBS_MAX) {
		r = calloc(1, sizeof *r + m->body_bytes);
	}
	if (!r) {
		return false;
	}
	memcpy(r->path, path, strlen(path) + 1);
	r->job.run = reach_run;
	r->job.done = reach_done;
	r->flags = m->flags;
	r->bytes = m->body_bytes;
	memcpy(r->body, m->body, m->body_bytes);
	etwd_reply_keep(c, m, &r->reply);
	etwd_job_start(d, &r->job);
	return true;
}
