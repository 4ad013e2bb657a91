/* SPDX-License-Identifier: MIT
 * Rights on GUIDs of providers and sessions (EventAccessControl).
 *
 * A GUID without an entry has the entry of DefaultTraceSecurityGuid, and without that everything
 * this instance allows anyway. An entry is an access list walked in order: a denial that names a
 * wanted right refuses, rights granted on the way add up, and what nobody granted is refused. Only
 * the owner of the instance and root change entries; they hold for the owner too, who can take
 * a change back.
 *
 * Entries live in the file "access" of the runtime directory, so that they outlast a daemon that
 * left because it had nothing to do.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_query.h"
#include "format/unix_sid.h"
#include "proto/proto.h"
#include "etw/values/guids.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ENTRIES_MAX 1024u
#define ACES_MAX    64u
#define SID_MAX     68u
#define FILE_MAX    (4u << 20)

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

enum ace_kind { /* AceType of a Windows access list */
		ACE_ALLOW = 0,
		ACE_DENY = 1,
		ACE_AUDIT = 2,
};

struct ace {
	uint8_t kind;
	uint8_t sid_bytes;
	uint8_t sid[SID_MAX];
	uint32_t rights;
};

struct access {
	LIST_ENTRY(access) link;
	struct guid guid;
	uint32_t count;
	struct ace ace[ACES_MAX];
};

static const struct guid default_guid = GUID_INIT(ETW_GUID_DEFAULT_TRACE_SECURITY);
static const uint8_t sid_world[] = {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};

static struct access *find(struct etwd *d, const struct guid *g)
{
	struct access *a;
	LIST_FOREACH(a, &d->access, link) {
		if (guid_equal(&a->guid, g)) {
			return a;
		}
	}
	return NULL;
}

/* revision 1, count, 6 bytes of authority, count x u32 */
static bool sid_valid(const uint8_t *sid, size_t n)
{
	return n >= 8 && n <= SID_MAX && sid[0] == 1 && sid[1] <= 15 && n == 8 + 4u * sid[1];
}

/* ---- who is it
 * ----------------------------------------------------------------------------------- */

static bool in_group(const struct conn *c, gid_t gid)
{
	gid_t groups[256];
	socklen_t len = sizeof groups;
	if (c->gid == gid) {
		return true;
	}
	if (getsockopt(c->src.fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0) {
		return false; /* an old kernel, or more groups than anybody has */
	}
	for (size_t i = 0; i < len / sizeof groups[0]; i++) {
		if (groups[i] == gid) {
			return true;
		}
	}
	return false;
}

/* Everyone, S-1-22-1-<uid>, S-1-22-2-<gid>; and the administrators of Windows sources are root. */
static bool is_peer(const struct ace *a, const struct conn *c)
{
	static const uint8_t admins[] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0};
	static const uint8_t local_system[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};
	const uint8_t *s = a->sid;
	if (a->sid_bytes == sizeof sid_world && memcmp(s, sid_world, sizeof sid_world) == 0) {
		return true;
	}
	if ((a->sid_bytes == sizeof admins && memcmp(s, admins, sizeof admins) == 0) ||
	    (a->sid_bytes == sizeof local_system && memcmp(s, local_system, sizeof local_system) == 0)) {
		return c->uid == 0;
	}
	if (a->sid_bytes != 16 || s[1] != 2 || s[7] != 22) {
		return false;
	}
	uint32_t id = le32_get(s + 12);
	switch (le32_get(s + 8)) {
	case 1: return c->uid == id;
	case 2: return in_group(c, id);
	default: return false;
	}
}

bool etwd_access_listed(struct etwd *d, const struct guid *g)
{
	return find(d, g) != NULL;
}

/* Nobody is named in it: `unlisted`. */
static bool walk(const struct access *a, const struct conn *c, uint32_t rights, bool unlisted)
{
	uint32_t missing = rights;
	bool listed = false;
	for (uint32_t i = 0; a && i < a->count && missing != 0; i++) {
		const struct ace *e = &a->ace[i];
		listed |= e->kind != ACE_AUDIT;
		if (e->kind == ACE_AUDIT || !is_peer(e, c)) {
			continue;
		}
		if (e->kind == ACE_DENY && (e->rights & missing)) {
			return false;
		}
		missing &= e->kind == ACE_ALLOW ? ~e->rights : UINT32_MAX;
	}
	return missing == 0 || (!listed && unlisted);
}

bool etwd_access_allows(struct etwd *d, const struct guid *g, const struct conn *c, uint32_t rights)
{
	const struct access *a = find(d, g);
	return walk(a ? a : find(d, &default_guid), c, rights, true);
}

bool etwd_access_grants(struct etwd *d, const struct guid *g, const struct conn *c, uint32_t rights)
{
	const struct access *a = find(d, g);
	return a && rights != 0 && walk(a, c, rights, false);
}

/* ---- the file
 * ------------------------------------------------------------------------------------ */

