/* SPDX-License-Identifier: MIT
 *
 * The ELF section in which a program carries the description of its own events. The linker joins the
 * parts of all objects into one; each part is a row of records, aligned to 4:
 *
 *   off  size
 *    0    u32  SCHEMA_SECTION_MAGIC
 *    4    u16  kind
 *    6    u16  language (messages), else 0
 *    8    u32  bytes that follow the head; then zeros up to a multiple of 4
 *   12    u64  set: records of one manifest have the same
 *   20         data
 *
 *   kind       data
 *   TEMPLATE   a WEVT_TEMPLATE resource ("CRIM")
 *   MESSAGES   a message table resource (MESSAGE_RESOURCE_DATA)
 *   NAMES      provider GUID, name in UTF-8, 0; repeated: the template does not say names
 *   TMF        formats of WPP messages, as text of a .tmf file
 *
 * Between parts there may be zeros. A note (name "OpenETW", type 1, u32 1) in a section of its own is
 * in the program's note segment, where libetw sees it without opening the file.
 *
 * Who writes it: headers of "openetw mc", "openetw rc", headers of "openetw tracewpp". Who reads it:
 * src/manifest/manifest_section.c; etwd copies it and believes nothing in it.
 */
#ifndef FORMAT_SCHEMA_SECTION_H
#define FORMAT_SCHEMA_SECTION_H

#include <stdint.h>

#define SCHEMA_SECTION_NAME      ".openetw.schema"
#define SCHEMA_SECTION_NOTE      ".note.openetw"
#define SCHEMA_SECTION_NOTE_NAME "OpenETW"
#define SCHEMA_SECTION_NOTE_TYPE 1u

#define SCHEMA_SECTION_MAGIC     0x5357454Fu /* "OEWS" */
#define SCHEMA_SECTION_HEAD      20u
#define SCHEMA_SECTION_BYTES_MAX (32u << 20)

/* A section taken out of a file stands alone in one of this ending. */
#define SCHEMA_SECTION_SUFFIX ".oews"

enum schema_section_kind {
	SCHEMA_SECTION_TEMPLATE = 1,
	SCHEMA_SECTION_MESSAGES = 2,
	SCHEMA_SECTION_NAMES = 3,
	SCHEMA_SECTION_TMF = 4,
};

#endif
