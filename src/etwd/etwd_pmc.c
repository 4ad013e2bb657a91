/* SPDX-License-Identifier: MIT
 *
 * What sessions count, and what samples are taken by beside the timer. Counters are a session's; what
 * samples are taken by, and how far apart, is the machine's, as on Windows.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_session.h"

#include <stdio.h>

#define OWNER_FREE     0u
#define OWNER_UNTAGGED 1u

/* ---- intervals -------------------------------------------------------------------------------- */

uint32_t etwd_kernel_source_interval(const struct etwd_kernel_side *k, const struct pmc_source *s)
{
	for (uint32_t i = 0; i < k->sets; i++) {
		if (k->set[i].source == s->id) {
			return k->set[i].interval;
		}
	}
	return s->interval;
}

void etwd_kernel_set_source_interval(struct etwd_kernel_side *k, uint32_t source, uint32_t interval)
{
	uint32_t i = 0;
	while (i < k->sets && k->set[i].source != source) {
		i++;
	}
	if (i == ETWD_KERNEL_SOURCES_SET) { /* the oldest goes back to its own */
		memmove(k->set, k->set + 1, sizeof k->set - sizeof k->set[0]);
		i--;
	}
	k->sets = BASE_MAX(k->sets, i + 1);
	k->set[i].source = source;
	k->set[i].interval = interval;
}

void etwd_kernel_fill_sampled(const struct etwd_kernel_side *k, struct proto_kernel_message *m)
{
	m->sources = k->sampleds;
	for (uint32_t i = 0; i < k->sampleds; i++) {
		struct pmc_source s = {.id = k->sampled[i]};
		m->source[i] = k->sampled[i];
		/* 0: its own, which the collector knows as well. */
		m->source_interval[i] = etwd_kernel_source_interval(k, &s);
	}
}

/* ---- setting ---------------------------------------------------------------------------------- */

/* ULONG[] of sources that are there. */
static uint32_t read_sources(const uint8_t *p, size_t n, uint32_t most, uint32_t *ret, uint32_t *ret_count, char *why,
			     size_t cap)
{
	struct pmc_source s;
	if (n % 4 != 0 || n == 0) {
		return ERROR_BAD_LENGTH;
	}
	if (n / 4 > most) {
		snprintf(why, cap, "%zu sources, of %u at most", n / 4, most);
		return ERROR_INVALID_PARAMETER;
	}
	for (size_t i = 0; i < n / 4; i++) {
		struct diag d;
		diag_clear(&d);
		int err = pmc_find(le32_get(p + 4 * i), &s, &d);
		if (err < 0) {
			snprintf(why, cap, "%.200s", d.text);
			return err == -ENODEV ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
		}
		for (size_t k = 0; k < i; k++) {
			if (ret[k] == s.id) {
				snprintf(why, cap, "%s twice", s.name);
				return ERROR_INVALID_PARAMETER;
			}
		}
		ret[i] = s.id;
	}
	*ret_count = (uint32_t)(n / 4);
	return 0;
}

uint32_t etwd_kernel_set_counters(struct etwd_kernel_wish *w, const uint8_t *p, size_t n, char *why, size_t cap)
{
	uint32_t id[PMC_COUNTERS_MAX], count = 0;
	if (w->counters > 0) {
		snprintf(why, cap, "the counters of a session are chosen once");
		return ERROR_ALREADY_EXISTS;
	}
	uint32_t code = read_sources(p, n, PMC_COUNTERS_MAX, id, &count, why, cap);
	for (uint32_t i = 0; i < count; i++) {
		if (id[i] == PMC_TIMER) {
			snprintf(why, cap, "the timer is a source of samples, and no counter");
			return ERROR_INVALID_PARAMETER;
		}
	}
	if (code == 0) {
		memcpy(w->counter, id, sizeof id);
		w->counters = count;
	}
	return code;
}

/* Events whose program reads counters, and samples of the timer. Those of networks have no room for it; what
 * names processes and images, and what is told from time to time, comes from elsewhere. */
static bool can_count(uint16_t hook)
{
	static const uint16_t range[][2] = {{0x010A, 0x010F}, {0x020A, 0x020F}, {0x0220, 0x0220}, {0x0262, 0x0263},
					    {0x0425, 0x0426}, {0x0440, 0x0451}, {0x0524, 0x0524}, {0x0532, 0x0532},
					    {0x0F2E, 0x0F2E}, {0x0F33, 0x0F34}, {0x0F42, 0x0F45}, {0x1021, 0x1024},
					    {0x1120, 0x1121}, {0x1233, 0x1233}, {0x1239, 0x123A}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(range); i++) {
		if (hook >= range[i][0] && hook <= range[i][1]) {
			return true;
		}
	}
	return false;
}

