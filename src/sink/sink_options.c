/* SPDX-License-Identifier: MIT */
#include "sink/sink_private.h"

int sink_adjust(struct sink_options *o)
{
	/* The header record with both names has to fit in buffer 0. */
	size_t name = o->name ? utf16_len(o->name) : 0;
	size_t file = o->log_file ? utf16_len(o->log_file) : 0;
	if (o->cpus == 0 || name > 4096 || file > 8192) {
		return -EINVAL;
	}
	/* 10 more digits when %d is replaced by the counter of NEWFILE. */
	return session_properties_adjust(&o->props, o->cpus, etl_header_used((uint32_t)name, (uint32_t)file + 10));
}
