/* SPDX-License-Identifier: MIT
 * Lists and counters: what is registered, who enabled it, who is attached.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "pool/pool.h"
#include "proto/proto.h"

#include <stdlib.h>

#define GUIDS_PER_ITEM 2000u
#define NAME_BYTES     256u

static bool may_list(const struct etwd *d, const struct conn *c, const struct process *p)
{
	return !d->system || c->uid == 0 || c->uid == p->uid;
}

static bool session_visible(const struct etwd *d, const struct conn *c, const struct session *s)
{
	return !d->system || c->uid == 0 || c->uid == s->uid;
}

static bool provider_visible(const struct etwd *d, const struct conn *c, const struct provider *p, uint32_t pid)
{
	const struct registration *r;
	LIST_FOREACH(r, &p->regs, of_provider) {
		if (may_list(d, c, r->process) && (pid == 0 || (uint32_t)r->process->pid == pid)) {
			return true;
		}
	}
	const struct enable *e;
	LIST_FOREACH(e, &p->enables, of_provider) {
		if (pid == 0 && session_visible(d, c, e->session)) {
			return true;
		}
	}
	return false;
}

static void reply_count(struct etwd *d, struct conn *c, const struct proto_message *m, uint32_t count)
{
	struct proto_writer w;
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_COUNT, count);
	etwd_conn_send(d, c, &w, NULL, 0);
}

/* COUNT is the number of items that follow; an item carries many GUIDs. */
void etwd_query_guids(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t pid = 0, count = 0;
	proto_get_u32(m, PROTO_TAG_PID, &pid);
	MAP_ALL(&d->providers, at) {
		count += provider_visible(d, c, map_pointer(&d->providers, at), pid);
	}
	reply_count(d, c, m, (count + GUIDS_PER_ITEM - 1) / GUIDS_PER_ITEM);
	struct proto_writer w;
	uint32_t in_item = 0;
	MAP_ALL(&d->providers, at) {
		struct provider *p = map_pointer(&d->providers, at);
		if (!provider_visible(d, c, p, pid)) {
			continue;
		}
		if (in_item == 0) {
			proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_GUIDS_ITEM, m->id);
		}
		proto_put(&w, PROTO_TAG_GUID, p->guid.b, 16);
		if (++in_item == GUIDS_PER_ITEM) {
			etwd_conn_send(d, c, &w, NULL, 0);
			in_item = 0;
		}
	}
	if (in_item > 0) {
		etwd_conn_send(d, c, &w, NULL, 0);
	}
}

/* TRACE_ENABLE_INFO */
void etwd_query_enable_info(uint8_t e[ETWD_ENABLE_INFO_BYTES], const struct session *s, const struct enable_args *a)
{
	memset(e, 0, ETWD_ENABLE_INFO_BYTES);
	le32_put(e, 1);
	e[4] = a->level;
	le16_put(e + 6, s->id);
	le32_put(e + 8, a->properties);
	le64_put(e + 16, a->any);
	le64_put(e + 24, a->all);
}

static void put_enable_info(struct proto_writer *w, const struct session *s, const struct enable_args *a)
{
	uint8_t e[ETWD_ENABLE_INFO_BYTES];
	etwd_query_enable_info(e, s, a);
	proto_put(w, PROTO_TAG_ENABLE_INFO, e, sizeof e);
}

static int compare_rows(const void *a, const void *b)
{
	const struct route_row *const *x = a, *const *y = b;
	return (int)(*x)->session->id - (int)(*y)->session->id;
}

static void put_instance(struct etwd *d, struct conn *c, const struct proto_message *m, const struct registration *r)
{
	struct proto_writer w;
	proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_GUID_INFO_ITEM, m->id);
	proto_put_u32(&w, PROTO_TAG_PID, (uint32_t)r->process->pid);
	proto_put_u32(&w, PROTO_TAG_REG_FLAGS, r->flags);
	proto_put_str(&w, PROTO_TAG_EXE_NAME, r->process->exe);
	const char *name = r->name[0] ? r->name : r->provider->name;
	if (name) {
		proto_put_str(&w, PROTO_TAG_NAME, name);
	}
	const struct route_row *rows[ETWD_SESSIONS_MAX];
	uint32_t n = 0;
	for (uint32_t i = 0; r->config && i < r->config->rows && n < ETWD_SESSIONS_MAX; i++) {
		rows[n++] = &r->config->row[i];
	}
	qsort(rows, n, sizeof rows[0], compare_rows);
	for (uint32_t i = 0; i < n; i++) {
		put_enable_info(&w, rows[i]->session, rows[i]->args);
	}
	etwd_conn_send(d, c, &w, NULL, 0);
}

