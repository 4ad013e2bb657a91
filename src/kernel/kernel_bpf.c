/* SPDX-License-Identifier: MIT
 *
 * Loads and attaches programs. An object is loaded whole; when the kernel refuses that, each of its
 * programs is tried in an object of its own, so that one that does not fit this kernel costs
 * nothing but its own events.
 */
#include "kernel/kernel_bpf.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef OPENETW_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#define RING_BYTES   (2u << 20)
#define CPUS_MAX     1024u
#define OBJECTS_MAX  96u
#define PROGRAMS_MAX 96u
#define LOG_BYTES    65536u

/* What the programs share, as kbpf_abi.h lists it. */
#define MAP_ID(id, ...) MAP_##id,
enum { KBPF_MAPS(MAP_ID) MAP_RINGS, MAPS };
#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)
#define MAP_ROW(id, name, kind, key, value, entries) \
	[MAP_##id] = {TEXT(name), BPF_MAP_TYPE_##kind, sizeof(key), sizeof(value), entries},
static const struct {
	const char *name;
	enum bpf_map_type type;
	uint32_t key_bytes, value_bytes, entries;
} map_rows[MAPS] = {[MAP_RINGS] = {TEXT(KBPF_RINGS), BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 1}, KBPF_MAPS(MAP_ROW)};

struct program {
	struct bpf_program *prog; /* NULL: not loaded */
	struct bpf_link *link;
	struct bpf_link **of_cpu;                           /* of programs on perf events: `cpus` of them */
	struct bpf_link *of_target[KERNEL_BPF_TARGETS];     /* of programs on functions */
	struct kernel_probe *of_family[KERNEL_BPF_TARGETS]; /* the same, when children inherit it */
	bool placed;                                        /* in at least one of the targets */
	bool tried;
	uint64_t misses; /* told of */
	char why[160];   /* it is not there */
};

struct kernel_bpf {
	struct kernel_bpf_options o;
	int map[MAPS];
	int ring_fd[CPUS_MAX];
	struct kernel_ring *ring[CPUS_MAX];
	uint32_t cpus, possible;
	struct kbpf_config config;
	uint32_t target[KERNEL_BPF_TARGETS], targets;
	struct kernel_family *family;
	bool childless; /* probes do not go over to children */
	struct bpf_object *object[OBJECTS_MAX];
	unsigned objects;
	struct program program[PROGRAMS_MAX];
	uint64_t *drops; /* by hook and possible processor: told of */
	char *log;
	char missing[4096];
};

static void detach(struct kernel_bpf *b, struct program *p);

/* libbpf speaks while it loads; what it says is kept only for the reason of a failure. */
static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* What the collector has forgotten must be sent again. */
static void on_stack(void *ctx, const struct kbpf_record *r)
{
	struct kernel_bpf *b = ctx;
	uint64_t key, next;
	if (!b->o.on_stack || !b->o.on_stack(b->o.ctx, r)) {
		return;
	}
	for (bool more = bpf_map_get_next_key(b->map[MAP_USER_STACKS], NULL, &key) == 0; more; key = next) {
		more = bpf_map_get_next_key(b->map[MAP_USER_STACKS], &key, &next) == 0;
		bpf_map_delete_elem(b->map[MAP_USER_STACKS], &key);
	}
}

static int make_maps(struct kernel_bpf *b, uint32_t ring_bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, o);
	for (int i = 0; i < MAP_RINGS; i++) {
		uint32_t times = map_rows[i].type == BPF_MAP_TYPE_PERF_EVENT_ARRAY ? b->cpus : 1;
		b->map[i] = bpf_map_create(map_rows[i].type, map_rows[i].name, map_rows[i].key_bytes,
					   map_rows[i].value_bytes, map_rows[i].entries * times, NULL);
		if (b->map[i] < 0) {
			return b->map[i];
		}
	}
	for (uint32_t i = 0; i < b->cpus; i++) {
		b->ring_fd[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "kbpf_ring", 0, 0, ring_bytes, NULL);
		int err = b->ring_fd[i] < 0 ? b->ring_fd[i]
					    : kernel_ring_open(b->ring_fd[i], ring_bytes, on_stack, b, &b->ring[i]);
		if (err < 0) {
			return err;
		}
	}
	o.inner_map_fd = (uint32_t)b->ring_fd[0];
	b->map[MAP_RINGS] = bpf_map_create(map_rows[MAP_RINGS].type, map_rows[MAP_RINGS].name,
					   map_rows[MAP_RINGS].key_bytes, map_rows[MAP_RINGS].value_bytes, b->cpus, &o);
	for (uint32_t i = 0; b->map[MAP_RINGS] >= 0 && i < b->cpus; i++) {
		int err = bpf_map_update_elem(b->map[MAP_RINGS], &i, &b->ring_fd[i], 0);
		if (err < 0) {
			return err;
		}
	}
	return BASE_MIN(b->map[MAP_RINGS], 0);
}

