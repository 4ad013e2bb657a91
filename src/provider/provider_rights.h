/* SPDX-License-Identifier: MIT
 *
 * May this process write files because its user asks for it? Only when the user could write them without it.
 * A process with another id of any kind, with a capability, or with a group that the user does not have, would
 * lend its rights. ptrace() has the same rule, without the supplementary groups.
 */
#ifndef PROVIDER_PROVIDER_RIGHTS_H
#define PROVIDER_PROVIDER_RIGHTS_H

#include "base/base.h"

#define PROVIDER_GROUPS_MAX 1024u

/* real, effective, saved, file system */
#define PROVIDER_IDS 4

struct provider_rights { /* of the calling thread */
	uint32_t uid[PROVIDER_IDS], gid[PROVIDER_IDS];
	bool capable; /* it has capabilities */
	bool hidden;  /* not dumpable, or set-user-id: others may not look into it */
	bool unknown; /* the system did not say all of it */
	uint32_t group_count;
	uint32_t group[PROVIDER_GROUPS_MAX]; /* supplementary ones */
};
struct provider_asker { /* the user who asks */
	uint32_t uid, gid;
	uint32_t group_count;
	uint32_t group[PROVIDER_GROUPS_MAX];
};

void provider_rights_get(struct provider_rights *ret);
/* The process at the other end of that socket. False: the system does not say. */
bool provider_asker_of(int fd, struct provider_asker *ret);
/* NULL: the process has no right that the user does not have. Else a sentence that says which. */
const char *provider_rights_exceed(const struct provider_rights *r, const struct provider_asker *a);

#endif
