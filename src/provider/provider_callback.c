/* SPDX-License-Identifier: MIT
 * The callback thread.
 */
#include "provider/provider_callback.h"
#include "provider/provider_dest.h"
#include "provider/provider_scarce.h"
#include "provider/provider_unload.h"
#include "etw/values/provider_control.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define SCARCE_NS 200000000ull /* between tries to create the other threads */

static struct provider_job *jobs;
static struct provider_job **jobs_tail = &jobs;
static bool thread_runs;
static bool busy;                    /* a thread is calling */
static uint32_t caller PROVIDER_FEW; /* its id */
static bool some_due;                /* some registration's */
static bool sweep;                   /* there are registrations of modules that are gone */
static __thread bool on_thread __attribute__((tls_model("initial-exec"))); /* this is the callback thread */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* WNODE_HEADER [doc]: what a classic callback is handed. */
struct wnode {
	uint32_t buffer_size;
	uint32_t provider_id;
	uint64_t historical_context;
	uint64_t time_stamp;
	struct guid guid;
	uint32_t client_context;
	uint32_t flags;
};
_Static_assert(sizeof(struct wnode) == 48, "as on Windows x64");
#define WNODE_TRACED_GUID 0x20000u
enum wmi_code {
	WMI_ENABLE = 4,
	WMI_DISABLE = 5,
	WMI_CAPTURE = 10,
};

/* EVENT_FILTER_DESCRIPTOR [doc] */
struct filter_descriptor {
	uint64_t ptr;
	uint32_t size;
	uint32_t type;
};

const void *provider_code_module(const void *code)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;
	if (_dl_find_object((void *)(uintptr_t)code, &found) == 0) {
		return found.dlfo_link_map;
	}
	return NULL;
#else
	Dl_info info;
	return dladdr(code, &info) ? info.dli_fbase : NULL;
#endif
}

int provider_callback_push_locked(uint32_t index, uint32_t dest, const struct provider_notice *n)
{
	size_t bytes = n->filter ? n->filter_bytes - 4 : 0;
	struct provider_job *j = provider_alloc(sizeof *j + bytes);
	if (!j) {
		/* What is on and what is off is known, and said later; what a capture asked for is not. */
		struct provider_registration *reg = &provider_registrations[index];
		if (n->code != EVENT_CONTROL_CODE_CAPTURE_STATE) {
			reg->due |= 1u << dest;
			some_due = true;
			pthread_cond_broadcast(&provider_changed);
		}
		return -ENOMEM;
	}
	*j = (struct provider_job){
		.heap = true,
		.index = index,
		.generation = provider_registrations[index].generation,
		.dest = dest,
		.serial = dest < BASE_ARRAY_LEN(provider_dests) ? provider_dests[dest].serial : 0,
		.notice = *n,
	};
	if (n->filter) {
		memcpy(j->filter, n->filter + 4, bytes);
		j->filter_type = le32_get(n->filter);
		j->filter_bytes = (uint32_t)bytes;
	}
	*jobs_tail = j;
	jobs_tail = &j->next;
	provider_registrations[index].jobs_queued++;
	pthread_cond_broadcast(&provider_changed);
	return 0;
}

static uint32_t call_classic(provider_wmi_fn fn, void *context, const struct guid *guid,
			     const struct provider_notice *n)
{
	static const int codes[] = {WMI_DISABLE, WMI_ENABLE, WMI_CAPTURE};
	struct wnode node = {
		.buffer_size = sizeof node,
		.historical_context = n->classic_handle,
		.time_stamp = clock_filetime(),
		.guid = *guid,
		.flags = WNODE_TRACED_GUID,
	};
	uint32_t size = sizeof node;
	return fn(codes[n->code], context, &size, &node);
}

static void call_enable(provider_enable_fn fn, void *context, struct provider_job *j)
{
	const struct provider_notice *n = &j->notice;
	struct filter_descriptor filter = {
		.ptr = (uint64_t)(uintptr_t)j->filter,
		.size = j->filter_bytes,
		.type = j->filter_type,
	};
	fn(&n->source, n->code, n->level, n->any, n->all, j->filter_type ? &filter : NULL, context);
}

/* The registration was called (or there is nobody to call), unless it is another one by now. */
static void called(const struct provider_job *j, uint32_t result)
{
	struct provider_registration *reg = &provider_registrations[j->index];
	if (reg->generation == j->generation) {
		reg->wmi_result = result;
		reg->running = false;
		reg->jobs_done++;
	}
}

static void answer(const struct provider_job *j)
{
	if (j->notice.wants_answer && j->dest < BASE_ARRAY_LEN(provider_dests) &&
	    provider_dests[j->dest].serial == j->serial) {
		provider_post_notified_locked(&provider_dests[j->dest], j->notice.notify_id);
	}
	pthread_cond_broadcast(&provider_changed);
}

static void run(struct provider_job *j);

