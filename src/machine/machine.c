/* SPDX-License-Identifier: MIT */
#include "machine/machine.h"
#include "machine/machine_code.h"
#include "machine/machine_watched.h"
#include "machine/machine_function.h"
#include "machine/machine_payload.h"
#include "machine/machine_stack.h"
#include "machine/machine_symbol.h"
#include "machine/machine_table.h"

#include <stdlib.h>
#include <strings.h>

#define CPUS              2048u
#define THREAD_NAME_UNITS 256u

struct process_node {
	struct machine_node n;
	struct machine_process p;
};
struct thread_node {
	struct machine_node n;
	uint32_t pid;
	uint64_t start, end;
	uint64_t code; /* where it began */
	const char *name;
};
struct image_node {
	struct machine_node n;       /* by pid; `older` leads through all of a process */
	struct machine_node by_base; /* by pid and base */
	struct machine_image i;
};
struct file_node {
	struct machine_node n;
	uint64_t from, to; /* keys are used again */
	const char *path;
	const char *shown; /* with the name of its volume, once somebody asked */
};
struct volume {
	const char *device, *name;
	size_t device_bytes;
};
#define VOLUMES_MAX 128u

/* Which image an address was in, and when: a trace asks for the same ones again and again, and a process may
 * have thousands. */
struct image_found {
	uint64_t address, from, to;
	const struct machine_image *image; /* NULL: in none */
	uint32_t pid, changes;             /* as many as there had been; 0: free */
};
#define IMAGES_FOUND 8192u

struct debug_id_node {
	struct machine_node n; /* by pid and base */
	uint64_t base;
	uint32_t pid, age;
	uint8_t guid[16];
	const char *name;
};

struct machine {
	uint32_t flags;
	struct machine_memory memory;
	struct machine_table processes, threads, images, images_by_base, debug_ids, files;
	struct volume volumes[VOLUMES_MAX];
	uint32_t volume_count;
	struct machine_codes codes;
	struct machine_symbols symbols;
	struct machine_functions functions;
	struct machine_filters filters;
	struct machine_stacks stacks;
	uint32_t *running; /* of each processor */
	struct image_found *found;
	uint32_t image_changes;
};

struct machine *machine_create(uint32_t flags)
{
	struct machine *s = calloc(1, sizeof *s);
	if (!s) {
		return NULL;
	}
	s->flags = flags;
	s->running = malloc(CPUS * sizeof *s->running);
	s->found = calloc(IMAGES_FOUND, sizeof *s->found);
	s->image_changes = 1;
	if (!s->running || !s->found) {
		free(s->running);
		free(s->found);
		free(s);
		return NULL;
	}
	machine_rewind(s);
	return s;
}

void machine_destroy(struct machine *s)
{
	if (!s) {
		return;
	}
	machine_table_free(&s->processes);
	machine_table_free(&s->threads);
	machine_table_free(&s->images);
	machine_table_free(&s->images_by_base);
	machine_table_free(&s->debug_ids);
	machine_table_free(&s->files);
	machine_codes_free(&s->codes);
	machine_symbols_free(&s->symbols);
	machine_functions_free(&s->functions);
	machine_filters_free(&s->filters);
	machine_stacks_free(&s->stacks);
	machine_memory_free(&s->memory);
	free(s->running);
	free(s->found);
	free(s);
}

bool machine_full(const struct machine *s)
{
	return s->memory.full;
}

void machine_limit(struct machine *s, uint64_t bytes)
{
	s->memory.most = BASE_MIN(bytes, MACHINE_MEMORY_MAX);
}

uint64_t machine_bytes(const struct machine *s)
{
	return s->memory.used;
}

uint64_t machine_left_out(const struct machine *s)
{
	return s->memory.left_out;
}

/* ---- what records tell ---- */

static bool is_start(unsigned type)
{
	return type == TYPE_START;
}
static bool is_end(unsigned type)
{
	return type == TYPE_END;
}

