/* SPDX-License-Identifier: MIT
 *
 * Where on x86 a processor's preemption count lies, which says whether it serves an interrupt: so many bytes from its
 * run queue, as the kernel's description of its variables of each processor says. Other machines have it in the task.
 */
#include "kernel/kernel_bpf.h"

#if defined(OPENETW_BPF) && defined(__x86_64__)
#include <bpf/btf.h>

#define DEPTH_MAX 4 /* of structures without a name in one another */

/* Of a member of a structure; -1: none. */
static int32_t member_offset(const struct btf *b, uint32_t type, const char *name, int depth)
{
	const struct btf_type *t = btf__type_by_id(b, type);
	const struct btf_member *m = t && btf_is_composite(t) ? btf_members(t) : NULL;
	for (uint32_t i = 0; m && depth < DEPTH_MAX && i < btf_vlen(t); i++) {
		const char *is = btf__name_by_offset(b, m[i].name_off);
		int32_t inside = strcmp(is, name) == 0 ? 0 : *is ? -1 : member_offset(b, m[i].type, name, depth + 1);
		if (inside >= 0) {
			return (int32_t)(btf_member_bit_offset(t, i) / 8) + inside;
		}
	}
	return -1;
}

/* A variable of each processor in its section, or what it is a structure of. */
static bool find(const struct btf *b, const struct btf_type *section, const char *name, uint32_t *ret_offset,
		 uint32_t *ret_type)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(section);
	for (uint32_t i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *t = btf__type_by_id(b, v[i].type);
		if (t && strcmp(btf__name_by_offset(b, t->name_off), name) == 0) {
			*ret_offset = v[i].offset;
			*ret_type = t->type;
			return true;
		}
	}
	return false;
}

static int32_t distance(const struct btf *b)
{
	int32_t section = btf__find_by_name_kind(b, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *s = section > 0 ? btf__type_by_id(b, (uint32_t)section) : NULL;
	uint32_t queue, count, type;
	if (!s || !find(b, s, "runqueues", &queue, &type)) {
		return 0;
	}
	if (find(b, s, "__preempt_count", &count, &type)) {
		return (int32_t)(count - queue);
	}
	/* Linux 6.2 to 6.14 */
	int32_t inside = find(b, s, "pcpu_hot", &count, &type) ? member_offset(b, type, "preempt_count", 0) : -1;
	return inside >= 0 ? (int32_t)(count - queue) + inside : 0;
}

void kernel_sched_loaded(struct kernel_bpf *b)
{
	struct btf *all = btf__load_vmlinux_btf();
	if (all) {
		kernel_bpf_preempt(b, distance(all));
		btf__free(all);
	}
}
#else
void kernel_sched_loaded(struct kernel_bpf *b)
{
	(void)b;
}
#endif