/* Without memory: no filter, and the answer was sent. */
static void run_due(void)
{
	some_due = false;
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		for (uint32_t d = 0; d < PROVIDER_DESTS; d++) {
			const struct provider_said *said = &reg->said[d];
			if ((reg->due >> d & 1) == 0) {
				continue;
			}
			reg->due &= ~(1u << d);
			if (reg->state == PROVIDER_REG_LIVE) {
				struct provider_job j = {.index = i, .generation = reg->generation, .dest = d};
				struct provider_notice n = {
					.code = said->on ? EVENT_CONTROL_CODE_ENABLE_PROVIDER
							 : EVENT_CONTROL_CODE_DISABLE_PROVIDER,
					.level = said->level,
					.any = said->any,
					.all = said->all,
					.classic_handle = said->classic_handle,
				};
				j.notice = reg->flags & PROVIDER_HOT_CLASSIC ? n : provider_notice_merged(reg, &n);
				reg->jobs_queued++;
				run(&j);
			}
		}
	}
}

/* The application's code ended the thread that called it (pthread_exit, or somebody cancelled it): the others
 * may wait for it, and go on being told. */
static void thread_ends(void *arg)
{
	struct provider_job *j = arg;
	inside = false;
	pthread_mutex_lock(&provider_lock);
	called(j, provider_registrations[j->index].wmi_result);
	answer(j);
	if (j->heap) {
		provider_free(j);
	}
	busy = false;
	if (on_thread) {
		thread_runs = false;
		provider_callback_start_locked();
	}
	pthread_mutex_unlock(&provider_lock);
}

static __attribute__((noinline)) uint32_t call(const struct provider_registration *reg, struct provider_job *j)
{
	volatile uint32_t result = 0;
	pthread_cleanup_push(thread_ends, j);
	if (reg->wmi_fn) {
		result = call_classic(reg->wmi_fn, reg->context, &reg->guid, &j->notice);
	} else {
		call_enable(reg->enable_fn, reg->context, j);
	}
	pthread_cleanup_pop(0);
	return result;
}

/* A module that is being unloaded is waited for, and says so before (provider_unload.c): what is there now stays
 * while `running` is set. */
static void run(struct provider_job *j)
{
	struct provider_registration *reg = &provider_registrations[j->index];
	bool live = reg->state == PROVIDER_REG_LIVE && reg->generation == j->generation;
	if (live) {
		struct provider_registration copy = *reg;
		uint32_t result = 0;
		const void *code =
			copy.wmi_fn ? (const void *)(uintptr_t)copy.wmi_fn : (const void *)(uintptr_t)copy.enable_fn;
		if (code && provider_module_is_there(reg->module, code)) {
			reg->running = true;
			pthread_mutex_unlock(&provider_lock);
			inside = true;
			result = call(&copy, j);
			inside = false;
			pthread_mutex_lock(&provider_lock);
		} else if (code) { /* unloaded, and nobody could tell us */
			reg->module->gone_ns = clock_read_system_ns();
			order_store_release(&reg->module->gone, 1u);
			sweep = true;
		}
		called(j, result);
	}
	answer(j);
}

/* All that is to be told. One thread at a time. */
static void run_all(void)
{
	busy = true;
	caller = (uint32_t)syscall(SYS_gettid);
	while (jobs || some_due) {
		struct provider_job *j = jobs;
		if (!j) {
			run_due();
			continue;
		}
		jobs = j->next;
		if (!jobs) {
			jobs_tail = &jobs;
		}
		run(j);
		provider_free(j);
	}
	busy = false;
	pthread_cond_broadcast(&provider_changed);
}

/* Until there is something to tell. */
static void wait_locked(void)
{
	uint64_t ns = sweep ? provider_module_sweep_locked(false) : UINT64_MAX;
	sweep = ns != UINT64_MAX;
	if (provider_is_scarce() && !provider_threads_try_locked()) {
		ns = BASE_MIN(ns, SCARCE_NS);
	}
	if ((jobs || some_due) && !busy) {
		return;
	}
	if (ns == UINT64_MAX) {
		pthread_cond_wait(&provider_changed, &provider_lock);
		return;
	}
	struct timespec until = provider_deadline((uint32_t)(ns / 1000000) + 1);
	pthread_cond_timedwait(&provider_changed, &provider_lock, &until);
}

static void *callback_main(void *arg)
{
	on_thread = true;
	pthread_mutex_lock(&provider_lock);
	for (;;) {
		if ((jobs || some_due) && !busy) {
			run_all();
		}
		wait_locked();
	}
	return NULL;
}

bool provider_callback_start_locked(void)
{
	if (!thread_runs) {
		pthread_t t;
		/* The application's code runs on it: a stack of the usual size. */
		thread_runs = provider_thread_create(&t, callback_main, NULL, 0) == 0;
		if (thread_runs) {
			pthread_detach(t);
		}
	}
	return thread_runs;
}

void provider_callback_run_here_locked(void)
{
	if (!thread_runs && !busy) {
		run_all();
	}
}

void provider_callback_sweep_locked(void)
{
	sweep = true;
	pthread_cond_broadcast(&provider_changed);
}

bool provider_callback_is_self(void)
{
	return inside;
}

bool provider_callback_is_runnable(void)
{
	return busy && provider_patience_runnable(caller);
}

void provider_callback_forget(void)
{
	/* The jobs leak: freeing is not for signal handlers. They are few. */
	jobs = NULL;
	jobs_tail = &jobs;
	thread_runs = false;
	busy = false;
	on_thread = false;
	inside = false;
	sweep = true; /* the parent's thread may have been about to */
}
