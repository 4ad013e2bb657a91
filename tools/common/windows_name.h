/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_COMMON_WINDOWS_NAME_H
#define TOOLS_COMMON_WINDOWS_NAME_H

/* The name by which people know a release of Windows; "" for a version that no Windows has. */
const char *cli_windows_name(unsigned major, unsigned minor, unsigned build);

#endif
