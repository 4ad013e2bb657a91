/* SPDX-License-Identifier: MIT
 *
 * Counters of processors that go with events, and what samples are taken by beside the timer.
 *
 * Every source that some session counts is one counter of perf's on each processor, in a place of its own
 * as long as anybody counts it; programs read all of them at an event whose hook is counted, and each
 * session's records get the values that it asked for.
 */
#include "kernel/kernel_bpf.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(KERNEL_COUNTERS_MAX == KBPF_COUNTERS_MAX, "as many as programs read");

struct counter {
	struct pmc_source source;
	uint64_t sessions; /* that count it; 0: the place is free */
	int *fd;           /* by processor; -1 */
	uint64_t since;    /* programs read it; 0: they do not know it yet */
	/* Its twin in the group of the timer's samples, and how far that is behind, by processor. */
	int *twin;
	uint64_t *behind;
};

struct kernel_pmc {
	uint32_t cpus;
	struct counter counter[KERNEL_COUNTERS_MAX];
	struct {
		struct pmc_source source;
		uint32_t interval;
		bool refused;
	} sampled[PMC_SAMPLED_MAX];
	uint32_t sampleds;
	bool joined;
	uint32_t generation;                         /* of the timer's events, that twins joined */
	uint32_t places[KERNEL_COUNTERS_MAX], joins; /* in the order in which they did */
	uint64_t values[KERNEL_COUNTERS_MAX];
	char missing[1024];
};

static void say(struct kernel_pmc *p, const char *text)
{
	size_t n = strlen(p->missing);
	if (!strstr(p->missing, text)) {
		snprintf(p->missing + n, sizeof p->missing - n, "%s%.200s", n ? "\n" : "", text);
	}
}

