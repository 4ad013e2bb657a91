/* SPDX-License-Identifier: MIT */
#include "tools/sql/sql_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 32

enum sql_class sql_text_class(duckdb_handle type)
{
	switch (duckdb.get_type_id(type)) {
	case DUCKDB_BOOLEAN: return SQL_BOOLEAN;
	case DUCKDB_TINYINT:
	case DUCKDB_SMALLINT:
	case DUCKDB_INTEGER:
	case DUCKDB_BIGINT:
	case DUCKDB_UTINYINT:
	case DUCKDB_USMALLINT:
	case DUCKDB_UINTEGER:
	case DUCKDB_UBIGINT:
	case DUCKDB_FLOAT:
	case DUCKDB_DOUBLE:
	case DUCKDB_HUGEINT:
	case DUCKDB_UHUGEINT:
	case DUCKDB_DECIMAL: return SQL_NUMBER;
	case DUCKDB_LIST:
	case DUCKDB_ARRAY:
	case DUCKDB_STRUCT:
	case DUCKDB_MAP: return SQL_NESTED;
	default: return SQL_STRING;
	}
}

static bool is_null(duckdb_handle vector, uint64_t row)
{
	const uint64_t *valid = duckdb.vector_get_validity(vector);
	return valid && !(valid[row / 64] >> (row % 64) & 1);
}

/* The shortest text that is read as the same number. */
static void add_double(struct strbuf *b, double v, int least, int most)
{
	char text[40];
	if (isnan(v) || isinf(v)) {
		strbuf_adds(b, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	for (int digits = least; digits <= most; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		double back = strtod(text, NULL);
		if (most < 10 ? (float)back == (float)v : back == v) {
			break;
		}
	}
	strbuf_adds(b, text);
}

static void add_huge(struct strbuf *b, unsigned __int128 v, bool negative, unsigned scale)
{
	char text[80];
	size_t n = sizeof text;
	unsigned digits = 0;
	do {
		if (scale && digits == scale) {
			text[--n] = '.';
		}
		text[--n] = (char)('0' + (int)(v % 10));
		v /= 10;
		digits++;
	} while (v || digits <= scale);
	if (negative) {
		text[--n] = '-';
	}
	strbuf_add(b, text + n, sizeof text - n);
}

static void add_signed(struct strbuf *b, __int128 v, unsigned scale)
{
	add_huge(b, v < 0 ? -(unsigned __int128)v : (unsigned __int128)v, v < 0, scale);
}

/* Days since 1970 to a date (Howard Hinnant's algorithm, public domain: chrono-compatible low-level date algorithms). */
static void add_date(struct strbuf *b, int64_t days)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	uint64_t doe = (uint64_t)(days - era * 146097);
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	unsigned month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
	strbuf_addf(b, "%04lld-%02u-%02u", (long long)(era * 400 + (int64_t)yoe + (month <= 2)), month,
		    (unsigned)(doy - (153 * mp + 2) / 5 + 1));
}

static void add_clock(struct strbuf *b, uint64_t ns)
{
	strbuf_addf(b, "%02llu:%02llu:%02llu", (unsigned long long)(ns / 3600000000000ull),
		    (unsigned long long)(ns / 60000000000ull % 60), (unsigned long long)(ns / 1000000000 % 60));
	unsigned rest = (unsigned)(ns % 1000000000);
	if (rest) {
		char text[16];
		int n = snprintf(text, sizeof text, ".%09u", rest);
		while (text[n - 1] == '0') {
			n--;
		}
		strbuf_add(b, text, (size_t)n);
	}
}

static void add_timestamp(struct strbuf *b, int64_t v, uint64_t per_second)
{
	if (v == INT64_MAX || v == -INT64_MAX) {
		strbuf_adds(b, v > 0 ? "infinity" : "-infinity");
		return;
	}
	int64_t per_day = (int64_t)per_second * 86400, days = v / per_day, rest = v % per_day;
	if (rest < 0) {
		days--;
		rest += per_day;
	}
	add_date(b, days);
	strbuf_addc(b, ' ');
	add_clock(b, (uint64_t)rest * (1000000000 / per_second));
}

static void add_interval(struct strbuf *b, const struct duckdb_interval *i)
{
	size_t from = b->len;
	if (i->months) {
		strbuf_addf(b, "%d months", i->months);
	}
	if (i->days) {
		strbuf_addf(b, "%s%d days", b->len > from ? " " : "", i->days);
	}
	if (i->micros || b->len == from) {
		uint64_t us = i->micros < 0 ? 0 - (uint64_t)i->micros : (uint64_t)i->micros;
		strbuf_adds(b, b->len > from ? " " : "");
		strbuf_adds(b, i->micros < 0 ? "-" : "");
		strbuf_addf(b, "%02llu:", (unsigned long long)(us / 3600000000ull));
		strbuf_addf(b, "%02u:%02u", (unsigned)(us / 60000000 % 60), (unsigned)(us / 1000000 % 60));
		if (us % 1000000) {
			strbuf_addf(b, ".%06u", (unsigned)(us % 1000000));
		}
	}
}

static void add_uuid(struct strbuf *b, struct duckdb_huge v)
{
	uint64_t high = (uint64_t)v.high ^ 1ull << 63;
	strbuf_addf(b, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xFFFF),
		    (unsigned)(high & 0xFFFF), (unsigned)(v.low >> 48),
		    (unsigned long long)(v.low & 0xFFFFFFFFFFFFull));
}

