/* SPDX-License-Identifier: MIT */
#include "base/account.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

#define PASSWD_FIELDS 7
#define GROUP_FIELDS  4

/* Cuts a line at its colons. The number of fields. */
static int split(char *line, char **field, int cap)
{
	int n = 0;
	line[strcspn(line, "\n")] = 0;
	for (char *p = line; p && n < cap; n++) {
		field[n] = p;
		p = strchr(p, ':');
		if (p) {
			*p++ = 0;
		}
	}
	return n;
}

static bool number_is(const char *text, uint32_t wanted)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == 0 && errno == 0 && v == wanted;
}

/* The user's line; the fields point into *line, which the caller frees. */
static bool find_user(const char *passwd, uid_t uid, char **line, char *field[PASSWD_FIELDS])
{
	size_t cap = 0;
	bool found = false;
	FILE *f = fopen(passwd, "re");
	*line = NULL;
	while (f && !found && getline(line, &cap, f) > 0) {
		found = split(*line, field, PASSWD_FIELDS) == PASSWD_FIELDS && number_is(field[2], uid);
	}
	if (f) {
		fclose(f);
	}
	return found;
}

bool account_home_in(const char *passwd, uid_t uid, char *ret, size_t cap)
{
	char *line, *field[PASSWD_FIELDS];
	bool found = find_user(passwd, uid, &line, field) && field[5][0] == '/' && strlen(field[5]) < cap;
	if (found) {
		memcpy(ret, field[5], strlen(field[5]) + 1);
	}
	free(line);
	return found;
}

static bool is_member(char *members, const char *name)
{
	char *at = NULL;
	for (char *m = strtok_r(members, ",", &at); m; m = strtok_r(NULL, ",", &at)) {
		if (strcmp(m, name) == 0) {
			return true;
		}
	}
	return false;
}

bool account_has_group_in(const char *passwd, const char *group, uid_t uid, gid_t gid)
{
	char *user_line, *user[PASSWD_FIELDS], *line = NULL, *field[GROUP_FIELDS];
	bool found = find_user(passwd, uid, &user_line, user);
	bool has = found && number_is(user[3], gid);
	FILE *f = found && !has ? fopen(group, "re") : NULL;
	size_t cap = 0;
	while (f && !has && getline(&line, &cap, f) > 0) {
		has = split(line, field, GROUP_FIELDS) == GROUP_FIELDS && number_is(field[2], gid) &&
		      is_member(field[3], user[0]);
	}
	if (f) {
		fclose(f);
	}
	free(line);
	free(user_line);
	return has;
}

bool account_home(uid_t uid, char *ret, size_t cap)
{
	return account_home_in("/etc/passwd", uid, ret, cap);
}

bool account_has_group(uid_t uid, gid_t gid)
{
	return account_has_group_in("/etc/passwd", "/etc/group", uid, gid);
}