static void add_process(struct machine *s, const struct etl_record *r, unsigned type)
{
	struct payload_process p;
	if (!payload_process(r, &p)) {
		return;
	}
	struct process_node *old = (struct process_node *)machine_table_find(&s->processes, p.pid);
	bool alive = old && old->p.end_time == UINT64_MAX;
	if (alive && !is_start(type)) {
		/* Known already: the end, or a rundown that says the same again, or more. */
		if (!old->p.name[0]) {
			old->p.name = machine_text8(&s->memory, p.name, p.name_bytes);
			old->p.command_line = p.command ? machine_text16(&s->memory, p.command, p.command_units) : "";
		}
		old->p.end_time = is_end(type) ? r->time_filetime : UINT64_MAX;
		return;
	}
	if (old && !alive && type == (HOOK_PROCESS_DEFUNCT & 0xFF)) {
		return; /* dead, but somebody still holds it */
	}
	struct process_node *n = machine_alloc(&s->memory, sizeof *n);
	if (!n) {
		return;
	}
	if (alive) { /* its end was lost */
		old->p.end_time = r->time_filetime;
	}
	n->n.id = p.pid;
	n->p = (struct machine_process){
		.pid = p.pid,
		.parent = p.parent,
		.session = p.session,
		.start_time = is_start(type) ? r->time_filetime : 0,
		.end_time = is_end(type) ? r->time_filetime : UINT64_MAX,
		.name = machine_text8(&s->memory, p.name, p.name_bytes),
		.command_line = p.command ? machine_text16(&s->memory, p.command, p.command_units) : "",
	};
	if (!n->p.name[0]) {
		/* A fork that nobody could ask for its name any more: until it runs another program it
		 * is called what its parent is called. */
		const struct process_node *parent =
			(const struct process_node *)machine_table_find(&s->processes, p.parent);
		n->p.name = parent ? parent->p.name : n->p.name;
	}
	machine_table_add(&s->processes, &n->n);
}

/* Where it began in the program, since version 1. Its end has no such field in that version, and none of its bytes. */
static uint64_t thread_code(const struct etl_record *r)
{
	return r->version < 1 ? 0 : kernel_payload_get(payload_of(r), KP_THREAD_START_SINCE_V1_WIN32_START_ADDR);
}

static void add_thread(struct machine *s, const struct etl_record *r, unsigned type)
{
	uint32_t pid, tid;
	if (!payload_thread(r, &pid, &tid)) {
		return;
	}
	struct thread_node *old = (struct thread_node *)machine_table_find(&s->threads, tid);
	bool alive = old && old->end == UINT64_MAX;
	if (alive && !is_start(type) && old->pid == pid) {
		old->end = is_end(type) ? r->time_filetime : UINT64_MAX;
		old->code = old->code ? old->code : thread_code(r);
		return;
	}
	struct thread_node *n = machine_alloc(&s->memory, sizeof *n);
	if (!n) {
		return;
	}
	if (alive) {
		old->end = r->time_filetime;
	}
	n->n.id = tid;
	n->pid = pid;
	n->start = is_start(type) ? r->time_filetime : 0;
	n->end = is_end(type) ? r->time_filetime : UINT64_MAX;
	n->code = thread_code(r);
	n->name = "";
	machine_table_add(&s->threads, &n->n);
}

/* The last name counts for all that the thread did: who names threads does so when they begin. */
static void add_thread_name(struct machine *s, const struct etl_record *r, uint16_t hook)
{
	struct payload_thread_name p;
	struct thread_node *n;
	if (!payload_thread_name(r, hook, &p) || !(n = (struct thread_node *)machine_table_find(&s->threads, p.tid)) ||
	    machine_text16_equal(p.name, BASE_MIN(p.name_units, THREAD_NAME_UNITS), n->name)) {
		return;
	}
	n->name = machine_text16(&s->memory, p.name, BASE_MIN(p.name_units, THREAD_NAME_UNITS));
}

static struct image_node *by_base_of(struct machine_node *n)
{
	return (struct image_node *)((uint8_t *)n - offsetof(struct image_node, by_base));
}

static uint64_t place_of(uint32_t pid, uint64_t base)
{
	return base ^ (uint64_t)pid << 48;
}

static void add_debug_id(struct machine *s, const struct etl_record *r)
{
	struct payload_debug_id p;
	if (!payload_debug_id(r, &p)) {
		return;
	}
	uint64_t place = place_of(p.pid, p.base);
	const struct debug_id_node *old = (const struct debug_id_node *)machine_table_find(&s->debug_ids, place);
	if (old && memcmp(old->guid, p.guid, 16) == 0 && old->age == p.age) {
		return;
	}
	struct debug_id_node *n = machine_alloc(&s->memory, sizeof *n);
	if (!n) {
		return;
	}
	n->n.id = place;
	n->base = p.base;
	n->pid = p.pid;
	n->age = p.age;
	memcpy(n->guid, p.guid, 16);
	n->name = machine_text8(&s->memory, p.name, p.name_bytes);
	machine_table_add(&s->debug_ids, &n->n);
}

