/* SPDX-License-Identifier: MIT */
#include "tools/openetw/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define IS_CONTINUATION(c) (((unsigned char)(c)&0xC0) == 0x80)

struct cli_screen cli_screen_now(void)
{
	struct cli_screen s = {0};
	struct winsize w;
	const char *term = getenv("TERM");
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0) {
		s.rows = w.ws_row;
		s.columns = w.ws_col;
	}
	s.moves = isatty(STDOUT_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
	return s;
}

size_t cli_screen_fit(const char *text, size_t bytes, unsigned columns)
{
	for (size_t i = 0; i < bytes; i++) {
		if (!IS_CONTINUATION(text[i]) && columns-- == 0) {
			return i;
		}
	}
	return bytes;
}

size_t cli_screen_fit_end(const char *text, size_t bytes, unsigned columns)
{
	size_t i = bytes;
	while (i > 0 && columns > 0) {
		i--;
		columns -= !IS_CONTINUATION(text[i]);
	}
	while (i < bytes && IS_CONTINUATION(text[i])) {
		i++;
	}
	return i;
}

void cli_screen_paint(FILE *f, const struct cli_screen *s, const char *text)
{
	fputs("\033[H\033[J", f);
	for (unsigned row = 1; *text && (s->rows == 0 || row < s->rows); row++) {
		size_t n = strcspn(text, "\n");
		size_t fit = s->columns ? cli_screen_fit(text, n, s->columns) : n;
		fwrite(text, 1, fit, f);
		putc('\n', f);
		text += n + (text[n] != 0);
	}
}
