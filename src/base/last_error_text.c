/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

static __thread char last_text[500];

void err_text_set(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(last_text, sizeof last_text, fmt, ap); /* it may name what others chose */
	va_end(ap);
}

void err_text_clear(void)
{
	last_text[0] = 0;
}

const char *err_text_get(void)
{
	return last_text;
}