/* Merged traces have these records in front of all others. */
static void add_volume(struct machine *s, const struct etl_record *r)
{
	struct payload_volume p;
	if (s->volume_count == VOLUMES_MAX || !payload_volume(r, &p) || p.device_units < 2) {
		return;
	}
	for (uint32_t i = 0; i < s->volume_count; i++) {
		if (machine_text16_equal(p.device, p.device_units, s->volumes[i].device)) {
			return;
		}
	}
	struct volume *v = &s->volumes[s->volume_count++];
	v->device = machine_text16(&s->memory, p.device, p.device_units);
	v->device_bytes = strlen(v->device);
	v->name = machine_text16(&s->memory, p.name, p.name_units);
}

/* The path as people know it; the longest device that it begins with decides. */
static const char *with_volume(struct machine *s, const char *path)
{
	const struct volume *best = NULL;
	for (uint32_t i = 0; i < s->volume_count; i++) {
		const struct volume *v = &s->volumes[i];
		if ((!best || v->device_bytes > best->device_bytes) &&
		    strncasecmp(path, v->device, v->device_bytes) == 0) {
			best = v;
		}
	}
	if (!best) {
		return path;
	}
	size_t name = strlen(best->name), rest = strlen(path + best->device_bytes);
	char *shown = machine_alloc(&s->memory, name + rest + 1);
	if (!shown) {
		return path;
	}
	memcpy(shown, best->name, name);
	memcpy(shown + name, path + best->device_bytes, rest + 1);
	return shown;
}

static void add_image(struct machine *s, const struct etl_record *r, uint16_t hook)
{
	struct payload_image p;
	if (!payload_image(r, &p)) {
		return;
	}
	bool loaded = hook == KERNEL_HOOK_IMAGE_LOAD;
	bool unloaded = hook == KERNEL_HOOK(KERNEL_GROUP_IMAGE, KP_IMAGE_UN_LOAD);
	uint64_t place = place_of(p.pid, p.base);
	struct machine_node *same = machine_table_find(&s->images_by_base, place);
	struct image_node *n = same ? by_base_of(same) : NULL;
	if (n && (n->i.pid != p.pid || n->i.base != p.base || n->i.unload_time != UINT64_MAX)) {
		n = NULL;
	}
	if (n && !loaded && !unloaded) {
		return; /* it is said again */
	}
	s->image_changes++;
	if (n && !loaded) {
		n->i.unload_time = r->time_filetime;
		return;
	}
	if (n) { /* its end was lost */
		n->i.unload_time = r->time_filetime;
	}
	n = machine_alloc(&s->memory, sizeof *n);
	if (!n) {
		return;
	}
	n->n.id = p.pid;
	n->i = (struct machine_image){
		.base = p.base,
		.size = p.size,
		.pid = p.pid,
		.checksum = p.checksum,
		.time_date_stamp = p.time_date_stamp,
		.load_time = loaded ? r->time_filetime : 0,
		.unload_time = unloaded ? r->time_filetime : UINT64_MAX,
		.path = with_volume(s, machine_text16(&s->memory, p.path, p.path_units)),
	};
	machine_table_add(&s->images, &n->n);
	n->by_base.id = place;
	machine_table_add(&s->images_by_base, &n->by_base);
}

static void add_file(struct machine *s, const struct etl_record *r, unsigned type)
{
	uint64_t key;
	const uint8_t *path;
	uint32_t units;
	if (!payload_file(r, &key, &path, &units)) {
		return;
	}
	struct file_node *old = (struct file_node *)machine_table_find(&s->files, key);
	bool same = old && machine_text16_equal(path, units, old->path);
	if (same) {
		old->to = type == KP_FILE_IO_FILE_DELETE ? r->time_filetime : UINT64_MAX;
		return;
	}
	struct file_node *n = machine_alloc(&s->memory, sizeof *n);
	if (!n) {
		return;
	}
	n->n.id = key;
	n->path = machine_text16(&s->memory, path, units);
	n->to = type == KP_FILE_IO_FILE_DELETE ? r->time_filetime : UINT64_MAX;
	/* A rundown names files that were opened some time before. */
	if (type == KP_FILE_IO_NAME || type == KP_FILE_IO_FILE_CREATE) {
		n->from = r->time_filetime;
	} else if (old) {
		n->from = BASE_MIN(old->to, r->time_filetime);
	}
	machine_table_add(&s->files, &n->n);
}

