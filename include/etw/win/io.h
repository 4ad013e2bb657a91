/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_IO_H
#define ETW_WIN_IO_H
#include "minwindef.h"
#include <fcntl.h>
#include <unistd.h>
#define _O_TEXT    0x4000
#define _O_BINARY  0x8000
#define _O_WTEXT   0x10000
#define _O_U16TEXT 0x20000
#define _O_U8TEXT  0x40000
/* Streams carry UTF-8 in every mode. */
#define _setmode(fd, mode) ((void)(fd), (void)(mode), _O_TEXT)
#define _isatty            isatty
#define _access            access
#define _read              read
#define _write             write
#define _dup               dup
/* A descriptor of a file's handle, which is closed with it; the one handle of a descriptor, which _close() closes. */
ETW_API int _open_osfhandle(INT_PTR osfhandle, int flags);
ETW_API INT_PTR _get_osfhandle(int fd);
ETW_API int _close(int fd);
/* 0 or -1. The handle that `to` had is closed. */
ETW_API int _dup2(int fd, int to);
#ifndef _O_RDONLY
#define _O_RDONLY O_RDONLY
#define _O_WRONLY O_WRONLY
#define _O_RDWR   O_RDWR
#define _O_APPEND O_APPEND
#define _O_CREAT  O_CREAT
#define _O_TRUNC  O_TRUNC
#define _O_EXCL   O_EXCL
#endif
#endif