static void explain(int err, struct diag *d)
{
	if (err == -EPERM || err == -EACCES) {
		diag_at(d, UINT64_MAX, "BPF programs take root, or CAP_BPF and CAP_PERFMON");
	} else if (err == -ENOSYS || err == -EINVAL) {
		diag_at(d, UINT64_MAX, "this kernel has no BPF ring buffers (Linux 5.8 and later)");
	} else {
		diag_at(d, UINT64_MAX, "BPF: %s", strerror(-err));
	}
}

static void put_config(struct kernel_bpf *b)
{
	uint32_t zero = 0;
	bpf_map_update_elem(b->map[MAP_CONFIG], &zero, &b->config, 0);
}

int kernel_bpf_open(const struct kernel_bpf_options *o, struct kernel_bpf **ret, struct diag *d)
{
	struct kernel_bpf *b = calloc(1, sizeof *b);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	libbpf_set_print(silent);
	int possible = libbpf_num_possible_cpus();
	if (!b) {
		return -ENOMEM;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0) {
		diag_at(d, UINT64_MAX, "this kernel does not describe its types (/sys/kernel/btf/vmlinux)");
		free(b);
		return -ENOSYS;
	}
	memset(b->map, -1, sizeof b->map);
	memset(b->ring_fd, -1, sizeof b->ring_fd);
	b->cpus = (uint32_t)BASE_MIN(BASE_MAX(cpus, 1L), (long)CPUS_MAX);
	b->possible = possible > 0 ? (uint32_t)possible : b->cpus;
	b->o = *o;
	b->config.own_pid = o->own_pid;
	b->config.unwind = o->unwind;
	b->drops = calloc((size_t)KBPF_HOOKS_MAX * b->possible, sizeof *b->drops);
	b->log = malloc(LOG_BYTES);
	int err = b->drops && b->log ? make_maps(b, o->ring_bytes ? o->ring_bytes : RING_BYTES) : -ENOMEM;
	if (err < 0) {
		explain(err, d);
		kernel_bpf_close(b);
		return err;
	}
	put_config(b);
	*ret = b;
	return 0;
}

void kernel_bpf_close(struct kernel_bpf *b)
{
	if (!b) {
		return;
	}
	for (unsigned i = 0; i < kernel_program_count; i++) {
		detach(b, &b->program[i]);
	}
	kernel_family_clear(&b->family);
	for (unsigned i = 0; i < b->objects; i++) {
		bpf_object__close(b->object[i]);
	}
	for (uint32_t i = 0; i < b->cpus; i++) {
		kernel_ring_close(b->ring[i]);
		base_close(&b->ring_fd[i]);
	}
	for (int i = 0; i < MAPS; i++) {
		base_close(&b->map[i]);
	}
	free(b->drops);
	free(b->log);
	free(b);
}

/* ---- loading ---------------------------------------------------------------------------------- */

static bool wanted(const struct kernel_bpf *b, const struct kernel_program *p)
{
	for (const uint16_t *h = p->hooks; *h; h++) {
		if (b->config.sessions[*h - 1]) {
			return true;
		}
	}
	return p->family && b->config.filtered;
}