void machine_follow(struct machine *s, const struct etl_record *r)
{
	const struct kernel_payload k = payload_of(r);
	if (r->hook == HOOK_CSWITCH && kernel_payload_has(k, KP_THREAD_CSWITCH_SINCE_V1_OLD_THREAD_ID)) {
		s->running[r->cpu % CPUS] = kernel_payload_get32(k, KP_THREAD_CSWITCH_SINCE_V1_NEW_THREAD_ID);
	}
}

void machine_rewind(struct machine *s)
{
	memset(s->running, 0xFF, CPUS * sizeof *s->running);
}

void machine_add(struct machine *s, const struct etl_record *r)
{
	uint16_t hook = payload_hook(r);
	unsigned type = hook & 0xFF;
	if (!r->payload) {
		return;
	}
	if (hook == 0) {
		if (r->type == ETL_RT_EVENT32 || r->type == ETL_RT_EVENT64) {
			machine_codes_add(&s->codes, &s->memory, r);
			machine_functions_add(&s->functions, &s->memory, r);
			machine_filters_add(&s->filters, r);
		} else {
			add_debug_id(s, r);
			add_volume(s, r);
		}
		return;
	}
	switch (hook >> 8) {
	case KERNEL_GROUP_PROCESS:
		if (hook == KERNEL_HOOK_IMAGE_LOAD) {
			add_image(s, r, hook);
		} else if (type <= TYPE_DC_END || hook == HOOK_PROCESS_DEFUNCT) {
			add_process(s, r, type);
		}
		break;
	case KERNEL_GROUP_THREAD:
		if (type >= TYPE_START && type <= TYPE_DC_END) {
			add_thread(s, r, type);
			add_thread_name(s, r, hook);
		} else if (hook == HOOK_THREAD_NAME) {
			add_thread_name(s, r, hook);
		} else {
			machine_follow(s, r);
		}
		break;
	case KERNEL_GROUP_IMAGE:
		if (type >= TYPE_END && type <= TYPE_DC_END) {
			add_image(s, r, hook);
		}
		break;
	case KERNEL_GROUP_FILE:
		if (type == KP_FILE_IO_NAME || type == KP_FILE_IO_FILE_CREATE || type == KP_FILE_IO_FILE_DELETE ||
		    type == KP_FILE_IO_FILE_RUNDOWN) {
			add_file(s, r, type);
		}
		break;
	case KERNEL_GROUP_STACK:
		if ((s->flags & MACHINE_STACKS) &&
		    (hook == HOOK_STACK || (hook >= HOOK_STACK_KEY_CREATE && hook <= HOOK_STACK_USER_KEY))) {
			machine_stacks_add(&s->stacks, &s->memory, hook, r);
		}
		break;
	default: break;
	}
}

/* ---- questions ---- */

bool machine_thread_at(const struct machine *s, uint32_t tid, uint64_t time, struct machine_thread *ret)
{
	const struct thread_node *n = (const struct thread_node *)machine_table_find(&s->threads, tid);
	const struct thread_node *best = n;
	for (; n; n = (const struct thread_node *)n->n.older) {
		const struct thread_node *older = (const struct thread_node *)n->n.older;
		best = n; /* the oldest when all came later */
		if (time >= n->start && !(older && n->start == 0 && time <= older->end)) {
			break;
		}
	}
	if (best) {
		*ret = (struct machine_thread){best->pid, best->start, best->end, best->code, best->name};
	}
	return best != NULL;
}

bool machine_watched(const struct machine *s, uint32_t pid, uint64_t time)
{
	return machine_filters_watch(&s->filters, s, pid, time);
}

uint32_t machine_pid_of_thread(const struct machine *s, uint32_t tid, uint64_t time)
{
	struct machine_thread t;
	if (tid == 0) {
		return 0; /* the idle threads, one for each processor */
	}
	return machine_thread_at(s, tid, time, &t) ? t.pid : MACHINE_NO_ID;
}

uint32_t machine_running(const struct machine *s, uint16_t cpu)
{
	return s->running[cpu % CPUS];
}

