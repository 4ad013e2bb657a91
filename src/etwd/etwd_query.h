/* SPDX-License-Identifier: MIT
 *
 * Lists and counters, information classes, rights on GUIDs.
 */
#ifndef ETWD_ETWD_QUERY_H
#define ETWD_ETWD_QUERY_H

#include "base/base.h"

#include <sys/types.h>

struct conn;
struct enable_args;
struct etwd;
struct guid_list;
struct proto_message;
struct provider;
struct registration;
struct session;

/* ---- lists ---------------------------------------------------------------------------------- */

/* A registration that was, whether or not its process still is. In the instance for all users root has at most so many
 * of them, and another user so many. */
enum {
	ETWD_RECENT_MAX = 128,
	ETWD_RECENT_ROOT = 64,
	ETWD_RECENT_USER = 32,
};
struct recent {
	uint64_t number;         /* they are counted from 1; 0: none */
	struct guid guid, group; /* group: zeros when it is in none */
	pid_t pid;
	uid_t uid;
	char name[128], exe[64]; /* name: of the traits, or "" */
};

void etwd_query_guids(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_query_guid_info(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Takes the name a message says, unless the provider has one: others might want to mislead. */
void etwd_provider_name(struct provider *p, const struct proto_message *m);
void etwd_name_provider(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_query_stats(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Registrations of the last time: noted when they come and when they say their names. */
void etwd_recent_note(struct etwd *d, const struct registration *r);
void etwd_query_recent(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_query_processes(struct etwd *d, struct conn *c, const struct proto_message *m);

#define ETWD_ENABLE_INFO_BYTES 32u
void etwd_query_enable_info(uint8_t out[ETWD_ENABLE_INFO_BYTES], const struct session *s, const struct enable_args *a);

/* ---- information classes -------------------------------------------------------------------- */

void etwd_info_set(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_info_query(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_info_reply(struct etwd *d, struct conn *c, const struct proto_message *m, const void *p, size_t n);
void etwd_info_tick(struct etwd *d, struct session *s, uint64_t now_ns);
bool etwd_guid_listed(const struct guid_list *l, const struct guid *g);
/* Ask every registration of this GUID that the session has for a rundown. */
void etwd_enable_capture(struct etwd *d, struct session *s, const struct guid *g);

/* ---- rights --------------------------------------------------------------------------------- */

int etwd_access_load(struct etwd *d);
void etwd_access_finish(struct etwd *d);
void etwd_access_set(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_access_query(struct etwd *d, struct conn *c, const struct proto_message *m);
/* The peer of c has all of these rights on the GUID. */
bool etwd_access_allows(struct etwd *d, const struct guid *g, const struct conn *c, uint32_t rights);
/* The same by an entry of this very GUID that says so. */
bool etwd_access_grants(struct etwd *d, const struct guid *g, const struct conn *c, uint32_t rights);
bool etwd_access_listed(struct etwd *d, const struct guid *g);

#endif
