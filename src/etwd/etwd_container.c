/* SPDX-License-Identifier: MIT
 * Which container a process is in. Linux knows control groups only: container engines name them after
 * their containers, systemd after its units.
 *
 *   /system.slice/docker-4f66ad9a0b2e….scope     an item that is the id, or 12 of its digits or more
 *   /user.slice/user-1000.slice/app.service      "app" or "app.service"
 *   /kubepods/burstable/pod…/4f66ad9a0b2e…       an id again
 *   an item that begins with a slash             this control group and those below
 *
 * Read when an enable is compared with a process, not kept: processes are moved.
 */
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"

#include <stdio.h>
#include <strings.h>

#define ID_DIGITS_LEAST 12u

static bool is_id(const char *item, size_t n)
{
	size_t i = 0;
	while (i < n && strchr("0123456789abcdefABCDEF", item[i])) {
		i++;
	}
	return i == n && n >= ID_DIGITS_LEAST;
}

/* "docker-ID.scope", "libpod-ID.scope", "cri-containerd:…:ID", "ID" */
static bool has_id(const char *part, size_t len, const char *item, size_t n)
{
	for (size_t i = 0; i + n <= len; i++) {
		bool begins = i == 0 || strchr("-:.", part[i - 1]);
		if (begins && strncasecmp(part + i, item, n) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_unit(const char *part, size_t len, const char *item, size_t n)
{
	static const char *const kinds[] = {".service", ".scope", ".slice"};
	if (len == n && memcmp(part, item, n) == 0) {
		return true;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(kinds); i++) {
		size_t k = strlen(kinds[i]);
		if (len == n + k && memcmp(part, item, n) == 0 && memcmp(part + n, kinds[i], k) == 0) {
			return true;
		}
	}
	return false;
}

static bool names(const char *item, size_t n, const char *path, size_t len)
{
	if (item[0] == '/') {
		while (n > 1 && item[n - 1] == '/') {
			n--;
		}
		return len >= n && memcmp(path, item, n) == 0 && (len == n || n == 1 || path[n] == '/');
	}
	bool id = is_id(item, n);
	for (size_t at = 0; at < len;) {
		size_t part = 0;
		while (at + part < len && path[at + part] != '/') {
			part++;
		}
		if (part > 0 && (is_unit(path + at, part, item, n) || (id && has_id(path + at, part, item, n)))) {
			return true;
		}
		at += part + 1;
	}
	return false;
}

bool etwd_container_matches(const char *list, const char *path)
{
	size_t len = strcspn(path, "\n");
	while (*list) {
		size_t n = strcspn(list, ";");
		if (n > 0 && names(list, n, path, len)) {
			return true;
		}
		list += n + (list[n] == ';');
	}
	return false;
}

bool etwd_container_listed(const char *list, const struct process *p)
{
	char file[64], line[4096];
	bool found = false;
	snprintf(file, sizeof file, "/proc/%d/cgroup", (int)p->pid);
	FILE *f = fopen(file, "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		/* hierarchy : controllers : path */
		char *path = strchr(line, ':');
		path = path ? strchr(path + 1, ':') : NULL;
		found = path && etwd_container_matches(list, path + 1);
	}
	if (f) {
		fclose(f);
	}
	return found;
}
