/* SPDX-License-Identifier: MIT
 *
 * Providers and their registrations, who enabled them, and what each generation of a filter table meant.
 */
#ifndef ETWD_ETWD_PROVIDER_H
#define ETWD_ETWD_PROVIDER_H

#include "base/base.h"
#include "etw/values/filter_types.h"
#include "filter/filter_event_id.h"
#include "pool/pool_record.h"
#include "proto/proto.h"

#include <sys/queue.h>
#include <sys/types.h>

struct conn;
struct etwd;
struct process;
struct session;

#define ETWD_PROPERTIES_KNOWN 0xFFFu /* EVENT_ENABLE_PROPERTY_*, all of them */

/* What one EnableTraceEx2 call asked for. Immutable and shared by every config that refers to it.
 */
struct enable_args {
	uint32_t refs;
	uint8_t level;
	uint32_t properties; /* EVENT_ENABLE_PROPERTY_* */
	uint64_t any, all;   /* any: as given; 0 means everything */
	uint64_t since_ts;   /* raw clock: when it was asked for */
	struct guid source_id;
	struct guid provider;        /* or group */
	struct filter_select select; /* points into raw */
	bool has_pids, has_exes, has_packages;
	uint32_t pid_count;
	uint64_t pid_key[8];     /* start keys; 0: did not live when asked */
	char exes[1024 * 3 + 1]; /* ";"-separated UTF-8 */
	bool has_containers;
	char containers[1024 * 3 + 1]; /* likewise */
	uint32_t raw_count;
	struct {
		uint32_t type, bytes;
		uint8_t *data;
	} raw[MAX_EVENT_FILTERS_COUNT];
};
/* Into args whose properties are read. 0, -EINVAL, -ENOMEM, -EOPNOTSUPP; d says which filter. */
int etwd_filter_parse(const struct proto_message *m, struct enable_args *a, struct diag *diag);
void etwd_enable_args_unref(struct enable_args *a);
/* The process belongs to one of these containers or control groups (etwd_container.c). */
bool etwd_container_matches(const char *list, const char *path); /* for tests */
bool etwd_container_listed(const char *list, const struct process *p);
bool etwd_filter_scope(const struct enable_args *a, const struct process *p);
/* Per-event part, after level and keywords. schema: TraceLogging metadata item's data, or NULL. */
bool etwd_filter_event(const struct enable_args *a, const struct pool_event *ev, const uint8_t *schema,
		       uint32_t schema_bytes);
bool etwd_filter_stack(const struct enable_args *a, const struct pool_rec *rec, const uint8_t *schema,
		       uint32_t schema_bytes);

struct enable {
	struct provider *provider;
	struct session *session;
	struct enable_args *args;
	uint64_t order; /* most recent enabler has the highest */
	uint64_t bytes; /* charged to the session's user */
	LIST_ENTRY(enable) of_provider;
	LIST_ENTRY(enable) of_session;
};

/* A GUID that is registered, enabled, or a group's. */
struct provider {
	struct guid guid;
	LIST_HEAD(, registration) regs;
	LIST_HEAD(, registration) members; /* registrations whose traits name this GUID as group */
	LIST_HEAD(, enable) enables;
	/* What a controller called it; shown while no registration says better. Heap or NULL. */
	char *name;
};

enum route_flags {
	ROUTE_STACK = FILTER_ROW_STACK,
	ROUTE_IGNORE_KEYWORD_0 = FILTER_ROW_IGNORE_KEYWORD_0,
	ROUTE_EXCLUDE_INPRIVATE = FILTER_ROW_EXCLUDE_INPRIVATE,
	ROUTE_SHARED = ROUTE_STACK | ROUTE_IGNORE_KEYWORD_0 | ROUTE_EXCLUDE_INPRIVATE, /* the process knows them, too */
	ROUTE_FILTERED = 1u << 3,                                                      /* args has per-event filters */
	ROUTE_STACK_FILTERED = 1u << 4,
	ROUTE_EXTRA_ITEMS = 1u << 5, /* wants items that we add */
};
struct route_row {
	struct session *session;  /* ref */
	struct enable_args *args; /* ref */
	uint64_t any, all;        /* any: never 0 */
	uint8_t bit, level;
	uint16_t flags;
	uint32_t properties;
};
/* Meaning of one generation of a registration's filter table. */
struct config {
	struct config *older;
	uint64_t retired_ts; /* raw clock; UINT64_MAX while it is the current one */
	uint32_t gen;
	uint32_t rows;
	bool fast;                  /* no row needs a look beyond level, keywords and the payload */
	struct traits *traits;      /* ref; NULL none */
	struct etl_event_head head; /* of its events */
	struct route_row row[];
};
struct traits {
	uint32_t refs;
	uint32_t bytes;
	uint8_t data[];
};

/* What the callback of a registration is to be told as soon as all entries are written. */
enum news { NEWS_NONE, NEWS_DISABLED, NEWS_ENABLED, NEWS_CAPTURE_STATE };

struct registration {
	struct process *process;
	struct provider *provider; /* NULL once unregistered */
	struct provider *group;    /* NULL: none */
	LIST_ENTRY(registration) of_provider;
	LIST_ENTRY(registration) of_group;
	struct guid guid;
	uint32_t index;
	uint32_t flags; /* enum proto_reg_flags */
	uint32_t entry; /* offset in the control block */
	uint32_t gen;
	uint32_t table[2];
	int table_class[2];    /* -1 none */
	uint32_t next_table;   /* the one the next publish writes */
	struct config *config; /* current; NULL before the first publish */
	uint32_t history;
	enum news news;
	struct traits *traits;
	char *binary; /* UTF-8 path; NULL: not told */
	char name[256];
};

struct provider *etwd_provider_find(struct etwd *d, const struct guid *g, bool create);
void etwd_provider_release(struct etwd *d, struct provider *p); /* frees it when nothing refers to it */

void etwd_register(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_unregister(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_traits(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_registration_destroy(struct etwd *d, struct registration *r);

void etwd_enable(struct etwd *d, struct conn *c, const struct proto_message *m);
/* What processes that register from now on find wanted. */
void etwd_publish_wanted(struct etwd *d);
void etwd_enable_remove_session(struct etwd *d, struct session *s);
/* Compute and publish a registration's rows. True when it is enabled afterwards. */
bool etwd_enable_publish(struct etwd *d, struct registration *r);
/* Some enable of this session applies to that registration. */
bool etwd_enable_reaches(struct etwd *d, const struct registration *r, const struct session *s);
struct enable_merge {
	uint8_t level;
	uint64_t any, all;
	uint32_t sessions;
	struct session *classic;
};
void etwd_enable_merge(const struct registration *r, struct enable_merge *ret);
/* The tags of a NOTIFY for the present state; or, with `only`, for the wish of session `of`. */
void etwd_enable_put(struct proto_writer *w, const struct registration *r, uint32_t code, const struct guid *source,
		     const struct enable_args *only, const struct session *of);
void etwd_notified(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Notifications that can no longer be answered. */
void etwd_notify_forget(struct etwd *d, struct process *p);
void etwd_pending_tick(struct etwd *d, uint64_t now_ns);
void etwd_config_free(struct etwd *d, struct process *p, struct config *c);

#endif
