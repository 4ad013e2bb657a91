/* SPDX-License-Identifier: MIT
 * Counters by name, and tables of them: what report, top and monitor are made of.
 */
#ifndef TOOLS_COMMON_TALLY_H
#define TOOLS_COMMON_TALLY_H

#include "base/map.h"
#include "tools/common/cli.h"

#define TALLY_VALUES 10
#define TALLY_PARTS  6
#define TALLY_PART   '\x1f' /* between the parts of a name of several parts */

struct tally_row {
	char *name;
	uint64_t v[TALLY_VALUES];
	uint64_t seen; /* number of what counted it last: recursion counts once */
};
struct tally {
	struct tally_row *row; /* as they came, or as tally_sort put them */
	size_t used, cap;
	struct map places; /* by name; not those of sorted rows */
	bool sorted;
};
/* Made when it is new; NULL: no memory. Valid until the next one is made. */
struct tally_row *tally_row(struct tally *t, const char *name);
struct tally_row *tally_rowf(struct tally *t, const char *fmt, ...) BASE_PRINTF(2, 3);
/* By value `by`, the biggest first, then by value 0 and by name. They stay so until the next tally_row. */
void tally_sort(struct tally *t, unsigned by);
void tally_clear(struct tally *t);
void tally_free(struct tally *t);

enum tally_format { TALLY_COUNT, TALLY_BYTES, TALLY_US, TALLY_PERCENT_OF };
struct tally_column {
	const char *title, *json;
	enum tally_format format; /* PERCENT_OF: of the value before, as part of the table's `whole` */
	unsigned value;
};
struct tally_table {
	const char *title, *json;
	const char *const
		*parts; /* titles of the name's parts, TALLY_PARTS at most, ended by NULL; lower-case in JSON */
	const struct tally_column *columns;
	unsigned column_count, sort_by;
	uint64_t whole;
};
/* Sorts and prints the first `top`; nothing when it is empty. */
void tally_print(FILE *f, struct tally *t, const struct tally_table *table, uint64_t top, bool json);

#endif
