/* SPDX-License-Identifier: MIT
 *
 * The functions of libmicrohttpd that the viewer's server uses. Its header is used when this is built; the library is loaded
 * when `openetw view` starts, so that the command needs it for nothing else.
 */
#ifndef TOOLS_VIEW_VIEW_MHD_H
#define TOOLS_VIEW_VIEW_MHD_H

#include "base/base.h"

#include <sys/types.h>
#include <microhttpd.h>

#define VIEW_MHD_FUNCTIONS(F)            \
	F(start_daemon)                  \
	F(stop_daemon)                   \
	F(create_response_from_buffer)   \
	F(create_response_from_callback) \
	F(create_response_from_fd)       \
	F(add_response_header)           \
	F(queue_response)                \
	F(destroy_response)              \
	F(lookup_connection_value)       \
	F(get_connection_values)         \
	F(get_connection_info)

struct view_mhd {
#define F(name) __typeof__(&MHD_##name) name;
	VIEW_MHD_FUNCTIONS(F)
#undef F
};
extern struct view_mhd view_mhd;
/* Once. False: `why` says what to install. */
bool view_mhd_load(char *why, size_t cap);

#endif
