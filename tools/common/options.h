/* SPDX-License-Identifier: MIT
 *
 * Options as typed tables: a verb has a structure of what can be given and a table with a row for each option.
 * The row says how the word behind it is read, into which member, and within which bounds. Parsing, mistakes,
 * help, manual pages and completions all come from the rows; when the verb runs, its structure is filled:
 *
 *	struct dump_options {
 *		struct cli_select_options select;
 *		uint64_t limit;
 *		bool quiet;
 *	};
 *	static const struct cli_option options[] = {
 *		CLI_SELECT_OPTIONS(dump_options, select),
 *		CLI_NUMBER(dump_options, limit, 'n', "limit", "N", 1, UINT64_MAX, "stop after N events"),
 *		CLI_FLAG(dump_options, quiet, 'q', "quiet", "no summary line"),
 *		{0},
 *	};
 *	…	const struct dump_options *o = a->given;
 *	…	.options = options, CLI_INTO(dump_options), .defaults = &(const struct dump_options){.limit = 10},
 *
 * What is absent keeps its default: false, 0, NULL or what the command's `defaults` have. A member of the wrong
 * type does not compile.
 */
#ifndef TOOLS_COMMON_OPTIONS_H
#define TOOLS_COMMON_OPTIONS_H

#include "base/base.h"

struct cli_args;
struct cli_option;

/* Reads the value that was given for an option into its member. Prints the mistake and returns false. A flag's
 * value is ""; so is one in brackets ("[FILE]") that was left out. */
typedef bool cli_take_fn(const struct cli_args *a, const struct cli_option *o, const char *value, void *member);
/* The same of all values of an option of Windows' tools, in one call. The array is the parser's, the words stay. */
typedef bool cli_take_all_fn(const struct cli_args *a, const struct cli_option *o, int count, char **value,
			     void *member);
/* Is the word the value number `index` of the option, which may be missing? As many `words` that belong to no option
 * stand before it. */
typedef bool cli_wants_fn(int index, const char *word, int words);

struct cli_option {
	char letter;        /* 0: none */
	const char *name;   /* without the dashes; NULL ends the table */
	const char *arg;    /* "FILE", "[FILE]", …; NULL: a flag */
	const char *help;   /* NULL: known only to be refused or for scripts */
	const char *values; /* "a|b|c" for completion and checking; may be NULL */
	cli_take_fn *take;  /* NULL: accepted, without effect */
	size_t offset;      /* of the member */
	uint64_t unit, min, max;
	uint64_t bare; /* of durations: the unit of a number without one, 0: `unit`; of numbers: of "[N]" without one */
	cli_take_all_fn *take_all; /* in the place of `take` */
	cli_wants_fn *wants;       /* NULL: any word */
	const char *refused;       /* why the option is not done here; NULL: it is */
};

/* Several values of an option that may be repeated, in their order. They live as long as the command line. */
struct cli_words {
	int count;
	const char **text;
};
struct cli_numbers {
	int count;
	uint64_t *number;
};
/* An option that can also be taken back. */
enum cli_switch {
	CLI_UNSAID,
	CLI_ON,
	CLI_OFF,
};
struct cli_level {
	bool given;
	uint8_t level;
};
struct cli_time {
	bool given;
	bool relative; /* 100 ns from the start of the trace, else a FILETIME */
	uint64_t time;
};
/* What is to be done, of tools that say it with options: one of them may be given, and that several times. */
struct cli_verb {
	const char *name;  /* as the table has it; NULL: none was given */
	const char *other; /* a second one */
	struct cli_words values;
};
/* The last one; NULL: none was given. */
const char *cli_words_last(const struct cli_words *w);

cli_take_fn cli_take_verb, cli_take_name;
cli_take_fn cli_take_flag, cli_take_bits, cli_take_word, cli_take_words, cli_take_number, cli_take_numbers,
	cli_take_size, cli_take_duration, cli_take_choice, cli_take_set, cli_take_level, cli_take_time, cli_take_schema,
	cli_take_force;

