/* SPDX-License-Identifier: MIT
 *
 * One value as text, in three styles that differ in few places: TDH's is what TdhFormatProperty
 * returns (upper-case hex, braces around GUIDs, messages for error codes); PLAIN and JSON are ours.
 */
#include "schema/schema.h"
#include "schema/schema_out.h"

#include <arpa/inet.h>

struct fmt {
	struct openetw_text *o;
	enum schema_style style;
};

static inline bool json(const struct fmt *f)
{
	return f->style == SCHEMA_STYLE_JSON;
}
static inline bool upper(const struct fmt *f)
{
	return f->style == SCHEMA_STYLE_TDH;
}
/* A quote in JSON, nothing otherwise. */
static inline void quote(const struct fmt *f)
{
	if (json(f)) {
		out_char(f->o, '"');
	}
}

/* Beyond 2^53 a JSON reader may round: those become strings. */
static void put_unsigned(const struct fmt *f, uint64_t v)
{
	bool big = json(f) && v > 1ull << 53;
	if (big) {
		quote(f);
	}
	out_u64(f->o, v);
	if (big) {
		quote(f);
	}
}

static void put_signed(const struct fmt *f, int64_t v)
{
	bool big = json(f) && (v > (1ll << 53) || v < -(1ll << 53));
	if (big) {
		quote(f);
	}
	out_i64(f->o, v);
	if (big) {
		quote(f);
	}
}

static void put_hex(const struct fmt *f, uint64_t v)
{
	quote(f);
	out_hex(f->o, v, upper(f));
	quote(f);
}

static void put_binary(const struct fmt *f, const uint8_t *p, size_t n)
{
	quote(f);
	if (f->style == SCHEMA_STYLE_TDH) {
		out_add(f->o, "0x", 2);
	}
	out_hex_bytes(f->o, p, n, upper(f));
	quote(f);
}

static void put_ansi(const struct fmt *f, const uint8_t *p, size_t n)
{
	quote(f);
	out_utf8(f->o, p, n, json(f));
	quote(f);
}

static void put_wide(const struct fmt *f, const uint8_t *p, size_t bytes)
{
	quote(f);
	out_utf16(f->o, p, bytes / 2, json(f));
	quote(f);
}

/* ---- times --------------------------------------------------------------------------------------
 */

static void put_date(const struct fmt *f, uint64_t year, unsigned month, unsigned day, unsigned hour, unsigned minute,
		     unsigned second, uint32_t fraction_100ns)
{
	struct openetw_text *o = f->o;
	quote(f);
	if (year < 10000) {
		out_padded(o, (uint32_t)year, 4);
	} else {
		out_u64(o, year);
	}
	out_char(o, '-');
	out_padded(o, month, 2);
	out_char(o, '-');
	out_padded(o, day, 2);
	out_char(o, 'T');
	out_padded(o, hour, 2);
	out_char(o, ':');
	out_padded(o, minute, 2);
	out_char(o, ':');
	out_padded(o, second, 2);
	out_char(o, '.');
	out_padded(o, fraction_100ns, 7);
	out_char(o, 'Z');
	quote(f);
}

