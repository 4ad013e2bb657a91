/* SPDX-License-Identifier: MIT
 *
 * Sources in UTF-16, as Visual Studio saves some: no compiler here reads them.
 */
#include "port.h"

#include <iconv.h>
#include <stdlib.h>

char *port_utf16_read(const char *path, size_t *ret_bytes)
{
	unsigned char mark[2];
	FILE *f = fopen(path, "rb");
	char *in = NULL, *out = NULL;
	size_t n = 0;
	bool is = f && fread(mark, 1, 2, f) == 2 && (mark[0] ^ mark[1]) == 1 && mark[0] >= 0xFE;
	if (is && fseek(f, 0, SEEK_END) == 0 && ftell(f) > 0) {
		n = (size_t)ftell(f);
		in = malloc(n);
		out = malloc(2 * n + 1); /* three bytes a unit of two at most */
		rewind(f);
		is = in && out && fread(in, 1, n, f) == n;
	}
	if (f) {
		fclose(f);
	}
	iconv_t c = is && out ? iconv_open("UTF-8", "UTF-16") : (iconv_t)-1;
	char *from = in, *to = out;
	size_t left = n, room = 2 * n;
	if (c == (iconv_t)-1 || iconv(c, &from, &left, &to, &room) == (size_t)-1 || left != 0) {
		if (is) {
			fprintf(stderr, "openetw-port: %s: this is no UTF-16\n", path);
		}
		free(out);
		out = NULL;
	} else {
		*to = 0;
		*ret_bytes = (size_t)(to - out);
	}
	if (c != (iconv_t)-1) {
		iconv_close(c);
	}
	free(in);
	return out;
}