static void add_text(struct strbuf *b, const union duckdb_text *t, bool blob)
{
	const char *p = t->here.length <= sizeof t->here.text ? t->here.text : t->elsewhere.at;
	if (!blob) {
		strbuf_add(b, p, t->here.length);
		return;
	}
	for (uint32_t i = 0; i < t->here.length; i++) {
		static const char digits[] = "0123456789abcdef";
		char two[2] = {digits[(uint8_t)p[i] >> 4], digits[p[i] & 15]};
		strbuf_add(b, two, 2);
	}
}

static __int128 decimal(duckdb_handle type, const void *data, uint64_t row)
{
	switch (duckdb.decimal_internal_type(type)) {
	case DUCKDB_SMALLINT: return ((const int16_t *)data)[row];
	case DUCKDB_INTEGER: return ((const int32_t *)data)[row];
	case DUCKDB_BIGINT: return ((const int64_t *)data)[row];
	default: break;
	}
	const struct duckdb_huge *h = (const struct duckdb_huge *)data + row;
	return (__int128)((unsigned __int128)(uint64_t)h->high << 64 | h->low);
}

static void add_enum(struct strbuf *b, duckdb_handle type, const void *data, uint64_t row)
{
	int internal = duckdb.enum_internal_type(type);
	uint64_t which = internal == DUCKDB_UTINYINT    ? ((const uint8_t *)data)[row]
			 : internal == DUCKDB_USMALLINT ? ((const uint16_t *)data)[row]
							: ((const uint32_t *)data)[row];
	char *text = duckdb.enum_dictionary_value(type, which);
	strbuf_adds(b, text ? text : "");
	duckdb.free(text);
}

static void add_plain(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row)
{
	const void *data = duckdb.vector_get_data(vector);
	int id = duckdb.get_type_id(type);
#define AT(t) (((const t *)data)[row])
	switch (id) {
	case DUCKDB_BOOLEAN: strbuf_adds(b, AT(uint8_t) ? "true" : "false"); break;
	case DUCKDB_TINYINT: strbuf_addf(b, "%d", AT(int8_t)); break;
	case DUCKDB_SMALLINT: strbuf_addf(b, "%d", AT(int16_t)); break;
	case DUCKDB_INTEGER: strbuf_addf(b, "%d", AT(int32_t)); break;
	case DUCKDB_BIGINT: strbuf_addf(b, "%lld", (long long)AT(int64_t)); break;
	case DUCKDB_UTINYINT: strbuf_add_u64(b, AT(uint8_t)); break;
	case DUCKDB_USMALLINT: strbuf_add_u64(b, AT(uint16_t)); break;
	case DUCKDB_UINTEGER: strbuf_add_u64(b, AT(uint32_t)); break;
	case DUCKDB_UBIGINT: strbuf_add_u64(b, AT(uint64_t)); break;
	case DUCKDB_FLOAT: add_double(b, (double)AT(float), 6, 9); break;
	case DUCKDB_DOUBLE: add_double(b, AT(double), 15, 17); break;
	case DUCKDB_TIMESTAMP_S: add_timestamp(b, AT(int64_t), 1); break;
	case DUCKDB_TIMESTAMP_MS: add_timestamp(b, AT(int64_t), 1000); break;
	case DUCKDB_TIMESTAMP:
	case DUCKDB_TIMESTAMP_TZ: add_timestamp(b, AT(int64_t), 1000000); break;
	case DUCKDB_TIMESTAMP_NS: add_timestamp(b, AT(int64_t), 1000000000); break;
	case DUCKDB_DATE: add_date(b, AT(int32_t)); break;
	case DUCKDB_TIME: add_clock(b, (uint64_t)AT(int64_t) * 1000); break;
	case DUCKDB_INTERVAL: add_interval(b, &AT(struct duckdb_interval)); break;
	case DUCKDB_HUGEINT:
		add_signed(b,
			   (__int128)((unsigned __int128)(uint64_t)AT(struct duckdb_huge).high << 64 |
				      AT(struct duckdb_huge).low),
			   0);
		break;
	case DUCKDB_UHUGEINT:
		add_huge(b, (unsigned __int128)(uint64_t)AT(struct duckdb_huge).high << 64 | AT(struct duckdb_huge).low,
			 false, 0);
		break;
	case DUCKDB_DECIMAL: add_signed(b, decimal(type, data, row), duckdb.decimal_scale(type)); break;
	case DUCKDB_VARCHAR: add_text(b, &AT(union duckdb_text), false); break;
	case DUCKDB_BLOB: add_text(b, &AT(union duckdb_text), true); break;
	case DUCKDB_UUID: add_uuid(b, AT(struct duckdb_huge)); break;
	case DUCKDB_ENUM: add_enum(b, type, data, row); break;
	default: strbuf_adds(b, "(cast this to varchar to see it)"); break;
	}
#undef AT
}

