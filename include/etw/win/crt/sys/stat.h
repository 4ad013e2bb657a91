/* SPDX-License-Identifier: MIT
 *
 * The system's <sys/stat.h>, and Microsoft's names: paths with a drive letter and either separator. The
 * members of struct _stat are those of struct stat, with the same meaning.
 */
#pragma GCC system_header
#include_next <sys/stat.h>
#if !defined(ETW_CRT_SYS_STAT_H) && defined(_SYS_STAT_H)
#define ETW_CRT_SYS_STAT_H
#include "../etw_crtdefs.h"

struct _stat {
	dev_t st_dev;
	ino_t st_ino;
	mode_t st_mode;
	nlink_t st_nlink;
	uid_t st_uid;
	gid_t st_gid;
	dev_t st_rdev;
	off_t st_size;
	struct timespec st_atim, st_mtim, st_ctim; /* st_mtime: as in struct stat */
};
ETW_CRT_BEGIN
ETW_CRT(int, _stat, (const char *path, struct _stat *ret));
ETW_CRT(int, _wstat, (const wchar_t *path, struct _stat *ret));
ETW_CRT(int, _fstat, (int fd, struct _stat *ret));
ETW_CRT_END
#define _stat32    _stat
#define _stat64    _stat
#define _stati64   _stat
#define _stat64i32 _stat
#define __stat64   _stat
#define _wstat64   _wstat
#define _wstati64  _wstat
#define _fstat64   _fstat
#define _fstati64  _fstat

#define _S_IFMT   S_IFMT
#define _S_IFDIR  S_IFDIR
#define _S_IFCHR  S_IFCHR
#define _S_IFIFO  S_IFIFO
#define _S_IFREG  S_IFREG
#define _S_IREAD  S_IRUSR
#define _S_IWRITE S_IWUSR
#define _S_IEXEC  S_IXUSR
#endif
