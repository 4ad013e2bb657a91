/* SPDX-License-Identifier: MIT
 *
 * SIDs, and privileges that are always granted.
 */
#include "winrt/win.h"

#include "win/sddl.h"
#include "win/windows.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

/* Unix ids as SIDs: S-1-22-1-uid and S-1-22-2-gid, the convention Samba users know. */
#define UNIX_AUTHORITY 22
#define UNIX_USER      1
#define UNIX_GROUP     2

static DWORD sid_bytes(const SID *s)
{
	return 8 + 4u * s->SubAuthorityCount;
}

BOOL WINAPI IsValidSid(PSID pSid)
{
	const SID *s = pSid;
	return s && s->Revision == SID_REVISION && s->SubAuthorityCount <= SID_MAX_SUB_AUTHORITIES;
}
DWORD WINAPI GetLengthSid(PSID pSid)
{
	return sid_bytes(pSid);
}
DWORD WINAPI GetSidLengthRequired(UCHAR nSubAuthorityCount)
{
	return 8 + 4u * nSubAuthorityCount;
}
BOOL WINAPI EqualSid(PSID pSid1, PSID pSid2)
{
	return sid_bytes(pSid1) == sid_bytes(pSid2) && memcmp(pSid1, pSid2, sid_bytes(pSid1)) == 0;
}
BOOL WINAPI CopySid(DWORD nDestinationSidLength, PSID pDestinationSid, PSID pSourceSid)
{
	if (!IsValidSid(pSourceSid)) {
		return win_fail(ERROR_INVALID_SID);
	}
	if (nDestinationSidLength < sid_bytes(pSourceSid)) {
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	memcpy(pDestinationSid, pSourceSid, sid_bytes(pSourceSid));
	return TRUE;
}
PUCHAR WINAPI GetSidSubAuthorityCount(PSID pSid)
{
	return &((SID *)pSid)->SubAuthorityCount;
}
PDWORD WINAPI GetSidSubAuthority(PSID pSid, DWORD nSubAuthority)
{
	return (PDWORD)((char *)pSid + 8 + 4 * (size_t)nSubAuthority);
}

static void sid_make(SID *s, BYTE authority, BYTE count, const DWORD *sub)
{
	memset(s, 0, 8);
	s->Revision = SID_REVISION;
	s->SubAuthorityCount = count;
	s->IdentifierAuthority.Value[5] = authority;
	memcpy((char *)s + 8, sub, 4 * (size_t)count);
}

BOOL WINAPI AllocateAndInitializeSid(PSID_IDENTIFIER_AUTHORITY pIdentifierAuthority, BYTE nSubAuthorityCount,
				     DWORD nSubAuthority0, DWORD nSubAuthority1, DWORD nSubAuthority2,
				     DWORD nSubAuthority3, DWORD nSubAuthority4, DWORD nSubAuthority5,
				     DWORD nSubAuthority6, DWORD nSubAuthority7, PSID *pSid)
{
	const DWORD sub[8] = {nSubAuthority0, nSubAuthority1, nSubAuthority2, nSubAuthority3,
			      nSubAuthority4, nSubAuthority5, nSubAuthority6, nSubAuthority7};
	if (!pIdentifierAuthority || !pSid || nSubAuthorityCount > 8) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	SID *s = malloc(8 + 4 * 8);
	if (!s) {
		return win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	sid_make(s, 0, nSubAuthorityCount, sub);
	s->IdentifierAuthority = *pIdentifierAuthority;
	*pSid = s;
	return TRUE;
}
PVOID WINAPI FreeSid(PSID pSid)
{
	free(pSid);
	return NULL;
}

BOOL WINAPI CreateWellKnownSid(WELL_KNOWN_SID_TYPE WellKnownSidType, PSID DomainSid, PSID pSid, DWORD *cbSid)
{
	static const struct {
		WELL_KNOWN_SID_TYPE type;
		BYTE authority, count;
		DWORD sub[2];
	} known[] = {
		{WinNullSid, 0, 1, {0}},
		{WinWorldSid, 1, 1, {0}},
		{WinLocalSystemSid, 5, 1, {18}},
		{WinLocalServiceSid, 5, 1, {19}},
		{WinNetworkServiceSid, 5, 1, {20}},
		{WinBuiltinAdministratorsSid, 5, 2, {32, 544}},
		{WinBuiltinUsersSid, 5, 2, {32, 545}},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(known); i++) {
		if (known[i].type != WellKnownSidType) {
			continue;
		}
		DWORD need = 8 + 4u * known[i].count;
		if (!pSid || *cbSid < need) {
			*cbSid = need;
			return win_fail(ERROR_INSUFFICIENT_BUFFER);
		}
		sid_make(pSid, known[i].authority, known[i].count, known[i].sub);
		*cbSid = need;
		return TRUE;
	}
	return win_fail(ERROR_INVALID_PARAMETER);
}

BOOL WINAPI CheckTokenMembership(HANDLE TokenHandle, PSID SidToCheck, PBOOL IsMember)
{
	BYTE admins[SECURITY_MAX_SID_SIZE];
	DWORD n = sizeof admins;
	if (!IsValidSid(SidToCheck)) {
		return win_fail(ERROR_INVALID_SID);
	}
	CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, admins, &n);
	*IsMember = EqualSid(SidToCheck, admins) && geteuid() == 0;
	return TRUE;
}

/* ---- text ---------------------------------------------------------------------------------------
 */

static bool sid_text(PSID sid, char out[256])
{
	const SID *s = sid;
	if (!IsValidSid(sid)) {
		return win_fail(ERROR_INVALID_SID);
	}
	uint64_t authority = 0;
	for (int i = 0; i < 6; i++) {
		authority = authority << 8 | s->IdentifierAuthority.Value[i];
	}
	/* Authorities beyond 32 bits are written in hexadecimal. */
	int n = snprintf(out, 256, authority >> 32 ? "S-1-0x%012llX" : "S-1-%llu", (unsigned long long)authority);
	for (int i = 0; i < s->SubAuthorityCount; i++) {
		n += snprintf(out + n, 256 - (size_t)n, "-%u", le32_get((const char *)s + 8 + 4 * i));
	}
	return true;
}

BOOL WINAPI ConvertSidToStringSidA(PSID Sid, LPSTR *StringSid)
{
	char text[256];
	if (!StringSid) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (!sid_text(Sid, text)) {
		return FALSE;
	}
	*StringSid = strdup(text);
	return *StringSid ? TRUE : win_fail(ERROR_NOT_ENOUGH_MEMORY);
}
BOOL WINAPI ConvertSidToStringSidW(PSID Sid, LPWSTR *StringSid)
{
	char text[256];
	if (!StringSid) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (!sid_text(Sid, text)) {
		return FALSE;
	}
	*StringSid = (LPWSTR)win_utf16(text);
	return *StringSid ? TRUE : win_fail(ERROR_NOT_ENOUGH_MEMORY);
}
BOOL WINAPI ConvertStringSidToSidA(LPCSTR StringSid, PSID *Sid)
{
	if (!StringSid || !Sid) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	const char *p = StringSid;
	char *end;
	DWORD sub[SID_MAX_SUB_AUTHORITIES];
	BYTE count = 0;
	if ((p[0] != 'S' && p[0] != 's') || strncmp(p + 1, "-1-", 3) != 0) {
		return win_fail(ERROR_INVALID_SID);
	}
	unsigned long long authority = strtoull(p + 4, &end, 0);
	if (end == p + 4 || authority >> 48) {
		return win_fail(ERROR_INVALID_SID);
	}
	for (p = end; *p == '-'; p = end) {
		if (count == SID_MAX_SUB_AUTHORITIES || p[1] < '0' || p[1] > '9') {
			return win_fail(ERROR_INVALID_SID);
		}
		sub[count++] = (DWORD)strtoul(p + 1, &end, 10);
	}
	if (*p) {
		return win_fail(ERROR_INVALID_SID);
	}
	SID *s = malloc(8 + 4 * (size_t)SID_MAX_SUB_AUTHORITIES);
	if (!s) {
		return win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	sid_make(s, 0, count, sub);
	for (int i = 0; i < 6; i++) {
		s->IdentifierAuthority.Value[i] = (BYTE)(authority >> (40 - 8 * i));
	}
	*Sid = s;
	return TRUE;
}
BOOL WINAPI ConvertStringSidToSidW(LPCWSTR StringSid, PSID *Sid)
{
	char *t = win_utf8(StringSid);
	BOOL ok = ConvertStringSidToSidA(t, Sid);
	free(t);
	return ok;
}

/* ---- tokens
 * --------------------------------------------------------------------------------------- */

BOOL WINAPI OpenProcessToken(HANDLE ProcessHandle, DWORD DesiredAccess, PHANDLE TokenHandle)
{
	if (!TokenHandle) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	*TokenHandle = win_handle_give(win_object_new(WIN_TOKEN));
	return *TokenHandle != NULL;
}

BOOL WINAPI GetTokenInformation(HANDLE TokenHandle, TOKEN_INFORMATION_CLASS TokenInformationClass,
				LPVOID TokenInformation, DWORD TokenInformationLength, PDWORD ReturnLength)
{
	struct {
		TOKEN_USER user;
		char sid[16];
	} user;
	TOKEN_ELEVATION elevated = {geteuid() == 0};
	TOKEN_ELEVATION_TYPE type = elevated.TokenIsElevated ? TokenElevationTypeFull : TokenElevationTypeLimited;
	const void *from;
	DWORD n;
	switch (TokenInformationClass) {
	case TokenUser: {
		DWORD sub[2] = {UNIX_USER, (DWORD)geteuid()};
		memset(&user, 0, sizeof user);
		user.user.User.Sid = TokenInformation ? (char *)TokenInformation + sizeof(TOKEN_USER) : NULL;
		sid_make((SID *)(void *)user.sid, UNIX_AUTHORITY, 2, sub);
		from = &user;
		n = sizeof user;
		break;
	}
	case TokenElevation:
		from = &elevated;
		n = sizeof elevated;
		break;
	case TokenElevationType:
		from = &type;
		n = sizeof type;
		break;
	default: return win_fail(ERROR_NOT_SUPPORTED);
	}
	if (ReturnLength) {
		*ReturnLength = n;
	}
	if (!TokenInformation || TokenInformationLength < n) {
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	memcpy(TokenInformation, from, n);
	return TRUE;
}

BOOL WINAPI LookupPrivilegeValueA(LPCSTR lpSystemName, LPCSTR lpName, PLUID lpLuid)
{
	static const struct {
		const char *name;
		DWORD value;
	} known[] = {
		{"SeSecurityPrivilege", 8},       {"SeLoadDriverPrivilege", 10},
		{"SeSystemProfilePrivilege", 11}, {"SeIncreaseBasePriorityPrivilege", 14},
		{"SeBackupPrivilege", 17},        {"SeRestorePrivilege", 18},
		{"SeDebugPrivilege", 20},
	};
	for (size_t i = 0; lpName && lpLuid && i < BASE_ARRAY_LEN(known); i++) {
		if (strcasecmp(known[i].name, lpName) == 0) {
			*lpLuid = (LUID){known[i].value, 0};
			return TRUE;
		}
	}
	return win_fail(lpName && lpLuid ? 1313 /* ERROR_NO_SUCH_PRIVILEGE */
					 : ERROR_INVALID_PARAMETER);
}
BOOL WINAPI LookupPrivilegeValueW(LPCWSTR lpSystemName, LPCWSTR lpName, PLUID lpLuid)
{
	char *n = win_utf8(lpName);
	BOOL ok = LookupPrivilegeValueA(NULL, n, lpLuid);
	free(n);
	return ok;
}
BOOL WINAPI PrivilegeCheck(HANDLE ClientToken, PPRIVILEGE_SET RequiredPrivileges, LPBOOL pfResult)
{
	if (!win_handle_is(ClientToken, WIN_TOKEN)) {
		return FALSE;
	}
	if (!RequiredPrivileges || !pfResult) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	for (DWORD i = 0; i < RequiredPrivileges->PrivilegeCount; i++) {
		RequiredPrivileges->Privilege[i].Attributes |= SE_PRIVILEGE_USED_FOR_ACCESS;
	}
	*pfResult = TRUE;
	return TRUE;
}
BOOL WINAPI AdjustTokenPrivileges(HANDLE TokenHandle, BOOL DisableAllPrivileges, PTOKEN_PRIVILEGES NewState,
				  DWORD BufferLength, PTOKEN_PRIVILEGES PreviousState, PDWORD ReturnLength)
{
	if (!win_handle_is(TokenHandle, WIN_TOKEN)) {
		return FALSE;
	}
	SetLastError(ERROR_SUCCESS); /* callers look for ERROR_NOT_ALL_ASSIGNED */
	return TRUE;
}

BOOL WINAPI LookupAccountSidW(LPCWSTR lpSystemName, PSID Sid, LPWSTR Name, LPDWORD cchName, LPWSTR ReferencedDomainName,
			      LPDWORD cchReferencedDomainName, PSID_NAME_USE peUse)
{
	const SID *s = Sid;
	struct passwd *pw = NULL, pw_buf;
	struct group *gr = NULL, gr_buf;
	char buf[4096];
	if (!IsValidSid(Sid)) {
		return win_fail(ERROR_INVALID_SID);
	}
	if (s->IdentifierAuthority.Value[5] == UNIX_AUTHORITY && s->SubAuthorityCount == 2) {
		DWORD kind = le32_get((const char *)s + 8), id = le32_get((const char *)s + 12);
		if (kind == UNIX_USER) {
			getpwuid_r((uid_t)id, &pw_buf, buf, sizeof buf, &pw);
		} else if (kind == UNIX_GROUP) {
			getgrgid_r((gid_t)id, &gr_buf, buf, sizeof buf, &gr);
		}
	}
	const char *text = pw ? pw->pw_name : gr ? gr->gr_name : NULL;
	uint16_t *w = win_utf16(text);
	if (!w) {
		return win_fail(ERROR_NONE_MAPPED);
	}
	DWORD n = (DWORD)utf16_len(w);
	bool fits = n < *cchName && *cchReferencedDomainName >= 1;
	if (fits) {
		memcpy(Name, w, 2 * (n + 1));
		ReferencedDomainName[0] = 0;
	}
	*cchName = fits ? n : n + 1;
	*cchReferencedDomainName = fits ? 0 : 1;
	*peUse = gr ? SidTypeGroup : SidTypeUser;
	free(w);
	return fits ? TRUE : win_fail(ERROR_INSUFFICIENT_BUFFER);
}
BOOL WINAPI LookupAccountSidA(LPCSTR lpSystemName, PSID Sid, LPSTR Name, LPDWORD cchName, LPSTR ReferencedDomainName,
			      LPDWORD cchReferencedDomainName, PSID_NAME_USE peUse)
{
	WCHAR name[257], domain[2];
	DWORD name_len = 257, domain_len = 2;
	if (!LookupAccountSidW(NULL, Sid, name, &name_len, domain, &domain_len, peUse)) {
		return FALSE;
	}
	char *utf8 = win_utf8(name);
	if (!utf8) {
		return win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	DWORD n = (DWORD)strlen(utf8);
	bool fits = n < *cchName && *cchReferencedDomainName >= 1;
	if (fits) {
		memcpy(Name, utf8, n + 1);
		ReferencedDomainName[0] = 0;
	}
	*cchName = fits ? n : n + 1;
	*cchReferencedDomainName = fits ? 0 : 1;
	free(utf8);
	return fits ? TRUE : win_fail(ERROR_INSUFFICIENT_BUFFER);
}
