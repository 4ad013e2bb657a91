/* SPDX-License-Identifier: MIT
 * Registrations: a process says "I am provider X"; traits say its name and group.
 */
#include "etw/values/access_rights.h"
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "format/etl_layout.h"
#include "pool/pool.h"
#include "proto/proto.h"

#include <stdlib.h>

/* EventSetInformation follows EventRegister at once where it is used at all. */
#define TRAITS_PATIENCE_NS 2000000000ull

/* ---- providers by GUID
 * --------------------------------------------------------------------------- */

struct provider *etwd_provider_find(struct etwd *d, const struct guid *g, bool create)
{
	uint64_t key = map_hash(&d->providers, g->b, sizeof g->b);
	MAP_EACH(&d->providers, key, at) {
		struct provider *p = map_pointer(&d->providers, at);
		if (guid_equal(&p->guid, g)) {
			return p;
		}
	}
	struct provider *p = create ? calloc(1, sizeof *p) : NULL;
	if (p && map_add_pointer(&d->providers, key, p) < 0) {
		free(p);
		p = NULL;
	}
	if (p) {
		p->guid = *g;
		LIST_INIT(&p->regs);
		LIST_INIT(&p->members);
		LIST_INIT(&p->enables);
	}
	return p;
}

void etwd_provider_release(struct etwd *d, struct provider *p)
{
	if (LIST_EMPTY(&p->regs) && LIST_EMPTY(&p->members) && LIST_EMPTY(&p->enables)) {
		map_remove_pointer(&d->providers, map_hash(&d->providers, p->guid.b, sizeof p->guid.b), p);
		free(p->name);
		free(p);
	}
}

/* ---- traits
 * -------------------------------------------------------------------------------------- */

static void traits_unref(struct traits *t)
{
	if (t && --t->refs == 0) {
		free(t);
	}
}

/* u16 size of the whole | name NUL | { u16 size, u8 type, data }*. Hostile. */
static int traits_parse(const uint8_t *p, size_t n, const char **ret_name, bool *ret_grouped, struct guid *ret_group)
{
	struct bytes b = bytes_of(p, n);
	uint16_t size = bytes_u16(&b);
	size_t name_len;
	if (b.bad || size != n || n > ETWD_TRAITS_MAX) {
		return -EINVAL;
	}
	const char *name = bytes_asz(&b, &name_len);
	if (!name || utf8_to_utf16(name, name_len, NULL, 0) < 0) {
		return -EINVAL;
	}
	*ret_grouped = false;
	while (bytes_left(&b) > 0) {
		uint16_t len = bytes_u16(&b);
		uint8_t type = bytes_u8(&b);
		if (b.bad || len < 3) {
			return -EINVAL;
		}
		const uint8_t *v = bytes_take(&b, len - 3u);
		if (!v) {
			return -EINVAL;
		}
		if (type == 1 && len == 19) {
			memcpy(ret_group->b, v, 16);
			*ret_grouped = true;
		}
	}
	*ret_name = name;
	return 0;
}

static int set_traits(struct etwd *d, struct registration *r, const uint8_t *p, size_t n)
{
	const char *name;
	bool grouped;
	struct guid group;
	int err = traits_parse(p, n, &name, &grouped, &group);
	if (err < 0) {
		return err;
	}
	struct traits *t = malloc(sizeof *t + n);
	struct provider *g = grouped ? etwd_provider_find(d, &group, true) : NULL;
	if (!t || (grouped && !g)) {
		if (g) {
			etwd_provider_release(d, g);
		}
		free(t);
		return -ENOMEM;
	}
	t->refs = 1;
	t->bytes = (uint32_t)n;
	memcpy(t->data, p, n);
	traits_unref(r->traits);
	r->traits = t;
	/* Events written before this message was read belong to an earlier generation; they have
	 * the same name. */
	for (struct config *c = r->config; c; c = c->older) {
		if (!c->traits && memcmp(c->head.provider, r->guid.b, 16) == 0) {
			c->traits = t;
			t->refs++;
		}
	}
	size_t len = BASE_MIN(strlen(name), sizeof r->name - 1);
	while (len > 0 && len < strlen(name) && ((uint8_t)name[len] & 0xC0) == 0x80) {
		len--; /* not in the middle of a character */
	}
	memcpy(r->name, name, len);
	r->name[len] = 0;
	struct provider *old = r->group;
	if (old) {
		LIST_REMOVE(r, of_group);
	}
	r->group = g;
	if (g) {
		LIST_INSERT_HEAD(&g->members, r, of_group);
	}
	/* Last: it may be the same one. */
	if (old) {
		etwd_provider_release(d, old);
	}
	return 0;
}