/* A field that says who; MACHINE_NO_ID: it is not there. */
static uint32_t who_in(const struct etl_record *r, uint32_t field)
{
	struct kernel_payload k = payload_of(r);
	return kernel_payload_has(k, field) ? kernel_payload_get32(k, field) : MACHINE_NO_ID;
}

/* Who asked the disk, which says it since version 3. */
static uint32_t issuing_thread(const struct etl_record *r, unsigned type)
{
	if (r->version < 3) {
		return MACHINE_NO_ID;
	}
	switch (type) {
	case KP_DISK_IO_READ:
	case KP_DISK_IO_WRITE: return who_in(r, KP_DISK_IO_READ_SINCE_V3_ISSUING_THREAD_ID);
	case KP_DISK_IO_READ_INIT:
	case KP_DISK_IO_WRITE_INIT:
	case KP_DISK_IO_FLUSH_INIT: return who_in(r, KP_DISK_IO_READ_INIT_SINCE_V3_ISSUING_THREAD_ID);
	case KP_DISK_IO_FLUSH_BUFFERS: return who_in(r, KP_DISK_IO_FLUSH_BUFFERS_SINCE_V3_ISSUING_THREAD_ID);
	case KP_DISK_IO_OPTICAL_READ:
	case KP_DISK_IO_OPTICAL_WRITE: return who_in(r, KP_DISK_IO_OPTICAL_READ_SINCE_V3_ISSUING_THREAD_ID);
	case KP_DISK_IO_OPTICAL_FLUSH_BUFFERS:
		return who_in(r, KP_DISK_IO_OPTICAL_FLUSH_BUFFERS_SINCE_V3_ISSUING_THREAD_ID);
	case KP_DISK_IO_OPTICAL_READ_INIT:
	case KP_DISK_IO_OPTICAL_WRITE_INIT:
	case KP_DISK_IO_OPTICAL_FLUSH_INIT: return who_in(r, KP_DISK_IO_OPTICAL_READ_INIT_SINCE_V3_ISSUING_THREAD_ID);
	default: return MACHINE_NO_ID;
	}
}

/* Of what processes do beside beginning and ending. */
static uint32_t process_of(const struct etl_record *r, unsigned type)
{
	switch (type) {
	case KP_PROCESS_TERMINATE: return who_in(r, KP_PROCESS_TERMINATE_SINCE_V2_PROCESS_ID);
	case KP_PROCESS_PERF_CTR:
	case KP_PROCESS_PERF_CTR_RUNDOWN: return who_in(r, KP_PROCESS_PERF_CTR_SINCE_V2_PROCESS_ID);
	case KP_PROCESS_IN_SWAP: return who_in(r, KP_PROCESS_IN_SWAP_SINCE_V2_PROCESS_ID);
	default: break;
	}
	if (type >= KP_PROCESS_WAKE_CHARGE_USER && type <= KP_PROCESS_WAKE_DROP_PRESERVE_PROCESS) {
		return who_in(r, KP_PROCESS_WAKE_CHARGE_USER_SINCE_V2_PROCESS_ID);
	}
	return r->pid;
}

/* Whose connection it is. */
static uint32_t process_of_net(const struct etl_record *r, unsigned group)
{
	_Static_assert(KP_TCP_IP_SEND_IPV4_SINCE_V1_PID == KP_UDP_IP_SEND_IPV4_SINCE_V1_PID &&
			       KP_TCP_IP_SEND_IPV4_SINCE_V1_PID == KP_TCP_IP_RECV_IPV4_SINCE_V1_PID &&
			       KP_TCP_IP_SEND_IPV4_SINCE_V1_PID == KP_TCP_IP_CONNECT_IPV4_SINCE_V1_PID &&
			       KP_TCP_IP_SEND_IPV4_SINCE_V1_PID == KP_TCP_IP_SEND_IPV6_SINCE_V2_PID &&
			       KP_TCP_IP_SEND_IPV4_SINCE_V1_PID == KP_TCP_IP_RECV_IPV6_SINCE_V2_PID &&
			       KP_TCP_IP_SEND_IPV4_SINCE_V1_PID == KP_TCP_IP_CONNECT_IPV6_SINCE_V2_PID &&
			       KP_TCP_IP_SEND_IPV4_SINCE_V1_PID == KP_UDP_IP_SEND_IPV6_SINCE_V2_PID,
		       "all begin with it");
	if (r->version >= 1) {
		return who_in(r, KP_TCP_IP_SEND_IPV4_SINCE_V1_PID);
	}
	return group == KERNEL_GROUP_TCP ? who_in(r, KP_TCP_IP_SEND_IPV4_V0_PID) : r->pid;
}