static int perf_open(const struct pmc_source *s, uint32_t cpu, uint64_t period, int leader)
{
	struct perf_event_attr a = {
		.size = sizeof a,
		.type = s->type,
		.config = s->config[0],
		.config1 = s->config[1],
		.config2 = s->config[2],
		.sample_period = period,
		/* Rather none than one that shares its place and shows a part. */
		.pinned = s->hardware && !period && leader < 0,
		/* As its leader has. */
		.use_clockid = leader >= 0,
		.clockid = leader >= 0 ? CLOCK_MONOTONIC : 0,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, (int)cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void refuse(struct kernel_pmc *p, const struct pmc_source *s, int err)
{
	char text[200];
	snprintf(text, sizeof text,
		 err == -ENOSPC                    ? "%s: the processor has no counter left for it"
		 : err == -EACCES || err == -EPERM ? "%s: counting on all processors takes root or CAP_PERFMON"
						   : "%s: cannot be counted on this machine (%s)",
		 s->name, strerror(-err));
	say(p, text);
}

int kernel_pmc_create(struct kernel_pmc **ret)
{
	struct kernel_pmc *p = calloc(1, sizeof *p);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (!p) {
		return -ENOMEM;
	}
	p->cpus = (uint32_t)BASE_MAX(cpus, 1L);
	*ret = p;
	return 0;
}

/* ---- counters --------------------------------------------------------------------------------- */

static void close_twin(struct kernel_pmc *p, struct counter *c)
{
	for (uint32_t cpu = 0; c->twin && cpu < p->cpus; cpu++) {
		base_close(&c->twin[cpu]);
	}
	free(c->twin);
	free(c->behind);
	c->twin = NULL;
	c->behind = NULL;
}

static void close_counter(struct kernel_pmc *p, struct counter *c)
{
	p->joined = p->joined && !c->twin; /* the others' order is another then */
	close_twin(p, c);
	for (uint32_t cpu = 0; c->fd && cpu < p->cpus; cpu++) {
		base_close(&c->fd[cpu]);
	}
	free(c->fd);
	*c = (struct counter){.fd = NULL};
}

void kernel_pmc_destroy(struct kernel_pmc *p)
{
	for (uint32_t i = 0; p && i < KERNEL_COUNTERS_MAX; i++) {
		close_counter(p, &p->counter[i]);
	}
	free(p);
}

/* 0 when at least one processor counts it. */
static int open_counter(struct kernel_pmc *p, struct counter *c, const struct pmc_source *s)
{
	int err = -ENODEV;
	uint32_t opened = 0;
	*c = (struct counter){.source = *s, .fd = malloc(p->cpus * sizeof *c->fd)};
	if (!c->fd) {
		return -ENOMEM;
	}
	for (uint32_t cpu = 0; cpu < p->cpus; cpu++) {
		uint64_t value;
		c->fd[cpu] = perf_open(s, cpu, 0, -1);
		if (c->fd[cpu] >= 0 && read(c->fd[cpu], &value, sizeof value) == 0) {
			base_close(&c->fd[cpu]); /* pinned, and there was no place */
			err = -ENOSPC;
		} else if (c->fd[cpu] >= 0) {
			opened++;
		} else {
			err = c->fd[cpu];
			c->fd[cpu] = -1;
		}
	}
	if (opened == 0) {
		close_counter(p, c);
		return err;
	}
	return 0;
}

static struct counter *counter_of(struct kernel_pmc *p, uint32_t id)
{
	for (uint32_t i = 0; i < KERNEL_COUNTERS_MAX; i++) {
		if (p->counter[i].fd && p->counter[i].source.id == id) {
			return &p->counter[i];
		}
	}
	return NULL;
}

static void want_counter(struct kernel_pmc *p, uint32_t id, uint64_t session)
{
	struct counter *c = counter_of(p, id);
	struct pmc_source s;
	struct diag d;
	diag_clear(&d);
	for (uint32_t i = 0; !c && i < KERNEL_COUNTERS_MAX; i++) {
		if (!p->counter[i].fd) {
			int err = pmc_find(id, &s, &d);
			if (err < 0) {
				say(p, d.text);
				return;
			}
			err = open_counter(p, &p->counter[i], &s);
			if (err < 0) {
				refuse(p, &s, err);
				return;
			}
			c = &p->counter[i];
		}
	}
	if (c) {
		c->sessions |= session;
	} else {
		char text[96];
		snprintf(text, sizeof text, "source %u: all sessions together can count %u sources", id,
			 KERNEL_COUNTERS_MAX);
		say(p, text);
	}
}

void kernel_pmc_update(struct kernel *k)
{
	struct kernel_pmc *p = k->pmc;
	uint64_t counting = 0;
	p->missing[0] = 0;
	for (uint32_t slot = 0; slot < KERNEL_SESSIONS_MAX; slot++) {
		const struct kernel_session *s = &k->slot[slot].want;
		counting |= k->slot[slot].used && s->counters && s->counteds ? 1ull << slot : 0;
	}
	/* First what nobody counts any more gives its place away. */
	for (uint32_t i = 0; i < KERNEL_COUNTERS_MAX; i++) {
		struct counter *c = &p->counter[i];
		c->sessions = 0;
		for (uint32_t slot = 0; c->fd && slot < KERNEL_SESSIONS_MAX; slot++) {
			const struct kernel_session *s = &k->slot[slot].want;
			for (uint32_t n = 0; (counting >> slot & 1) && n < s->counters; n++) {
				c->sessions |= s->counter[n] == c->source.id ? 1ull << slot : 0;
			}
		}
		if (c->fd && !c->sessions) {
			close_counter(p, c);
		}
	}
	for (uint32_t slot = 0; slot < KERNEL_SESSIONS_MAX; slot++) {
		const struct kernel_session *s = &k->slot[slot].want;
		for (uint32_t n = 0; (counting >> slot & 1) && n < s->counters; n++) {
			want_counter(p, s->counter[n], 1ull << slot);
		}
	}
}

void kernel_pmc_tell(const struct kernel_pmc *p, struct kernel_bpf *b)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < KERNEL_COUNTERS_MAX; i++) {
		const struct counter *c = &p->counter[i];
		for (uint32_t cpu = 0; cpu < kernel_bpf_cpus(b); cpu++) {
			kernel_bpf_set_counter(b, cpu, i, c->fd && cpu < p->cpus ? c->fd[cpu] : -1);
		}
		count = c->fd ? i + 1 : count;
	}
	kernel_bpf_counters(b, count);
}

void kernel_pmc_begin(struct kernel_pmc *p, uint64_t now)
{
	for (uint32_t i = 0; i < KERNEL_COUNTERS_MAX; i++) {
		struct counter *c = &p->counter[i];
		c->since = c->fd && !c->since ? now : c->since;
	}
}

uint32_t kernel_pmc_values(const struct kernel *k, uint32_t slot, uint64_t time, const uint64_t *values,
			   uint64_t ret[PMC_COUNTERS_MAX])
{
	const struct kernel_session *s = &k->slot[slot].want;
	uint32_t n = BASE_MIN(s->counters, PMC_COUNTERS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		/* One that cannot be had keeps its place: the others would be taken for it. */
		const struct counter *c = counter_of(k->pmc, s->counter[i]);
		if (c && (c->since == 0 || time < c->since)) {
			return 0;
		}
		ret[i] = c ? values[c - k->pmc->counter] : 0;
	}
	return n;
}