static void put_pre_enable(struct etwd *d, struct conn *c, const struct proto_message *m, const struct provider *p)
{
	struct proto_writer w;
	const struct enable *e;
	proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_GUID_INFO_ITEM, m->id);
	proto_put_u32(&w, PROTO_TAG_PID, 0);
	proto_put_u32(&w, PROTO_TAG_REG_FLAGS, PROTO_REG_PRE_ENABLE);
	if (p->name) {
		proto_put_str(&w, PROTO_TAG_NAME, p->name);
	}
	LIST_FOREACH(e, &p->enables, of_provider) {
		if (session_visible(d, c, e->session)) {
			put_enable_info(&w, e->session, e->args);
		}
	}
	etwd_conn_send(d, c, &w, NULL, 0);
}

void etwd_provider_name(struct provider *p, const struct proto_message *m)
{
	char name[NAME_BYTES];
	if (!p->name && proto_get_str(m, PROTO_TAG_NAME, name, sizeof name) && name[0]) {
		p->name = strdup(name);
	}
}

/* The provider a message names by its GUID, and how many of its registrations the caller may see; NULL:
 * answered. */
static struct provider *asked_provider(struct etwd *d, struct conn *c, const struct proto_message *m,
				       uint32_t *ret_count)
{
	struct guid guid;
	if (!proto_get_guid(m, PROTO_TAG_GUID, &guid)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "a GUID is needed");
		return NULL;
	}
	struct provider *p = etwd_provider_find(d, &guid, false);
	if (!p || !provider_visible(d, c, p, 0)) {
		etwd_reply_status(d, c, m, ERROR_WMI_GUID_NOT_FOUND,
				  "no provider with this GUID is registered or enabled");
		return NULL;
	}
	*ret_count = 0;
	const struct registration *r;
	LIST_FOREACH(r, &p->regs, of_provider) {
		*ret_count += may_list(d, c, r->process);
	}
	return p;
}

void etwd_name_provider(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t count;
	struct provider *p = asked_provider(d, c, m, &count);
	if (p && !LIST_EMPTY(&p->enables)) {
		etwd_provider_name(p, m);
	}
	if (p) {
		reply_count(d, c, m, count);
	}
}

void etwd_query_guid_info(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t count;
	struct provider *p = asked_provider(d, c, m, &count);
	if (!p) {
		return;
	}
	reply_count(d, c, m, count ? count : 1);
	if (count == 0) {
		put_pre_enable(d, c, m, p);
		return;
	}
	const struct registration *r;
	LIST_FOREACH(r, &p->regs, of_provider) {
		if (may_list(d, c, r->process)) {
			put_instance(d, c, m, r);
		}
	}
}

void etwd_query_processes(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t count = 0;
	const struct process *p;
	LIST_FOREACH(p, &d->processes, link) {
		count += !p->dead && !p->heir && may_list(d, c, p);
	}
	reply_count(d, c, m, count);
	LIST_FOREACH(p, &d->processes, link) {
		if (p->dead || p->heir || !may_list(d, c, p)) {
			continue;
		}
		uint64_t loss[PROTO_LOSS_COUNT] = {0};
		if (p->view) {
			struct pool_view_stats st;
			pool_view_stats(p->view, &st);
			loss[PROTO_LOSS_POOL_FULL] = st.lost_cause[POOL_LOST_FULL];
			loss[PROTO_LOSS_NESTING] = st.lost_cause[POOL_LOST_NESTING];
			loss[PROTO_LOSS_TOO_BIG] = st.lost_cause[POOL_LOST_TOO_BIG];
			loss[PROTO_LOSS_DETACHED] = st.lost_cause[POOL_LOST_DETACHED];
			loss[PROTO_LOSS_REJECTED] = st.records_rejected;
			loss[PROTO_LOSS_DISBELIEVED] = p->disbelieved;
		}
		struct proto_writer w;
		proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_PROCESSES_ITEM, m->id);
		proto_put_u32(&w, PROTO_TAG_PID, (uint32_t)p->pid);
		proto_put_str(&w, PROTO_TAG_EXE_NAME, p->exe);
		proto_put_u32(&w, PROTO_TAG_COUNT, p->reg_live);
		proto_put_u64(&w, PROTO_TAG_LOST_EVENTS, p->lost_total);
		proto_put(&w, PROTO_TAG_LOSS, loss, sizeof loss);
		if (p->quarantined) {
			proto_put_str(&w, PROTO_TAG_TEXT, "disabled: it broke the rules of its pool too often");
		}
		etwd_conn_send(d, c, &w, NULL, 0);
	}
}

