/* SPDX-License-Identifier: MIT
 * Waiting for a daemon that does not run: a futex on the first word of "<runtime dir>/wait", which
 * a starting etwd increments. Costs nothing while waiting, unlike polling, and has no limit a user,
 * unlike inotify. FUTEX_WAIT needs no write access to the page.
 */
#include "provider/provider_dest.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define WAIT_BYTES PROTO_WAIT_BYTES
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

const struct proto_wait_page *provider_wait_map(struct provider_dest *d)
{
	bool mine = d->kind == PROVIDER_DEST_USER;
	char path[sizeof d->dir + 8];
	if (d->dir[0] == 0) {
		errno = ENOENT;
		return NULL;
	}
	if (mine) {
		char dir[sizeof d->dir];
		/* Also verifies owner and mode. Somebody may have tidied up /tmp, and another user made a
		 * directory of this name there: then it is another one now. */
		int r = provider_user_dir(dir, sizeof dir);
		if (r < 0) {
			errno = -r;
			return NULL;
		}
		if (strcmp(dir, d->dir) != 0) {
			memcpy(d->dir, dir, sizeof dir);
		}
	}
	size_t n = strlen(d->dir);
	memcpy(path, d->dir, n);
	memcpy(path + n, "/wait", 6);
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

void provider_wait_unmap(const struct proto_wait_page *page)
{
	if (page) {
		munmap((void *)(uintptr_t)page, WAIT_BYTES);
	}
}

/* struct futex_waitv and its flags; Linux 5.16. */
struct wait_one {
	uint64_t val;
	uint64_t uaddr;
	uint32_t flags;
	uint32_t reserved;
};
enum { WAIT_SIZE_U32 = 2, WAIT_PRIVATE = 128 };

int provider_words_sleep(const struct provider_word *words, uint32_t n, uint32_t timeout_ms)
{
	struct wait_one w[PROVIDER_WORDS_MAX];
	uint32_t k = 0;
	for (uint32_t i = 0; i < n && k < PROVIDER_WORDS_MAX; i++) {
		if (words[i].at) {
			w[k++] = (struct wait_one){
				.val = words[i].seen,
				.uaddr = (uint64_t)(uintptr_t)words[i].at,
				.flags = WAIT_SIZE_U32 | (words[i].shared ? 0u : WAIT_PRIVATE),
			};
		}
	}
	struct timespec until = provider_deadline(timeout_ms);
	if (syscall(SYS_futex_waitv, w, k, 0, &until, CLOCK_MONOTONIC) < 0 &&
	    (errno == ENOSYS || errno == EPERM || errno == EINVAL)) {
		return -errno;
	}
	return 0;
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