static void add_json(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row, unsigned depth);

static void add_elements(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t from, uint64_t count,
			 unsigned depth)
{
	strbuf_addc(b, '[');
	for (uint64_t i = 0; i < count && b->len < SQL_RECORD_MAX; i++) {
		strbuf_adds(b, i ? "," : "");
		add_json(b, type, vector, from + i, depth + 1);
	}
	strbuf_addc(b, ']');
}

static void add_struct(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row, unsigned depth)
{
	strbuf_addc(b, '{');
	for (uint64_t i = 0; i < duckdb.struct_type_child_count(type); i++) {
		char *name = duckdb.struct_type_child_name(type, i);
		duckdb_handle child = duckdb.struct_type_child_type(type, i);
		strbuf_adds(b, i ? "," : "");
		strbuf_add_json(b, name ? name : "", name ? strlen(name) : 0);
		strbuf_addc(b, ':');
		add_json(b, child, duckdb.struct_vector_get_child(vector, i), row, depth + 1);
		duckdb.destroy_logical_type(&child);
		duckdb.free(name);
	}
	strbuf_addc(b, '}');
}

/* A list of structs of key and value. */
static void add_map(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row, unsigned depth)
{
	struct duckdb_entry e = ((const struct duckdb_entry *)duckdb.vector_get_data(vector))[row];
	duckdb_handle pairs = duckdb.list_vector_get_child(vector);
	duckdb_handle key = duckdb.map_type_key_type(type), value = duckdb.map_type_value_type(type);
	strbuf_addc(b, '[');
	for (uint64_t i = e.offset; i < e.offset + e.length && b->len < SQL_RECORD_MAX; i++) {
		strbuf_adds(b, i > e.offset ? ",{\"key\":" : "{\"key\":");
		add_json(b, key, duckdb.struct_vector_get_child(pairs, 0), i, depth + 1);
		strbuf_adds(b, ",\"value\":");
		add_json(b, value, duckdb.struct_vector_get_child(pairs, 1), i, depth + 1);
		strbuf_addc(b, '}');
	}
	strbuf_addc(b, ']');
	duckdb.destroy_logical_type(&key);
	duckdb.destroy_logical_type(&value);
}

static void add_nested(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row, unsigned depth)
{
	int id = duckdb.get_type_id(type);
	if (depth > DEPTH_MAX) {
		strbuf_adds(b, "null");
	} else if (id == DUCKDB_STRUCT) {
		add_struct(b, type, vector, row, depth);
	} else if (id == DUCKDB_MAP) {
		add_map(b, type, vector, row, depth);
	} else if (id == DUCKDB_LIST) {
		struct duckdb_entry e = ((const struct duckdb_entry *)duckdb.vector_get_data(vector))[row];
		duckdb_handle child = duckdb.list_type_child_type(type);
		add_elements(b, child, duckdb.list_vector_get_child(vector), e.offset, e.length, depth);
		duckdb.destroy_logical_type(&child);
	} else {
		uint64_t n = duckdb.array_type_array_size(type);
		duckdb_handle child = duckdb.array_type_child_type(type);
		add_elements(b, child, duckdb.array_vector_get_child(vector), row * n, n, depth);
		duckdb.destroy_logical_type(&child);
	}
}

static void add_json(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row, unsigned depth)
{
	if (is_null(vector, row)) {
		strbuf_adds(b, "null");
		return;
	}
	enum sql_class class = sql_text_class(type);
	if (class == SQL_NESTED) {
		add_nested(b, type, vector, row, depth);
	} else {
		struct strbuf text = {0};
		add_plain(&text, type, vector, row);
		bool number = class != SQL_STRING && text.len && !strchr("ni", text.s[text.s[0] == '-']);
		if (class == SQL_BOOLEAN || number) {
			strbuf_add(b, text.s, text.len);
		} else {
			strbuf_add_json(b, text.s ? text.s : "", text.len);
		}
		b->failed = b->failed || text.failed;
		strbuf_finish(&text);
	}
}

bool sql_text_add(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row)
{
	if (is_null(vector, row)) {
		return false;
	}
	if (sql_text_class(type) == SQL_NESTED) {
		add_nested(b, type, vector, row, 0);
	} else {
		add_plain(b, type, vector, row);
	}
	return true;
}
