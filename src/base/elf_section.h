/* SPDX-License-Identifier: MIT
 *
 * One section of an ELF file, read by name. 64-bit, little-endian; every number in the file is
 * checked against its size.
 */
#ifndef BASE_ELF_SECTION_H
#define BASE_ELF_SECTION_H

#include <stddef.h>
#include <stdint.h>

/* malloc'd bytes. -ENOENT: no such section, -ENOEXEC: no ELF file of this kind, -EFBIG: longer than
 * `max`, -EBADMSG: headers that contradict the file, -ENOMEM, or what reading says. */
int elf_section_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *ret_n);

#endif
