/* SPDX-License-Identifier: MIT
 * Who enabled what. An enable is (session, provider GUID) -> arguments and outlives the controller
 * that asked for it. Every change is published to all registrations it reaches as a new generation
 * of their filter table; the former generation is kept, because records written under it may still
 * be in a pool.
 */
#include "base/match.h"
#include "etw/values/access_rights.h"
#include "etw/values/enable_properties.h"
#include "etw/values/filter_types.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "format/etl_layout.h"
#include "pool/pool.h"
#include "proto/proto.h"

#include <stdlib.h>

/* ---- configs
 * ------------------------------------------------------------------------------------- */

static uint64_t config_bytes(const struct config *c)
{
	return sizeof *c + c->rows * sizeof c->row[0];
}

void etwd_config_free(struct etwd *d, struct process *p, struct config *c)
{
	etwd_share_give(d, p->uid, SHARE_CONFIG_BYTES, config_bytes(c));
	for (uint32_t i = 0; i < c->rows; i++) {
		etwd_session_unref(c->row[i].session);
		etwd_enable_args_unref(c->row[i].args);
	}
	if (c->traits && --c->traits->refs == 0) {
		free(c->traits);
	}
	free(c);
}

/* A secure session takes events only from who was given the right; without an entry for its GUID,
 * from its owner. */
static bool may_log(struct etwd *d, const struct registration *r, const struct session *s)
{
	if (!(s->props.mode & EVENT_TRACE_SECURE_MODE)) {
		return true;
	}
	if (!etwd_access_listed(d, &s->props.guid)) {
		return r->process->uid == s->uid;
	}
	return r->process->conn && etwd_access_allows(d, &s->props.guid, r->process->conn, TRACELOG_LOG_EVENT);
}

