/* SPDX-License-Identifier: MIT
 *
 * etwd.log. Others decide how many lines it gets: whoever starts sessions or lets processes misbehave. So in the
 * instance for all users a user causes at most a line a second (and some at once); how many were left out is one more
 * line. The file is renamed to etwd.log.old when it has its size, so both together have a limit.
 */
#include "base/open_output.h"
#include "base/printable.h"
#include "etwd/etwd.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_share.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#define BYTES_MAX (8u << 20)

/* "DIR/etwd.log", and what follows. */
static bool path_of(const struct etwd *d, const char *end, char *out, size_t cap)
{
	int n = snprintf(out, cap, "%s/etwd.log%s", d->dir, end);
	return n > 0 && (size_t)n < cap;
}

static int open_file(const char *path)
{
	int fd = open_output(path, OPEN_OUTPUT_REUSE, 0600, NULL);
	if (fd >= 0) {
		fcntl(fd, F_SETFL, O_APPEND);
	}
	return fd;
}

void etwd_log_open(struct etwd *d)
{
	char path[600];
	struct stat st;
	if (path_of(d, "", path, sizeof path)) {
		d->log_fd = open_file(path);
	}
	d->log_is_file = d->log_fd >= 0;
	d->log_bytes = d->log_is_file && fstat(d->log_fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* What cannot be kept is dropped: the limit holds in any case. */
static void begin_anew(struct etwd *d)
{
	char path[600], old[600];
	bool kept = path_of(d, "", path, sizeof path) && path_of(d, ".old", old, sizeof old) && rename(path, old) == 0;
	int fd = kept ? open_file(path) : -1;
	if (fd >= 0) {
		base_close(&d->log_fd);
		d->log_fd = fd;
	} else if (ftruncate(d->log_fd, 0) < 0) {
		return;
	}
	d->log_bytes = 0;
}

static void put(struct etwd *d, const char *fmt, va_list ap)
{
	char line[1024];
	time_t t = time(NULL);
	struct tm tm;
	if (d->log_fd < 0) {
		return;
	}
	localtime_r(&t, &tm);
	size_t n = strftime(line, sizeof line, "%F %T ", &tm);
	n += printable_vformat(line + n, sizeof line - n - 1, fmt, ap); /* an entry is one line */
	line[n++] = '\n';
	if (d->log_is_file && d->log_bytes + n > BYTES_MAX) {
		begin_anew(d);
	}
	ssize_t w = write(d->log_fd, line, n);
	d->log_bytes += w > 0 ? (uint64_t)w : 0; /* a full disk must not stop the daemon */
}

void etwd_log(struct etwd *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put(d, fmt, ap);
	va_end(ap);
}

void etwd_log_left_out(struct etwd *d, uid_t uid, uint64_t lines)
{
	etwd_log(d, "User %u: %llu more lines about this user were left out", (unsigned)uid, (unsigned long long)lines);
}

void etwd_log_of(struct etwd *d, uid_t uid, const char *fmt, ...)
{
	uint64_t left_out;
	if (!etwd_share_log_line(d, uid, etwd_now_ns(), &left_out)) {
		return;
	}
	if (left_out > 0) {
		etwd_log_left_out(d, uid, left_out);
	}
	va_list ap;
	va_start(ap, fmt);
	put(d, fmt, ap);
	va_end(ap);
}
