/* SPDX-License-Identifier: MIT
 *
 * Odds and ends of Microsoft's <stdlib.h>, and main for programs that have wmain.
 */
#include "winrt/win.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

WIN_EXPORT void *etw16__aligned_malloc(size_t size, size_t align);
void *etw16__aligned_malloc(size_t size, size_t align)
{
	void *p = NULL;
	align = align < sizeof(void *) ? sizeof(void *) : align;
	return posix_memalign(&p, align, size ? size : 1) == 0 ? p : NULL;
}

/* Microsoft passes the context first, glibc last. */
struct order {
	int (*compare)(void *, const void *, const void *);
	void *context;
};

static int compare(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	return o->compare(o->context, a, b);
}

WIN_EXPORT void etw16_qsort_s(void *base, size_t n, size_t size, int (*order)(void *, const void *, const void *),
			      void *context);
void etw16_qsort_s(void *base, size_t n, size_t size, int (*order)(void *, const void *, const void *), void *context)
{
	struct order o = {order, context};
	if (base && order && size) {
		qsort_r(base, n, size, compare, &o);
	}
}

/* _fullpath, without asking the file system for what the path names: `.`, `..` and separators only.
 * With a NULL buffer the result is malloc'ed. NULL and errno ERANGE when it does not fit. */
WIN_EXPORT char *etw16__fullpath(char *d, const char *path, size_t cap);
char *etw16__fullpath(char *d, const char *path, size_t cap)
{
	char *p = win_path(path && *path ? path : ".");
	char *base = p && p[0] != '/' ? getcwd(NULL, 0) : strdup("");
	char *out = p && base ? malloc(strlen(base) + strlen(p) + 3) : NULL;
	if (out) {
		size_t n = 0;
		sprintf(out, "%s/%s", base, p);
		for (char *part = out, *end; *part; part = end) {
			part += *part == '/';
			end = part + strcspn(part, "/");
			size_t length = (size_t)(end - part);
			if (length == 2 && memcmp(part, "..", 2) == 0) {
				while (n && out[--n] != '/') {
				}
			} else if (length && !(length == 1 && *part == '.')) {
				out[n++] = '/'; /* never ahead of where it is read */
				memmove(out + n, part, length);
				n += length;
			}
		}
		if (!n) {
			out[n++] = '/';
		}
		out[n] = 0;
		if (d && n < cap) {
			memcpy(d, out, n + 1);
		} else if (d) {
			d = NULL;
			errno = ERANGE;
		} else {
			d = out;
			out = NULL;
		}
	} else {
		d = NULL;
	}
	free(out);
	free(base);
	free(p);
	return d;
}
WIN_EXPORT uint16_t *etw16__wfullpath(uint16_t *d, const uint16_t *path, size_t cap);
uint16_t *etw16__wfullpath(uint16_t *d, const uint16_t *path, size_t cap)
{
	char *in = win_utf8(path);
	char *full = etw16__fullpath(NULL, in, 0);
	uint16_t *wide = full ? win_utf16(full) : NULL;
	free(in);
	free(full);
	if (!wide || !d) {
		return wide;
	}
	size_t n = 0;
	while (wide[n]) {
		n++;
	}
	if (n < cap) {
		memcpy(d, wide, 2 * (n + 1));
	} else {
		d = NULL;
		errno = ERANGE;
	}
	free(wide);
	return d;
}

/* Runs a wmain with arguments in UTF-16. main/main.c has the main that calls
 * this. */
WIN_EXPORT int etw16_run_wmain(int (*wmain)(int, uint16_t **, uint16_t **), int argc, char **argv);
int etw16_run_wmain(int (*wmain)(int, uint16_t **, uint16_t **), int argc, char **argv)
{
	uint16_t **w = calloc((size_t)argc + 1, sizeof *w);
	for (int i = 0; w && i < argc; i++) {
		w[i] = win_utf16(argv[i]);
		if (!w[i]) {
			return 1;
		}
	}
	/* Never freed: the program may keep them past wmain, in atexit handlers. Held in a variable
	 * that lives as long, so that no leak checker takes them for lost. */
	static uint16_t **volatile arguments;
	arguments = w;
	return arguments ? wmain(argc, arguments, NULL) : 1;
}
