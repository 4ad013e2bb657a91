/* SPDX-License-Identifier: MIT */
#include "tools/common/json_read.h"

#include <stdio.h>

#ifndef OPENETW_JSON

bool json_load(char *why, size_t cap)
{
	snprintf(why, cap,
		 "this build of openetw has no JSON reader; install the package libjson-c-dev and build "
		 "openetw again");
	return false;
}
struct json_value *json_parse(const char *s, size_t n, char *why, size_t cap)
{
	(void)s;
	(void)n;
	json_load(why, cap);
	return NULL;
}
void json_free(struct json_value *v)
{
	(void)v;
}
enum json_kind json_kind_of(const struct json_value *v)
{
	(void)v;
	return JSON_NULL;
}
struct json_value *json_member(const struct json_value *v, const char *name)
{
	(void)v;
	(void)name;
	return NULL;
}
bool json_member_at(const struct json_value *v, size_t i, const char **ret_name, struct json_value **ret)
{
	(void)v;
	(void)i;
	(void)ret_name;
	(void)ret;
	return false;
}
size_t json_count(const struct json_value *v)
{
	(void)v;
	return 0;
}
struct json_value *json_at(const struct json_value *v, size_t i)
{
	(void)v;
	(void)i;
	return NULL;
}
bool json_text(const struct json_value *v, const char **ret)
{
	(void)v;
	(void)ret;
	return false;
}
bool json_integer(const struct json_value *v, int64_t *ret)
{
	(void)v;
	(void)ret;
	return false;
}
bool json_real(const struct json_value *v, double *ret)
{
	(void)v;
	(void)ret;
	return false;
}
bool json_truth(const struct json_value *v, bool *ret)
{
	(void)v;
	(void)ret;
	return false;
}
void json_write(const struct json_value *v, struct strbuf *b)
{
	(void)v;
	strbuf_adds(b, "null");
}

#else

#include <dlfcn.h>
#include <json-c/json.h>
#include <math.h>

/* Linked, it would be loaded by every openetw that starts. */
#define LIBJSON "libjson-c.so.5"
#define LIBJSON_FUNCTIONS(X)              \
	X(json_object_array_get_idx)      \
	X(json_object_array_length)       \
	X(json_object_get_boolean)        \
	X(json_object_get_double)         \
	X(json_object_get_int64)          \
	X(json_object_get_object)         \
	X(json_object_get_string)         \
	X(json_object_get_string_len)     \
	X(json_object_get_type)           \
	X(json_object_object_get_ex)      \
	X(json_object_put)                \
	X(json_object_to_json_string_ext) \
	X(json_tokener_error_desc)        \
	X(json_tokener_free)              \
	X(json_tokener_get_error)         \
	X(json_tokener_get_parse_end)     \
	X(json_tokener_new_ex)            \
	X(json_tokener_parse_ex)          \
	X(json_tokener_set_flags)
static struct {
#define MEMBER(f) __typeof__(&f) f;
	LIBJSON_FUNCTIONS(MEMBER)
#undef MEMBER
	bool loaded;
} jc;

bool json_load(char *why, size_t cap)
{
	if (jc.loaded) {
		return true;
	}
	void *lib = dlopen(LIBJSON, RTLD_NOW | RTLD_LOCAL);
	bool all = lib != NULL;
#define LOAD(f) all = all && (jc.f = (__typeof__(jc.f))dlsym(lib, #f)) != NULL;
	LIBJSON_FUNCTIONS(LOAD)
#undef LOAD
	jc.loaded = all;
	if (!all) {
		snprintf(why, cap, "openetw mcp needs the library " LIBJSON "; install the package libjson-c5");
	}
	return all;
}

static json_object *inner(const struct json_value *v)
{
	return (json_object *)(uintptr_t)v;
}

static struct json_value *outer(json_object *o)
{
	return (struct json_value *)o;
}

/* json-c's own look at UTF-8 lets overlong and surrogate forms pass. */
static bool is_utf8(const char *s, size_t n, size_t *ret_at)
{
	uint32_t point;
	for (size_t i = 0; i < n;) {
		size_t used = (uint8_t)s[i] < 0x80 ? 1 : utf8_decode(s + i, n - i, &point);
		if (used == 0) {
			*ret_at = i;
			return false;
		}
		i += used;
	}
	return true;
}

static bool blank(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] != ' ' && s[i] != '\t' && s[i] != '\r' && s[i] != '\n') {
			return false;
		}
	}
	return true;
}