static bool applies(struct etwd *d, const struct registration *r, const struct enable *e, bool as_group)
{
	return ((e->args->properties & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0) == as_group &&
	       !(as_group && etwd_guid_listed(&e->session->disallowed, &r->guid)) &&
	       e->session->state == SESSION_RUNNING && may_log(d, r, e->session) && !r->process->quarantined &&
	       !r->process->dead && etwd_session_allows(d, e->session, r->process) &&
	       etwd_filter_scope(e->args, r->process);
}

/* The enables that reach a registration: of its GUID, then of its group, a session at most once.
 * Returns how many; at most `cap` are stored. */
static uint32_t collect(struct etwd *d, const struct registration *r, struct enable **out, uint32_t cap)
{
	uint32_t n = 0;
	struct provider *from[2] = {r->provider, r->group};
	for (int i = 0; i < 2; i++) {
		struct enable *e;
		if (!from[i]) {
			continue;
		}
		LIST_FOREACH(e, &from[i]->enables, of_provider) {
			bool twice = false;
			if (n == cap || !applies(d, r, e, i == 1)) {
				continue;
			}
			for (uint32_t k = 0; k < n && i == 1; k++) {
				twice |= out[k]->session == e->session;
			}
			if (!twice) {
				out[n++] = e;
			}
		}
	}
	if ((r->flags & PROTO_REG_CLASSIC) && n > 1) {
		/* A classic provider has one session: the last that enabled it takes over, but nobody's
		 * from root. */
		for (uint32_t k = 1; k < n; k++) {
			bool root = etwd_share_whole(d, out[k]->session->uid);
			bool held = etwd_share_whole(d, out[0]->session->uid);
			if (root != held ? root : out[k]->order > out[0]->order) {
				out[0] = out[k];
			}
		}
		n = 1;
	}
	return n;
}

bool etwd_enable_reaches(struct etwd *d, const struct registration *r, const struct session *s)
{
	struct provider *from[2] = {r->provider, r->group};
	for (int i = 0; i < 2; i++) {
		struct enable *e;
		if (!from[i]) {
			continue;
		}
		LIST_FOREACH(e, &from[i]->enables, of_provider) {
			if (e->session == s && applies(d, r, e, i == 1)) {
				return true;
			}
		}
	}
	return false;
}

static void fill_row(struct etwd *d, const struct registration *r, const struct enable *e, struct route_row *row)
{
	const struct enable_args *a = e->args;
	uint32_t p = a->properties;
	*row = (struct route_row){
		.session = e->session,
		.args = e->args,
		.any = match_any(a->any),
		.all = a->all,
		.level = a->level,
		.properties = p,
		.flags = pool_row_props(p),
		.bit = (uint8_t)etwd_process_bit_get(d, r->process, e->session),
	};
	row->flags |= (p & (EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_EVENT_KEY |
			    EVENT_ENABLE_PROPERTY_PROCESS_START_KEY))
			      ? ROUTE_EXTRA_ITEMS
			      : 0;
	row->flags |= a->select.filtered ? ROUTE_FILTERED : 0;
	row->flags |= a->select.stack_filtered ? ROUTE_STACK_FILTERED : 0;
	etwd_session_ref(e->session);
	e->args->refs++;
}

/* Give the table that will be written next room for `rows`. */
static int reserve_table(struct registration *r, uint32_t next, uint32_t rows)
{
	struct ctl_heap *h = &r->process->ctl;
	unsigned class = 0;
	while ((4u << class) < rows) {
		class ++;
	}
	if (r->table_class[next] >= (int)class) {
		return 0;
	}
	uint32_t at;
	int err = etwd_ctl_table_alloc(h, class, &at);
	if (err < 0) {
		return err;
	}
	if (r->table_class[next] >= 0) {
		etwd_ctl_table_free(h, (unsigned)r->table_class[next], r->table[next]);
	}
	r->table[next] = at; /* no reader is in the former one now, see pool_ctl.c */
	r->table_class[next] = (int)class;
	return 0;
}

static void unuse_bits(struct process *p, const struct config *c)
{
	for (uint32_t i = 0; i < c->rows; i++) {
		etwd_process_bit_put(p, c->row[i].bit);
	}
}

static void forget_old(struct etwd *d, struct registration *r)
{
	struct config *c = r->config;
	/* A user whose processes have very many is remembered one change only. */
	bool much = !etwd_share_whole(d, r->process->uid) &&
		    etwd_share_of(d, r->process->uid, SHARE_CONFIG_BYTES) > ETWD_CONFIG_BYTES_UID;
	for (uint32_t i = much ? ETWD_HISTORY_MAX - 1 : 1; c && i < ETWD_HISTORY_MAX; i++) {
		c = c->older;
	}
	while (c && c->older) {
		struct config *old = c->older;
		c->older = old->older;
		etwd_config_free(d, r->process, old);
		r->history--;
	}
}

static struct config *build_config(struct etwd *d, struct registration *r)
{
	struct enable *e[ETWD_SESSIONS_MAX];
	/* Rows are 64 at most in shared memory; sessions beyond that share bit 63's row there and
	 * are told apart here. */
	uint32_t n = r->provider ? collect(d, r, e, BASE_ARRAY_LEN(e)) : 0;
	if (n > 0 && etwd_process_ready_pool(d, r->process) < 0) {
		etwd_log_of(d, r->process->uid, "No memory to enable process %d", (int)r->process->pid);
		n = 0;
	}
	struct config *c = calloc(1, sizeof *c + n * sizeof c->row[0]);
	if (!c) {
		return NULL;
	}
	c->rows = n;
	etwd_share_add(d, r->process->uid, SHARE_CONFIG_BYTES, config_bytes(c));
	c->retired_ts = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		fill_row(d, r, e[i], &c->row[i]);
	}
	c->head = etl_event_head_of((uint32_t)r->process->pid, r->guid.b, 0);
	c->traits = r->traits;
	if (c->traits) {
		c->traits->refs++;
	}
	c->fast = n > 0 && !r->process->foreign_pids;
	for (uint32_t i = 0; i < n; i++) {
		c->fast = c->fast &&
			  !(c->row[i].flags & (ROUTE_FILTERED | ROUTE_EXTRA_ITEMS | ROUTE_EXCLUDE_INPRIVATE)) &&
			  !(c->row[i].session->props.mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	}
	return c;
}

/* Rows for the process: what we decide exactly, it only pre-selects. */
static uint32_t shared_rows(const struct registration *r, const struct config *c, struct filter_row *out)
{
	uint32_t n = 0;
	struct filter_row *shared = NULL;
	for (uint32_t i = 0; i < c->rows; i++) {
		const struct route_row *from = &c->row[i];
		struct filter_row row = {.bit = from->bit, .level = from->level, .any = from->any, .all = from->all};
		row.props = from->flags & ROUTE_SHARED;
		if (r->flags & PROTO_REG_CLASSIC) {
			row.level = 0; /* classic providers test level and flags themselves */
			row.any = UINT64_MAX;
			row.all = 0;
		}
		if (from->bit == POOL_BIT_SHARED && shared) {
			shared->level = shared->level == 0 || row.level == 0 ? 0 : BASE_MAX(shared->level, row.level);
			shared->any |= row.any;
			shared->all &= row.all;
			shared->props = (uint16_t)((shared->props & row.props &
						    (FILTER_ROW_IGNORE_KEYWORD_0 | FILTER_ROW_EXCLUDE_INPRIVATE)) |
						   ((shared->props | row.props) & FILTER_ROW_STACK));
			continue;
		}
		out[n] = row;
		if (from->bit == POOL_BIT_SHARED) {
			shared = &out[n];
		}
		n++;
	}
	return n;
}

static bool wants_stacks(const struct filter_row *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (rows[i].props & FILTER_ROW_STACK) {
			return true;
		}
	}
	return false;
}