#define CLI_MEMBER(type, member) (((struct type *)0)->member)
/* The member's place; it must be of that kind. */
#define CLI_AT(type, member, kind)       \
	(offsetof(struct type, member) + \
	 0 * sizeof(char[1 - 2 * !__builtin_types_compatible_p(kind, __typeof__(CLI_MEMBER(type, member)))]))
#define CLI_AT_ENUM(type, member) \
	(offsetof(struct type, member) + 0 * sizeof(char[1 - 2 * (sizeof CLI_MEMBER(type, member) != sizeof(int))]))
#define CLI_INTO(type) .options_bytes = sizeof(struct type)

/* A row whose value is read by a function of the verb's own. */
#define CLI_OWN(type, member, kind, take_fn, letter_, name_, arg_, help_)                      \
	{                                                                                      \
		.letter = letter_, .name = name_, .arg = arg_, .help = help_, .take = take_fn, \
		.offset = CLI_AT(type, member, kind)                                           \
	}
/* bool */
#define CLI_FLAG(type, member, letter, name, help) CLI_OWN(type, member, bool, cli_take_flag, letter, name, NULL, help)
/* enum: it becomes this value */
#define CLI_SET(type, member, value, letter_, name_, help_)                            \
	{                                                                              \
		.letter = letter_, .name = name_, .help = help_, .take = cli_take_set, \
		.offset = CLI_AT_ENUM(type, member), .min = value                      \
	}
/* enum cli_switch: -name, and --name of Windows' tools. Two rows. */
#define CLI_SWITCH(type, member, name, help) \
	CLI_SET(type, member, CLI_ON, 0, name, help), CLI_SET(type, member, CLI_OFF, 0, "-" name, NULL)
/* Several values, which a function of the verb's own reads together. */
#define CLI_OWN_ALL(type, member, kind, take_fn, wants_, name_, arg_, help_)                     \
	{                                                                                        \
		.name = name_, .arg = arg_, .help = help_, .take_all = take_fn, .wants = wants_, \
		.offset = CLI_AT(type, member, kind)                                             \
	}
/* Known to be refused, with the reason. */
#define CLI_REFUSED(name_, arg_, help_, why)                              \
	{                                                                 \
		.name = name_, .arg = arg_, .help = help_, .refused = why \
	}
/* uint32_t: these bits are set */
#define CLI_BITS(type, member, bits, letter_, name_, help_)                             \
	{                                                                               \
		.letter = letter_, .name = name_, .help = help_, .take = cli_take_bits, \
		.offset = CLI_AT(type, member, uint32_t), .min = bits                   \
	}
/* const char *: the last one given; "" when it is one in brackets, and left out */
#define CLI_WORD(type, member, letter, name, arg, help) \
	CLI_OWN(type, member, const char *, cli_take_word, letter, name, arg, help)
/* struct cli_words: all of them */
#define CLI_WORDS(type, member, letter, name, arg, help) \
	CLI_OWN(type, member, struct cli_words, cli_take_words, letter, name, arg, help)
/* struct cli_level: 0 to 255, or a name */
#define CLI_LEVEL(type, member, letter, name, help) \
	CLI_OWN(type, member, struct cli_level, cli_take_level, letter, name, "LEVEL", help)
/* struct cli_time: a date, or a time from the start of the trace */
#define CLI_TIME(type, member, letter, name, help) \
	CLI_OWN(type, member, struct cli_time, cli_take_time, letter, name, "TIME", help)

#define CLI_BOUNDED(type, member, kind, take_fn, letter_, name_, arg_, unit_, min_, max_, help_) \
	{                                                                                        \
		.letter = letter_, .name = name_, .arg = arg_, .help = help_, .take = take_fn,   \
		.offset = CLI_AT(type, member, kind), .unit = unit_, .min = min_, .max = max_    \
	}
/* uint64_t */
#define CLI_NUMBER(type, member, letter, name, arg, min, max, help) \
	CLI_BOUNDED(type, member, uint64_t, cli_take_number, letter, name, arg, 1, min, max, help)