/* The line of the verifier's log, or of the system, that says why. */
static void reason(struct kernel_bpf *b, struct program *p, int err)
{
	char *last = NULL, *rest = b->log, *line;
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (line[0] && strncmp(line, "processed ", 10) != 0 && strncmp(line, "-- ", 3) != 0) {
			last = line;
		}
	}
	if (err == -ESRCH || err == -ENOENT) {
		snprintf(p->why, sizeof p->why, "this kernel has no such tracepoint");
	} else if (err == -EPERM || err == -EACCES) {
		snprintf(p->why, sizeof p->why, "%.120s", last ? last : "not permitted: CAP_BPF and CAP_PERFMON");
	} else {
		snprintf(p->why, sizeof p->why, "%s%s%.100s", strerror(-err), last ? ": " : "", last ? last : "");
	}
}

/* One object with those of its programs that are marked. */
static int load(struct kernel_bpf *b, unsigned area, const bool *take, struct bpf_object **ret)
{
	LIBBPF_OPTS(bpf_object_open_opts, o, .object_name = kernel_areas[area].name, .kernel_log_buf = b->log,
		    .kernel_log_size = LOG_BYTES);
	struct bpf_object *object =
		bpf_object__open_mem(kernel_areas[area].object, *kernel_areas[area].object_bytes, &o);
	if (!object) {
		return -errno;
	}
	struct bpf_map *map;
	int err = 0;
	b->log[0] = 0;
	bpf_object__for_each_map(map, object)
	{
		bool shared = false;
		for (int i = 0; i < MAPS && err == 0; i++) {
			if (strcmp(bpf_map__name(map), map_rows[i].name) == 0) {
				shared = true;
				err = bpf_map__reuse_fd(map, b->map[i]);
			}
		}
		/* What an area keeps for itself is one thing, in whichever object it is used. */
		for (unsigned i = 0; i < b->objects && err == 0; i++) {
			struct bpf_map *other = bpf_object__find_map_by_name(b->object[i], bpf_map__name(map));
			if (other && bpf_map__fd(other) >= 0 && !bpf_map__is_internal(map) && !shared) {
				err = bpf_map__reuse_fd(map, bpf_map__fd(other));
				break;
			}
		}
	}
	struct bpf_program *prog;
	bpf_object__for_each_program(prog, object)
	{
		bool load_it = false;
		for (unsigned i = 0; i < kernel_program_count; i++) {
			load_it = load_it || (take[i] && strcmp(kernel_programs[i].name, bpf_program__name(prog)) == 0);
		}
		bpf_program__set_autoload(prog, load_it);
	}
	err = err < 0 ? err : bpf_object__load(object);
	if (err < 0) {
		bpf_object__close(object);
		return err;
	}
	*ret = object;
	return 0;
}

static void adopt(struct kernel_bpf *b, unsigned area, struct bpf_object *object, const bool *take)
{
	for (unsigned i = 0; i < kernel_program_count; i++) {
		if (take[i]) {
			b->program[i].prog = bpf_object__find_program_by_name(object, kernel_programs[i].name);
		}
	}
	b->object[b->objects++] = object;
	if (kernel_areas[area].loaded) {
		kernel_areas[area].loaded(b);
	}
}

/* The program that another one is there for, where it cannot be had; NULL: it is for itself. */
static const struct program *first_choice(const struct kernel_bpf *b, const struct kernel_program *p)
{
	for (unsigned i = 0; p->instead && i < kernel_program_count; i++) {
		if (strcmp(kernel_programs[i].name, p->instead) == 0) {
			return &b->program[i];
		}
	}
	return NULL;
}

/* Tests take programs away, as another kernel would: their names, with commas. */
static bool withheld(struct kernel_bpf *b, unsigned i)
{
#ifdef OPENETW_TESTPOINTS
	const char *list = getenv("OPENETW_TEST_WITHOUT"), *name = kernel_programs[i].name;
	size_t n = strlen(name);
	for (const char *at = list; at && (at = strstr(at, name)) != NULL; at += n) {
		if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) {
			b->log[0] = 0;
			reason(b, &b->program[i], -ENOENT);
			return true;
		}
	}