static int file_name(const struct etwd *d, const char *name, char *out, size_t cap)
{
	int n = d->dir[0] ? snprintf(out, cap, "%s/%s", d->dir, name) : -1;
	return n > 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

/* A line an entry: GUID kind rights SID, the last two in hex. Renamed into place. */
static int save(struct etwd *d)
{
	char path[600], fresh[600], text[37];
	if (file_name(d, "access", path, sizeof path) < 0 || file_name(d, ".access.new", fresh, sizeof fresh) < 0) {
		return 0; /* a daemon without a directory: a test */
	}
	struct strbuf b = {0};
	const struct access *a;
	LIST_FOREACH(a, &d->access, link) {
		for (uint32_t i = 0; i < a->count; i++) {
			const struct ace *e = &a->ace[i];
			strbuf_addf(&b, "%s %u %08x ", guid_format(&a->guid, text), e->kind, e->rights);
			for (uint32_t k = 0; k < e->sid_bytes; k++) {
				strbuf_addf(&b, "%02x", e->sid[k]);
			}
			strbuf_addc(&b, '\n');
		}
	}
	int r = b.failed ? -ENOMEM : 0;
	int fd = r == 0 ? open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	if (r == 0 && (fd < 0 || write(fd, b.s, b.len) != (ssize_t)b.len || rename(fresh, path) < 0)) {
		r = -errno;
	}
	base_close(&fd);
	strbuf_finish(&b);
	return r;
}

static int add(struct etwd *d, const struct guid *g, const struct ace *ace)
{
	struct access *a = find(d, g);
	if (!a) {
		if (d->access_count >= ENTRIES_MAX) {
			return -ENOSPC;
		}
		a = calloc(1, sizeof *a);
		if (!a) {
			return -ENOMEM;
		}
		a->guid = *g;
		LIST_INSERT_HEAD(&d->access, a, link);
		d->access_count++;
	}
	if (a->count == ACES_MAX) {
		return -ENOSPC;
	}
	/* Denials stand first, as in every canonical list. */
	uint32_t at = ace->kind == ACE_DENY ? 0 : a->count;
	memmove(a->ace + at + 1, a->ace + at, (a->count - at) * sizeof a->ace[0]);
	a->ace[at] = *ace;
	a->count++;
	return 0;
}

static void drop(struct etwd *d, struct access *a)
{
	LIST_REMOVE(a, link);
	d->access_count--;
	free(a);
}

static bool read_line(char *line, struct guid *ret_guid, struct ace *ret)
{
	char guid[40], hex[2 * SID_MAX + 1];
	unsigned kind, rights;
	if (sscanf(line, "%39s %u %x %136s", guid, &kind, &rights, hex) != 4 || guid_parse(guid, ret_guid) < 0 ||
	    kind > ACE_AUDIT || strlen(hex) % 2 != 0) {
		return false;
	}
	*ret = (struct ace){.kind = (uint8_t)kind, .rights = rights, .sid_bytes = (uint8_t)(strlen(hex) / 2)};
	for (size_t i = 0; i < ret->sid_bytes; i++) {
		unsigned v;
		if (sscanf(hex + 2 * i, "%2x", &v) != 1) {
			return false;
		}
		ret->sid[i] = (uint8_t)v;
	}
	return sid_valid(ret->sid, ret->sid_bytes);
}

int etwd_access_load(struct etwd *d)
{
	char path[600], line[512];
	struct stat st;
	if (file_name(d, "access", path, sizeof path) < 0) {
		return 0;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	FILE *f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	int r = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != d->uid || st.st_size > (off_t)FILE_MAX
			? -EPERM
			: 0;
	unsigned number = 0;
	while (r == 0 && fgets(line, sizeof line, f)) {
		struct guid g;
		struct ace ace;
		number++;
		/* A rule that cannot be read must not become a missing one: refuse to serve. */
		r = read_line(line, &g, &ace) ? 0 : -EBADMSG;
		if (r < 0) {
			etwd_log(d, "Cannot read line %u of %s", number, path);
		} else {
			/* Denials of the file stand first already; keep their order. */
			struct access *a = find(d, &g);
			if (a && a->count < ACES_MAX) {
				a->ace[a->count++] = ace;
			} else {
				r = a ? -ENOSPC : add(d, &g, &ace);
			}
		}
	}
	fclose(f);
	return r;
}

void etwd_access_finish(struct etwd *d)
{
	struct access *a;
	while ((a = LIST_FIRST(&d->access))) {
		drop(d, a);
	}
}

/* ---- requests
 * ------------------------------------------------------------------------------------ */

enum { /* EVENTSECURITYOPERATION, and ours */
       SET_DACL = 0,
       SET_SACL = 1,
       ADD_DACL = 2,
       ADD_SACL = 3,
       REMOVE = 16,
};

static void clear_kind(struct access *a, bool audit)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		if ((a->ace[i].kind == ACE_AUDIT) != audit) {
			a->ace[n++] = a->ace[i];
		}
	}
	a->count = n;
}

