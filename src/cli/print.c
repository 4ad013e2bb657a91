/* SPDX-License-Identifier: MIT */
#include "cli/print.h"

int cli_vfprintf(FILE *f, const char *fmt, va_list ap)
{
	struct strbuf b = {0};
	strbuf_vaddf_printable(&b, fmt, ap);
	int n = b.len > 0 && fwrite(b.s, 1, b.len, f) != b.len ? -1 : b.failed ? -1 : (int)b.len;
	strbuf_finish(&b);
	return n;
}

int cli_fprintf(FILE *f, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = cli_vfprintf(f, fmt, ap);
	va_end(ap);
	return n;
}

int cli_printf(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = cli_vfprintf(stdout, fmt, ap);
	va_end(ap);
	return n;
}

void cli_puts(const char *s)
{
	printf("%s\n", s);
}
