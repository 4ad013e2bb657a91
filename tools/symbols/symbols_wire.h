/* SPDX-License-Identifier: MIT
 *
 * What openetw-symbols is asked (tools/tables/inlines.c asks): functions that the compiler put into others, from the
 * DWARF of files whose bytes are anybody's. It is a child without rights (src/sandbox/sandbox.h). Front door.
 *
 *   SYMBOLS_OPEN   symbols_open, and the file         ->  symbols_opened, then `id_bytes` and `name_bytes`
 *   SYMBOLS_LOOK   symbols_look                       ->  a text
 *
 * A file is opened in up to three steps, each under the same number. The program comes first. When it has no DWARF of
 * its own, the answer is the build id of the separate debug file, which comes next. When that refers to a third one
 * (made by dwz), the answer is the build id and the path of that. The child cannot open any of them: the parent
 * decides which file it believes.
 *
 * A text has the functions at an address as linked, the outermost first, divided by ';'. "": none.
 */
#ifndef TOOLS_SYMBOLS_SYMBOLS_WIRE_H
#define TOOLS_SYMBOLS_SYMBOLS_WIRE_H

#include <stdint.h>

#define SYMBOLS_GUID_BYTES 16u
#define SYMBOLS_FILES_MAX  4096u
#define SYMBOLS_TEXT_MAX   16384u /* names that do not fit are left out */
#define SYMBOLS_ID_MAX     64u
#define SYMBOLS_NAME_MAX   512u

enum symbols_kind { SYMBOLS_OPEN = 1, SYMBOLS_LOOK = 2 };
enum symbols_part { SYMBOLS_PROGRAM, SYMBOLS_DEBUG, SYMBOLS_SHARED };
enum symbols_state {
	SYMBOLS_NONE,         /* it is of another build, or there is no DWARF to be had */
	SYMBOLS_READY,        /* ask */
	SYMBOLS_WANTS_DEBUG,  /* there is DWARF only in a file with this build id */
	SYMBOLS_WANTS_SHARED, /* ready, but some names are in a file with this build id */
};

struct symbols_open {
	uint32_t number; /* of the file: the parent chooses it, below SYMBOLS_FILES_MAX */
	uint32_t part;
	uint8_t build[SYMBOLS_GUID_BYTES]; /* that the program has to be of */
};
struct symbols_opened {
	uint32_t state;
	uint32_t id_bytes, name_bytes, unused;
	uint64_t first; /* address of the first page that is loaded, as linked */
};
struct symbols_look {
	uint32_t number, unused;
	uint64_t address; /* as linked */
};

#endif
