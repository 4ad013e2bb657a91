/* SPDX-License-Identifier: MIT */
#include "provider/provider_rights.h"

#include "base/account.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

void provider_rights_get(struct provider_rights *r)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2] = {{0}};
	gid_t group[PROVIDER_GROUPS_MAX];
	uid_t u[3];
	gid_t g[3];
	*r = (struct provider_rights){0};
	int n = getgroups((int)PROVIDER_GROUPS_MAX, group);
	r->unknown = getresuid(&u[0], &u[1], &u[2]) < 0 || getresgid(&g[0], &g[1], &g[2]) < 0 || n < 0 ||
		     syscall(SYS_capget, &head, caps) < 0;
	if (r->unknown) {
		return;
	}
	for (int i = 0; i < 3; i++) {
		r->uid[i] = u[i];
		r->gid[i] = g[i];
	}
	/* An impossible id changes nothing, and the answer is the present one. */
	r->uid[3] = (uint32_t)setfsuid((uid_t)-1);
	r->gid[3] = (uint32_t)setfsgid((gid_t)-1);
	r->capable = (caps[0].permitted | caps[1].permitted | caps[0].effective | caps[1].effective) != 0;
	r->hidden = getauxval(AT_SECURE) != 0 || prctl(PR_GET_DUMPABLE) != 1;
	r->group_count = (uint32_t)n;
	for (int i = 0; i < n; i++) {
		r->group[i] = group[i];
	}
}

bool provider_asker_of(int fd, struct provider_asker *ret)
{
	struct ucred peer;
	socklen_t len = sizeof peer, bytes = sizeof ret->group;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, ret->group, &bytes) < 0) {
		return false;
	}
	ret->uid = peer.uid;
	ret->gid = peer.gid;
	ret->group_count = (uint32_t)(bytes / sizeof ret->group[0]);
	return true;
}

/* The files of this machine are asked for a group that the asking program does not have: the user may have
 * become a member after it was started. */
static bool has_group(const struct provider_asker *a, uint32_t gid)
{
	for (uint32_t i = 0; i < a->group_count; i++) {
		if (a->group[i] == gid) {
			return true;
		}
	}
	return a->gid == gid || account_has_group(a->uid, gid);
}

const char *provider_rights_exceed(const struct provider_rights *r, const struct provider_asker *a)
{
	if (r->unknown) {
		return "the rights of the process are not known";
	}
	for (int i = 0; i < PROVIDER_IDS; i++) {
		if (r->uid[i] != a->uid) {
			return i == 1 ? "the process is another user's"
				      : "the process has the rights of another user, too";
		}
	}
	if (r->capable || r->hidden) {
		return "the process has rights that its user does not have";
	}
	for (int i = 0; i < PROVIDER_IDS; i++) {
		if (r->gid[i] != r->gid[0] || !has_group(a, r->gid[i])) {
			return "the process has a group that its user does not have";
		}
	}
	for (uint32_t i = 0; i < r->group_count; i++) {
		if (!has_group(a, r->group[i])) {
			return "the process has a group that its user does not have";
		}
	}
	return NULL;
}