uint64_t kernel_pmc_same(const struct kernel *k, uint64_t sessions, uint32_t slot)
{
	const struct kernel_session *mine = &k->slot[slot].want;
	uint64_t same = 1ull << slot;
	for (uint32_t i = slot + 1; i < KERNEL_SESSIONS_MAX && sessions >> i; i++) {
		const struct kernel_session *s = &k->slot[i].want;
		bool equal = (sessions >> i & 1) && s->counters == mine->counters &&
			     memcmp(s->counter, mine->counter, mine->counters * sizeof *s->counter) == 0;
		same |= equal ? 1ull << i : 0;
	}
	return same;
}

/* ---- at samples of the timer -------------------------------------------------------------------- */

/* Nothing joins a group that runs: it would stay still. */
static void pause_timer(struct kernel *k, bool pause)
{
	uint32_t generation;
	for (uint32_t cpu = 0; cpu < k->pmc->cpus; cpu++) {
		int leader = kernel_perf_leader(k->perf, cpu, &generation);
		if (leader >= 0) {
			ioctl(leader, pause ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
		}
	}
}

/* A twin counts from when it joined; what its counter showed then is added to it. */
static void catch_up(struct kernel_pmc *p, struct counter *c)
{
	for (uint32_t cpu = 0; cpu < p->cpus; cpu++) {
		uint64_t counter = 0, twin = 0;
		if (c->twin[cpu] >= 0 && read(c->twin[cpu], &twin, sizeof twin) == sizeof twin &&
		    read(c->fd[cpu], &counter, sizeof counter) == sizeof counter) {
			c->behind[cpu] = counter - twin;
		}
	}
}

static bool join(struct kernel *k, struct counter *c)
{
	struct kernel_pmc *p = k->pmc;
	c->twin = malloc(p->cpus * sizeof *c->twin);
	c->behind = calloc(p->cpus, sizeof *c->behind);
	bool any = false;
	for (uint32_t cpu = 0; c->twin && c->behind && cpu < p->cpus; cpu++) {
		uint32_t generation;
		int leader = kernel_perf_leader(k->perf, cpu, &generation);
		c->twin[cpu] = leader >= 0 && c->fd[cpu] >= 0 ? perf_open(&c->source, cpu, 0, leader) : -1;
		any = any || c->twin[cpu] >= 0;
	}
	if (!any) {
		close_twin(p, c);
	}
	return any;
}

void kernel_pmc_join(struct kernel *k, bool read)
{
	struct kernel_pmc *p = k->pmc;
	uint32_t generation = 0, twins = 0, counters = 0;
	(void)kernel_perf_leader(k->perf, 0, &generation);
	for (uint32_t i = 0; i < KERNEL_COUNTERS_MAX; i++) {
		twins += p->counter[i].twin != NULL;
		counters += p->counter[i].fd != NULL;
	}
	if (read && p->joined && p->generation == generation && twins == counters) {
		return;
	}
	p->joins = 0;
	for (uint32_t i = 0; i < KERNEL_COUNTERS_MAX; i++) {
		close_twin(p, &p->counter[i]);
	}
	if (read && counters) {
		pause_timer(k, true);
		for (uint32_t i = 0; i < KERNEL_COUNTERS_MAX; i++) {
			if (p->counter[i].fd && join(k, &p->counter[i])) {
				p->places[p->joins++] = i;
			}
		}
		pause_timer(k, false);
		for (uint32_t i = 0; i < p->joins; i++) {
			catch_up(p, &p->counter[p->places[i]]);
		}
	}
	p->joined = read;
	p->generation = generation;
}

const uint64_t *kernel_pmc_of_sample(struct kernel *k, const struct kernel_perf_record *r)
{
	struct kernel_pmc *p = k->pmc;
	if (r->reads != p->joins || r->cpu >= p->cpus) {
		return NULL; /* of before they joined */
	}
	memset(p->values, 0, sizeof p->values);
	for (uint32_t i = 0; i < p->joins; i++) {
		p->values[p->places[i]] = r->read[i] + p->counter[p->places[i]].behind[r->cpu];
	}
	return p->values;
}

/* ---- samples ---------------------------------------------------------------------------------- */

int kernel_pmc_choose(struct kernel *k, const struct kernel_sampled *s, uint32_t count, struct diag *d)
{
	struct pmc_source source[PMC_SAMPLED_MAX];
	struct kernel_pmc *p = k->pmc;
	if (count > PMC_SAMPLED_MAX) {
		diag_at(d, UINT64_MAX, "samples are taken by %u sources at most, beside the timer", PMC_SAMPLED_MAX);
		return -E2BIG;
	}
	for (uint32_t i = 0; i < count; i++) {
		int err = pmc_find(s[i].source, &source[i], d);
		if (err < 0) {
			return err;
		}
	}
	p->sampleds = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t interval = s[i].interval ? s[i].interval : source[i].interval;
		if (source[i].id != PMC_TIMER) { /* whose samples are others */
			p->sampled[p->sampleds].source = source[i];
			p->sampled[p->sampleds].refused = false;
			p->sampled[p->sampleds++].interval =
				BASE_MIN(BASE_MAX(interval, source[i].least), source[i].most);
		}
	}
	return 0;
}

