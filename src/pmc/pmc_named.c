/* SPDX-License-Identifier: MIT
 *
 * Events that a processor's PMUs have names for: /sys/bus/event_source/devices/PMU/events/NAME has
 * "event=0xcd,umask=0x1", and PMU/format/TERM says which bits of perf_event_attr a term stands for:
 * "config:0-7,32-35".
 */
#include "pmc/pmc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_ID  0x200u
#define DEVICES   "/sys/bus/event_source/devices"
#define LINE_MAX_ 512
#define PATH_MAX_ 1024

static bool read_line(const char *dir, const char *sub, const char *name, char line[LINE_MAX_])
{
	char path[PATH_MAX_];
	int n = snprintf(path, sizeof path, "%s/%s/%s", dir, sub, name);
	FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
	bool ok = f && fgets(line, LINE_MAX_, f);
	if (f) {
		fclose(f);
	}
	if (ok) {
		line[strcspn(line, "\n")] = 0;
	}
	return ok;
}

/* The bits of a value, from the lowest on, to where the format has them. */
static bool put_term(const char *dir, const char *term, uint64_t value, uint64_t config[3])
{
	char format[LINE_MAX_];
	if (!read_line(dir, "format", term, format) || strncmp(format, "config", 6) != 0) {
		return false;
	}
	char *p = format + 6, *end;
	unsigned word = 0;
	if (*p == '1' || *p == '2') {
		word = (unsigned)(*p++ - '0');
	}
	if (*p++ != ':') {
		return false;
	}
	for (;;) {
		unsigned long from = strtoul(p, &end, 10), to = from;
		if (end == p) {
			return false;
		}
		p = end;
		if (*p == '-') {
			to = strtoul(p + 1, &end, 10);
			p = end;
		}
		if (from > to || to > 63) {
			return false;
		}
		for (unsigned long bit = from; bit <= to; bit++, value >>= 1) {
			config[word] |= (value & 1) << bit;
		}
		if (*p++ != ',') {
			return value == 0;
		}
	}
}

static bool parse_event(const char *dir, char *text, uint64_t config[3])
{
	char *term, *rest = text;
	while ((term = strsep(&rest, ",")) != NULL) {
		char *value = strchr(term, '=');
		uint64_t v = 1;
		if (value) {
			char *end;
			*value++ = 0;
			v = strtoull(value, &end, 0);
			if (end == value || *end) {
				return false; /* to be filled in: "ldlat=?" */
			}
		}
		if (strchr(term, '/') || !put_term(dir, term, v, config)) {
			return false;
		}
	}
	return true;
}

/* What the table has by Windows' names. */
static bool generic(const char *name)
{
	static const char *const names[] = {"cpu-cycles",    "instructions", "branch-instructions",
					    "branch-misses", "cache-misses", "cache-references",
					    "ref-cycles",    "branches",     "cycles"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (strcmp(names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static int visible(const struct dirent *e)
{
	/* "mem-loads.scale" tells of its event, and is none. */
	return e->d_name[0] != '.' && !strchr(e->d_name, '.') && strlen(e->d_name) < PMC_NAME_MAX - 1;
}

static size_t add_device(const char *dir, const char *device, uint32_t *id, struct pmc_source *ret, size_t cap)
{
	struct dirent **entry;
	char path[PATH_MAX_], line[LINE_MAX_];
	size_t n = 0;
	if (!read_line(dir, ".", "type", line)) {
		return 0;
	}
	uint32_t type = (uint32_t)strtoul(line, NULL, 10);
	bool only = strcmp(device, "cpu") == 0;
	snprintf(path, sizeof path, "%.1000s/events", dir);
	int count = scandir(path, &entry, visible, alphasort);
	for (int i = 0; i < count; i++) {
		struct pmc_source s = {
			.interval = 65536, .least = 4096, .most = INT32_MAX, .hardware = true, .type = type};
		const char *name = entry[i]->d_name;
		/* Numbered whether it can be used or not, so that numbers stay. */
		s.id = *id;
		*id += !generic(name);
		int w = only ? snprintf(s.name, sizeof s.name, "%s", name)
			     : snprintf(s.name, sizeof s.name, "%.20s:%s", device, name);
		if (!generic(name) && w > 0 && (size_t)w < sizeof s.name && n < cap &&
		    read_line(dir, "events", name, line) && parse_event(dir, line, s.config)) {
			ret[n++] = s;
		}
		free(entry[i]);
	}
	if (count >= 0) {
		free(entry);
	}
	return n;
}

size_t pmc_named_events(const char *root, struct pmc_source *ret, size_t cap)
{
	struct dirent **entry;
	char path[PATH_MAX_], dir[PATH_MAX_ + 256], cpus[PATH_MAX_ + 300];
	uint32_t id = FIRST_ID;
	size_t n = 0;
	snprintf(path, sizeof path, "%.900s" DEVICES, root);
	int count = scandir(path, &entry, visible, alphasort);
	for (int i = 0; i < count; i++) {
		const char *device = entry[i]->d_name;
		snprintf(dir, sizeof dir, "%s/%.200s", path, device);
		snprintf(cpus, sizeof cpus, "%s/cpus", dir);
		/* Others count for a whole socket, or something else. */
		if (strcmp(device, "cpu") == 0 || access(cpus, F_OK) == 0) {
			n += add_device(dir, device, &id, ret + n, cap - n);
		}
		free(entry[i]);
	}
	if (count >= 0) {
		free(entry);
	}
	return n;
}
