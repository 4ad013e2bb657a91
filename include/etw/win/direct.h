/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_DIRECT_H
#define ETW_WIN_DIRECT_H
#include <sys/stat.h>
#include <unistd.h>
#define _mkdir(path)       mkdir((path), 0777)
#define _rmdir             rmdir
#define _chdir             chdir
#define _getcwd(buf, size) getcwd((buf), (size_t)(size))
#endif