#else
	(void)b, (void)i;
#endif
	return false;
}

static void load_part(struct kernel_bpf *b, unsigned area, bool instead)
{
	bool take[PROGRAMS_MAX] = {false};
	struct bpf_object *object;
	unsigned n = 0;
	for (unsigned i = 0; i < kernel_program_count; i++) {
		struct program *p = &b->program[i];
		const struct program *first = first_choice(b, &kernel_programs[i]);
		if (b->o.give_up && b->o.give_up()) {
			return;
		}
		if (kernel_programs[i].area == area && !p->tried && wanted(b, &kernel_programs[i]) &&
		    (first != NULL) == instead && (!first || first->why[0])) {
			p->tried = true;
			take[i] = !withheld(b, i);
			n += take[i];
		}
	}
	if (n == 0 || b->objects + n >= OBJECTS_MAX) {
		return;
	}
	int err = load(b, area, take, &object);
	if (err == 0) {
		adopt(b, area, object, take);
		return;
	}
	for (unsigned i = 0; i < kernel_program_count; i++) {
		bool one[PROGRAMS_MAX] = {false};
		if (!take[i]) {
			continue;
		}
		one[i] = true;
		if (n > 1) {
			err = load(b, area, one, &object);
		}
		if (n > 1 && err == 0) {
			adopt(b, area, object, one);
		} else {
			reason(b, &b->program[i], err);
		}
	}
}

static void load_area(struct kernel_bpf *b, unsigned area)
{
	load_part(b, area, false);
	load_part(b, area, true);
}

/* On every processor a counter that calls the program each time it counts. */
static int attach_perf(struct kernel_bpf *b, unsigned i)
{
	struct program *p = &b->program[i];
	struct perf_event_attr a = {.size = sizeof a,
				    .type = PERF_TYPE_SOFTWARE,
				    .config = kernel_programs[i].perf_event - 1,
				    .sample_period = 1};
	p->of_cpu = calloc(b->cpus, sizeof(struct bpf_link *));
	int err = p->of_cpu ? 0 : -ENOMEM;
	for (uint32_t cpu = 0; cpu < b->cpus && err == 0; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0) {
			err = errno == ENODEV ? 0 : -errno; /* switched off */
			continue;
		}
		p->of_cpu[cpu] = bpf_program__attach_perf_event(p->prog, fd);
		if (!p->of_cpu[cpu]) {
			err = -errno;
			close(fd);
		}
	}
	return err;
}

/* Where in which file the function lies that this program itself would call. */
static bool place_of(const char *symbol, char *path, size_t cap, size_t *ret_offset)
{
	/* Of the library itself: a sanitizer has a function of that name in front of it. */
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	uintptr_t at = (uintptr_t)dlsym(library ? library : RTLD_DEFAULT, symbol);
	char line[4096 + 128], name[4096];
	FILE *f = at ? fopen("/proc/self/maps", "re") : NULL;
	bool found = false;
	while (f && !found && fgets(line, sizeof line, f)) {
		unsigned long long from, to, offset;
		found = sscanf(line, "%llx-%llx %*s %llx %*s %*u %4095[^\n]", &from, &to, &offset, name) == 4 &&
			at >= from && at < to;
		if (found) {
			snprintf(path, cap, "%s", name);
			*ret_offset = at - from + offset;
		}
	}
	if (f) {
		fclose(f);
	}
	return found;
}

