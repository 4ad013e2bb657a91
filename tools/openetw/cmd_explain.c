/* SPDX-License-Identifier: MIT
 * explain: a code -> name, meaning, likely cause, next step.
 */
#include "tools/common/cli.h"

#include "tools/common/explain.h"

#include <stdlib.h>

static const struct cli_option options[] = {
	{'j', "json", NULL, "one JSON object a line", NULL},
	{0},
};

/* Decimal (also negative, as exit codes are shown), 0x hex, or hex without 0x where it is no
 * decimal. */
static bool parse_code(const char *s, uint32_t *ret)
{
	char *end;
	errno = 0;
	long long v = strtoll(s, &end, 10);
	end += *s && end > s && (*end == 'L' || *end == 'l') && !end[1]; /* "4201L", as tracelog prints it */
	if (*s && *end == 0 && errno == 0 && v >= INT32_MIN && v <= UINT32_MAX) {
		*ret = (uint32_t)v;
		return true;
	}
	errno = 0;
	unsigned long long u = strtoull(s, &end, 16);
	size_t n = strlen(s);
	bool prefix = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	if (*end == 0 && errno == 0 && u <= UINT32_MAX && *s != '-' && (prefix || n == 8)) {
		*ret = (uint32_t)u;
		return true;
	}
	return false;
}

/* What the number itself tells. */
static void anatomy(uint32_t code, char *out, size_t cap)
{
	static const char *const severities[] = {"success", "information", "warning", "error"};
	uint32_t facility = code >> 16 & 0x1FFF;
	if (code < 0x10000) {
		snprintf(out, cap, "a Win32 code that is not in the table");
	} else if (facility == 7) {
		snprintf(out, cap, "an HRESULT made of Win32 code %u, which is not in the table", code & 0xFFFF);
	} else {
		snprintf(out, cap, "severity %s, facility 0x%x%s, code 0x%x; not in the table", severities[code >> 30],
			 facility & 0xFFF,
			 (code & 0xFFF00000u) == 0xC5500000u   ? " (performance recorder)"
			 : (code & 0x0FFF0000u) == 0x00300000u ? " (data collector service)"
							       : "",
			 code & 0xFFFF);
	}
}

static const char *name_at(const void *ctx, int i)
{
	(void)ctx;
	return (size_t)i < explain_count ? explain_rows[i].name : NULL;
}

static void json_text(struct strbuf *b, const char *key, const char *v)
{
	if (v) {
		strbuf_addf(b, ",\"%s\":", key);
		strbuf_add_json(b, v, strlen(v));
	}
}

static void show(const struct explain_row *r, uint32_t code, bool json)
{
	if (json) {
		struct strbuf b = {0};
		strbuf_addf(&b, "{\"code\":%u,\"hex\":\"0x%08x\"", code, code);
		json_text(&b, "name", r->name);
		json_text(&b, "meaning", r->meaning);
		json_text(&b, "cause", r->cause);
		json_text(&b, "next", r->next);
		strbuf_adds(&b, "}");
		puts(b.s);
		strbuf_finish(&b);
		return;
	}
	if (code < 0x10000) {
		printf("%s (%u, 0x%x)\n", r->name, code, code);
	} else if (r->code != code) {
		printf("%s (%u) as 0x%08x (%d)\n", r->name, r->code, code, (int32_t)code);
	} else {
		printf("%s (0x%08x, %d)\n", r->name, code, (int32_t)code);
	}
	printf("  Meaning: %s\n", r->meaning);
	if (r->cause) {
		printf("  Cause:   %s\n", r->cause);
	}
	if (r->next) {
		printf("  Next:    %s\n", r->next);
	}
}

static int run(struct cli_args *a)
{
	int status = CLI_OK;
	bool json = false;
	int codes = 0;
	for (int i = 0; i < a->count; i++) {
		uint32_t code;
		const char *w = a->words[i];
		if (strcmp(w, "-j") == 0 || strcmp(w, "--json") == 0 || strcmp(w, "-json") == 0) {
			json = true;
		} else if (strcmp(w, "--") == 0) {
			continue;
		} else if (w[0] == '-' && !parse_code(w, &code)) {
			return cli_usage(a, "unknown option '%s'", w);
		} else {
			a->words[codes++] = a->words[i];
		}
	}
	a->count = codes;
	if (codes == 0) {
		return cli_usage(a, "which code? A number (1450, 0x800705aa, -2147023446) or a name");
	}
	for (int i = 0; i < a->count; i++) {
		const char *w = a->words[i];
		uint32_t code = 0;
		bool number = parse_code(w, &code);
		if (number && !explain_find(code) && strlen(w) == 8) {
			code = (uint32_t)strtoul(w, NULL, 16); /* 80300002 as Windows prints it */
		}
		const struct explain_row *r = number ? explain_find(code) : explain_find_name(w);
		if (r) {
			show(r, number ? code : r->code, json);
			continue;
		}
		status = CLI_FAILED;
		if (number) {
			char text[160];
			const char *sentence = openetw_error_text(code);
			anatomy(code, text, sizeof text);
			fprintf(stderr, "openetw explain: 0x%08x: %s\n", code, sentence ? sentence : text);
		} else {
			const char *near = cli_nearest(w, name_at, NULL);
			fprintf(stderr, "openetw explain: '%s' is no code and no name%s%s%s\n", w,
				near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		}
	}
	return status;
}

const struct cli_command cli_explain = {
	.name = "explain",
	.synopsis = "CODE…",
	.summary = "Say what an error code means, why tracing gives it, and what to do.",
	.details = "A code is decimal, also negative as Windows shows exit codes, or hex; Win32, "
		   "HRESULT, NTSTATUS, wpr and\n"
		   "logman codes; or a name, with or without ERROR_ or STATUS_ in front.\n"
		   "Examples:\n"
		   "  openetw explain 1450\n"
		   "  openetw explain 0x800705AA 0xc5583001\n"
		   "  openetw explain already_exists\n",
	.options = options,
	.run = run,
	.classic = true,
	.raw = true, /* -2147023446 is no option */
};