struct json_value *json_parse(const char *s, size_t n, char *why, size_t cap)
{
	if (n > JSON_BYTES_MAX) {
		snprintf(why, cap, "longer than %u bytes", JSON_BYTES_MAX);
		return NULL;
	}
	size_t end;
	if (!is_utf8(s, n, &end)) {
		snprintf(why, cap, "invalid UTF-8, at byte %zu", end);
		return NULL;
	}
	json_tokener *t = jc.json_tokener_new_ex(JSON_DEPTH_MAX);
	if (!t) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	jc.json_tokener_set_flags(t,
				  JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS | JSON_TOKENER_VALIDATE_UTF8);
	json_object *o = jc.json_tokener_parse_ex(t, s, (int)n);
	enum json_tokener_error e = jc.json_tokener_get_error(t);
	end = jc.json_tokener_get_parse_end(t);
	if (e == json_tokener_continue) { /* a number may go on: this ends it */
		o = jc.json_tokener_parse_ex(t, "", 1);
		e = jc.json_tokener_get_error(t);
		end = n;
	}
	if (e == json_tokener_success && !blank(s + end, n - end)) {
		snprintf(why, cap, "something stands behind the value, from byte %zu on", end);
	} else if (e == json_tokener_continue) {
		snprintf(why, cap, "its end is missing");
	} else if (e != json_tokener_success) {
		snprintf(why, cap, "%s, at byte %zu", jc.json_tokener_error_desc(e), end);
	} else if (!o) {
		snprintf(why, cap, "it is null");
	} else {
		jc.json_tokener_free(t);
		return outer(o);
	}
	jc.json_tokener_free(t);
	jc.json_object_put(o);
	return NULL;
}

void json_free(struct json_value *v)
{
	if (v) {
		jc.json_object_put(inner(v));
	}
}

enum json_kind json_kind_of(const struct json_value *v)
{
	switch (v ? jc.json_object_get_type(inner(v)) : json_type_null) {
	case json_type_boolean: return JSON_TRUTH;
	case json_type_double: return JSON_REAL;
	case json_type_int: return JSON_INTEGER;
	case json_type_object: return JSON_OBJECT;
	case json_type_array: return JSON_ARRAY;
	case json_type_string: return JSON_TEXT;
	default: return JSON_NULL;
	}
}

struct json_value *json_member(const struct json_value *v, const char *name)
{
	json_object *o = NULL;
	if (json_kind_of(v) == JSON_OBJECT) {
		jc.json_object_object_get_ex(inner(v), name, &o);
	}
	return outer(o);
}

bool json_member_at(const struct json_value *v, size_t i, const char **ret_name, struct json_value **ret)
{
	struct lh_entry *e = json_kind_of(v) == JSON_OBJECT ? jc.json_object_get_object(inner(v))->head : NULL;
	while (e && i-- > 0) {
		e = e->next;
	}
	if (e) {
		*ret_name = e->k;
		*ret = outer((json_object *)(uintptr_t)e->v);
	}
	return e != NULL;
}

size_t json_count(const struct json_value *v)
{
	return json_kind_of(v) == JSON_ARRAY ? jc.json_object_array_length(inner(v)) : 0;
}

struct json_value *json_at(const struct json_value *v, size_t i)
{
	return i < json_count(v) ? outer(jc.json_object_array_get_idx(inner(v), i)) : NULL;
}

bool json_text(const struct json_value *v, const char **ret)
{
	if (json_kind_of(v) != JSON_TEXT) {
		return false;
	}
	const char *s = jc.json_object_get_string(inner(v));
	if (strlen(s) != (size_t)jc.json_object_get_string_len(inner(v))) {
		return false;
	}
	*ret = s;
	return true;
}

/* Beyond 64 bits json-c gives the largest number, which nobody means. */
bool json_integer(const struct json_value *v, int64_t *ret)
{
	enum json_kind k = json_kind_of(v);
	double d = k == JSON_REAL ? jc.json_object_get_double(inner(v)) : 0;
	int64_t i = k == JSON_INTEGER ? jc.json_object_get_int64(inner(v)) : 0;
	if ((k != JSON_INTEGER && k != JSON_REAL) || i == INT64_MAX || i == INT64_MIN || !isfinite(d) ||
	    d > 9007199254740992.0 || d < -9007199254740992.0 || d != (double)(int64_t)d) {
		return false;
	}
	*ret = k == JSON_REAL ? (int64_t)d : i;
	return true;
}

bool json_real(const struct json_value *v, double *ret)
{
	enum json_kind k = json_kind_of(v);
	double d = k == JSON_INTEGER || k == JSON_REAL ? jc.json_object_get_double(inner(v)) : NAN;
	if (!isfinite(d)) {
		return false;
	}
	*ret = d;
	return true;
}

bool json_truth(const struct json_value *v, bool *ret)
{
	if (json_kind_of(v) != JSON_TRUTH) {
		return false;
	}
	*ret = jc.json_object_get_boolean(inner(v));
	return true;
}

void json_write(const struct json_value *v, struct strbuf *b)
{
	const char *s = jc.json_object_to_json_string_ext(inner(v), JSON_C_TO_STRING_PLAIN);
	strbuf_adds(b, s ? s : "null");
}

#endif
