/* SPDX-License-Identifier: MIT
 *
 * SHA-1, from which provider ids are derived. Nothing else of CryptoAPI.
 */
#ifndef ETW_WIN_WINCRYPT_H
#define ETW_WIN_WINCRYPT_H
#include "winnt.h"
typedef ULONG_PTR HCRYPTPROV, HCRYPTHASH, HCRYPTKEY;
typedef unsigned int ALG_ID;
#define PROV_RSA_FULL       1
#define CRYPT_VERIFYCONTEXT 0xF0000000u
#define CALG_SHA1           0x00008004
#define CALG_SHA            CALG_SHA1
#define HP_ALGID            1
#define HP_HASHVAL          2
#define HP_HASHSIZE         4
ETW_API BOOL WINAPI CryptAcquireContextW(HCRYPTPROV *phProv, LPCWSTR szContainer, LPCWSTR szProvider, DWORD dwProvType,
					 DWORD dwFlags);
ETW_API BOOL WINAPI CryptAcquireContextA(HCRYPTPROV *phProv, LPCSTR szContainer, LPCSTR szProvider, DWORD dwProvType,
					 DWORD dwFlags);
ETW_API BOOL WINAPI CryptReleaseContext(HCRYPTPROV hProv, DWORD dwFlags);
ETW_API BOOL WINAPI CryptCreateHash(HCRYPTPROV hProv, ALG_ID Algid, HCRYPTKEY hKey, DWORD dwFlags, HCRYPTHASH *phHash);
ETW_API BOOL WINAPI CryptHashData(HCRYPTHASH hHash, const BYTE *pbData, DWORD dwDataLen, DWORD dwFlags);
/* *pdwDataLen in bytes, in and out. */
ETW_API BOOL WINAPI CryptGetHashParam(HCRYPTHASH hHash, DWORD dwParam, BYTE *pbData, DWORD *pdwDataLen, DWORD dwFlags);
ETW_API BOOL WINAPI CryptDestroyHash(HCRYPTHASH hHash);
#ifdef UNICODE
#define CryptAcquireContext CryptAcquireContextW
#else
#define CryptAcquireContext CryptAcquireContextA
#endif
#endif