/* uint64_t: the number is `bare` when "[N]" has none */
#define CLI_NUMBER_OR(type, member, letter_, name_, arg_, bare_, min_, max_, help_)                          \
	{                                                                                                    \
		.letter = letter_, .name = name_, .arg = arg_, .help = help_, .take = cli_take_number,       \
		.offset = CLI_AT(type, member, uint64_t), .unit = 1, .min = min_, .max = max_, .bare = bare_ \
	}
/* struct cli_numbers: at most `most` */
#define CLI_NUMBERS(type, member, letter, name, arg, min, max, most, help) \
	CLI_BOUNDED(type, member, struct cli_numbers, cli_take_numbers, letter, name, arg, most, min, max, help)
/* uint64_t, rounded up to whole units: a bare number has that unit, so have min and max. Sizes are "100MB" with a
 * unit in bytes, durations "250ms" with one in ns. */
#define CLI_SIZE(type, member, letter, name, unit, min, max, help) \
	CLI_BOUNDED(type, member, uint64_t, cli_take_size, letter, name, "SIZE", unit, min, max, help)
#define CLI_DURATION(type, member, letter, name, unit, min, max, help) \
	CLI_BOUNDED(type, member, uint64_t, cli_take_duration, letter, name, "TIME", unit, min, max, help)

/* uint64_t in ns; a bare number means seconds */
#define CLI_SECONDS(type, member, letter_, name_, min_, max_, help_)                                              \
	{                                                                                                         \
		.letter = letter_, .name = name_, .arg = "TIME", .help = help_, .take = cli_take_duration,        \
		.offset = CLI_AT(type, member, uint64_t), .unit = 1, .min = min_, .max = max_, .bare = 1000000000 \
	}

/* An enum: which of "a|b|c" was given, counted from `first`. One in brackets that was left out is the first. */
#define CLI_CHOICE(type, member, first, letter_, name_, arg_, words, help_)                    \
	{                                                                                      \
		.letter = letter_, .name = name_, .arg = arg_, .help = help_, .values = words, \
		.take = cli_take_choice, .offset = CLI_AT_ENUM(type, member), .min = first     \
	}
/* const char *: the last one given, one of "a|b|c" */
#define CLI_ONE_OF(type, member, letter_, name_, arg_, words, help_)                                                  \
	{                                                                                                             \
		.letter = letter_, .name = name_, .arg = arg_, .help = help_, .values = words, .take = cli_take_word, \
		.offset = CLI_AT(type, member, const char *)                                                          \
	}
/* Taken for the sake of scripts, without effect. */
#define CLI_ACCEPTED(letter_, name_, arg_, help_)                             \
	{                                                                     \
		.letter = letter_, .name = name_, .arg = arg_, .help = help_, \
	}
/* struct cli_verb */
#define CLI_VERB(type, member, name, arg, help) \
	CLI_OWN(type, member, struct cli_verb, cli_take_verb, 0, name, arg, help)
/* const char *: the name of the option, for those of which only one matters, such as those that are refused */
#define CLI_NAMED(type, member, name, arg, help) CLI_OWN(type, member, const char *, cli_take_name, 0, name, arg, help)
/* A file that explains events, loaded before the verb runs. */
#define CLI_SCHEMA(letter_, name_, help_)                                                               \
	{                                                                                               \
		.letter = letter_, .name = name_, .arg = "FILE", .help = help_, .take = cli_take_schema \
	}
/* Earlier files are overwritten by what the verb makes (output.h). */
#define CLI_FORCE_OPTION                                                                          \
	{                                                                                         \
		.name = "force", .help = "overwrite an earlier file: it is not kept as FILE.old", \
		.take = cli_take_force                                                            \
	}

/* The option of that name, or with that letter when it is not 0; NULL: there is none. */
const struct cli_option *cli_option_find(const struct cli_option *table, const char *name, size_t n, char letter,
					 bool any_case);
/* Is it among the words of the row? True when it has none. */
bool cli_option_allows(const struct cli_option *o, const char *value, bool any_case);
/* A value was given: it is checked and goes to its member. False: said why. */
bool cli_option_store(struct cli_args *a, const struct cli_option *o, const char *value);

#endif
