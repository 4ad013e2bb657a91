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

/* A descriptor that is one piece (self-relative) as "O:BAG:BAD:(A;;0x1;;;WD)"; the parts that
 * SecurityInformation names. Masks are numbers, SIDs two letters where they have them. */
ETW_API BOOL WINAPI ConvertSecurityDescriptorToStringSecurityDescriptorW(PSECURITY_DESCRIPTOR SecurityDescriptor,
									 DWORD RequestedStringSDRevision,
									 SECURITY_INFORMATION SecurityInformation,
									 LPWSTR *StringSecurityDescriptor,
									 PULONG StringSecurityDescriptorLen);
ETW_API BOOL WINAPI ConvertSecurityDescriptorToStringSecurityDescriptorA(PSECURITY_DESCRIPTOR SecurityDescriptor,
									 DWORD RequestedStringSDRevision,
									 SECURITY_INFORMATION SecurityInformation,
									 LPSTR *StringSecurityDescriptor,
									 PULONG StringSecurityDescriptorLen);

#ifdef UNICODE
#define ConvertSecurityDescriptorToStringSecurityDescriptor ConvertSecurityDescriptorToStringSecurityDescriptorW
#else
#define ConvertSecurityDescriptorToStringSecurityDescriptor ConvertSecurityDescriptorToStringSecurityDescriptorA
#endif
#ifdef UNICODE
#define ConvertSidToStringSid ConvertSidToStringSidW
#define ConvertStringSidToSid ConvertStringSidToSidW
#else
#define ConvertSidToStringSid ConvertSidToStringSidA
#define ConvertStringSidToSid ConvertStringSidToSidA
#endif

#endif
