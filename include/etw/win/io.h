/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_IO_H
#define ETW_WIN_IO_H
#include <fcntl.h>
#include <unistd.h>
#define _O_TEXT	   0x4000
#define _O_BINARY  0x8000
#define _O_WTEXT   0x10000
#define _O_U16TEXT 0x20000
#define _O_U8TEXT  0x40000
/* Streams carry UTF-8 in every mode. */
#define _setmode(fd, mode) ((void)(fd), (void)(mode), _O_TEXT)
#define _isatty		   isatty
#define _access		   access
#define _close		   close
#endif