uint32_t etwd_kernel_set_counted(struct etwd_kernel_wish *w, const uint8_t *p, size_t n, char *why, size_t cap)
{
	uint16_t hook[PMC_EVENTS_MAX];
	if (n % 24 != 0 || n == 0) {
		return ERROR_BAD_LENGTH;
	}
	if (w->counteds > 0) {
		snprintf(why, cap, "the events with counters of a session are chosen once");
		return ERROR_ALREADY_EXISTS;
	}
	if (n / 24 > PMC_EVENTS_MAX) {
		snprintf(why, cap, "%zu events, of %u at most", n / 24, PMC_EVENTS_MAX);
		return ERROR_INVALID_PARAMETER;
	}
	for (size_t i = 0; i < n / 24; i++) {
		struct guid g;
		memcpy(g.b, p + 24 * i, 16);
		if (!kernel_hook_of_class(&g, p[24 * i + 16], &hook[i])) {
			snprintf(why, cap, "one of the events is no kernel event");
			return ERROR_INVALID_PARAMETER;
		}
		if (!can_count(hook[i])) {
			snprintf(why, cap,
				 "counters do not go with the kernel event 0x%04X here; they do with CSwitch, "
				 "ReadyThread, Profile, system calls, interrupts, faults, files, disks, handles and "
				 "heaps",
				 hook[i]);
			return ERROR_NOT_SUPPORTED;
		}
	}
	memcpy(w->counted, hook, n / 24 * sizeof *hook);
	w->counteds = (uint32_t)(n / 24);
	return 0;
}

uint32_t etwd_kernel_set_sources(struct etwd_kernel_side *k, const uint8_t *p, size_t n, char *why, size_t cap)
{
	uint32_t id[PMC_SAMPLED_MAX + 1], count = 0;
	uint32_t code = read_sources(p, n, PMC_SAMPLED_MAX + 1, id, &count, why, cap);
	if (code != 0) {
		return code;
	}
	k->sampleds = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (id[i] != PMC_TIMER && k->sampleds < PMC_SAMPLED_MAX) {
			k->sampled[k->sampleds++] = id[i];
		}
	}
	return 0;
}

/* ---- telling ---------------------------------------------------------------------------------- */

static void put32(struct strbuf *b, uint32_t v)
{
	uint8_t p[4];
	le32_put(p, v);
	strbuf_add(b, p, sizeof p);
}

/* Users have no counters, and see nobody else's sessions. */
static const struct etwd_kernel_wish *counting(const struct etwd *d, const struct conn *c, uint32_t i)
{
	const struct session *s = d->session[i];
	bool hidden = d->system && c->uid != 0 && c->uid != d->uid;
	return !hidden && s && s->kernel && s->kernel->wish.counters ? &s->kernel->wish : NULL;
}

/* Of processor 0; the others are alike. */
void etwd_kernel_put_owners(const struct etwd *d, const struct conn *c, struct strbuf *b)
{
	uint32_t used[PMC_COUNTERS_MAX + 1], n = 0;
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		const struct etwd_kernel_wish *w = counting(d, c, i);
		for (uint32_t k = 0; w && k < w->counters; k++) {
			uint32_t at = 0;
			while (at < n && used[at] != w->counter[k]) {
				at++;
			}
			if (at == n && n < BASE_ARRAY_LEN(used)) {
				used[n++] = w->counter[k];
			}
		}
	}
	put32(b, 0);
	put32(b, BASE_ARRAY_LEN(used));
	for (uint32_t i = 0; i < BASE_ARRAY_LEN(used); i++) {
		put32(b, i < n ? OWNER_UNTAGGED : OWNER_FREE);
		put32(b, i < n ? used[i] : 0);
		put32(b, 0);
	}
}

void etwd_kernel_put_counting(const struct etwd *d, const struct conn *c, struct strbuf *b)
{
	size_t last = SIZE_MAX;
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		const struct etwd_kernel_wish *w = counting(d, c, i);
		if (!w) {
			continue;
		}
		size_t at = b->len;
		if (last != SIZE_MAX && !b->failed) {
			le32_put((uint8_t *)b->s + last, (uint32_t)(at - last));
		}
		last = at;
		put32(b, 0);
		put32(b, i & UINT16_MAX);
		put32(b, w->counters);
		put32(b, w->counteds);
		for (uint32_t k = 0; k < w->counters; k++) {
			put32(b, w->counter[k]);
		}
		for (uint32_t k = 0; k < w->counteds; k += 2) { /* to a multiple of 4 */
			put32(b, w->counted[k] | (k + 1 < w->counteds ? (uint32_t)w->counted[k + 1] << 16 : 0));
		}
	}
}
