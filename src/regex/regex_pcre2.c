/* SPDX-License-Identifier: MIT
 *
 * PCRE2's functions by name. Its header is not needed: what is used is declared here, as its documentation has it
 * (pcre2api(3)); these values are part of its binary interface.
 */
#include "regex/regex.h"

#include "base/order.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define LIBRARY "libpcre2-8.so.0"
#define PACKAGE "libpcre2-8-0"

#define PATTERN_MAX  4096u
#define STEPS_MAX    1000000u /* a few tens of ms */
#define DEPTH_MAX    100000u
#define HEAP_MAX_KIB (32u * 1024)
#define NESTING_MAX  100u /* parentheses */
#define MESSAGE_MAX  160

#define PCRE2_CASELESS          0x00000008u
#define PCRE2_UCP               0x00020000u
#define PCRE2_UTF               0x00080000u
#define PCRE2_NEVER_BACKSLASH_C 0x00100000u
#define PCRE2_MATCH_INVALID_UTF 0x04000000u
#define PCRE2_ERROR_NOMATCH     (-1)
#define PCRE2_ERROR_HEAP        121 /* ERR21: no memory to compile */

struct functions {
	void *(*compile)(const uint8_t *, size_t, uint32_t, int *, size_t *, void *);
	void (*code_free)(void *);
	int (*match)(const void *, const uint8_t *, size_t, size_t, uint32_t, void *, void *);
	void *(*match_data_create)(uint32_t, void *);
	void (*match_data_free)(void *);
	void *(*match_context_create)(void *);
	void (*match_context_free)(void *);
	int (*set_match_limit)(void *, uint32_t);
	int (*set_depth_limit)(void *, uint32_t);
	int (*set_heap_limit)(void *, uint32_t);
	void *(*compile_context_create)(void *);
	void (*compile_context_free)(void *);
	int (*set_parens_nest_limit)(void *, uint32_t);
	int (*get_error_message)(int, uint8_t *, size_t);
};
struct regex {
	void *code, *limits;
	uint64_t given_up;
};

static struct functions pcre2;
static bool loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t scratch; /* of each thread */

static void free_scratch(void *data)
{
	pcre2.match_data_free(data);
}

static void load(void)
{
	static const struct {
		const char *name;
		size_t at;
	} names[] = {
		{"pcre2_compile_8", offsetof(struct functions, compile)},
		{"pcre2_code_free_8", offsetof(struct functions, code_free)},
		{"pcre2_match_8", offsetof(struct functions, match)},
		{"pcre2_match_data_create_8", offsetof(struct functions, match_data_create)},
		{"pcre2_match_data_free_8", offsetof(struct functions, match_data_free)},
		{"pcre2_match_context_create_8", offsetof(struct functions, match_context_create)},
		{"pcre2_match_context_free_8", offsetof(struct functions, match_context_free)},
		{"pcre2_set_match_limit_8", offsetof(struct functions, set_match_limit)},
		{"pcre2_set_depth_limit_8", offsetof(struct functions, set_depth_limit)},
		{"pcre2_set_heap_limit_8", offsetof(struct functions, set_heap_limit)},
		{"pcre2_compile_context_create_8", offsetof(struct functions, compile_context_create)},
		{"pcre2_compile_context_free_8", offsetof(struct functions, compile_context_free)},
		{"pcre2_set_parens_nest_limit_8", offsetof(struct functions, set_parens_nest_limit)},
		{"pcre2_get_error_message_8", offsetof(struct functions, get_error_message)},
	};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		return;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		void *function = dlsym(library, names[i].name);
		if (!function) {
			dlclose(library);
			return;
		}
		memcpy((char *)&pcre2 + names[i].at, &function, sizeof function);
	}
	loaded = pthread_key_create(&scratch, free_scratch) == 0;
}

static void destroy(void *regex)
{
	struct regex *r = regex;
	if (r && r->limits) {
		pcre2.match_context_free(r->limits);
	}
	if (r && r->code) {
		pcre2.code_free(r->code);
	}
	free(r);
}

static int compile(const char *pattern, size_t n, bool nocase, void **ret, size_t *ret_at, struct diag *d)
{
	const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
				 (nocase ? PCRE2_CASELESS : 0);
	uint8_t message[MESSAGE_MAX] = "";
	int code = 0;
	*ret_at = 0;
	pthread_once(&once, load);
	if (!loaded) {
		diag_at(d, UINT64_MAX, "regular expressions need the library " LIBRARY " (package " PACKAGE ")");
		return -ENOTSUP;
	}
	if (n > PATTERN_MAX) {
		diag_at(d, UINT64_MAX, "the regular expression is longer than %u bytes", PATTERN_MAX);
		return -EINVAL;
	}
	struct regex *r = calloc(1, sizeof *r);
	void *how = pcre2.compile_context_create(NULL);
	if (!r || !how) {
		free(r);
		if (how) {
			pcre2.compile_context_free(how);
		}
		return -ENOMEM;
	}
	pcre2.set_parens_nest_limit(how, NESTING_MAX);
	r->code = pcre2.compile((const uint8_t *)pattern, n, options, &code, ret_at, how);
	pcre2.compile_context_free(how);
	r->limits = r->code ? pcre2.match_context_create(NULL) : NULL;
	if (r->limits) {
		pcre2.set_match_limit(r->limits, STEPS_MAX);
		pcre2.set_depth_limit(r->limits, DEPTH_MAX);
		pcre2.set_heap_limit(r->limits, HEAP_MAX_KIB);
		*ret = r;
		return 0;
	}
	bool mistake = !r->code && code != PCRE2_ERROR_HEAP;
	destroy(r);
	if (!mistake) {
		return -ENOMEM;
	}
	pcre2.get_error_message(code, message, sizeof message);
	diag_at(d, UINT64_MAX, "in the regular expression: %s", (const char *)message);
	*ret_at = BASE_MIN(*ret_at, n);
	return -EINVAL;
}

static int match(void *regex, const char *text, size_t n)
{
	struct regex *r = regex;
	void *data = pthread_getspecific(scratch);
	if (!data) {
		data = pcre2.match_data_create(1, NULL);
		if (data && pthread_setspecific(scratch, data) != 0) {
			pcre2.match_data_free(data);
			data = NULL;
		}
	}
	int found = data ? pcre2.match(r->code, (const uint8_t *)(n ? text : ""), n, 0, 0, data, r->limits) : -ENOMEM;
	if (found < 0 && (found != PCRE2_ERROR_NOMATCH || !data)) {
		order_add_relaxed(&r->given_up, 1);
		return -EOVERFLOW;
	}
	return found >= 0; /* 0: more groups than were asked for */
}

static uint64_t given_up(const void *regex)
{
	const struct regex *r = regex;
	return order_load_relaxed(&r->given_up);
}

const struct filter_regex_engine regex_pcre2 = {compile, match, given_up, destroy};
