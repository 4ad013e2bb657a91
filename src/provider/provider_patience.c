/* SPDX-License-Identifier: MIT
 *
 * How long an application thread waits for a daemon. A little always. Longer only when there is
 * something to lose: a session wants the provider (the wait page says so without an answer), the
 * daemon is there and merely slow, and this process has not used up its patience before. So a
 * busy machine costs no first events, and a daemon that hangs or is stopped costs a program one
 * short delay in its life. Of a daemon that would run if it got a processor there is more hope than
 * of one that sleeps: schedulers have been seen to forget a thread for seconds.
 */
#include "provider/provider_dest.h"

#include <fcntl.h>
#include <time.h>

#define STEP_MS 50u
/* So many registrations of a process are told late: a daemon that hangs has them all in its backlog. */
#define LATE_MAX 64u

static uint32_t left_ms PROVIDER_FEW, full_ms PROVIDER_FEW, starved_ms PROVIDER_FEW, late_told PROVIDER_FEW;

void provider_patience_init(uint32_t extra_ms)
{
	full_ms = extra_ms;
	provider_patience_renew();
}

void provider_patience_renew(void)
{
	left_ms = full_ms;
	starved_ms = full_ms != 0 ? PROVIDER_STARVED_MS : 0;
	late_told = 0;
}

bool provider_patience_late(void)
{
	return late_told++ < LATE_MAX;
}

int provider_left_ms(const struct timespec *until)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long ms = (long)(until->tv_sec - now.tv_sec) * 1000 + (until->tv_nsec - now.tv_nsec) / 1000000;
	return ms < 0 ? 0 : (int)ms;
}

/* "12 (name) S ...": the letter; 0 for a process that is stopped, traced to a stop, dead, or not there.
 * Where /proc does not tell, it is believed to sleep. */
static char state_of(uint32_t pid)
{
	char path[32] = "/proc/", buf[512], digits[12];
	size_t n = 0, at = 6;
	for (uint32_t v = pid; v != 0; v /= 10) {
		digits[n++] = (char)('0' + v % 10);
	}
	while (n > 0) {
		path[at++] = digits[--n];
	}
	memcpy(path + at, "/stat", 6);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return errno != ENOENT ? 'S' : 0;
	}
	ssize_t got = read(fd, buf, sizeof buf - 1);
	close(fd);
	if (got <= 0) {
		return errno != ESRCH ? 'S' : 0;
	}
	buf[got] = 0;
	const char *p = strrchr(buf, ')');
	if (!p || p[1] != ' ' || p[2] == 0) {
		return 'S';
	}
	return strchr("TtZXx", p[2]) ? 0 : p[2];
}

bool provider_patience_runnable(uint32_t tid)
{
	return state_of(tid) == 'R';
}

bool provider_patience_wanted(const struct provider_dest *d, const struct provider_registration *reg)
{
	if (d->dir[0] == 0) {
		return false;
	}
	if (proto_wait_wants(d->wait, &reg->guid)) {
		return true;
	}
	/* Checked by traits_valid(): u16 size, name, then { u16 size, u8 type, data }. */
	const uint8_t *t = reg->traits;
	const uint8_t *nul = t ? memchr(t + 2, 0, reg->traits_bytes - 2) : NULL;
	for (const uint8_t *p = nul ? nul + 1 : NULL; p && p < t + reg->traits_bytes; p += le16_get(p)) {
		struct guid group;
		if (p[2] == 1 && le16_get(p) == 3 + sizeof group) {
			memcpy(&group, p + 3, sizeof group);
			return proto_wait_wants(d->wait, &group);
		}
	}
	return false;
}

bool provider_patience_more(const struct provider_dest *d, bool wanted, struct timespec *until)
{
	int peer = d ? order_load_relaxed(&d->peer) : 0;
	uint32_t pid = peer > 0 ? (uint32_t)peer : d && d->wait ? order_load_relaxed(&d->wait->pid) : 0;
	char state = wanted && pid != 0 ? state_of(pid) : 'S';
	uint32_t *left = state == 'R' && starved_ms > 0 ? &starved_ms : &left_ms;
	uint32_t step = BASE_MIN(*left, STEP_MS);
	if (!wanted || step == 0 || state == 0) {
		return false;
	}
	*left -= step;
	*until = provider_deadline(step);
	return true;
}
