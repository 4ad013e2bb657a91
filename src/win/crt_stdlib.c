/* SPDX-License-Identifier: MIT
 *
 * Odds and ends of Microsoft's <stdlib.h>, and main for programs that have wmain.
 */
#include "win/win.h"

#include <stdlib.h>

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

WIN_EXPORT void etw16_qsort_s(void *base, size_t n, size_t size,
			      int (*order)(void *, const void *, const void *), void *context);
void etw16_qsort_s(void *base, size_t n, size_t size,
		   int (*order)(void *, const void *, const void *), void *context)
{
	struct order o = {order, context};
	if (base && order && size) {
		qsort_r(base, n, size, compare, &o);
	}
}

/* Runs a wmain with arguments in UTF-16. include/etw/win/crt/etw_wmain.c has the main that calls
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
	/* Never freed: the program may keep them past wmain, in atexit handlers. */
	return w ? wmain(argc, w, NULL) : 1;
}
