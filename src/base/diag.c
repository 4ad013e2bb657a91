/* SPDX-License-Identifier: MIT
 * Where and why a parser refused.
 */
#include "base/printable.h"

void diag_at(struct diag *d, uint64_t offset, const char *fmt, ...)
{
	if (!d || d->text[0]) {
		return;
	}
	d->offset = offset;
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(d->text, sizeof d->text, fmt, ap);
	va_end(ap);
}

void diag_clear(struct diag *d)
{
	/* Readers clear one for each record: not the whole text. */
	d->offset = UINT64_MAX;
	d->line = d->column = 0;
	d->text[0] = 0;
}