/* ---- registrations
 * ------------------------------------------------------------------------------- */

static int reserve_index(struct process *p, uint32_t index)
{
	if (index < p->reg_cap) {
		return 0;
	}
	uint32_t cap = p->reg_cap ? p->reg_cap : 16;
	while (cap <= index) {
		cap *= 2;
	}
	struct registration **reg = realloc(p->reg, cap * sizeof *reg);
	if (!reg) {
		return -ENOMEM;
	}
	memset(reg + p->reg_cap, 0, (cap - p->reg_cap) * sizeof *reg);
	p->reg = reg;
	p->reg_cap = cap;
	if (p->view) {
		pool_view_set_limits(p->view, &(struct pool_limits){.provider_count = cap});
	}
	return 0;
}

/* Everything but the history, which old records still need. */
static void detach(struct etwd *d, struct registration *r)
{
	struct process *p = r->process;
	struct provider *pr = r->provider;
	if (!pr) {
		return;
	}
	free(r->binary);
	r->binary = NULL;
	LIST_REMOVE(r, of_provider);
	r->provider = NULL;
	etwd_provider_release(d, pr);
	if (r->group) {
		struct provider *g = r->group;
		LIST_REMOVE(r, of_group);
		r->group = NULL;
		etwd_provider_release(d, g);
	}
	for (int i = 0; i < 2; i++) {
		if (r->table_class[i] >= 0) {
			etwd_ctl_table_free(&p->ctl, (unsigned)r->table_class[i], r->table[i]);
			r->table_class[i] = -1;
		}
	}
	etwd_ctl_entry_free(&p->ctl, r->entry);
	p->reg_live--;
	etwd_share_give(d, p->uid, SHARE_REGISTRATIONS, 1);
}

void etwd_registration_destroy(struct etwd *d, struct registration *r)
{
	detach(d, r);
	struct config *c = r->config;
	while (c) {
		struct config *older = c->older;
		etwd_config_free(d, r->process, c);
		c = older;
	}
	traits_unref(r->traits);
	r->process->reg[r->index] = NULL;
	free(r);
}

static const char *register_one(struct etwd *d, struct process *p, const struct conn *c, const struct proto_message *m,
				struct registration **ret, uint32_t *ret_code)
{
	struct guid guid;
	uint32_t index, flags = 0;
	*ret_code = ERROR_INVALID_PARAMETER;
	if (!proto_get_guid(m, PROTO_TAG_GUID, &guid) || !proto_get_u32(m, PROTO_TAG_PROVIDER_INDEX, &index)) {
		return "REGISTER needs a GUID and an index";
	}
	proto_get_u32(m, PROTO_TAG_REG_FLAGS, &flags);
	if (index >= ETWD_REG_INDEX_MAX || (index < p->reg_cap && p->reg[index] && p->reg[index]->provider)) {
		return "the registration index is taken or too high";
	}
	*ret_code = ERROR_ACCESS_DENIED;
	if (!etwd_access_allows(d, &guid, c, TRACELOG_REGISTER_GUIDS)) {
		return "no right to register this provider";
	}
	*ret_code = ERROR_NO_SYSTEM_RESOURCES;
	if (p->reg_live >= ETWD_REGS_MAX || !etwd_share_fits(d, p->uid, SHARE_REGISTRATIONS, 1)) {
		return "too many registrations";
	}
	if (reserve_index(p, index) < 0) {
		return "out of memory";
	}
	/* A reused index keeps its history: generations go on, and old records keep their GUID. */
	struct registration *r = p->reg[index];
	bool fresh = r == NULL;
	if (fresh) {
		r = calloc(1, sizeof *r);
	}
	struct provider *pr = r ? etwd_provider_find(d, &guid, true) : NULL;
	if (!pr || etwd_ctl_entry_alloc(&p->ctl, &r->entry) < 0) {
		if (pr) {
			etwd_provider_release(d, pr);
		}
		if (fresh) {
			free(r);
		}
		return "out of memory";
	}
	traits_unref(r->traits);
	r->traits = NULL;
	r->name[0] = 0;
	r->process = p;
	r->provider = pr;
	r->guid = guid;
	r->index = index;
	r->flags = flags & (PROTO_REG_CLASSIC | PROTO_REG_CALLBACK);
	r->table_class[0] = r->table_class[1] = -1;
	r->next_table = 1; /* a fresh entry says that table 0 is valid */
	LIST_INSERT_HEAD(&pr->regs, r, of_provider);
	p->reg[index] = r;
	p->reg_live++;
	etwd_share_add(d, p->uid, SHARE_REGISTRATIONS, 1);
	const uint8_t *t;
	size_t n;
	bool told = proto_get(m, PROTO_TAG_TRAITS, &t, &n);
	if (!told && !(r->flags & PROTO_REG_CLASSIC)) {
		p->traits_until_ns = etwd_now_ns() + TRAITS_PATIENCE_NS;
	}
	if (told && set_traits(d, r, t, n) < 0) {
		detach(d, r);
		*ret_code = ERROR_INVALID_PARAMETER;
		return "the traits are malformed";
	}
	*ret = r;
	return NULL;
}

