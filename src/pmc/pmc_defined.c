/* SPDX-License-Identifier: MIT
 *
 * Events by a processor's own codes. Their number is the codes themselves, so that whoever has the number
 * can count the event without having been told of it:
 *
 *   bits 0-11 event select   12-19 unit mask   20-27 least number in a cycle   28 edge  29 any thread
 *   30 inverted   31 set
 *
 * Of ARM processors, which have no unit mask, 0-15 are the event.
 */
#include "pmc/pmc_private.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define EVENT_BITS 12u
#define UNIT_AT    12u
#define LEAST_AT   20u
#define EDGE       (1u << 28)
#define ANY        (1u << 29)
#define INVERT     (1u << 30)

/* "key\t: value" of the first processor. */
static bool value_of(const char *line, const char *key, const char **ret)
{
	size_t n = strlen(key);
	if (strncmp(line, key, n) != 0) {
		return false;
	}
	const char *s = line + n + strspn(line + n, " \t");
	*ret = s + 1 + strspn(s + 1, " \t");
	return *s == ':';
}

bool pmc_processor(const char *cpuinfo, struct pmc_processor *ret)
{
	char line[4096];
	const char *v;
	FILE *f = fopen(cpuinfo ? cpuinfo : "/proc/cpuinfo", "re");
	*ret = (struct pmc_processor){.family = -1, .model = -1, .stepping = -1};
	while (f && fgets(line, sizeof line, f) && line[0] != '\n') {
		line[strcspn(line, "\n")] = 0;
		if (value_of(line, "vendor_id", &v)) {
			snprintf(ret->architecture, sizeof ret->architecture, "%s",
				 strcmp(v, "GenuineIntel") == 0   ? "INTEL"
				 : strcmp(v, "AuthenticAMD") == 0 ? "AMD"
								  : "");
		} else if (value_of(line, "CPU implementer", &v)) {
			snprintf(ret->architecture, sizeof ret->architecture, "ARM");
			ret->family = strtoll(v, NULL, 0);
		} else if (value_of(line, "cpu family", &v)) {
			ret->family = strtoll(v, NULL, 0);
		} else if (value_of(line, "model\t", &v) || value_of(line, "CPU part", &v)) {
			ret->model = strtoll(v, NULL, 0);
		} else if (value_of(line, "stepping", &v) || value_of(line, "CPU revision", &v)) {
			ret->stepping = strtoll(v, NULL, 0);
		}
	}
	if (f) {
		fclose(f);
	}
	return ret->architecture[0] != 0;
}

static bool is_arm(const char *architecture)
{
	return strncasecmp(architecture, "ARM", 3) == 0;
}

static bool same(const struct pmc_definition *def, const struct pmc_processor *p)
{
	bool maker = !*def->architecture || strcasecmp(def->architecture, p->architecture) == 0 ||
		     (is_arm(def->architecture) && is_arm(p->architecture));
	return maker && (def->family < 0 || def->family == p->family) && (def->model < 0 || def->model == p->model) &&
	       (def->stepping < 0 || def->stepping == p->stepping);
}

static void describe_processor(char *out, size_t cap, const char *architecture, int64_t family, int64_t model,
			       int64_t stepping)
{
	const struct {
		const char *name;
		int64_t value;
	} parts[] = {{"family", family}, {"model", model}, {"stepping", stepping}};
	size_t n = (size_t)snprintf(out, cap, "%.15s", *architecture ? architecture : "any maker");
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		if (parts[i].value >= 0 && n < cap) {
			n += (size_t)snprintf(out + n, cap - n, " %s %lld", parts[i].name, (long long)parts[i].value);
		}
	}
}

bool pmc_unpack(uint32_t id, struct pmc_source *ret)
{
	struct pmc_processor p;
	uint32_t event = id & ((1u << EVENT_BITS) - 1), unit = id >> UNIT_AT & 0xFF, least = id >> LEAST_AT & 0xFF;
	if (!(id & PMC_PACKED)) {
		return false;
	}
	*ret = (struct pmc_source){
		.id = id, .interval = 65536, .least = 4096, .most = INT32_MAX, .hardware = true, .type = PERF_TYPE_RAW};
	if (pmc_processor(NULL, &p) && is_arm(p.architecture)) {
		ret->config[0] = event | (uint64_t)(unit & 0xF) << EVENT_BITS;
		snprintf(ret->name, sizeof ret->name, "Event 0x%llx", (unsigned long long)ret->config[0]);
		return true;
	}
	ret->config[0] = (event & 0xFF) | (uint64_t)unit << 8 | (id & EDGE ? 1u << 18 : 0) | (id & ANY ? 1u << 21 : 0) |
			 (id & INVERT ? 1u << 23 : 0) | (uint64_t)least << 24 | (uint64_t)(event >> 8) << 32;
	snprintf(ret->name, sizeof ret->name, "Event 0x%x unit 0x%x", event, unit);
	return true;
}

int pmc_define(const struct pmc_definition *def, const struct pmc_processor *p, struct pmc_source *ret, struct diag *d)
{
	char want[100], have[100];
	bool arm = is_arm(p->architecture);
	if (!same(def, p)) {
		describe_processor(want, sizeof want, def->architecture, def->family, def->model, def->stepping);
		describe_processor(have, sizeof have, p->architecture, p->family, p->model, p->stepping);
		diag_at(d, UINT64_MAX, "%s: it is defined for processors of %s, and this one is %s", def->name, want,
			have);
		return -ENODEV;
	}
	if (def->event > (arm ? 0xFFFFu : 0xFFFu) || def->unit > (arm ? 0u : 0xFFu)) {
		diag_at(d, UINT64_MAX, "%s: there is no event 0x%x with unit 0x%x", def->name, def->event, def->unit);
		return -EINVAL;
	}
	uint32_t unit = arm ? def->event >> EVENT_BITS : def->unit;
	uint32_t id = PMC_PACKED | (def->event & ((1u << EVENT_BITS) - 1)) | unit << UNIT_AT |
		      (uint32_t)def->least << LEAST_AT | (def->edge ? EDGE : 0) | (def->any_thread ? ANY : 0) |
		      (def->invert ? INVERT : 0);
	struct pmc_source s;
	pmc_unpack(id, &s);
	snprintf(s.name, sizeof s.name, "%s", def->name);
	int err = pmc_here(&s, d);
	if (err == 0) {
		*ret = s;
	}
	return err;
}
