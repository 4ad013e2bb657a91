/* SPDX-License-Identifier: MIT
 *
 * Paths as text. Both separators count; what is put between parts is '\\', or '/' when the path has that
 * one already. Sizes in characters with terminator. E_INVALIDARG, PATHCCH_E_FILENAME_TOO_LONG, and
 * STRSAFE_E_INSUFFICIENT_BUFFER when the result does not fit.
 */
#ifndef ETW_WIN_PATHCCH_H
#define ETW_WIN_PATHCCH_H

#include "windows.h"

#define PATHCCH_MAX_CCH             0x8000
#define PATHCCH_E_FILENAME_TOO_LONG ((HRESULT)0x800700CEu)
/* Taken by the functions with Ex, where they change nothing. */
#define PATHCCH_NONE                            0x00
#define PATHCCH_ALLOW_LONG_PATHS                0x01
#define PATHCCH_FORCE_ENABLE_LONG_NAME_PROCESS  0x02
#define PATHCCH_FORCE_DISABLE_LONG_NAME_PROCESS 0x04
#define PATHCCH_DO_NOT_NORMALIZE_SEGMENTS       0x08
#define PATHCCH_ENSURE_IS_EXTENDED_LENGTH_PATH  0x10
#define PATHCCH_ENSURE_TRAILING_SLASH           0x20

EXTERN_C_START
ETW_API HRESULT WINAPI PathCchAddBackslash(PWSTR pszPath, size_t cchPath); /* S_FALSE: it had one */
ETW_API HRESULT WINAPI PathCchRemoveBackslash(PWSTR pszPath, size_t cchPath);
ETW_API HRESULT WINAPI PathCchAppend(PWSTR pszPath, size_t cchPath, PCWSTR pszMore);
ETW_API HRESULT WINAPI PathCchAppendEx(PWSTR pszPath, size_t cchPath, PCWSTR pszMore, unsigned int dwFlags);
ETW_API HRESULT WINAPI PathCchCombine(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn, PCWSTR pszMore);
ETW_API HRESULT WINAPI PathCchCombineEx(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn, PCWSTR pszMore,
					unsigned int dwFlags);
/* "." and ".." are worked out. */
ETW_API HRESULT WINAPI PathCchCanonicalize(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn);
ETW_API HRESULT WINAPI PathCchCanonicalizeEx(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn,
					     unsigned int dwFlags);
/* The dot of the last part's extension, or the end. */
ETW_API HRESULT WINAPI PathCchFindExtension(PCWSTR pszPath, size_t cchPath, PCWSTR *ppszExt);
ETW_API HRESULT WINAPI PathCchRemoveExtension(PWSTR pszPath, size_t cchPath);
ETW_API HRESULT WINAPI PathCchAddExtension(PWSTR pszPath, size_t cchPath, PCWSTR pszExt);
ETW_API HRESULT WINAPI PathCchRenameExtension(PWSTR pszPath, size_t cchPath, PCWSTR pszExt);
/* The last part goes; S_FALSE when there was none. */
ETW_API HRESULT WINAPI PathCchRemoveFileSpec(PWSTR pszPath, size_t cchPath);
ETW_API BOOL WINAPI PathCchIsRoot(PCWSTR pszPath);
EXTERN_C_END
#endif
