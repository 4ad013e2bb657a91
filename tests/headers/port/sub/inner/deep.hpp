/* SPDX-License-Identifier: MIT */
#ifndef DEEP
#define DEEP 3
#endif