bool etwd_enable_publish(struct etwd *d, struct registration *r)
{
	struct process *p = r->process;
	struct config *c = build_config(d, r);
	if (!c) {
		return false; /* the former state stays */
	}
	bool had = r->config && r->config->rows > 0;
	if (!r->config || had || c->rows > 0 || r->config->traits != c->traits) {
		struct filter_row rows[POOL_SESSION_BITS];
		uint32_t n = shared_rows(r, c, rows), next = r->next_table;
		uint32_t tables = r->table_class[0] >= 0 || r->table_class[1] >= 0 || n > 0;
		if (tables && (reserve_table(r, next, n) < 0)) {
			unuse_bits(p, c);
			etwd_config_free(d, p, c);
			return had;
		}
		c->gen = ++r->gen;
		if (tables) {
			r->next_table ^= 1;
			pool_ctl_publish_to(p->ctl.mem, r->entry, next, r->table[next], c->gen, rows, n,
					    r->flags & PROTO_REG_CLASSIC ? CTL_ENTRY_CLASSIC : 0);
			if (wants_stacks(rows, n)) {
				etwd_ctl_ring(&p->ctl); /* it loads its unwinder */
			}
		}
		if (r->config) {
			r->config->retired_ts = clock_now_of(d->clock_kind);
			unuse_bits(p, r->config);
		}
		c->older = r->config;
		r->config = c;
		r->history++;
		forget_old(d, r);
		return n > 0;
	}
	unuse_bits(p, c);
	etwd_config_free(d, p, c);
	return false;
}

/* ---- what a callback is told
 * ---------------------------------------------------------------------- */

void etwd_enable_merge(const struct registration *r, struct enable_merge *ret)
{
	struct enable_merge m = {.all = UINT64_MAX};
	const struct config *c = r->config;
	for (uint32_t i = 0; c && i < c->rows; i++) {
		const struct route_row *row = &c->row[i];
		uint8_t level = match_limit(row->level);
		m.level = BASE_MAX(m.level, level);
		m.any |= row->any;
		m.all &= row->all;
		m.sessions++;
		m.classic = row->session;
	}
	if (m.sessions == 0) {
		m.all = 0;
	}
	*ret = m;
}

/* Filters the provider interprets itself. */
static bool for_provider(uint32_t type)
{
	return type == EVENT_FILTER_TYPE_SCHEMATIZED || type == EVENT_FILTER_TYPE_TRACEHANDLE;
}

