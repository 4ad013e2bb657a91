/* SPDX-License-Identifier: MIT
 *
 * Who may ask the viewer's server. Three kinds of strangers are kept out: other users of this machine, who can connect but
 * know neither code nor cookie; pages of other sites in the same browser, whose requests have another Origin and cannot
 * read an answer; and names that were made to point at this machine (DNS rebinding), which are in Host.
 *
 * Pure functions over texts of the request, all of which are hostile.
 */
#ifndef TOOLS_VIEW_VIEW_GUARD_H
#define TOOLS_VIEW_VIEW_GUARD_H

#include "base/base.h"

#define VIEW_SECRET_TEXT 33 /* 32 hex digits and the end */

struct view_guard {
	char code[VIEW_SECRET_TEXT]; /* "": it was used */
	uint64_t code_until_ns;      /* of the monotonic clock */
	char cookie[VIEW_SECRET_TEXT];
	char nonce[VIEW_SECRET_TEXT]; /* of the style elements that the page's libraries make */
	char cookie_name[32];
	const char *const *hosts; /* more names that Host may have, without port */
	int host_count;
};
/* New secrets from the kernel. -errno. */
int view_guard_begin(struct view_guard *g, unsigned port, uint64_t code_until_ns);
/* Another code, in the place of the one before. -errno. */
int view_guard_new_code(struct view_guard *g, uint64_t code_until_ns);
/* Is Host this machine's? "localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", any port, since it may be forwarded. NULL: no. */
bool view_guard_host(const struct view_guard *g, const char *host);
/* Is Origin that of a page which `host` sent? NULL: nobody said; then it is no browser's request from elsewhere. */
bool view_guard_origin(const char *origin, const char *host);
/* Has the request the cookie? `header` is the whole Cookie header, or NULL. */
bool view_guard_cookie(const struct view_guard *g, const char *header);
/* Is this the code, is it in time and is it used for the first time? */
bool view_guard_code(struct view_guard *g, const char *code, uint64_t now_ns);

#endif