#define LOSERS_MAX 16u

/* Which processes lost most, as they say, and as far as that was believed. */
static void put_losers(const struct etwd *d, const struct conn *c, struct strbuf *b)
{
	const struct process *most[LOSERS_MAX], *p;
	uint32_t n = 0;
	LIST_FOREACH(p, &d->processes, link) {
		uint64_t lost = BASE_MAX(p->lost_total, p->disbelieved);
		if (lost == 0 || p->heir || !may_list(d, c, p)) {
			continue;
		}
		uint32_t at = n < LOSERS_MAX ? n++ : LOSERS_MAX;
		while (at > 0 && BASE_MAX(most[at - 1]->lost_total, most[at - 1]->disbelieved) < lost) {
			if (at < LOSERS_MAX) {
				most[at] = most[at - 1];
			}
			at--;
		}
		if (at < LOSERS_MAX) {
			most[at] = p;
		}
	}
	strbuf_adds(b, "\"processes_that_lost\":[");
	for (uint32_t i = 0; i < n; i++) {
		strbuf_addf(b, "%s{\"pid\":%d,\"name\":", i ? "," : "", (int)most[i]->pid);
		strbuf_add_json(b, most[i]->exe, strlen(most[i]->exe));
		strbuf_addf(b, ",\"uid\":%u,\"lost\":%llu,\"disbelieved\":%llu}", (unsigned)most[i]->uid,
			    (unsigned long long)most[i]->lost_total, (unsigned long long)most[i]->disbelieved);
	}
	strbuf_adds(b, "],");
}

void etwd_query_stats(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct strbuf b = {0};
	uint32_t processes = 0;
	const struct process *p;
	LIST_FOREACH(p, &d->processes, link) {
		processes += !p->dead && !p->heir;
	}
	strbuf_addf(&b, "{\"sessions\":%u,\"processes\":%u,\"registrations\":%u,\"connections\":%u,", d->session_count,
		    processes, (unsigned)d->share_all[SHARE_REGISTRATIONS], d->conn_count);
	strbuf_addf(&b, "\"pool_bytes\":%llu,\"buffer_bytes\":%llu,\"events\":%llu,\"late_events\":%llu,",
		    (unsigned long long)d->share_all[SHARE_POOL_BYTES],
		    (unsigned long long)d->share_all[SHARE_BUFFER_BYTES], (unsigned long long)d->events,
		    (unsigned long long)d->late_events);
	strbuf_addf(&b, "\"passes\":%llu,\"interval_us\":%llu,\"messages\":%llu,\"bad_messages\":%llu,",
		    (unsigned long long)d->passes, (unsigned long long)(BASE_MIN(d->interval_ns, d->tick_ns) / 1000),
		    (unsigned long long)d->messages, (unsigned long long)d->bad_messages);
	strbuf_addf(&b,
		    "\"adopted_pools\":%llu,\"adopted_events\":%llu,\"adopted_unclaimed\":%llu,"
		    "\"adopted_lost\":%llu,",
		    (unsigned long long)d->adopted_pools, (unsigned long long)d->adopted_events,
		    (unsigned long long)d->adopted_unclaimed, (unsigned long long)d->adopted_lost);
	strbuf_addf(&b, "\"images_bytes\":%llu,\"images_dropped\":%llu,",
		    (unsigned long long)d->share_all[SHARE_IMAGE_BYTES], (unsigned long long)d->images_dropped);
	uint64_t unread, waiting, stuck;
	etwd_foreign_counts(&unread, &waiting, &stuck);
	strbuf_addf(&b,
		    "\"connections_unread\":%llu,\"connections_unclosed\":%llu,"
		    "\"closers_stuck\":%llu,",
		    (unsigned long long)unread, (unsigned long long)waiting, (unsigned long long)stuck);
	etwd_kernel_stats(d, &b);
	put_losers(d, c, &b);
	strbuf_addf(&b, "\"refused_connections\":%llu,\"clock_kind\":%u,\"clock_freq\":%llu}",
		    (unsigned long long)d->rejected_connections, (unsigned)d->clock_kind,
		    (unsigned long long)d->clock_freq);
	if (b.failed) {
		etwd_reply_status(d, c, m, ERROR_NOT_ENOUGH_MEMORY, NULL);
	} else {
		struct proto_writer w;
		etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
		proto_put_u32(&w, PROTO_TAG_STATUS, 0);
		proto_put(&w, PROTO_TAG_TEXT, b.s, b.len);
		etwd_conn_send(d, c, &w, NULL, 0);
	}
	strbuf_finish(&b);
}
