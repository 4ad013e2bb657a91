/* SPDX-License-Identifier: MIT
 *
 * SIDs as text: S-1-5-18. Results are freed with LocalFree.
 */
#ifndef ETW_WIN_SDDL_H
#define ETW_WIN_SDDL_H

#include "winnt.h"

#define SDDL_REVISION_1 1

ETW_API BOOL WINAPI ConvertSidToStringSidW(PSID Sid, LPWSTR *StringSid);
ETW_API BOOL WINAPI ConvertSidToStringSidA(PSID Sid, LPSTR *StringSid);
ETW_API BOOL WINAPI ConvertStringSidToSidW(LPCWSTR StringSid, PSID *Sid);
ETW_API BOOL WINAPI ConvertStringSidToSidA(LPCSTR StringSid, PSID *Sid);

#ifdef UNICODE
#define ConvertSidToStringSid ConvertSidToStringSidW
#define ConvertStringSidToSid ConvertStringSidToSidW
#else
#define ConvertSidToStringSid ConvertSidToStringSidA
#define ConvertStringSidToSid ConvertStringSidToSidA
#endif

#endif
