/* SPDX-License-Identifier: MIT
 *
 * Numbers of values that one thread met lately. The dictionary of a column is shared, large, and behind a lock; most
 * values of an event were those of an event before it. Private to query.
 */
#ifndef QUERY_QUERY_KNOWN_H
#define QUERY_QUERY_KNOWN_H

#include "query/query_field.h"

struct known;
/* NULL: no memory. */
struct known *known_make(void);
void known_free(struct known *k);
/* The number of a value, as field_number_of() has it. */
uint32_t known_number(struct known *k, struct field_column *c, const char *text, size_t length);
/* Columns that were asked for are gone: another may be where one of them was. */
void known_forget(struct known *k);

#endif