struct machine_who machine_who(const struct machine *s, const struct etl_record *r)
{
	struct machine_who w = {r->pid, r->tid};
	uint16_t hook = payload_hook(r);
	unsigned type = hook & 0xFF;
	_Static_assert(KP_PERF_INFO_SAMPLE_PROF_SINCE_V0_THREAD_ID == KP_PERF_INFO_PMC_COUNTER_PROF_SINCE_V0_THREAD_ID,
		       "alike");
	struct payload_process process;
	struct payload_image image;
	uint32_t tid = MACHINE_NO_ID;
	switch (hook >> 8) {
	case 0: return w;
	case KERNEL_GROUP_PROCESS:
		if (hook == KERNEL_HOOK_IMAGE_LOAD) {
			w.pid = payload_image(r, &image) ? image.pid : who_in(r, KP_IMAGE_LOAD_SINCE_V1_PROCESS_ID);
		} else if (type <= TYPE_DC_END || hook == HOOK_PROCESS_DEFUNCT) {
			w.pid = payload_process(r, &process) ? process.pid
				: r->version < 1             ? who_in(r, KP_PROCESS_START_V0_PROCESS_ID)
							     : who_in(r, KP_PROCESS_START_SINCE_V1_PROCESS_ID);
		} else {
			w.pid = process_of(r, type);
		}
		return w;
	case KERNEL_GROUP_IMAGE:
		if (type <= TYPE_DC_END) {
			w.pid = payload_image(r, &image) ? image.pid : who_in(r, KP_IMAGE_LOAD_SINCE_V1_PROCESS_ID);
		}
		return w;
	case KERNEL_GROUP_THREAD:
		if (type <= TYPE_DC_END) {
			return payload_thread(r, &w.pid, &w.tid) ? w
								 : (struct machine_who){MACHINE_NO_ID, MACHINE_NO_ID};
		}
		tid = hook == HOOK_CSWITCH ? who_in(r, KP_THREAD_CSWITCH_SINCE_V1_NEW_THREAD_ID) : MACHINE_NO_ID;
		break;
	case KERNEL_GROUP_TCP:
	case KERNEL_GROUP_UDP:
		if (type != KP_TCP_IP_FAIL) { /* which says no process */
			w.pid = process_of_net(r, hook >> 8);
		}
		return w;
	case KERNEL_GROUP_STACK:
		if (hook == HOOK_STACK || hook >= HOOK_STACK_KERNEL_KEY) {
			return (struct machine_who){who_in(r, KP_STACK_WALK_STACK_SINCE_V0_PROCESS_ID),
						    who_in(r, KP_STACK_WALK_STACK_SINCE_V0_THREAD_ID)};
		}
		return w;
	case KERNEL_GROUP_DISK: tid = issuing_thread(r, type); break;
	case KERNEL_GROUP_MEMORY:
		tid = hook == HOOK_HARD_FAULT ? who_in(r, KP_PAGE_FAULT_HARD_FAULT_SINCE_V0_TTHREAD_ID) : MACHINE_NO_ID;
		break;
	case KERNEL_GROUP_PERF:
		tid = hook == HOOK_SAMPLE || hook == HOOK_PMC_SAMPLE
			      ? who_in(r, KP_PERF_INFO_SAMPLE_PROF_SINCE_V0_THREAD_ID)
			      : MACHINE_NO_ID;
		break;
	default: break;
	}
	if (tid == MACHINE_NO_ID) {
		if (w.tid != MACHINE_NO_ID) {
			return w;
		}
		tid = machine_running(s, r->cpu);
	}
	if (tid != MACHINE_NO_ID) {
		w.tid = tid;
		w.pid = machine_pid_of_thread(s, tid, r->time_filetime);
	}
	return w;
}

const struct machine_process *machine_process_at(const struct machine *s, uint32_t pid, uint64_t time)
{
	const struct process_node *n = (const struct process_node *)machine_table_find(&s->processes, pid);
	const struct process_node *best = n;
	for (; n; n = (const struct process_node *)n->n.older) {
		const struct process_node *older = (const struct process_node *)n->n.older;
		best = n;
		/* When it began nobody told, but not before the end of the one before. */
		if (time >= n->p.start_time && !(older && n->p.start_time == 0 && time <= older->p.end_time)) {
			break;
		}
	}
	return best ? &best->p : NULL;
}

