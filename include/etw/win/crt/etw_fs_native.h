/* SPDX-License-Identifier: MIT
 *
 * The functions of libetw-win below <filesystem> and <fstream>: see winrt/crt_filesystem.c.
 */
#ifndef ETW_CRT_ETW_FS_NATIVE_H
#define ETW_CRT_ETW_FS_NATIVE_H
#include "etw_crtdefs.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
struct etw_fs_stat {
	uint32_t mode, unused;
	uint64_t size, links, device, inode;
	int64_t seconds, nanoseconds;
};
char *etw_fs_native(const wchar_t *path) __asm__("etw16_fs_native");
int etw_fs_stat_of(const wchar_t *path, int follow, struct etw_fs_stat *ret) __asm__("etw16_fs_stat");
int etw_fs_mkdir(const wchar_t *path, unsigned mode) __asm__("etw16_fs_mkdir");
int etw_fs_remove(const wchar_t *path) __asm__("etw16_fs_remove");
int etw_fs_chmod(const wchar_t *path, unsigned mode, int follow) __asm__("etw16_fs_chmod");
int etw_fs_truncate(const wchar_t *path, uint64_t size) __asm__("etw16_fs_truncate");
int etw_fs_utime(const wchar_t *path, int64_t seconds, int64_t nanoseconds) __asm__("etw16_fs_utime");
int etw_fs_chdir(const wchar_t *path) __asm__("etw16_fs_chdir");
int etw_fs_space(const wchar_t *path, uint64_t ret[3]) __asm__("etw16_fs_space");
int etw_fs_rename(const wchar_t *from, const wchar_t *to) __asm__("etw16_fs_rename");
int etw_fs_link(const wchar_t *target, const wchar_t *link) __asm__("etw16_fs_link");
int etw_fs_symlink(const wchar_t *target, const wchar_t *link) __asm__("etw16_fs_symlink");
int etw_fs_readlink(const wchar_t *path, wchar_t **ret) __asm__("etw16_fs_readlink");
int etw_fs_realpath(const wchar_t *path, wchar_t **ret) __asm__("etw16_fs_realpath");
int etw_fs_getcwd(wchar_t **ret) __asm__("etw16_fs_getcwd");
int etw_fs_temp(wchar_t **ret) __asm__("etw16_fs_temp");
int etw_fs_copy(const wchar_t *from, const wchar_t *to, int replace) __asm__("etw16_fs_copy");
void *etw_fs_opendir(const wchar_t *path, int *ret_err) __asm__("etw16_fs_opendir");
int etw_fs_readdir(void *dir, wchar_t **ret_name) __asm__("etw16_fs_readdir");
void etw_fs_closedir(void *dir) __asm__("etw16_fs_closedir");
void etw_fs_free(void *p) __asm__("etw16_fs_free");
}
#endif
#endif
