/* SPDX-License-Identifier: MIT
 * Messages to bytes and back. Reading is the hostile side: every length is checked against what is
 * left before it is used, and nothing is allocated.
 */
#include "proto/proto.h"

#define HEADER_BYTES 12u
#define TLV_BYTES    8u

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

void proto_begin(struct proto_writer *w, void *mem, size_t cap, uint16_t type, uint32_t id)
{
	*w = (struct proto_writer){.mem = mem, .cap = BASE_MIN(cap, (size_t)PROTO_MESSAGE_MAX)};
	if (w->cap < HEADER_BYTES) {
		w->failed = true;
		return;
	}
	le32_put(w->mem, 0);
	le16_put(w->mem + 4, type);
	le16_put(w->mem + 6, 0);
	le32_put(w->mem + 8, id);
	w->len = HEADER_BYTES;
}

void proto_put(struct proto_writer *w, uint16_t tag, const void *p, size_t n)
{
	if (w->failed || n > w->cap || w->cap - w->len < TLV_BYTES + align4(n)) {
		w->failed = true;
		return;
	}
	uint8_t *out = w->mem + w->len;
	le16_put(out, tag);
	le16_put(out + 2, 0);
	le32_put(out + 4, (uint32_t)n);
	if (n > 0) {
		memcpy(out + TLV_BYTES, p, n);
	}
	memset(out + TLV_BYTES + n, 0, align4(n) - n);
	w->len += TLV_BYTES + align4(n);
}

void proto_put_u32(struct proto_writer *w, uint16_t tag, uint32_t v)
{
	proto_put(w, tag, &v, sizeof v);
}

void proto_put_u64(struct proto_writer *w, uint16_t tag, uint64_t v)
{
	proto_put(w, tag, &v, sizeof v);
}

void proto_put_str(struct proto_writer *w, uint16_t tag, const char *utf8)
{
	proto_put(w, tag, utf8, strlen(utf8));
}

long proto_end(struct proto_writer *w)
{
	if (w->failed) {
		return -EMSGSIZE;
	}
	le32_put(w->mem, (uint32_t)w->len);
	return (long)w->len;
}

/* The TLV at *at; false at the end or when it does not fit (ret_bad). */
static bool tlv_at(const uint8_t *body, size_t n, size_t *at, uint16_t *tag, uint16_t *flags, const uint8_t **p,
		   size_t *len, bool *ret_bad)
{
	*ret_bad = false;
	if (*at == n) {
		return false;
	}
	if (*at > n || n - *at < TLV_BYTES) {
		*ret_bad = true;
		return false;
	}
	const uint8_t *t = body + *at;
	size_t size = le32_get(t + 4);
	if (size > n - *at - TLV_BYTES || align4(size) > n - *at - TLV_BYTES) {
		*ret_bad = true;
		return false;
	}
	*tag = le16_get(t);
	*flags = le16_get(t + 2);
	*p = t + TLV_BYTES;
	*len = size;
	*at += TLV_BYTES + align4(size);
	return true;
}

static bool tag_known(uint16_t tag)
{
	return (tag >= PROTO_TAG_STATUS && tag <= PROTO_TAG_GENERATION) ||
	       (tag >= PROTO_TAG_CONTROL_CODE && tag <= PROTO_TAG_ALLOW);
}

int proto_parse(const void *p, size_t n, struct proto_message *ret)
{
	const uint8_t *m = p;
	if (n < HEADER_BYTES || n > PROTO_MESSAGE_MAX || le32_get(m) != n) {
		return -EBADMSG;
	}
	const uint8_t *body = m + HEADER_BYTES;
	size_t body_bytes = n - HEADER_BYTES;
	size_t at = 0;
	uint16_t tag, flags;
	const uint8_t *v;
	size_t len;
	bool bad;
	while (tlv_at(body, body_bytes, &at, &tag, &flags, &v, &len, &bad)) {
		if ((flags & PROTO_TAG_CRITICAL) && !tag_known(tag)) {
			return -EOPNOTSUPP;
		}
	}
	if (bad) {
		return -EBADMSG;
	}
	*ret = (struct proto_message){
		.type = le16_get(m + 4),
		.flags = le16_get(m + 6),
		.id = le32_get(m + 8),
		.body = body,
		.body_bytes = body_bytes,
	};
	return 0;
}

bool proto_next(const struct proto_message *m, size_t *at, uint16_t *ret_tag, const uint8_t **ret_p, size_t *ret_n)
{
	uint16_t flags;
	bool bad;
	return tlv_at(m->body, m->body_bytes, at, ret_tag, &flags, ret_p, ret_n, &bad);
}

bool proto_get(const struct proto_message *m, uint16_t tag, const uint8_t **ret_p, size_t *ret_n)
{
	size_t at = 0;
	uint16_t t;
	const uint8_t *p;
	size_t n;
	while (proto_next(m, &at, &t, &p, &n)) {
		if (t == tag) {
			*ret_p = p;
			*ret_n = n;
			return true;
		}
	}
	return false;
}

static bool get_exact(const struct proto_message *m, uint16_t tag, void *out, size_t size)
{
	const uint8_t *p;
	size_t n;
	if (!proto_get(m, tag, &p, &n) || n != size) {
		return false;
	}
	memcpy(out, p, size);
	return true;
}

bool proto_get_u32(const struct proto_message *m, uint16_t tag, uint32_t *ret)
{
	return get_exact(m, tag, ret, sizeof *ret);
}