/* EVENT_FILTER_HEADER: u16 Id | u8 Version | u8[5] | u64 InstanceId | u32 Size | u32 NextOffset, data.
 * InstanceId names the session to EventWriteEx: the bit that must not get the event. */
#define FILTER_HEADER_BYTES 24u
#define FILTER_CHAIN_MAX    (16u << 10)

/* Number the headers of one caller's filters; offset of the last one. */
static uint32_t number_filters(uint8_t *p, uint32_t bytes, uint32_t bit)
{
	uint32_t at = 0;
	for (;;) {
		le64_put(p + at + 8, 1ull << bit);
		uint32_t next = le32_get(p + at + 20);
		if (next < FILTER_HEADER_BYTES || next > bytes - at || bytes - at - next < FILTER_HEADER_BYTES) {
			le32_put(p + at + 20, 0);
			return at;
		}
		at += next;
	}
}

/* The filters of all sessions as one chain, as the callback of a provider expects them; data without
 * such headers can only be passed alone. */
struct filter_chain {
	uint8_t blob[4 + FILTER_CHAIN_MAX];
	uint32_t bytes; /* behind the type */
	uint32_t last;  /* offset of the last header */
	bool closed;
};

static void chain_add(struct filter_chain *c, const struct enable_args *a, uint32_t bit)
{
	for (uint32_t i = 0; i < a->raw_count && !c->closed; i++) {
		uint32_t bytes = a->raw[i].bytes;
		bool chained = a->raw[i].type == EVENT_FILTER_TYPE_SCHEMATIZED && bytes >= FILTER_HEADER_BYTES;
		uint32_t at = BASE_ALIGN8(c->bytes);
		if (!for_provider(a->raw[i].type) || at + bytes > FILTER_CHAIN_MAX || (!chained && c->bytes > 0)) {
			continue;
		}
		le32_put(c->blob, a->raw[i].type);
		memset(c->blob + 4 + c->bytes, 0, at - c->bytes);
		memcpy(c->blob + 4 + at, a->raw[i].data, bytes);
		if (chained) {
			if (c->bytes > 0) {
				le32_put(c->blob + 4 + c->last + 20, at - c->last);
			}
			c->last = at + number_filters(c->blob + 4 + at, bytes, bit);
		} else {
			c->closed = true;
		}
		c->bytes = at + bytes;
	}
}

static void put_filters(struct proto_writer *w, const struct registration *r, const struct enable_args *only,
			const struct session *of)
{
	struct filter_chain c = {.bytes = 0};
	for (uint32_t i = 0; r->config && i < r->config->rows; i++) {
		const struct route_row *row = &r->config->row[i];
		if (!only || row->session == of) {
			chain_add(&c, only ? only : row->args, row->bit);
		}
	}
	if (c.bytes > 0) {
		proto_put(w, PROTO_TAG_FILTER, c.blob, 4 + c.bytes);
	}
}

void etwd_enable_put(struct proto_writer *w, const struct registration *r, uint32_t code, const struct guid *source,
		     const struct enable_args *only, const struct session *of)
{
	struct enable_merge m;
	etwd_enable_merge(r, &m);
	if (code == 0) {
		m.level = 0;
		m.any = m.all = 0;
	}
	if (only) { /* the wish of one session, not what all of them want */
		m.level = match_limit(only->level);
		m.any = match_any(only->any);
		m.all = only->all;
	}
	proto_put_u32(w, PROTO_TAG_CODE, code);
	proto_put_u32(w, PROTO_TAG_LEVEL, m.level);
	proto_put_u64(w, PROTO_TAG_ANY, m.any);
	proto_put_u64(w, PROTO_TAG_ALL, m.all);
	proto_put(w, PROTO_TAG_SOURCE_ID, source->b, 16);
	if ((r->flags & PROTO_REG_CLASSIC) && m.classic) {
		const struct enable_args *a = r->config->row[0].args;
		proto_put_u64(w, PROTO_TAG_CLASSIC_HANDLE,
			      (uint64_t)m.classic->id | (uint64_t)a->level << 16 | (a->any & UINT32_MAX) << 32);
	}
	if (code != 0) {
		put_filters(w, r, only, of);
	}
}
