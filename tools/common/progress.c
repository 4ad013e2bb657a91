/* SPDX-License-Identifier: MIT */
#include "tools/common/progress.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOW_NS 100000000ull  /* between two lines */
#define WAIT_NS 1000000000ull /* before the first one */

/* ---- on a terminal ---------------------------------------------------------------------------------- */

void cli_progress_start(struct cli_progress *p, bool wanted)
{
	p->active = wanted && isatty(2);
	p->started_ns = p->last_ns = clock_read_system_ns();
}

void cli_progress_show(struct cli_progress *p, const char *fmt, ...)
{
	if (!p->active) {
		return;
	}
	uint64_t now = clock_read_system_ns();
	if (now - p->last_ns < SHOW_NS || now - p->started_ns < WAIT_NS) {
		return;
	}
	p->last_ns = now;
	va_list ap;
	va_start(ap, fmt);
	fputs("\r\033[K", stderr);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->active && p->last_ns != p->started_ns) {
		fputs("\r\033[K", stderr);
	}
	p->active = false;
}

/* ---- for whoever started this program --------------------------------------------------------------- */

#define VARIABLE "OPENETW_WORK" /* the number of the descriptor */
#define SEALS    (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static struct {
	int fd;
	struct cli_work_done now;
	uint64_t written_ns;
} place = {.fd = -1};

static void write_now(void)
{
	/* Nobody misses numbers that could not be written. */
	ssize_t n = pwrite(place.fd, &place.now, sizeof place.now, 0);
	(void)n;
}

/* A file that cannot change its length: the reader of the numbers needs no care, and no other file of the user is written to
 * because a variable says so. */
bool cli_work_share(void)
{
	int fd = memfd_create("openetw-work", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && (ftruncate(fd, (off_t)sizeof place.now) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0)) {
		base_close(&fd);
	}
	base_close(&place.fd);
	place.fd = fd;
	cli_work_clear();
	return fd >= 0;
}

void cli_work_clear(void)
{
	place.now = (struct cli_work_done){0};
	if (place.fd >= 0) {
		write_now();
	}
}

void cli_work_tell(enum cli_work work, uint64_t done, uint64_t total)
{
	if (place.fd < 0) {
		return;
	}
	struct cli_work_done *now = &place.now;
	bool another = now->work != (uint32_t)work || done < now->done;
	now->piece += another;
	now->work = (uint32_t)work;
	now->done = done;
	now->total = total;
	uint64_t ns = clock_read_system_ns();
	if (another || ns - place.written_ns >= SHOW_NS) {
		place.written_ns = ns;
		write_now();
	}
}

bool cli_work_look(struct cli_work_done *ret)
{
	struct cli_work_done x;
	if (place.fd < 0 || pread(place.fd, &x, sizeof x, 0) != sizeof x || x.piece == 0 || x.work >= CLI_WORK_KINDS) {
		return false;
	}
	x.done = BASE_MIN(x.done, x.total);
	*ret = x;
	return true;
}

void cli_work_hand_over(void)
{
	char number[16];
	if (place.fd >= 0 && fcntl(place.fd, F_SETFD, 0) == 0) {
		snprintf(number, sizeof number, "%d", place.fd);
		setenv(VARIABLE, number, 1);
	}
}

void cli_work_take_over(void)
{
	struct stat st;
	const char *number = secure_getenv(VARIABLE);
	char *end = NULL;
	long fd = number ? strtol(number, &end, 10) : -1;
	if (number && end > number && *end == 0 && fd > 2 && fd < INT_MAX && fstat((int)fd, &st) == 0 &&
	    st.st_size == (off_t)sizeof place.now && fcntl((int)fd, F_GET_SEALS) == SEALS &&
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0) {
		place.fd = (int)fd;
		if (pread(place.fd, &place.now, sizeof place.now, 0) != sizeof place.now) {
			place.now = (struct cli_work_done){0};
		}
	}
	unsetenv(VARIABLE);
}