/* libbpf would look for the function itself, and wait for whatever the process put under the path. */
static int attach_target(struct kernel_bpf *b, unsigned i, uint32_t t, int file)
{
	struct program *p = &b->program[i];
	LIBBPF_OPTS(bpf_uprobe_opts, o, .retprobe = kernel_programs[i].at_return);
	uint64_t offset = 0;
	char path[32];
	if (!kernel_probe_place(file, kernel_programs[i].symbol, &offset)) {
		return -ENOENT;
	}
	if (kernel_probe_open(p->prog, b->target[t], file, offset, kernel_programs[i].at_return, &p->of_family[t]) ==
	    0) {
		p->placed = true;
		kernel_family_add(&b->family, b->target[t], b->target[t]);
		return 0;
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	p->of_target[t] = bpf_program__attach_uprobe_opts(p->prog, (pid_t)b->target[t], path, offset, &o);
	if (!p->of_target[t]) {
		return -errno;
	}
	p->placed = true;
	b->childless = true;
	return 0;
}

/* In each target. One that has no such function is left out. */
static int attach_symbol(struct kernel_bpf *b, unsigned i)
{
	struct program *p = &b->program[i];
	char path[4200];
	int err = b->targets ? -ENOENT : 0;
	if (kernel_programs[i].everywhere) {
		LIBBPF_OPTS(bpf_uprobe_opts, o, .retprobe = kernel_programs[i].at_return);
		size_t offset = 0;
		if (place_of(kernel_programs[i].symbol, path, sizeof path, &offset)) {
			/* it has several versions, which libbpf could not choose from */
			p->of_target[0] = bpf_program__attach_uprobe_opts(p->prog, -1, path, offset, &o);
			p->placed = p->of_target[0] != NULL;
		}
		return 0;
	}
	for (uint32_t t = 0; t < b->targets; t++) {
		int file = kernel_heap_open(b->target[t], b->target[t] == b->o.soon.pid ? b->o.soon.program : NULL);
		if (file >= 0) {
			int failed = attach_target(b, i, t, file);
			err = failed < 0 ? failed : err;
			close(file);
		}
	}
	return p->placed || kernel_programs[i].optional ? 0 : err;
}

void kernel_bpf_targets(struct kernel_bpf *b, const uint32_t *pid, uint32_t count)
{
	if (count == b->targets && memcmp(pid, b->target, count * sizeof *pid) == 0) {
		return;
	}
	for (unsigned i = 0; i < kernel_program_count; i++) {
		if (kernel_programs[i].symbol && !kernel_programs[i].everywhere) {
			detach(b, &b->program[i]);
		}
	}
	kernel_family_clear(&b->family);
	b->childless = false;
	memcpy(b->target, pid, count * sizeof *pid);
	b->targets = count;
}

void kernel_bpf_forked(struct kernel_bpf *b, uint32_t parent, uint32_t pid)
{
	uint32_t root = kernel_family_fork(&b->family, parent, pid);
	for (uint32_t t = 0; root && t < b->targets; t++) {
		for (unsigned i = 0; i < kernel_program_count && b->target[t] == root; i++) {
			if (b->program[i].of_family[t]) {
				kernel_family_cover(b->family, parent, b->program[i].of_family[t]);
			}
		}
	}
}

void kernel_bpf_ended(struct kernel_bpf *b, uint32_t pid)
{
	kernel_family_end(b->family, pid);
}

static void detach(struct kernel_bpf *b, struct program *p)
{
	for (uint32_t t = 0; t < KERNEL_BPF_TARGETS; t++) {
		bpf_link__destroy(p->of_target[t]);
		p->of_target[t] = NULL;
		kernel_probe_close(p->of_family[t]);
		p->of_family[t] = NULL;
	}
	p->placed = false;
	for (uint32_t cpu = 0; p->of_cpu && cpu < b->cpus; cpu++) {
		bpf_link__destroy(p->of_cpu[cpu]);
	}
	free(p->of_cpu);
	p->of_cpu = NULL;
	bpf_link__destroy(p->link);
	p->link = NULL;
}

static void attach(struct kernel_bpf *b, unsigned i)
{
	struct program *p = &b->program[i];
	bool want = wanted(b, &kernel_programs[i]);
	if (!want) {
		detach(b, p);
	} else if (p->prog && !p->link && !p->of_cpu && !p->placed) {
		int err = 0;
		if (kernel_programs[i].symbol) {
			err = attach_symbol(b, i);
		} else if (kernel_programs[i].perf_event) {
			err = attach_perf(b, i);
		} else {
			p->link = bpf_program__attach(p->prog);
			err = p->link ? 0 : -errno;
		}
		if (err < 0) {
			b->log[0] = 0;
			detach(b, p);
			reason(b, p, err);
		}
	}
}

static bool has_hook(const struct kernel_program *p, uint16_t hook)
{
	for (const uint16_t *h = p->hooks; *h; h++) {
		if (*h == hook) {
			return true;
		}
	}
	return false;
}

/* Does a program that is there instead of others bring all that this one would? */
static bool replaced(const struct kernel_bpf *b, unsigned i)
{
	for (unsigned n = 0; n < kernel_program_count; n++) {
		if (kernel_programs[n].instead && (b->program[n].link || b->program[n].placed)) {
			const uint16_t *h = kernel_programs[i].hooks;
			while (*h && has_hook(&kernel_programs[n], *h)) {
				h++;
			}
			if (!*h) {
				return true;
			}
		}
	}
	return false;
}

static void list_missing(struct kernel_bpf *b)
{
	size_t n = 0;
	b->missing[0] = 0;
	if (b->childless) {
		n += (size_t)snprintf(b->missing, sizeof b->missing,
				      "heaps of children: the tracing file system's uprobe_events cannot be used");
	}
	for (unsigned i = 0; i < kernel_program_count; i++) {
		const struct kernel_program *p = &kernel_programs[i];
		if (wanted(b, p) && b->program[i].why[0] && !p->instead && !replaced(b, i) && n < sizeof b->missing) {
			n += (size_t)snprintf(b->missing + n, sizeof b->missing - n, "%s%s: %s", n ? "\n" : "", p->what,
					      b->program[i].why);
		}
	}
}

void kernel_bpf_attach(struct kernel_bpf *b)
{
	for (unsigned i = 0; i < kernel_area_count; i++) {
		if (kernel_areas[i].object) {
			load_area(b, i);
		}
	}
	for (unsigned i = 0; i < kernel_program_count; i++) {
		attach(b, i);
	}
	list_missing(b);
}

void kernel_bpf_begin(struct kernel_bpf *b)
{
	put_config(b);
}

void kernel_bpf_want(struct kernel_bpf *b, unsigned hook, uint64_t sessions, uint64_t stacks)
{
	if (hook < KBPF_HOOKS_MAX) {
		b->config.sessions[hook] = sessions;
		b->config.stacks[hook] = stacks;
	}
}

void kernel_bpf_count(struct kernel_bpf *b, unsigned hook, uint64_t sessions)
{
	if (hook < KBPF_HOOKS_MAX) {
		b->config.counted[hook] = sessions;
	}
}

void kernel_bpf_preempt(struct kernel_bpf *b, int32_t from_rq)
{
	b->config.preempt_from_rq = from_rq;
}

void kernel_bpf_counters(struct kernel_bpf *b, uint32_t count)
{
	b->config.counters = BASE_MIN(count, KBPF_COUNTERS_MAX);
}

void kernel_bpf_set_counter(struct kernel_bpf *b, uint32_t cpu, uint32_t which, int fd)
{
	uint32_t key = cpu * KBPF_COUNTERS_MAX + which;
	if (fd >= 0) {
		(void)bpf_map_update_elem(b->map[MAP_COUNTERS], &key, &fd, 0);
	} else {
		(void)bpf_map_delete_elem(b->map[MAP_COUNTERS], &key);
	}
}

bool kernel_bpf_serves(const struct kernel_bpf *b, unsigned hook)
{
	for (unsigned i = 0; i < kernel_program_count; i++) {
		for (const uint16_t *h = kernel_programs[i].hooks; *h; h++) {
			if (*h == hook + 1 && !kernel_programs[i].adds &&
			    (b->program[i].link || b->program[i].of_cpu || b->program[i].placed)) {
				return true;
			}
		}
	}
	return false;
}

void kernel_bpf_filter(struct kernel_bpf *b, uint64_t sessions, uint64_t follow)
{
	b->config.filtered = sessions;
	b->config.follow = follow;
}

int kernel_bpf_watch(struct kernel_bpf *b, uint32_t pid, uint64_t sessions)
{
	return sessions ? bpf_map_update_elem(b->map[MAP_PIDS], &pid, &sessions, 0)
			: bpf_map_delete_elem(b->map[MAP_PIDS], &pid);
}

void kernel_bpf_confine(struct kernel_bpf *b, uint64_t sessions, const uint32_t uid[64])
{
	uint32_t key, next;
	while (bpf_map_get_next_key(b->map[MAP_UIDS], NULL, &key) == 0) {
		bpf_map_delete_elem(b->map[MAP_UIDS], &key);
	}
	for (unsigned i = 0; i < 64; i++) {
		uint64_t of = 0;
		next = uid[i];
		if (sessions >> i & 1) {
			(void)bpf_map_lookup_elem(b->map[MAP_UIDS], &next, &of);
			of |= 1ull << i;
			bpf_map_update_elem(b->map[MAP_UIDS], &next, &of, 0);
		}
	}
	b->config.confined = sessions;
}

void kernel_bpf_unwatch(struct kernel_bpf *b, uint64_t sessions)
{
	uint32_t pid = 0, next = 0;
	bool more = bpf_map_get_next_key(b->map[MAP_PIDS], NULL, &pid) == 0;
	for (; more; pid = next) {
		uint64_t of = 0;
		more = bpf_map_get_next_key(b->map[MAP_PIDS], &pid, &next) == 0;
		if (bpf_map_lookup_elem(b->map[MAP_PIDS], &pid, &of) == 0 && (of & sessions)) {
			kernel_bpf_watch(b, pid, of & ~sessions);
		}
	}
}

const char *kernel_bpf_missing(const struct kernel_bpf *b)
{
	return b->missing;
}

int kernel_bpf_map_fd(const struct kernel_bpf *b, const char *name)
{
	for (unsigned i = 0; i < b->objects; i++) {
		int fd = bpf_object__find_map_fd_by_name(b->object[i], name);
		if (fd >= 0) {
			return fd;
		}
	}
	return -1;
}

/* ---- records ---------------------------------------------------------------------------------- */

uint32_t kernel_bpf_cpus(const struct kernel_bpf *b)
{
	return b->cpus;
}

const struct kbpf_record *kernel_bpf_peek(struct kernel_bpf *b, uint32_t cpu, uint64_t until)
{
	return cpu < b->cpus ? kernel_ring_peek(b->ring[cpu], until) : NULL;
}

void kernel_bpf_pop(struct kernel_bpf *b, uint32_t cpu)
{
	kernel_ring_pop(b->ring[cpu]);
}

static uint64_t misses(const struct program *p)
{
	struct bpf_prog_info info = {0};
	uint32_t n = sizeof info;
	int fd = p->prog ? bpf_program__fd(p->prog) : -1;
	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &n) == 0 ? info.recursion_misses : 0;
}