/* The process does not wait any longer: what it writes before it hears that it is enabled is missing. How much that is,
 * nobody knows; an event at least. */
static void count_late(struct etwd *d, struct registration *r)
{
	const struct config *c = r->config;
	for (uint32_t i = 0; c && i < c->rows; i++) {
		struct session *s = c->row[i].session;
		bool again = false;
		for (uint32_t k = 0; k < i && !again; k++) {
			again = c->row[k].session == s;
		}
		if (!again) {
			etwd_session_lost(s, 1, PROTO_LOSS_DETACHED, s->sink != NULL);
		}
	}
}

void etwd_register(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct registration *r;
	uint32_t code, flags = 0;
	const char *why = register_one(d, c->process, c, m, &r, &code);
	if (why) {
		etwd_reply_status(d, c, m, code, why);
		return;
	}
	proto_get_u32(m, PROTO_TAG_REG_FLAGS, &flags);
	bool late = (flags & PROTO_REG_LATE) != 0, enabled = etwd_enable_publish(d, r);
	if (late) {
		count_late(d, r);
	} else { /* else its other connection says so */
		etwd_recent_note(d, r);
		etwd_private_registered(d, r);
	}
	struct proto_writer w;
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, r->index);
	proto_put_u32(&w, PROTO_TAG_ENTRY_OFFSET, r->entry);
	if (enabled) {
		etwd_enable_put(&w, r, 1, &GUID_ZERO, NULL, NULL);
	}
	etwd_conn_send(d, c, &w, NULL, 0);
}

static struct registration *find_reg(struct conn *c, const struct proto_message *m)
{
	uint32_t index;
	struct process *p = c->process;
	if (!proto_get_u32(m, PROTO_TAG_PROVIDER_INDEX, &index) || index >= p->reg_cap || !p->reg[index] ||
	    !p->reg[index]->provider) {
		return NULL;
	}
	return p->reg[index];
}

void etwd_unregister(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct registration *r = find_reg(c, m);
	if (!r) {
		etwd_reply_status(d, c, m, ERROR_INVALID_HANDLE, "no such registration");
		return;
	}
	/* The entry's last word is "off": a writer that is late finds nothing enabled. Its config
	 * stays, for records that are already in the pool. */
	struct provider *pr = r->provider;
	LIST_REMOVE(r, of_provider);
	r->provider = NULL;
	etwd_enable_publish(d, r);
	r->provider = pr;
	LIST_INSERT_HEAD(&pr->regs, r, of_provider);
	detach(d, r);
	etwd_reply_status(d, c, m, 0, NULL);
}

void etwd_traits(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct registration *r = find_reg(c, m);
	const uint8_t *t;
	size_t n;
	if (!r || !proto_get(m, PROTO_TAG_TRAITS, &t, &n)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "TRAITS needs a registration and a blob");
		return;
	}
	bool was_enabled = r->config && r->config->rows > 0;
	int err = set_traits(d, r, t, n);
	if (err < 0) {
		etwd_reply_status(d, c, m, win32_from_errno(err), "the traits are malformed");
		return;
	}
	etwd_recent_note(d, r);
	/* The group may be enabled already, and records from now on carry the traits. */
	bool enabled = etwd_enable_publish(d, r);
	struct proto_writer w;
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	if (enabled && !was_enabled) {
		proto_put_u32(&w, PROTO_TAG_PROVIDER_INDEX, r->index);
		etwd_enable_put(&w, r, 1, &GUID_ZERO, NULL, NULL);
	}
	etwd_conn_send(d, c, &w, NULL, 0);
}