/* The answer, and for which time it is the answer. */
static void image_look(const struct machine *s, struct image_found *f, uint64_t time)
{
	const struct image_node *n = (const struct image_node *)machine_table_find(&s->images, f->pid);
	f->from = 0;
	f->to = UINT64_MAX;
	f->image = NULL;
	for (; n && !(f->image && f->image->load_time); n = (const struct image_node *)n->n.older) {
		const struct machine_image *i = &n->i;
		if (f->address < i->base || f->address - i->base >= i->size || i->load_time > i->unload_time) {
			continue;
		}
		if (time < i->load_time) {
			f->to = BASE_MIN(f->to, i->load_time - 1);
		} else if (time > i->unload_time) {
			f->from = BASE_MAX(f->from, i->unload_time + 1);
		} else {
			f->from = BASE_MAX(f->from, i->load_time);
			f->to = BASE_MIN(f->to, i->unload_time);
			/* Of those whose loading nobody told, the one that went first. */
			f->image = f->image && f->image->unload_time <= i->unload_time ? f->image : i;
		}
	}
}

static const struct image_found *found_in(const struct machine *s, uint32_t pid, uint64_t address, uint64_t time)
{
	uint64_t h = (address ^ (uint64_t)pid << 40) * 0x9E3779B97F4A7C15ull;
	struct image_found *f = &s->found[h >> (64 - 13)];
	_Static_assert(IMAGES_FOUND == 1u << 13, "the shift above");
	if (f->changes != s->image_changes || f->pid != pid || f->address != address || time < f->from ||
	    time > f->to) {
		f->changes = s->image_changes;
		f->pid = pid;
		f->address = address;
		image_look(s, f, time);
	}
	return f;
}

/* Where an address is looked for: in the process, then in the kernel, whose modules are those of the idle process or of
 * System. */
static const struct machine_image *image_in(const struct machine *s, uint32_t pid, uint64_t address, uint64_t time,
					    uint64_t *ret_from, uint64_t *ret_to)
{
	const uint32_t owners[] = {pid, 0, 4};
	const struct machine_image *i = NULL;
	*ret_from = 0;
	*ret_to = UINT64_MAX;
	for (size_t k = 0; k < BASE_ARRAY_LEN(owners) && !i; k++) {
		if (k && owners[k] == pid) {
			continue;
		}
		const struct image_found *f = found_in(s, owners[k], address, time);
		*ret_from = BASE_MAX(*ret_from, f->from);
		*ret_to = BASE_MIN(*ret_to, f->to);
		i = f->image;
	}
	return i;
}

const struct machine_image *machine_image_at(const struct machine *s, uint32_t pid, uint64_t address, uint64_t time)
{
	uint64_t from, to;
	return image_in(s, pid, address, time, &from, &to);
}

void machine_address_span(const struct machine *s, uint32_t pid, uint64_t address, uint64_t time, uint64_t *ret_from,
			  uint64_t *ret_to)
{
	uint64_t from, to;
	image_in(s, pid, address, time, ret_from, ret_to);
	machine_codes_span(&s->codes, pid, address, time, &from, &to);
	*ret_from = BASE_MAX(*ret_from, from);
	*ret_to = BASE_MIN(*ret_to, to);
}

bool machine_knows_addresses(const struct machine *s, uint32_t pid)
{
	return machine_table_find(&s->images, pid) || machine_table_find(&s->codes.processes, pid);
}

bool machine_debug_id_of(const struct machine *s, const struct machine_image *i, struct machine_debug_id *ret)
{
	const struct debug_id_node *n =
		(const struct debug_id_node *)machine_table_find(&s->debug_ids, place_of(i->pid, i->base));
	if (!n || n->pid != i->pid || n->base != i->base) {
		return false;
	}
	*ret = (struct machine_debug_id){n->guid, n->age, n->name};
	return true;
}

const char *machine_code_at(struct machine *s, uint32_t pid, uint64_t address, uint64_t time, uint64_t *ret_start)
{
	return machine_codes_at(&s->codes, pid, address, time, ret_start);
}