static void put_filetime(const struct fmt *f, uint64_t t)
{
	uint64_t seconds = t / 10000000;
	uint64_t days = seconds / 86400 + 584694; /* from 0000-03-01 to 1601-01-01 */
	unsigned rest = (unsigned)(seconds % 86400);
	/* Years that begin in March put the leap day last (public method, see "days from civil").
	 */
	uint64_t era = days / 146097;
	unsigned doe = (unsigned)(days % 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;
	unsigned month = mp < 10 ? mp + 3 : mp - 9;
	put_date(f, era * 400 + yoe + (month <= 2), month, doy - (153 * mp + 2) / 5 + 1, rest / 3600, rest / 60 % 60,
		 rest % 60, (uint32_t)(t % 10000000));
}

static void put_systemtime(const struct fmt *f, const uint8_t *p)
{
	put_date(f, le16_get(p), le16_get(p + 2) % 100, le16_get(p + 6) % 100, le16_get(p + 8) % 100,
		 le16_get(p + 10) % 100, le16_get(p + 12) % 100, (uint32_t)(le16_get(p + 14) % 1000) * 10000);
}

/* ---- addresses ----------------------------------------------------------------------------------
 */

static void add_ipv4(struct openetw_text *o, const uint8_t *p)
{
	for (int i = 0; i < 4; i++) {
		if (i) {
			out_char(o, '.');
		}
		out_u64(o, p[i]);
	}
}

static void add_ipv6(struct openetw_text *o, const uint8_t *p)
{
	char buf[INET6_ADDRSTRLEN];
	if (inet_ntop(AF_INET6, p, buf, sizeof buf)) {
		out_str(o, buf);
	}
}

static void put_socket_address(const struct fmt *f, const uint8_t *p, size_t n)
{
	/* Windows' family numbers; 10 is Linux's own AF_INET6, which our providers pass on as it
	 * is. */
	unsigned family = n >= 2 ? le16_get(p) : 0;
	unsigned port = n >= 4 ? (unsigned)p[2] << 8 | p[3] : 0;
	if (family == 2 && n >= 8) {
		quote(f);
		add_ipv4(f->o, p + 4);
	} else if ((family == 23 || family == 10) && n >= 24) {
		quote(f);
		out_char(f->o, '[');
		add_ipv6(f->o, p + 8);
		uint32_t scope = n >= 28 ? le32_get(p + 24) : 0;
		if (scope) {
			out_char(f->o, '%');
			out_u64(f->o, scope);
		}
		out_char(f->o, ']');
	} else {
		put_binary(f, p, n);
		return;
	}
	out_char(f->o, ':');
	out_u64(f->o, port);
	quote(f);
}

static void put_sid(const struct fmt *f, const uint8_t *p, size_t n)
{
	if (n < 8) {
		quote(f);
		quote(f);
		return;
	}
	uint64_t authority = 0;
	for (int i = 2; i < 8; i++) {
		authority = authority << 8 | p[i];
	}
	quote(f);
	out_str(f->o, "S-");
	out_u64(f->o, p[0]);
	out_char(f->o, '-');
	if (authority >> 32) {
		out_hex(f->o, authority, upper(f));
	} else {
		out_u64(f->o, authority);
	}
	for (size_t i = 8; i + 4 <= n; i += 4) {
		out_char(f->o, '-');
		out_u64(f->o, le32_get(p + i));
	}
	quote(f);
}

static void put_guid(const struct fmt *f, const uint8_t *p)
{
	struct guid g;
	char text[37];
	memcpy(g.b, p, 16);
	guid_format(&g, text);
	if (f->style == SCHEMA_STYLE_TDH) {
		for (char *s = text; *s; s++) {
			*s = *s >= 'a' && *s <= 'f' ? (char)(*s - 32) : *s;
		}
		out_char(f->o, '{');
		out_add(f->o, text, 36);
		out_char(f->o, '}');
		return;
	}
	quote(f);
	out_add(f->o, text, 36);
	quote(f);
}

/* ---- error codes --------------------------------------------------------------------------------
 */

static const struct {
	uint32_t code;
	char text[36];
} nt_texts[] = {
	{0x00000000, "STATUS_SUCCESS"},
	{0x00000102, "STATUS_TIMEOUT"},
	{0x00000103, "STATUS_PENDING"},
	{0x80000005, "STATUS_BUFFER_OVERFLOW"},
	{0x8000001A, "STATUS_NO_MORE_ENTRIES"},
	{0xC0000001, "STATUS_UNSUCCESSFUL"},
	{0xC0000002, "STATUS_NOT_IMPLEMENTED"},
	{0xC0000005, "STATUS_ACCESS_VIOLATION"},
	{0xC0000008, "STATUS_INVALID_HANDLE"},
	{0xC000000D, "STATUS_INVALID_PARAMETER"},
	{0xC000000F, "STATUS_NO_SUCH_FILE"},
	{0xC0000011, "STATUS_END_OF_FILE"},
	{0xC0000017, "STATUS_NO_MEMORY"},
	{0xC0000022, "STATUS_ACCESS_DENIED"},
	{0xC0000023, "STATUS_BUFFER_TOO_SMALL"},
	{0xC0000034, "STATUS_OBJECT_NAME_NOT_FOUND"},
	{0xC0000035, "STATUS_OBJECT_NAME_COLLISION"},
	{0xC0000043, "STATUS_SHARING_VIOLATION"},
	{0xC000009A, "STATUS_INSUFFICIENT_RESOURCES"},
	{0xC00000BB, "STATUS_NOT_SUPPORTED"},
	{0xC0000120, "STATUS_CANCELLED"},
	{0xC0000188, "STATUS_LOG_FILE_FULL"},
	{0xC0000225, "STATUS_NOT_FOUND"},
};

static const char *error_text(uint16_t out, uint32_t code)
{
	if (out == TDH_OUTTYPE_WIN32ERROR) {
		return win32_text(code);
	}
	if (out == TDH_OUTTYPE_HRESULT) {
		return code == 0                             ? win32_text(0)
		       : (code & 0xFFFF0000u) == 0x80070000u ? win32_text(code & 0xFFFF)
							     : NULL;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(nt_texts); i++) {
		if (nt_texts[i].code == code) {
			return nt_texts[i].text;
		}
	}
	return NULL;
}

const char *schema_error_symbol(uint16_t out, uint32_t code)
{
	static const struct {
		uint32_t code;
		char name[16];
	} results[] = {{0, "S_OK"},
		       {1, "S_FALSE"},
		       {0x80004001, "E_NOTIMPL"},
		       {0x80004002, "E_NOINTERFACE"},
		       {0x80004003, "E_POINTER"},
		       {0x80004004, "E_ABORT"},
		       {0x80004005, "E_FAIL"},
		       {0x8000FFFF, "E_UNEXPECTED"},
		       {0x80070005, "E_ACCESSDENIED"},
		       {0x80070006, "E_HANDLE"},
		       {0x8007000E, "E_OUTOFMEMORY"},
		       {0x80070057, "E_INVALIDARG"}};
	const char *name = NULL;
	if (out == TDH_OUTTYPE_NTSTATUS) {
		return error_text(out, code);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(results) && out == TDH_OUTTYPE_HRESULT; i++) {
		if (results[i].code == code) {
			return results[i].name;
		}
	}
	if (out == TDH_OUTTYPE_WIN32ERROR) {
		name = win32_name(code);
	} else if ((code & 0xFFFF0000u) == 0x80070000u) {
		name = win32_name(code & 0xFFFF);
	}
	return name && name[0] ? name : NULL;
}

static void put_error(const struct fmt *f, uint16_t out, uint32_t code)
{
	if (f->style != SCHEMA_STYLE_TDH) { /* the code itself, which tools can compare */
		if (out == TDH_OUTTYPE_WIN32ERROR) {
			put_unsigned(f, code);
		} else {
			put_hex(f, code);
		}
		return;
	}
	const char *text = error_text(out, code);
	if (text) {
		out_str(f->o, text);
		return;
	}
	out_str(f->o, out == TDH_OUTTYPE_WIN32ERROR ? "Unknown Win32 Error code: "
		      : out == TDH_OUTTYPE_NTSTATUS ? "Unknown NTSTATUS Error code: "
						    : "Unknown HResult Error code: ");
	out_hex(f->o, code, true);
}

/* ---- by type ------------------------------------------------------------------------------------
 */

static int64_t sign_extend(uint64_t v, uint32_t bytes)
{
	unsigned shift = 64 - 8 * bytes;
	return (int64_t)(v << shift) >> shift;
}

static void put_bool(const struct fmt *f, bool v)
{
	out_str(f->o, v ? "true" : "false");
}

/* `v` holds 1, 2, 4 or 8 bytes. */
static void put_integer(const struct fmt *f, uint16_t in, uint16_t out, const struct schema_value *v)
{
	uint64_t n = 0;
	switch (v->bytes) {
	case 1: n = v->p[0]; break;
	case 2: n = le16_get(v->p); break;
	case 4: n = le32_get(v->p); break;
	default: n = le64_get(v->p); break;
	}
	switch (out) {
	case TDH_OUTTYPE_BYTE:
	case TDH_OUTTYPE_SHORT:
	case TDH_OUTTYPE_INT:
	case TDH_OUTTYPE_LONG:
	case TDH_OUTTYPE_PID:
	case TDH_OUTTYPE_TID: put_signed(f, sign_extend(n, v->bytes)); return;
	case TDH_OUTTYPE_UNSIGNEDBYTE:
	case TDH_OUTTYPE_UNSIGNEDSHORT:
	case TDH_OUTTYPE_UNSIGNEDINT:
	case TDH_OUTTYPE_UNSIGNEDLONG:
	case TDH_OUTTYPE_ETWTIME: put_unsigned(f, n); return;
	case TDH_OUTTYPE_HEXINT8:
	case TDH_OUTTYPE_HEXINT16:
	case TDH_OUTTYPE_HEXINT32:
	case TDH_OUTTYPE_HEXINT64:
	case TDH_OUTTYPE_ERRORCODE:
	case TDH_OUTTYPE_CODE_POINTER: put_hex(f, n); return;
	case TDH_OUTTYPE_BOOLEAN: put_bool(f, n != 0); return;
	case TDH_OUTTYPE_STRING:
		if (v->bytes == 2) {
			put_wide(f, v->p, 2);
			return;
		}
		if (v->bytes == 1) {
			/* One byte of UTF-8 is not always a character: then its Latin-1 meaning. */
			uint8_t wide[2] = {v->p[0], 0};
			put_wide(f, wide, 2);
			return;
		}
		break;
	case TDH_OUTTYPE_PORT:
		if (v->bytes == 2) {
			put_unsigned(f, (n & 0xFF) << 8 | n >> 8);
			return;
		}
		break;
	case TDH_OUTTYPE_IPV4:
		if (v->bytes == 4) {
			quote(f);
			add_ipv4(f->o, v->p);
			quote(f);
			return;
		}
		break;
	case TDH_OUTTYPE_WIN32ERROR:
	case TDH_OUTTYPE_NTSTATUS:
	case TDH_OUTTYPE_HRESULT:
		if (v->bytes == 4) {
			put_error(f, out, (uint32_t)n);
			return;
		}
		break;
	case TDH_OUTTYPE_DATETIME:
	case TDH_OUTTYPE_DATETIME_UTC:
	case TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME:
		if (v->bytes == 8) {
			put_filetime(f, n);
			return;
		}
		break;
	default: break;
	}
	uint16_t plain = manifest_out_default(in);
	if (plain == out || plain == TDH_OUTTYPE_STRING) {
		put_unsigned(f, n); /* cannot happen with our tables; ends the recursion for certain */
		return;
	}
	put_integer(f, in, plain, v);
}

static void put_float(const struct fmt *f, double v, bool is_float)
{
	bool number = v - v == 0;
	if (!number) {
		quote(f);
	}
	out_double(f->o, v, is_float);
	if (!number) {
		quote(f);
	}
}

static void put_bytes(const struct fmt *f, uint16_t out, const struct schema_value *v)
{
	if (out == TDH_OUTTYPE_IPV6 && v->bytes == 16) {
		quote(f);
		add_ipv6(f->o, v->p);
		quote(f);
	} else if (out == TDH_OUTTYPE_SOCKETADDRESS) {
		put_socket_address(f, v->p, v->bytes);
	} else {
		put_binary(f, v->p, v->bytes);
	}
}

void schema_value_format(struct openetw_text *o, enum schema_style style, uint16_t in, uint16_t out,
			 const struct schema_value *v)
{
	struct fmt f = {o, style};
	switch (in) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDSTRING:
	case TDH_INTYPE_UNICODECHAR: put_wide(&f, v->p, v->bytes); break;
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
	case TDH_INTYPE_COUNTEDANSISTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
	case TDH_INTYPE_ANSICHAR:
		if (out == TDH_OUTTYPE_HEXBINARY) {
			put_binary(&f, v->p, v->bytes);
			break;
		}
		put_ansi(&f, v->p, v->bytes);
		break;
	case TDH_INTYPE_FLOAT: {
		float x;
		memcpy(&x, v->p, 4);
		put_float(&f, (double)x, true);
		break;
	}
	case TDH_INTYPE_DOUBLE: {
		double x;
		memcpy(&x, v->p, 8);
		put_float(&f, x, false);
		break;
	}
	case TDH_INTYPE_BINARY:
	case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
	case TDH_INTYPE_HEXDUMP: put_bytes(&f, out, v); break;
	case TDH_INTYPE_GUID: put_guid(&f, v->p); break;
	case TDH_INTYPE_FILETIME: put_filetime(&f, le64_get(v->p)); break;
	case TDH_INTYPE_SYSTEMTIME: put_systemtime(&f, v->p); break;
	case TDH_INTYPE_SID:
	case TDH_INTYPE_WBEMSID: put_sid(&f, v->p, v->bytes); break;
	case TDH_INTYPE_NULL:
		if (json(&f)) {
			out_str(o, "null");
		}
		break;
	default: put_integer(&f, in, out, v); break;
	}
}