void kernel_bpf_losses(struct kernel_bpf *b, void (*lost)(void *ctx, unsigned hook, uint32_t cpu, uint64_t count),
		       void *ctx)
{
	uint64_t *now = calloc(b->possible, sizeof *now);
	for (uint32_t hook = 0; now && hook < KBPF_HOOKS_MAX; hook++) {
		if (!b->config.sessions[hook] || bpf_map_lookup_elem(b->map[MAP_DROPS], &hook, now) < 0) {
			continue;
		}
		uint64_t *told = b->drops + (size_t)hook * b->possible;
		for (uint32_t cpu = 0; cpu < b->possible; cpu++) {
			if (now[cpu] > told[cpu]) {
				lost(ctx, hook, cpu, now[cpu] - told[cpu]);
				told[cpu] = now[cpu];
			}
		}
	}
	free(now);
	for (unsigned i = 0; i < kernel_program_count; i++) {
		struct program *p = &b->program[i];
		uint64_t n = p->link ? misses(p) : p->misses;
		if (n > p->misses && kernel_programs[i].hooks[0] && !kernel_programs[i].disturbs_itself) {
			lost(ctx, kernel_programs[i].hooks[0] - 1u, KERNEL_NO_ID, n - p->misses);
			p->misses = n;
		}
	}
}

#endif