uint32_t kernel_pmc_plan(struct kernel *k, struct kernel_perf_source ret[PMC_SAMPLED_MAX])
{
	struct kernel_pmc *p = k->pmc;
	uint32_t n = 0;
	if (p->sampleds == 0) {
		say(p, "PMC_PROFILE: no source is chosen that samples are taken by (TraceProfileSourceConfigInfo)");
	}
	for (uint32_t i = 0; i < p->sampleds; i++) {
		const struct pmc_source *s = &p->sampled[i].source;
		int fd = -ENODEV;
		for (uint32_t cpu = 0; cpu < p->cpus && (fd == -ENODEV || fd == -ENOENT); cpu++) {
			fd = perf_open(s, cpu, p->sampled[i].interval, -1);
		}
		p->sampled[i].refused = fd < 0;
		if (fd < 0) {
			refuse(p, s, fd);
			continue;
		}
		close(fd);
		ret[n++] = (struct kernel_perf_source){
			s->id, s->type, p->sampled[i].interval, {s->config[0], s->config[1], s->config[2]}};
	}
	return n;
}

void kernel_pmc_check(struct kernel *k)
{
	for (uint32_t slot = 0; slot < KERNEL_SESSIONS_MAX; slot++) {
		const struct kernel_session *s = &k->slot[slot].want;
		for (uint32_t i = 0; k->slot[slot].used && s->counters && i < s->counteds; i++) {
			uint16_t hook = s->counted[i];
			if (hook < KERNEL_HOOKS && hook != KERNEL_HOOK_SAMPLE && (kernel_wants(k, hook) >> slot & 1) &&
			    !kernel_tracepoints_make(k->tracepoints, hook)) {
				char text[96];
				snprintf(text, sizeof text,
					 "counters with event 0x%04X: they take a BPF program, which is not there",
					 hook);
				say(k->pmc, text);
			}
		}
	}
}

/* ---- what readers must know of them ----------------------------------------------------------- */

static void emit_interval(struct kernel *k, uint64_t sessions, uint16_t hook, const struct pmc_source *s,
			  uint32_t interval)
{
	struct kernel_record r = {.hook = hook, .version = 3, .time = kernel_breathe(k), .sessions = sessions};
	kernel_put(&r, pmc_record_id(s->id), 4);
	kernel_put(&r, interval, 4);
	kernel_put(&r, interval, 4);
	kernel_put_wide(&r, s->name, PMC_NAME_MAX);
	kernel_out(k, &r);
}

static void emit_names(struct kernel *k, uint32_t slot)
{
	const struct kernel_session *s = &k->slot[slot].want;
	struct kernel_record r = {
		.hook = KERNEL_HOOK_PMC_CONFIG, .version = 2, .time = kernel_breathe(k), .sessions = 1ull << slot};
	kernel_put(&r, s->counters, 4);
	for (uint32_t i = 0; i < s->counters; i++) {
		const struct counter *c = counter_of(k->pmc, s->counter[i]);
		kernel_put_wide(&r, c ? c->source.name : "", PMC_NAME_MAX);
	}
	kernel_out(k, &r);
}

void kernel_pmc_rundown(struct kernel *k, uint64_t sessions, uint16_t interval_hook)
{
	struct kernel_pmc *p = k->pmc;
	uint64_t sampling = sessions & kernel_masked(k, KERNEL_BIT_PMC_PROFILE);
	for (uint32_t i = 0; sampling && interval_hook && i < p->sampleds; i++) {
		if (!p->sampled[i].refused) {
			emit_interval(k, sampling, interval_hook, &p->sampled[i].source, p->sampled[i].interval);
		}
	}
	for (uint32_t slot = 0; slot < KERNEL_SESSIONS_MAX; slot++) {
		if ((sessions >> slot & 1) && k->slot[slot].want.counters && k->slot[slot].want.counteds) {
			emit_names(k, slot);
		}
	}
}

const char *kernel_pmc_missing(const struct kernel_pmc *p)
{
	return p->missing;
}
