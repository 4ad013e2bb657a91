/* SPDX-License-Identifier: MIT
 *
 * Where one value ends.
 */
#include "schema/schema.h"

uint32_t schema_value_fixed(uint16_t in, unsigned pointer_size)
{
	switch (in) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8:
	case TDH_INTYPE_ANSICHAR: return 1;
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_UINT16:
	case TDH_INTYPE_UNICODECHAR: return 2;
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_UINT32:
	case TDH_INTYPE_FLOAT:
	case TDH_INTYPE_BOOLEAN:
	case TDH_INTYPE_HEXINT32: return 4;
	case TDH_INTYPE_INT64:
	case TDH_INTYPE_UINT64:
	case TDH_INTYPE_DOUBLE:
	case TDH_INTYPE_FILETIME:
	case TDH_INTYPE_HEXINT64: return 8;
	case TDH_INTYPE_GUID:
	case TDH_INTYPE_SYSTEMTIME: return 16;
	case TDH_INTYPE_POINTER:
	case TDH_INTYPE_SIZET: return pointer_size;
	default: return 0;
	}
}

static int take(struct schema_value *v, const uint8_t *p, size_t prefix, size_t bytes, size_t left)
{
	if (left < prefix || left - prefix < bytes) {
		return -EBADMSG;
	}
	*v = (struct schema_value){p + prefix, (uint32_t)bytes, (uint32_t)(prefix + bytes)};
	return 0;
}

/* A sized string may be padded with NULs; its text ends at the first. */
static void cut_at_nul(struct schema_value *v, unsigned unit)
{
	for (uint32_t i = 0; i + unit <= v->bytes; i += unit) {
		if (v->p[i] == 0 && (unit == 1 || v->p[i + 1] == 0)) {
			v->bytes = i;
			return;
		}
	}
	v->bytes -= v->bytes % unit;
}

static int read_string(struct schema_value *v, unsigned unit, uint32_t length, const uint8_t *p, size_t left)
{
	if (length != SCHEMA_NO_LENGTH) {
		int err = take(v, p, 0, (size_t)length * unit, left);
		if (err == 0) {
			cut_at_nul(v, unit);
		}
		return err;
	}
	if (unit == 1) {
		const uint8_t *nul = left ? memchr(p, 0, left) : NULL;
		size_t bytes = nul ? (size_t)(nul - p) : left;
		*v = (struct schema_value){p, (uint32_t)bytes, (uint32_t)(bytes + (nul != NULL))};
		return 0;
	}
	size_t i = 0;
	for (; i + 2 <= left; i += 2) {
		if (le16_get(p + i) == 0) {
			*v = (struct schema_value){p, (uint32_t)i, (uint32_t)(i + 2)};
			return 0;
		}
	}
	/* The last string of a payload may lack its terminator: providers of Windows do that. */
	*v = (struct schema_value){p, (uint32_t)i, (uint32_t)left};
	return 0;
}

static int read_sid(struct schema_value *v, const uint8_t *p, size_t prefix, size_t left)
{
	if (left < prefix || left - prefix < 8) {
		return -EBADMSG;
	}
	return take(v, p, prefix, 8 + 4 * (size_t)p[prefix + 1], left);
}

/* A SID behind a TOKEN_USER of zeros: some writers do not fill in the pointer. [obs] */
static bool is_sid_after_zeros(const uint8_t *p, size_t prefix, size_t left)
{
	static const uint8_t zeros[16];
	return left >= prefix + 8 && memcmp(p, zeros, prefix) == 0 && p[prefix] == 1 && p[prefix + 1] <= 15 &&
	       memcmp(p + prefix + 2, zeros, 5) == 0;
}

/* TOKEN_USER (a pointer and attributes, padded) before the SID; a null pointer means no SID, and
 * then only four bytes are there. [obs] in kernel Process events */
static int read_wbem_sid(struct schema_value *v, unsigned pointer_size, const uint8_t *p, size_t left)
{
	if (left >= 4 && le32_get(p) == 0 && !is_sid_after_zeros(p, 2 * (size_t)pointer_size, left)) {
		return take(v, p, 4, 0, left);
	}
	return read_sid(v, p, 2 * (size_t)pointer_size, left);
}

int schema_value_read(uint16_t in, uint16_t out, uint32_t length, unsigned pointer_size, const uint8_t *p, size_t left,
		      struct schema_value *ret)
{
	uint32_t fixed = schema_value_fixed(in, pointer_size);
	if (BASE_LIKELY(fixed != 0)) {
		return take(ret, p, 0, fixed, left);
	}
	switch (in) {
	case TDH_INTYPE_NULL: return take(ret, p, 0, 0, left);
	case TDH_INTYPE_UNICODESTRING: return read_string(ret, 2, length, p, left);
	case TDH_INTYPE_ANSISTRING: return read_string(ret, 1, length, p, left);
	case TDH_INTYPE_BINARY:
		if (length == SCHEMA_NO_LENGTH) {
			length = out == TDH_OUTTYPE_IPV6 ? 16 : 0;
		}
		return take(ret, p, 0, length, left);
	case TDH_INTYPE_SID: return read_sid(ret, p, 0, left);
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDANSISTRING: return left < 2 ? -EBADMSG : take(ret, p, 2, le16_get(p), left);
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
		return left < 2 ? -EBADMSG : take(ret, p, 2, (size_t)p[0] << 8 | p[1], left);
	case TDH_INTYPE_NONNULLTERMINATEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING: return take(ret, p, 0, left, left);
	case TDH_INTYPE_HEXDUMP: return left < 4 ? -EBADMSG : take(ret, p, 4, le32_get(p), left);
	case TDH_INTYPE_WBEMSID: return read_wbem_sid(ret, pointer_size, p, left);
	default: return -EBADMSG;
	}
}

bool schema_value_u32(uint16_t in, const uint8_t *p, uint32_t *ret)
{
	switch (in) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8: *ret = p[0]; return true;
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_UINT16: *ret = le16_get(p); return true;
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_UINT32:
	case TDH_INTYPE_BOOLEAN:
	case TDH_INTYPE_HEXINT32: *ret = le32_get(p); return true;
	default: return false;
	}
}
