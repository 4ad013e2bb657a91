/* SPDX-License-Identifier: MIT
 *
 * Registrations: the cold half. Everything here is under provider_lock, except in a forked child
 * before its second thread (provider_fork.c re-initialises the lock).
 */
#ifndef PROVIDER_PROVIDER_REGISTRY_H
#define PROVIDER_PROVIDER_REGISTRY_H

#include <pthread.h>

#include "provider/provider_region.h"

/* EnableCallback and WMIDPREQUEST in our spelling; same ABI. */
typedef void (*provider_enable_fn)(const struct guid *source, uint32_t code, uint8_t level, uint64_t any, uint64_t all,
				   void *filter, void *context);
typedef uint32_t (*provider_wmi_fn)(int code, void *context, uint32_t *size, void *buffer);

/* What one destination says about one registration. */
struct provider_said {
	bool registered;   /* REGISTERED arrived */
	bool traits_sent;  /* with REGISTER */
	bool traits_asked; /* a TRAITS is on its way: the answer to REGISTER says nothing of them */
	bool traits_known; /* the daemon has them */
	bool late;         /* it was told that nobody waits for its answer any longer */
	bool on;
	uint8_t level;
	uint64_t any;
	uint64_t all;
	uint64_t classic_handle; /* 0 none */
};

enum provider_reg_state {
	PROVIDER_REG_FREE = 0,
	PROVIDER_REG_LIVE,
	PROVIDER_REG_LEAVING, /* unregistered; the index waits for etwd's answer */
};

struct provider_registration {
	enum provider_reg_state state;
	uint32_t generation;
	struct guid guid;
	provider_enable_fn enable_fn; /* may be NULL */
	provider_wmi_fn wmi_fn;       /* classic only */
	void *context;
	struct provider_module *module; /* the callback's, else of who registered; see provider_unload.h */
	bool module_only;               /* the latter: there is no callback */
	char *binary;                   /* malloc; NULL: not to be told */
	uint8_t *traits;                /* malloc; NULL none */
	uint32_t traits_bytes;
	uint32_t flags; /* enum provider_hot_flags, copied into hot */
	struct provider_said said[PROVIDER_DESTS];
	struct provider_said before_fork;              /* merged; of the parent */
	bool forked;                                   /* the callback has not been told since */
	const struct ctl_entry *entry[PROVIDER_DESTS]; /* provider_entry_off when not attached */
	uint32_t jobs_queued;                          /* callbacks */
	uint32_t jobs_done;
	uint32_t wmi_result; /* of the latest classic callback */
	uint32_t due;        /* bit mask of destinations whose word its callback was not told, for want of memory */
	uint32_t leaving;    /* bit mask of destinations whose answer to UNREGISTER is awaited */
	uint32_t inproc_offset;
	bool inproc_known;
	bool running; /* its callback is being called */
};

/* Together, so that a process with few registrations touches one page of it. */
struct provider_cold {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* CLOCK_MONOTONIC; something below the lock changed */
	uint32_t top;           /* indices at or above were never used */
	uint32_t next_index;
	bool initialised;
	bool inproc_wanted; /* there is, or was, a private session */
	struct provider_registration registration[PROVIDER_REGISTRATIONS_MAX];
};
extern struct provider_cold provider_cold __attribute__((visibility("hidden")));
#define provider_lock              (provider_cold.lock)
#define provider_changed           (provider_cold.changed)
#define provider_registrations     (provider_cold.registration)
#define provider_registrations_top (provider_cold.top)

/* Initialise lock and condition (first registration, and again in a forked child). */
void provider_registry_init(void);

struct provider_register_args {
	struct guid guid;
	provider_enable_fn enable_fn;
	provider_wmi_fn wmi_fn;
	void *context;
	bool classic;
	const void *caller; /* code that registers; NULL: not told */
};
/* Writes *ret_handle, then tells the daemons and waits a little. -ENOSPC: 1,024 reached. */
int provider_register(const struct provider_register_args *a, uint64_t *ret_handle, uint32_t *ret_wmi_result);
/* -EBADF for a handle that is not live (or not of that kind). */
int provider_unregister(uint64_t handle, bool classic);
/* Traits once: -EEXIST the second time, -EINVAL for a bad blob, -EBADF. */
void provider_traits_known_locked(uint32_t index);
int provider_set_traits(uint64_t handle, const void *blob, uint32_t bytes);
int provider_set_typed(uint64_t handle, bool typed);
int provider_track_binary(uint64_t handle, const char *path);

/* ---- for the listener; the lock is held ------------------------------------------------------ */

/* Recompute hot->entry from entry[]. */
void provider_refresh_locked(uint32_t index);
/* A daemon's word about a registration: state, callback. */
struct provider_notice {
	uint32_t code; /* 0, 1, 2 */
	uint8_t level;
	uint64_t any;
	uint64_t all;
	struct guid source;
	const uint8_t *filter; /* may be NULL: u32 type, then bytes */
	size_t filter_bytes;
	bool wants_answer;
	uint32_t notify_id;
	uint64_t classic_handle;
};
/* One that tells of on and off, with what the other destinations want. */
struct provider_notice provider_notice_merged(const struct provider_registration *reg, const struct provider_notice *n);
void provider_notice_locked(uint32_t index, uint32_t dest, const struct provider_notice *n);
/* The index may be used again once no destination is owed an answer. */
void provider_left_locked(uint32_t index, uint32_t dest);

/* How long EventRegister, traits, and the first write of a forked child wait for a daemon. */
uint32_t provider_wait_ms(void);
/* Absolute CLOCK_MONOTONIC time `ms` from now. */
struct timespec provider_deadline(uint32_t ms);

#endif
