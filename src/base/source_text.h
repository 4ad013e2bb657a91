/* SPDX-License-Identifier: MIT
 * The text of a file that people wrote: manifests, profiles, sources, message formats. Windows' tools write UTF-8
 * with or without a byte order mark, and UTF-16 of either byte order with one.
 */
#ifndef BASE_SOURCE_TEXT_H
#define BASE_SOURCE_TEXT_H

#include "base/base.h"

enum {
	SOURCE_TEXT_MARKUP = 1, /* it begins with '<': that tells UTF-16 without a mark, too */
	SOURCE_TEXT_LOSSY = 2,  /* lone surrogates become U+FFFD; else they are an error */
};

struct source_text {
	const char *s; /* UTF-8 without a mark; not terminated */
	size_t n;
	char *owned; /* NULL: `s` lies in the bytes that were given */
};
/* 0, -ENOMEM, or -EILSEQ when it is not UTF-16. UTF-8 is passed on as it is, valid or not. */
int source_text_of(const void *bytes, size_t n, unsigned flags, struct source_text *ret);
void source_text_finish(struct source_text *t);

#endif
