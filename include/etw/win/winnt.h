/* SPDX-License-Identifier: MIT
 *
 * Structures and constants of the Windows kernel that ETW programs touch.
 */
#ifndef ETW_WIN_WINNT_H
#define ETW_WIN_WINNT_H

#include "guiddef.h"
#include "minwindef.h"

#include <string.h>

typedef union _LARGE_INTEGER {
	__extension__ struct {
		DWORD LowPart;
		LONG HighPart;
	} DUMMYSTRUCTNAME;
	struct {
		DWORD LowPart;
		LONG HighPart;
	} u;
	LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
	__extension__ struct {
		DWORD LowPart;
		DWORD HighPart;
	} DUMMYSTRUCTNAME;
	struct {
		DWORD LowPart;
		DWORD HighPart;
	} u;
	ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _LUID {
	DWORD LowPart;
	LONG HighPart;
} LUID, *PLUID;

typedef struct _LUID_AND_ATTRIBUTES {
	LUID Luid;
	DWORD Attributes;
} LUID_AND_ATTRIBUTES, *PLUID_AND_ATTRIBUTES;

typedef struct _SYSTEMTIME {
	WORD wYear;
	WORD wMonth;     /* 1 = January */
	WORD wDayOfWeek; /* 0 = Sunday */
	WORD wDay;
	WORD wHour;
	WORD wMinute;
	WORD wSecond;
	WORD wMilliseconds;
} SYSTEMTIME, *PSYSTEMTIME, *LPSYSTEMTIME;

typedef struct _TIME_ZONE_INFORMATION {
	LONG Bias; /* minutes: UTC = local time + Bias */
	WCHAR StandardName[32];
	SYSTEMTIME StandardDate;
	LONG StandardBias;
	WCHAR DaylightName[32];
	SYSTEMTIME DaylightDate;
	LONG DaylightBias;
} TIME_ZONE_INFORMATION, *PTIME_ZONE_INFORMATION, *LPTIME_ZONE_INFORMATION;

typedef struct _LIST_ENTRY {
	struct _LIST_ENTRY *Flink;
	struct _LIST_ENTRY *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

/* ---- security ------------------------------------------------------------------------------- */

typedef PVOID PSID;
typedef PVOID PSECURITY_DESCRIPTOR;
typedef PVOID PACL;
typedef DWORD SECURITY_INFORMATION, *PSECURITY_INFORMATION;
typedef WORD SECURITY_DESCRIPTOR_CONTROL, *PSECURITY_DESCRIPTOR_CONTROL;

typedef struct _SID_IDENTIFIER_AUTHORITY {
	BYTE Value[6]; /* big-endian */
} SID_IDENTIFIER_AUTHORITY, *PSID_IDENTIFIER_AUTHORITY;

/* 8 + 4 * SubAuthorityCount bytes. */
typedef struct _SID {
	BYTE Revision;
	BYTE SubAuthorityCount;
	SID_IDENTIFIER_AUTHORITY IdentifierAuthority;
	DWORD SubAuthority[1];
} SID, *PISID;

#define SID_REVISION            1
#define SID_MAX_SUB_AUTHORITIES 15
#define SECURITY_MAX_SID_SIZE   68

typedef enum _SID_NAME_USE {
	SidTypeUser = 1,
	SidTypeGroup,
	SidTypeDomain,
	SidTypeAlias,
	SidTypeWellKnownGroup,
	SidTypeDeletedAccount,
	SidTypeInvalid,
	SidTypeUnknown,
	SidTypeComputer,
	SidTypeLabel,
	SidTypeLogonSession
} SID_NAME_USE,
	*PSID_NAME_USE;

typedef struct _SID_AND_ATTRIBUTES {
	PSID Sid;
	DWORD Attributes;
} SID_AND_ATTRIBUTES, *PSID_AND_ATTRIBUTES;

typedef struct _TOKEN_USER {
	SID_AND_ATTRIBUTES User;
} TOKEN_USER, *PTOKEN_USER;

typedef struct _TOKEN_PRIVILEGES {
	DWORD PrivilegeCount;
	LUID_AND_ATTRIBUTES Privileges[1];
} TOKEN_PRIVILEGES, *PTOKEN_PRIVILEGES;
typedef struct _PRIVILEGE_SET {
	DWORD PrivilegeCount;
	DWORD Control;
	LUID_AND_ATTRIBUTES Privilege[1];
} PRIVILEGE_SET, *PPRIVILEGE_SET;
#define PRIVILEGE_SET_ALL_NECESSARY 1

typedef enum _TOKEN_INFORMATION_CLASS {
	TokenUser = 1,
	TokenGroups,
	TokenPrivileges,
	TokenElevationType = 18,
	TokenElevation = 20
} TOKEN_INFORMATION_CLASS,
	*PTOKEN_INFORMATION_CLASS;

typedef enum _TOKEN_ELEVATION_TYPE {
	TokenElevationTypeDefault = 1,
	TokenElevationTypeFull,
	TokenElevationTypeLimited
} TOKEN_ELEVATION_TYPE,
	*PTOKEN_ELEVATION_TYPE;

typedef struct _TOKEN_ELEVATION {
	DWORD TokenIsElevated;
} TOKEN_ELEVATION, *PTOKEN_ELEVATION;

typedef struct _TOKEN_LINKED_TOKEN {
	HANDLE LinkedToken;
} TOKEN_LINKED_TOKEN, *PTOKEN_LINKED_TOKEN;

typedef struct _GENERIC_MAPPING {
	ACCESS_MASK GenericRead;
	ACCESS_MASK GenericWrite;
	ACCESS_MASK GenericExecute;
	ACCESS_MASK GenericAll;
} GENERIC_MAPPING, *PGENERIC_MAPPING;

typedef struct _SECURITY_DESCRIPTOR {
	BYTE Revision;
	BYTE Sbz1;
	SECURITY_DESCRIPTOR_CONTROL Control;
	PSID Owner;
	PSID Group;
	PACL Sacl;
	PACL Dacl;
} SECURITY_DESCRIPTOR, *PISECURITY_DESCRIPTOR;

typedef struct _SECURITY_ATTRIBUTES {
	DWORD nLength;
	LPVOID lpSecurityDescriptor;
	BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

typedef enum {
	WinNullSid = 0,
	WinWorldSid = 1,
	WinLocalSystemSid = 22,
	WinLocalServiceSid = 23,
	WinNetworkServiceSid = 24,
	WinBuiltinAdministratorsSid = 26,
	WinBuiltinUsersSid = 27
} WELL_KNOWN_SID_TYPE;

#define SECURITY_NULL_SID_AUTHORITY \
	{                           \
		0, 0, 0, 0, 0, 0    \
	}
#define SECURITY_WORLD_SID_AUTHORITY \
	{                            \
		0, 0, 0, 0, 0, 1     \
	}
#define SECURITY_NT_AUTHORITY    \
	{                        \
		0, 0, 0, 0, 0, 5 \
	}
#define SECURITY_WORLD_RID          0
#define SECURITY_LOCAL_SYSTEM_RID   18
#define SECURITY_BUILTIN_DOMAIN_RID 0x20
#define DOMAIN_ALIAS_RID_ADMINS     0x220
#define DOMAIN_ALIAS_RID_USERS      0x221

#define TOKEN_ASSIGN_PRIMARY    1
#define TOKEN_DUPLICATE         2
#define TOKEN_IMPERSONATE       4
#define TOKEN_QUERY             8
#define TOKEN_QUERY_SOURCE      0x10
#define TOKEN_ADJUST_PRIVILEGES 0x20
#define TOKEN_ALL_ACCESS        0xF01FF

#define SE_PRIVILEGE_ENABLED_BY_DEFAULT 1
#define SE_PRIVILEGE_ENABLED            2
#define SE_PRIVILEGE_REMOVED            4
#define SE_PRIVILEGE_USED_FOR_ACCESS    0x80000000u
#define SE_SYSTEM_PROFILE_NAME          TEXT("SeSystemProfilePrivilege")
#define SE_DEBUG_NAME                   TEXT("SeDebugPrivilege")
#define SE_SECURITY_NAME                TEXT("SeSecurityPrivilege")
#define SE_BACKUP_NAME                  TEXT("SeBackupPrivilege")
#define SE_RESTORE_NAME                 TEXT("SeRestorePrivilege")
#define SE_LOAD_DRIVER_NAME             TEXT("SeLoadDriverPrivilege")
#define SE_INC_BASE_PRIORITY_NAME       TEXT("SeIncreaseBasePriorityPrivilege")

#define DELETE                            0x00010000
#define READ_CONTROL                      0x00020000
#define WRITE_DAC                         0x00040000
#define WRITE_OWNER                       0x00080000
#define SYNCHRONIZE                       0x00100000
#define STANDARD_RIGHTS_REQUIRED          0x000F0000
#define STANDARD_RIGHTS_READ              READ_CONTROL
#define STANDARD_RIGHTS_WRITE             READ_CONTROL
#define STANDARD_RIGHTS_EXECUTE           READ_CONTROL
#define STANDARD_RIGHTS_ALL               0x001F0000
#define GENERIC_READ                      0x80000000u
#define GENERIC_WRITE                     0x40000000
#define GENERIC_EXECUTE                   0x20000000
#define GENERIC_ALL                       0x10000000
#define MAXIMUM_ALLOWED                   0x02000000
#define PROCESS_TERMINATE                 0x0001
#define PROCESS_VM_READ                   0x0010
#define PROCESS_QUERY_INFORMATION         0x0400
#define PROCESS_QUERY_LIMITED_INFORMATION 0x1000
#define PROCESS_ALL_ACCESS                0x001FFFFF
#define OWNER_SECURITY_INFORMATION        1
#define GROUP_SECURITY_INFORMATION        2
#define DACL_SECURITY_INFORMATION         4
#define SACL_SECURITY_INFORMATION         8

/* ---- status codes and macros ---------------------------------------------------------------- */

#define STATUS_WAIT_0                   0x00000000u
#define STATUS_ABANDONED_WAIT_0         0x00000080u
#define STATUS_TIMEOUT                  0x00000102u
#define STATUS_PENDING                  0x00000103u
#define STATUS_INVALID_HANDLE           0xC0000008u
#define STATUS_INVALID_PARAMETER        0xC000000Du
#define STATUS_NO_MEMORY                0xC0000017u
#define STATUS_NONCONTINUABLE_EXCEPTION 0xC0000025u
#define STATUS_STACK_BUFFER_OVERRUN     0xC0000409u
#define STATUS_ASSERTION_FAILURE        0xC0000420u

/* Ends the program at once, as a broken invariant does there. */
#define FAST_FAIL_INVALID_ARG    5
#define FAST_FAIL_FATAL_APP_EXIT 7
#define __fastfail(code)         ((void)(code), __builtin_trap())
#define STATUS_ACCESS_VIOLATION  0xC0000005u
#define STATUS_CONTROL_C_EXIT    0xC000013Au
/* What DllMain is told: see docs/porting.md. */
#define DLL_PROCESS_DETACH 0
#define DLL_PROCESS_ATTACH 1
#define DLL_THREAD_ATTACH  2
#define DLL_THREAD_DETACH  3
#define STILL_ACTIVE       STATUS_PENDING

#define MINCHAR  0x80
#define MAXCHAR  0x7F
#define MINSHORT 0x8000
#define MAXSHORT 0x7FFF
#define MINLONG  0x80000000u
#define MAXBYTE  0xFF

#define LANG_NEUTRAL           0
#define LANG_ENGLISH           9
#define SUBLANG_NEUTRAL        0
#define SUBLANG_DEFAULT        1
#define SUBLANG_ENGLISH_US     1
#define SORT_DEFAULT           0
#define MAKELANGID(p, s)       ((WORD)((((WORD)(s)) << 10) | (WORD)(p)))
#define MAKELCID(lang, sort)   ((DWORD)((((DWORD)((WORD)(sort))) << 16) | ((DWORD)((WORD)(lang)))))
#define LANG_SYSTEM_DEFAULT    MAKELANGID(LANG_NEUTRAL, 2)
#define LANG_USER_DEFAULT      MAKELANGID(LANG_NEUTRAL, SUBLANG_DEFAULT)
#define LOCALE_SYSTEM_DEFAULT  MAKELCID(LANG_SYSTEM_DEFAULT, SORT_DEFAULT)
#define LOCALE_USER_DEFAULT    MAKELCID(LANG_USER_DEFAULT, SORT_DEFAULT)
#define LOCALE_NEUTRAL         MAKELCID(MAKELANGID(LANG_NEUTRAL, SUBLANG_NEUTRAL), SORT_DEFAULT)
#define LOCALE_INVARIANT       0x007F
#define LOCALE_NAME_MAX_LENGTH 85

#define FIELD_OFFSET(type, field)               ((LONG)(LONG_PTR)offsetof(type, field))
#define UFIELD_OFFSET(type, field)              ((DWORD)(LONG_PTR)offsetof(type, field))
#define RTL_FIELD_SIZE(type, field)             (sizeof(((type *)0)->field))
#define RTL_SIZEOF_THROUGH_FIELD(type, field)   (FIELD_OFFSET(type, field) + RTL_FIELD_SIZE(type, field))
#define CONTAINING_RECORD(address, type, field) ((type *)((PCHAR)(address) - (ULONG_PTR)offsetof(type, field)))
#define RTL_CONTAINS_FIELD(s, size, field)      ((((PCHAR)(&(s)->field)) + sizeof((s)->field)) <= (((PCHAR)(s)) + (size)))

#ifdef __cplusplus
extern "C++" {
template <class T, size_t N> char (&etw_array_size_probe(T (&)[N]))[N];
}
#define RTL_NUMBER_OF(a) (sizeof(etw_array_size_probe(a)))
#else
#define RTL_NUMBER_OF(a) (sizeof(a) / sizeof((a)[0]))
#endif
#ifndef ARRAYSIZE
#define ARRAYSIZE(a) RTL_NUMBER_OF(a)
#endif
#ifndef _ARRAYSIZE
#define _ARRAYSIZE(a) RTL_NUMBER_OF(a)
#endif

#ifdef __cplusplus
#define C_ASSERT(e) static_assert(e, #e)
#else
#define C_ASSERT(e)              __extension__ typedef char ETW_C_ASSERT_NAME(__LINE__)[(e) ? 1 : -1] __attribute__((unused))
#define ETW_C_ASSERT_NAME(line)  ETW_C_ASSERT_NAME2(line)
#define ETW_C_ASSERT_NAME2(line) etw_c_assert_##line
#endif

#define UNREFERENCED_PARAMETER(p)      ((void)(p))
#define DBG_UNREFERENCED_PARAMETER(p)  ((void)(p))
#define UNREFERENCED_LOCAL_VARIABLE(v) ((void)(v))
#define DEFAULT_UNREACHABLE \
	default:            \
		__builtin_unreachable()
#define MEMORY_ALLOCATION_ALIGNMENT 16
#define SYSTEM_CACHE_ALIGNMENT_SIZE 64

#define RtlEqualMemory(a, b, n) (!memcmp((a), (b), (n)))
#define RtlMoveMemory(d, s, n)  memmove((d), (s), (n))
#define RtlCopyMemory(d, s, n)  memcpy((d), (s), (n))
#define RtlFillMemory(d, n, c)  memset((d), (c), (n))
#define RtlZeroMemory(d, n)     memset((d), 0, (n))
#define MoveMemory              RtlMoveMemory
#define CopyMemory              RtlCopyMemory
#define FillMemory              RtlFillMemory
#define ZeroMemory              RtlZeroMemory
#define SecureZeroMemory        RtlSecureZeroMemory

/* Not optimised away. */
ETW_INLINE PVOID RtlSecureZeroMemory(PVOID p, SIZE_T n)
{
	volatile char *v = (volatile char *)p;
	while (n--) {
		*v++ = 0;
	}
	return p;
}

#define Int32x32To64(a, b)         (((LONGLONG)((LONG)(a))) * ((LONG)(b)))
#define UInt32x32To64(a, b)        (((ULONGLONG)((DWORD)(a))) * ((DWORD)(b)))
#define DbgRaiseAssertionFailure() __builtin_trap()

#ifdef __cplusplus
/* The numbers of an enumeration may be of any width. */
#define ETW_ENUM_NUMBER(e, E) static_cast<__underlying_type(E)>(e)
#define DEFINE_ENUM_FLAG_OPERATORS(E)                                    \
	extern "C++" {                                                   \
	inline constexpr E operator|(E a, E b)                           \
	{                                                                \
		return E(ETW_ENUM_NUMBER(a, E) | ETW_ENUM_NUMBER(b, E)); \
	}                                                                \
	inline constexpr E operator&(E a, E b)                           \
	{                                                                \
		return E(ETW_ENUM_NUMBER(a, E) & ETW_ENUM_NUMBER(b, E)); \
	}                                                                \
	inline constexpr E operator^(E a, E b)                           \
	{                                                                \
		return E(ETW_ENUM_NUMBER(a, E) ^ ETW_ENUM_NUMBER(b, E)); \
	}                                                                \
	inline constexpr E operator~(E a)                                \
	{                                                                \
		return E(~ETW_ENUM_NUMBER(a, E));                        \
	}                                                                \
	inline E &operator|=(E &a, E b)                                  \
	{                                                                \
		return a = a | b;                                        \
	}                                                                \
	inline E &operator&=(E &a, E b)                                  \
	{                                                                \
		return a = a & b;                                        \
	}                                                                \
	inline E &operator^=(E &a, E b)                                  \
	{                                                                \
		return a = a ^ b;                                        \
	}                                                                \
	}
#else
#define DEFINE_ENUM_FLAG_OPERATORS(E)
#endif

#define VER_PLATFORM_WIN32s        0
#define VER_PLATFORM_WIN32_WINDOWS 1
#define VER_PLATFORM_WIN32_NT      2
#define VER_NT_WORKSTATION         1
#define VER_NT_DOMAIN_CONTROLLER   2
#define VER_NT_SERVER              3

/* What VerifyVersionInfo compares, and how: three bits for each in the mask. */
#define VER_MINORVERSION     0x01
#define VER_MAJORVERSION     0x02
#define VER_BUILDNUMBER      0x04
#define VER_PLATFORMID       0x08
#define VER_SERVICEPACKMINOR 0x10
#define VER_SERVICEPACKMAJOR 0x20
#define VER_SUITENAME        0x40
#define VER_PRODUCT_TYPE     0x80
#define VER_EQUAL            1
#define VER_GREATER          2
#define VER_GREATER_EQUAL    3
#define VER_LESS             4
#define VER_LESS_EQUAL       5
#define VER_AND              6
#define VER_OR               7

typedef struct _OSVERSIONINFOA {
	DWORD dwOSVersionInfoSize;
	DWORD dwMajorVersion;
	DWORD dwMinorVersion;
	DWORD dwBuildNumber;
	DWORD dwPlatformId;
	CHAR szCSDVersion[128];
} OSVERSIONINFOA, *POSVERSIONINFOA, *LPOSVERSIONINFOA;

typedef struct _OSVERSIONINFOW {
	DWORD dwOSVersionInfoSize;
	DWORD dwMajorVersion;
	DWORD dwMinorVersion;
	DWORD dwBuildNumber;
	DWORD dwPlatformId;
	WCHAR szCSDVersion[128];
} OSVERSIONINFOW, *POSVERSIONINFOW, *LPOSVERSIONINFOW, RTL_OSVERSIONINFOW, *PRTL_OSVERSIONINFOW;

typedef struct _OSVERSIONINFOEXW {
	DWORD dwOSVersionInfoSize;
	DWORD dwMajorVersion;
	DWORD dwMinorVersion;
	DWORD dwBuildNumber;
	DWORD dwPlatformId;
	WCHAR szCSDVersion[128];
	WORD wServicePackMajor;
	WORD wServicePackMinor;
	WORD wSuiteMask;
	BYTE wProductType;
	BYTE wReserved;
} OSVERSIONINFOEXW, *POSVERSIONINFOEXW, *LPOSVERSIONINFOEXW, RTL_OSVERSIONINFOEXW;

typedef struct _OSVERSIONINFOEXA {
	DWORD dwOSVersionInfoSize;
	DWORD dwMajorVersion;
	DWORD dwMinorVersion;
	DWORD dwBuildNumber;
	DWORD dwPlatformId;
	CHAR szCSDVersion[128];
	WORD wServicePackMajor;
	WORD wServicePackMinor;
	WORD wSuiteMask;
	BYTE wProductType;
	BYTE wReserved;
} OSVERSIONINFOEXA, *POSVERSIONINFOEXA, *LPOSVERSIONINFOEXA;

#ifdef UNICODE
typedef OSVERSIONINFOW OSVERSIONINFO, *POSVERSIONINFO, *LPOSVERSIONINFO;
#else
typedef OSVERSIONINFOA OSVERSIONINFO, *POSVERSIONINFO, *LPOSVERSIONINFO;
#endif
#ifdef UNICODE
typedef OSVERSIONINFOEXW OSVERSIONINFOEX, *POSVERSIONINFOEX, *LPOSVERSIONINFOEX;
#else
typedef OSVERSIONINFOEXA OSVERSIONINFOEX, *POSVERSIONINFOEX, *LPOSVERSIONINFOEX;
#endif

#endif
