/* SPDX-License-Identifier: MIT
 * Live traces.
 */
#include "tools/view/view.h"

void view_live_tell(struct view *v, struct view_trace *t, struct strbuf *b)
{
	(void)v;
	(void)t;
	(void)b;
}

void view_live_put(struct strbuf *b, const struct view_trace *t)
{
	(void)b;
	(void)t;
}
