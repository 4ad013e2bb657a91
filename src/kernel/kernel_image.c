/* SPDX-License-Identifier: MIT
 *
 * Images, and next to each, at the very same time, which build of which file it is: the records
 * that a merge would add on Windows. A build id's first 16 bytes are the GUID by which symbols are
 * found.
 */
#include "kernel/kernel_process.h"

#include "etw/values/guids.h"
#include <stdio.h>

#define IMAGE_INFO        0x00u
#define IMAGE_RSDS        0x24u
#define HOOK_IMAGE_UNLOAD 0x1402u

static const struct guid image_id = GUID_INIT(ETW_GUID_CLASS_IMAGE_ID);

static void identity(struct kernel *k, const struct kernel_record *of, uint64_t base, uint64_t bytes,
		     const struct kernel_build *build, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char pdb[300];
	struct kernel_record r = {.hook = IMAGE_INFO,
				  .version = 2,
				  .class = &image_id,
				  .cpu = of->cpu,
				  .time = of->time,
				  .pid = of->pid,
				  .tid = of->tid,
				  .sessions = k->last_sessions};
	if (!build || build->n < 16 || r.sessions == 0) {
		return;
	}
	kernel_put(&r, base, 8);
	kernel_put(&r, bytes, 8);
	kernel_put(&r, of->pid, 4);
	kernel_put(&r, le32_get(build->id), 4);
	kernel_put_wide(&r, name, 250);
	kernel_out(k, &r);
	r.hook = IMAGE_RSDS;
	r.n = 0;
	kernel_put(&r, base, 8);
	kernel_put(&r, of->pid, 4);
	kernel_put(&r, le64_get(build->id), 8);
	kernel_put(&r, le64_get(build->id + 8), 8);
	kernel_put(&r, 1, 4); /* Age */
	snprintf(pdb, sizeof pdb, "%.250s.pdb", name);
	kernel_put_text(&r, pdb, sizeof pdb);
	kernel_out(k, &r);
}

void kernel_emit_image(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu, uint32_t pid,
		       uint64_t base, uint64_t bytes, const struct kernel_build *build, const char *path)
{
	bool known = build && build->n >= 8;
	struct kernel_record r = {
		.hook = hook, .version = 3, .cpu = cpu, .time = time, .pid = pid, .tid = pid, .sessions = sessions};
	kernel_put(&r, base, 8);
	kernel_put(&r, bytes, 8);
	kernel_put(&r, pid, 4);
	kernel_put(&r, known ? le32_get(build->id + 4) : 0, 4); /* ImageChecksum */
	kernel_put(&r, known ? le32_get(build->id) : 0, 4);     /* TimeDateStamp */
	kernel_put(&r, 0, 4);
	kernel_put(&r, base, 8);
	kernel_put(&r, 0, 8);
	kernel_put(&r, 0, 8);
	kernel_put_wide(&r, path, 4095);
	kernel_out(k, &r);
	if (hook != HOOK_IMAGE_UNLOAD) { /* a load said it */
		identity(k, &r, base, bytes, build, path);
	}
}
