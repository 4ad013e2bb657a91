/* SPDX-License-Identifier: MIT
 *
 * Foreign text made harmless for terminals, logs and tables.
 *
 * Names of sessions, files, processes, providers, fields and symbols, and the values of fields, are
 * chosen by others. Some characters in them would not be shown but obeyed: a terminal obeys ESC and
 * U+009B, a log reader takes a newline for the end of an entry, and bidi controls change the order in
 * which the rest of the line is shown. These functions replace such characters by visible escapes:
 *
 *   newline, return, tab               \n \r \t
 *   other C0 controls, DEL             \x1b
 *   bytes that are not valid UTF-8     \x9b
 *   C1 controls, bidi controls, line and paragraph separators, other characters that leave no mark,
 *   noncharacters, lone surrogates     \u009b, \U000e0041 beyond 16 bits
 *
 * All other text stays as it is, also backslashes, of which Windows' paths are full. So the result
 * cannot always be turned back, and making a text printable twice does no harm. JSON and XML have
 * escapes of their own: strbuf_add_json() and xml_escape().
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include "base/base.h"

/* Is there nothing to replace? */
bool printable_is(const char *s, size_t n);
/* Must this character be replaced? `c` is a code point. */
bool printable_must_escape(uint32_t c);

void strbuf_add_printable(struct strbuf *b, const char *s, size_t n);
/* The same for UTF-16LE, which may be unaligned. */
void strbuf_add_printable16(struct strbuf *b, const void *s, size_t units);
/* Into memory of a fixed size: terminated when cap > 0, and cut between characters and escapes, never
 * inside one. Returns the bytes written, without the terminator. */
size_t printable_copy(char *out, size_t cap, const char *s, size_t n);

/* For tables whose columns commas separate: printable, in quotes, quotes inside doubled. */
void strbuf_add_quoted(struct strbuf *b, const char *s, size_t n);

/* ---- columns ---------------------------------------------------------------------------------- */

/* Columns that the printable form of a text takes on a terminal: two for East Asian wide characters,
 * none for combining marks. */
size_t printable_columns(const char *s, size_t n);
/* Printable, and filled up with spaces to |width| columns: on the right when width < 0. Never cut. */
void strbuf_add_column(struct strbuf *b, const char *s, size_t n, int width);
/* Printable, and exactly so many columns: a longer text is cut and ends in "…". */
void strbuf_add_fitted(struct strbuf *b, const char *s, size_t n, unsigned columns);

/* ---- formats ---------------------------------------------------------------------------------- */

/* As strbuf_addf, but what %s and %c bring in is made printable; the format itself is trusted. The
 * width of %s counts columns, its precision counts bytes of the argument. */
void strbuf_vaddf_printable(struct strbuf *b, const char *fmt, va_list ap) BASE_PRINTF(2, 0);
void strbuf_addf_printable(struct strbuf *b, const char *fmt, ...) BASE_PRINTF(2, 3);
/* A text of one line for logs and errors: formatted and then made printable as a whole, into memory of a
 * fixed size, and cut there as printable_copy does. Allocates nothing. Arguments may lie in `out`. */
size_t printable_vformat(char *out, size_t cap, const char *fmt, va_list ap) BASE_PRINTF(3, 0);

#endif
