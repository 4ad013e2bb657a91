/* SPDX-License-Identifier: MIT */
#include "tools/common/print.h"

#include <stdlib.h>

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

void cli_put_lines(FILE *f, const char *s)
{
	while (*s) {
		size_t n = strcspn(s, "\n");
		fprintf(f, "%.*s\n", (int)n, s);
		s += n + (s[n] != 0);
	}
}

static void add_quoted(struct strbuf *b, const char *word)
{
	bool escaped = !printable_is(word, strlen(word));
	strbuf_adds(b, escaped ? "$'" : "'");
	while (*word) {
		size_t n = strcspn(word, escaped ? "'\\" : "'");
		strbuf_add_printable(b, word, n);
		word += n;
		if (*word) {
			strbuf_adds(b, !escaped ? "'\\''" : *word == '\'' ? "\\'" : "\\\\");
			word++;
		}
	}
	strbuf_addc(b, '\'');
}

const char *cli_quoted(const char *fmt, ...)
{
	static struct strbuf ring[8];
	static unsigned at;
	struct strbuf *b = &ring[at++ % BASE_ARRAY_LEN(ring)];
	char *word = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&word, fmt, ap);
	va_end(ap);
	strbuf_clear(b);
	add_quoted(b, n < 0 ? "" : word);
	if (n >= 0) {
		free(word);
	}
	return b->failed ? "''" : b->s;
}
