/* SPDX-License-Identifier: MIT
 * "Name:keywords:level:options:filter".
 */
#include "session/provider_spec.h"
#include "base/level.h"

#include "base/parse.h"
#include "etw/values/enable_properties.h"
#include "filter/filter_parse.h"

#include <stdio.h>
#include <strings.h>

static bool take_options(const char *s, uint32_t *inout)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} names[] = {{"stack", EVENT_ENABLE_PROPERTY_STACK_TRACE},
		     {"sid", EVENT_ENABLE_PROPERTY_SID},
		     {"tsid", EVENT_ENABLE_PROPERTY_TS_ID},
		     {"key", EVENT_ENABLE_PROPERTY_EVENT_KEY},
		     {"process-start-key", EVENT_ENABLE_PROPERTY_PROCESS_START_KEY}};
	uint64_t bits;
	if (parse_number(s, 0, UINT32_MAX, &bits)) {
		*inout |= (uint32_t)bits;
		return true;
	}
	bool quoted = false;
	while (*s) {
		/* A quote stands before the first letter of a word or behind its last one. */
		if (*s == '\'') {
			quoted = !quoted;
			s++;
		}
		size_t n = strcspn(s, ",|'"), i = 0;
		while (i < BASE_ARRAY_LEN(names) &&
		       (strlen(names[i].name) != n || strncasecmp(names[i].name, s, n) != 0)) {
			i++;
		}
		if (i == BASE_ARRAY_LEN(names)) {
			return false;
		}
		*inout |= names[i].bit;
		s += n;
		if (*s == '\'') {
			quoted = !quoted;
			s++;
		}
		if (*s && *s != ',' && *s != '|') {
			return false;
		}
		s += *s != 0;
	}
	return !quoted;
}

/* What is behind the level: options, a filter, or both. */
static bool take_rest(const char *s, struct provider_spec *p)
{
	char options[128];
	size_t n = strcspn(s, ":");
	uint32_t bits = p->properties;
	if (take_options(s, &bits)) {
		p->properties = bits;
		return true;
	}
	bits = p->properties;
	snprintf(options, sizeof options, "%.*s", (int)BASE_MIN(n, sizeof options - 1), s);
	if (s[n] == ':' && n < sizeof options && take_options(options, &bits)) {
		p->properties = bits;
		p->filter = s + n + 1;
		return true;
	}
	p->filter = strpbrk(s, " =<>!~(") ? s : NULL;
	return p->filter != NULL;
}

/* The part up to the next colon; NULL behind the last one. */
static const char *next_part(const char **s, size_t *ret_n)
{
	const char *part = *s;
	*ret_n = part ? strcspn(part, ":") : 0;
	*s = part && part[*ret_n] ? part + *ret_n + 1 : NULL;
	return part;
}

int provider_spec_parse(const char *text, provider_installed installed, struct provider_spec *inout, struct diag *d)
{
	struct provider_spec p = *inout;
	const char *s = text;
	size_t n;
	(void)next_part(&s, &n);
	if (n == 0 || n >= sizeof p.name) {
		diag_at(d, UINT64_MAX, "'%s' names no provider: write Name:keywords:level or {guid}:keywords:level",
			text);
		return -EINVAL;
	}
	memcpy(p.name, text, n);
	p.name[n] = 0;
	const char *part = next_part(&s, &n);
	if (n > 0 && !(n == 1 && *part == '*') && !parse_number_of(part, n, 0, UINT64_MAX, &p.any)) {
		diag_at(d, UINT64_MAX, "'%.*s' in '%s' is no keyword mask: write a number such as 0x10", (int)n, part,
			text);
		return -EINVAL;
	}
	part = next_part(&s, &n);
	if (n > 0 && !level_parse(part, n, &p.level)) {
		diag_at(d, UINT64_MAX, "'%.*s' in '%s' is no level: write 1-5 or critical|error|warning|info|verbose",
			(int)n, part, text);
		return -EINVAL;
	}
	if (s && !take_rest(s, &p)) {
		diag_at(d, UINT64_MAX,
			"'%s' in '%s' is none of stack, sid, tsid, key, process-start-key, and no filter", s, text);
		return -EINVAL;
	}
	if (provider_guid(p.name, installed, &p.guid) < 0) {
		diag_at(d, UINT64_MAX, "'%s' is neither a GUID nor a provider name", p.name);
		return -EINVAL;
	}
	*inout = p;
	return 0;
}
