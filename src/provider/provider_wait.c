/* SPDX-License-Identifier: MIT
 * Waiting for a daemon that does not run: a futex on the first word of "<runtime dir>/wait", which
 * a starting etwd increments. Costs nothing while waiting, unlike polling, and has no limit a user,
 * unlike inotify. FUTEX_WAIT needs no write access to the page.
 */
#include "provider/provider_dest.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define WAIT_BYTES 4096

const uint32_t *provider_wait_map(struct provider_dest *d)
{
	bool mine = d->kind == PROVIDER_DEST_USER;
	char path[sizeof d->dir + 8];
	if (d->dir[0] == 0) {
		return NULL;
	}
	if (mine) {
		char dir[sizeof d->dir];
		/* Also verifies owner and mode. */
		if (proto_runtime_dir(PROTO_INSTANCE_USER, true, dir, sizeof dir) != 0) {
			return NULL;
		}
	}
	snprintf(path, sizeof path, "%s/wait", d->dir);
	int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = open(path, O_RDONLY | flags);
	if (fd < 0 && mine) {
		fd = open(path, O_RDWR | O_CREAT | flags, 0600);
	}
	if (fd < 0) {
		return NULL;
	}
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	if (st.st_size < WAIT_BYTES) {
		/* Ours, or a daemon's between open and ftruncate: growing is the same for both. */
		int rw = mine ? open(path, O_RDWR | flags) : -1;
		bool grown = rw >= 0 && ftruncate(rw, WAIT_BYTES) == 0;
		base_close(&rw);
		if (!grown) {
			close(fd);
			return NULL;
		}
	}
	void *mem = mmap(NULL, WAIT_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return mem == MAP_FAILED ? NULL : mem;
}

void provider_wait_unmap(const uint32_t *word)
{
	if (word) {
		munmap((void *)(uintptr_t)word, WAIT_BYTES);
	}
}

void provider_wait_sleep(const uint32_t *word, uint32_t seen, uint32_t timeout_ms)
{
	struct timespec ts = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
	if (word) {
		syscall(SYS_futex, word, FUTEX_WAIT, seen, &ts, NULL, 0);
	} else {
		nanosleep(&ts, NULL);
	}
}