const char *machine_function_at(struct machine *s, const struct machine_image *i, uint64_t address, uint64_t *ret_start)
{
	struct machine_debug_id d;
	uint64_t start, later_start;
	/* What the trace says was so; the file of today may be gone, or know more functions. */
	const char *name = machine_functions_at(&s->functions, i, address - i->base, &start);
	bool unnamed = !name || strncmp(name, "0x", 2) == 0; /* known by its address alone (symbol_frames.c) */
	const char *later =
		unnamed ? machine_symbols_at(&s->symbols, &s->memory, i, machine_debug_id_of(s, i, &d) ? &d : NULL,
					     address - i->base, &later_start)
			: NULL;
	if (later) {
		*ret_start = i->base + later_start;
		return later;
	}
	if (!name) {
		return NULL;
	}
	*ret_start = i->base + start;
	return machine_symbols_readable(&s->symbols, &s->memory, name);
}

const char *machine_symbol_file(struct machine *s, const struct machine_image *i, const char **ret_why)
{
	struct machine_debug_id d;
	return machine_symbols_file(&s->symbols, &s->memory, i, machine_debug_id_of(s, i, &d) ? &d : NULL, ret_why);
}

bool machine_symbol_folder(struct machine *s, const char *folder)
{
	return machine_symbols_folder(&s->symbols, &s->memory, folder);
}

const char *machine_file(struct machine *s, uint64_t key, uint64_t time)
{
	struct file_node *n = (struct file_node *)machine_table_find(&s->files, key);
	struct file_node *best = n;
	for (; n; n = (struct file_node *)n->n.older) {
		best = n;
		if (time >= n->from) {
			break;
		}
	}
	if (best && !best->shown) {
		best->shown = with_volume(s, best->path);
	}
	return best ? best->shown : NULL;
}

/* The field that says which file an event is about; 0: none. */
static uint32_t file_field(const struct etl_record *r)
{
	unsigned type = r->hook & 0xFF;
	bool late = r->version >= 3;
	switch (r->hook >> 8) {
	case KERNEL_GROUP_DISK:
		return type == KP_DISK_IO_READ || type == KP_DISK_IO_WRITE ? KP_DISK_IO_READ_SINCE_V0_FILE_OBJECT : 0;
	case KERNEL_GROUP_MEMORY: return r->hook == HOOK_HARD_FAULT ? KP_PAGE_FAULT_HARD_FAULT_SINCE_V0_FILE_OBJECT : 0;
	case KERNEL_GROUP_FILE:
		if (type == KP_FILE_IO_READ || type == KP_FILE_IO_WRITE) {
			return late ? KP_FILE_IO_READ_SINCE_V3_FILE_KEY : KP_FILE_IO_READ_V2_FILE_KEY;
		}
		_Static_assert(KP_FILE_IO_CLEANUP_SINCE_V3_FILE_KEY == KP_FILE_IO_SET_INFO_SINCE_V3_FILE_KEY &&
				       KP_FILE_IO_CLEANUP_V2_FILE_KEY == KP_FILE_IO_SET_INFO_V2_FILE_KEY &&
				       KP_FILE_IO_CLEANUP_SINCE_V3_FILE_KEY == KP_FILE_IO_DIR_ENUM_SINCE_V3_FILE_KEY &&
				       KP_FILE_IO_CLEANUP_V2_FILE_KEY == KP_FILE_IO_DIR_ENUM_V2_FILE_KEY,
			       "alike");
		if (type > KP_FILE_IO_CREATE && type < KP_FILE_IO_OPERATION_END) {
			return late ? KP_FILE_IO_CLEANUP_SINCE_V3_FILE_KEY : KP_FILE_IO_CLEANUP_V2_FILE_KEY;
		}
		return type >= KP_FILE_IO_MAP_FILE && type <= KP_FILE_IO_MAP_FILE_DCEND
			       ? KP_FILE_IO_MAP_FILE_SINCE_V2_FILE_OBJECT
			       : 0;
	default: return 0;
	}
}

uint64_t machine_file_key(const struct etl_record *r)
{
	uint32_t field = file_field(r);
	return field ? kernel_payload_get(payload_of(r), field) : 0;
}

uint32_t machine_stack(struct machine *s, uint64_t time_raw, uint32_t tid, const uint64_t **ret,
		       struct machine_who *ret_who)
{
	return machine_stacks_get(&s->stacks, time_raw, tid, ret, &ret_who->pid, &ret_who->tid);
}