bool proto_get_u64(const struct proto_message *m, uint16_t tag, uint64_t *ret)
{
	return get_exact(m, tag, ret, sizeof *ret);
}

bool proto_get_guid(const struct proto_message *m, uint16_t tag, struct guid *ret)
{
	return get_exact(m, tag, ret, sizeof *ret);
}

bool proto_get_str(const struct proto_message *m, uint16_t tag, char *out, size_t cap)
{
	const uint8_t *p;
	size_t n;
	if (!proto_get(m, tag, &p, &n) || n >= cap || memchr(p, 0, n) != NULL ||
	    utf8_to_utf16((const char *)p, n, NULL, 0) < 0) {
		return false;
	}
	memcpy(out, p, n);
	out[n] = 0;
	return true;
}

/* ---- session description --------------------------------------------------------------------- */

/* The fixed part on the wire: u64 and u32 members in this order. Adding at the end is compatible: a
 * longer blob is cut, a shorter one leaves zeros. */
#define SESSION_U64(F) F(id) F(logger_thread_id) F(start_filetime) F(events) F(bytes_written)
#define SESSION_U32(F)             \
	F(props.clock)             \
	F(props.buffer_kb)         \
	F(props.minimum_buffers)   \
	F(props.maximum_buffers)   \
	F(props.maximum_file_size) \
	F(props.mode)              \
	F(props.flush_timer)       \
	F(props.enable_flags)      \
	F(props.flush_threshold)   \
	F(number_of_buffers)       \
	F(free_buffers)            \
	F(events_lost)             \
	F(buffers_written)         \
	F(log_buffers_lost)        \
	F(real_time_buffers_lost)  \
	F(owner_uid)               \
	F(flags)                   \
	F(update_mask)             \
	F(latency_us)

#define SESSION_LATER64(F) F(expires_filetime) F(quota_bytes)
#define SESSION_LATER32(F) F(owner_pid) F(consumers)

#define SESSION_LATEST64(F) F(file_fate_filetime)
#define SESSION_LATEST32(F) F(file_fate)

#define SESSION_FIXED_BYTES 256u

void proto_put_session(struct proto_writer *w, const struct proto_session *s)
{
	uint8_t blob[SESSION_FIXED_BYTES] = {0};
	uint8_t *p = blob;
	memcpy(p, s->props.guid.b, 16);
	p += 16;
#define PUT64(m) le64_put(p, s->m), p += 8;
#define PUT32(m) le32_put(p, s->m), p += 4;
	SESSION_U64(PUT64)
	SESSION_U32(PUT32)
	SESSION_LATER64(PUT64)
	SESSION_LATER32(PUT32)
	SESSION_LATEST64(PUT64)
	SESSION_LATEST32(PUT32)
	proto_put(w, PROTO_TAG_SESSION, blob, (size_t)(p - blob));
	proto_put(w, PROTO_TAG_LOSS, s->loss, sizeof s->loss);
	if (s->name) {
		proto_put(w, PROTO_TAG_SESSION_NAME, s->name, 2 * (size_t)s->name_len);
	}
	if (s->log_file) {
		proto_put(w, PROTO_TAG_LOG_FILE, s->log_file, 2 * (size_t)s->log_file_len);
	}
}

/* TLV bodies are 4-aligned in a message whose buffer is; a message read at an odd address would break
 * that, so it is checked rather than assumed. */
static bool get_wide(const struct proto_message *m, uint16_t tag, const uint16_t **ret, uint32_t *ret_len)
{
	const uint8_t *p;
	size_t n;
	if (!proto_get(m, tag, &p, &n) || n == 0) {
		return true; /* an empty one would have no first character to look at */
	}
	if (n % 2 != 0 || n > 2 * 4096 || (uintptr_t)p % 2 != 0) {
		return false;
	}
	for (size_t i = 0; i < n; i += 2) {
		if (le16_get(p + i) == 0) {
			return false;
		}
	}
	*ret = (const uint16_t *)(const void *)p;
	*ret_len = (uint32_t)(n / 2);
	return true;
}

bool proto_get_session(const struct proto_message *m, struct proto_session *ret)
{
	const uint8_t *from;
	size_t n;
	if (!proto_get(m, PROTO_TAG_SESSION, &from, &n)) {
		return false;
	}
	uint8_t blob[SESSION_FIXED_BYTES] = {0};
	memcpy(blob, from, BASE_MIN(n, sizeof blob));
	struct proto_session s = {0};
	const uint8_t *p = blob;
	memcpy(s.props.guid.b, p, 16);
	p += 16;
#define GET64(member) s.member = le64_get(p), p += 8;
#define GET32(member) s.member = le32_get(p), p += 4;
	SESSION_U64(GET64)
	SESSION_U32(GET32)
	SESSION_LATER64(GET64)
	SESSION_LATER32(GET32)
	SESSION_LATEST64(GET64)
	SESSION_LATEST32(GET32)
	if (proto_get(m, PROTO_TAG_LOSS, &from, &n)) {
		memcpy(s.loss, from, BASE_MIN(n, sizeof s.loss));
	}
	if (!get_wide(m, PROTO_TAG_SESSION_NAME, &s.name, &s.name_len) ||
	    !get_wide(m, PROTO_TAG_LOG_FILE, &s.log_file, &s.log_file_len)) {
		return false;
	}
	*ret = s;
	return true;
}
