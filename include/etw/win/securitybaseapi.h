/* SPDX-License-Identifier: MIT
 *
 * SIDs, and the privilege dance that ETW tools perform before they start a kernel session.
 * Privileges do not exist here: asking for them succeeds, and the session's own access check
 * decides.
 */
#ifndef ETW_WIN_SECURITYBASEAPI_H
#define ETW_WIN_SECURITYBASEAPI_H

#include "winnt.h"

ETW_API BOOL WINAPI IsValidSid(PSID pSid);
ETW_API DWORD WINAPI GetLengthSid(PSID pSid); /* bytes */
ETW_API DWORD WINAPI GetSidLengthRequired(UCHAR nSubAuthorityCount);
ETW_API BOOL WINAPI EqualSid(PSID pSid1, PSID pSid2);
ETW_API BOOL WINAPI CopySid(DWORD nDestinationSidLength, PSID pDestinationSid, PSID pSourceSid);
ETW_API PUCHAR WINAPI GetSidSubAuthorityCount(PSID pSid);
ETW_API PDWORD WINAPI GetSidSubAuthority(PSID pSid, DWORD nSubAuthority);
ETW_API BOOL WINAPI AllocateAndInitializeSid(PSID_IDENTIFIER_AUTHORITY pIdentifierAuthority, BYTE nSubAuthorityCount,
					     DWORD nSubAuthority0, DWORD nSubAuthority1, DWORD nSubAuthority2,
					     DWORD nSubAuthority3, DWORD nSubAuthority4, DWORD nSubAuthority5,
					     DWORD nSubAuthority6, DWORD nSubAuthority7, PSID *pSid);
ETW_API PVOID WINAPI FreeSid(PSID pSid);
ETW_API BOOL WINAPI CreateWellKnownSid(WELL_KNOWN_SID_TYPE WellKnownSidType, PSID DomainSid, PSID pSid, DWORD *cbSid);
/* TRUE for root and the administrators' SID. */
ETW_API BOOL WINAPI CheckTokenMembership(HANDLE TokenHandle, PSID SidToCheck, PBOOL IsMember);

ETW_API BOOL WINAPI OpenProcessToken(HANDLE ProcessHandle, DWORD DesiredAccess, PHANDLE TokenHandle);
/* TokenUser, TokenElevation, TokenElevationType. Sizes in bytes. */
ETW_API BOOL WINAPI GetTokenInformation(HANDLE TokenHandle, TOKEN_INFORMATION_CLASS TokenInformationClass,
					LPVOID TokenInformation, DWORD TokenInformationLength, PDWORD ReturnLength);
ETW_API BOOL WINAPI LookupPrivilegeValueW(LPCWSTR lpSystemName, LPCWSTR lpName, PLUID lpLuid);
ETW_API BOOL WINAPI LookupPrivilegeValueA(LPCSTR lpSystemName, LPCSTR lpName, PLUID lpLuid);
/* All are held: TRUE, and so is the answer. */
ETW_API BOOL WINAPI PrivilegeCheck(HANDLE ClientToken, PPRIVILEGE_SET RequiredPrivileges, LPBOOL pfResult);
/* TRUE with last error 0. */
ETW_API BOOL WINAPI AdjustTokenPrivileges(HANDLE TokenHandle, BOOL DisableAllPrivileges, PTOKEN_PRIVILEGES NewState,
					  DWORD BufferLength, PTOKEN_PRIVILEGES PreviousState, PDWORD ReturnLength);
/* S-1-22-1-uid is the user of that id, S-1-22-2-gid the group. Sizes in characters. */
ETW_API BOOL WINAPI LookupAccountSidW(LPCWSTR lpSystemName, PSID Sid, LPWSTR Name, LPDWORD cchName,
				      LPWSTR ReferencedDomainName, LPDWORD cchReferencedDomainName,
				      PSID_NAME_USE peUse);
ETW_API BOOL WINAPI LookupAccountSidA(LPCSTR lpSystemName, PSID Sid, LPSTR Name, LPDWORD cchName,
				      LPSTR ReferencedDomainName, LPDWORD cchReferencedDomainName, PSID_NAME_USE peUse);

#ifdef UNICODE
#define LookupPrivilegeValue LookupPrivilegeValueW
#define LookupAccountSid     LookupAccountSidW
#else
#define LookupPrivilegeValue LookupPrivilegeValueA
#define LookupAccountSid     LookupAccountSidA
#endif

#endif