static uint32_t change(struct etwd *d, const struct proto_message *m, const struct guid *g, uint32_t op)
{
	struct access *a = find(d, g);
	if (op == REMOVE) {
		if (!a) {
			return ERROR_FILE_NOT_FOUND;
		}
		drop(d, a);
		return 0;
	}
	uint32_t rights = 0, allow = 0;
	const uint8_t *sid;
	size_t n;
	if (op > ADD_SACL || !proto_get_u32(m, PROTO_TAG_RIGHTS, &rights) ||
	    !proto_get_u32(m, PROTO_TAG_ALLOW, &allow) || !proto_get(m, PROTO_TAG_SID, &sid, &n) ||
	    !sid_valid(sid, n)) {
		return ERROR_INVALID_PARAMETER;
	}
	bool audit = op == SET_SACL || op == ADD_SACL;
	struct ace ace = {.kind = audit   ? ACE_AUDIT
				  : allow ? ACE_ALLOW
					  : ACE_DENY,
			  .sid_bytes = (uint8_t)n,
			  .rights = rights};
	memcpy(ace.sid, sid, n);
	if (a && (op == SET_DACL || op == SET_SACL)) {
		clear_kind(a, audit);
	}
	int r = add(d, g, &ace);
	return r == -ENOSPC ? ERROR_NO_SYSTEM_RESOURCES : r < 0 ? ERROR_NOT_ENOUGH_MEMORY : 0;
}

void etwd_access_set(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct guid g;
	uint32_t op;
	char text[37];
	if (!proto_get_guid(m, PROTO_TAG_GUID, &g) || !proto_get_u32(m, PROTO_TAG_CODE, &op)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "ACCESS_SET needs a GUID and an operation");
		return;
	}
	if (!etwd_conn_same_user(d, c)) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "only the owner of this etwd may change rights");
		return;
	}
	uint32_t code = change(d, m, &g, op);
	if (code == 0) {
		int r = save(d);
		etwd_log(d, "Rights on %s were changed by process %d%s%s", guid_format(&g, text), (int)c->pid,
			 r < 0 ? "; they are not kept: " : "", r < 0 ? strerror(-r) : "");
	}
	etwd_reply_status(d, c, m, code, code == ERROR_FILE_NOT_FOUND ? "this GUID has no rights of its own" : NULL);
}

/* An ACL: revision, pad, u16 bytes, u16 count, pad; ACEs: type, flags, u16 bytes, u32 mask, SID. */
static uint32_t put_acl(uint8_t *out, const struct access *a, bool audit)
{
	uint32_t at = 8, count = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct ace *e = &a->ace[i];
		if ((e->kind == ACE_AUDIT) != audit) {
			continue;
		}
		out[at] = e->kind;
		out[at + 1] = audit ? 0xC0 : 0; /* successful and failed access */
		le16_put(out + at + 2, (uint16_t)(8 + e->sid_bytes));
		le32_put(out + at + 4, e->rights);
		memcpy(out + at + 8, e->sid, e->sid_bytes);
		at += 8u + e->sid_bytes;
		count++;
	}
	out[0] = 2;
	out[1] = 0;
	le16_put(out + 2, (uint16_t)at);
	le16_put(out + 4, (uint16_t)count);
	le16_put(out + 6, 0);
	return count ? at : 0;
}

/* Self-relative security descriptor: 20 bytes, owner, the two lists. */
static uint32_t put_descriptor(const struct etwd *d, const struct access *a, uint8_t *out)
{
	uint32_t at = 20;
	memset(out, 0, 20);
	out[0] = 1;
	uint16_t control = 0x8000;
	le32_put(out + 4, at);
	unix_sid_put(out + at, d->uid);
	at += UNIX_SID_BYTES;
	uint32_t n = put_acl(out + at, a, true);
	if (n > 0) {
		control |= 0x0010;
		le32_put(out + 12, at);
		at += n;
	}
	n = put_acl(out + at, a, false);
	if (n > 0) {
		control |= 0x0004;
		le32_put(out + 16, at);
		at += n;
	}
	le16_put(out + 2, control);
	return at;
}

void etwd_access_query(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct guid g;
	struct access all = {.count = 1, .ace = {{.kind = ACE_ALLOW}}};
	if (!proto_get_guid(m, PROTO_TAG_GUID, &g)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "ACCESS_QUERY needs a GUID");
		return;
	}
	/* 0x121FFF: TRACELOG_ALL_ACCESS */
	all.ace[0].rights = 0x121FFF;
	all.ace[0].sid_bytes = sizeof sid_world;
	memcpy(all.ace[0].sid, sid_world, sizeof sid_world);
	const struct access *a = find(d, &g);
	a = a ? a : find(d, &default_guid);
	a = a ? a : &all;
	uint8_t out[20 + 16 + 2 * (8 + ACES_MAX * (8 + SID_MAX))];
	struct proto_writer w;
	uint32_t n = put_descriptor(d, a, out);
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put(&w, PROTO_TAG_DATA, out, n);
	etwd_conn_send(d, c, &w, NULL, 0);
}
