/* SPDX-License-Identifier: MIT
 *
 * IP addresses as text, SHA-1 through CryptoAPI names.
 */
#include "winrt/win.h"

#include "win/ip2string.h"
#include "win/ntstatus.h"
#include "win/wincrypt.h"
#include "win/windows.h"

#include <stdlib.h>

static int v4_text(const IN_ADDR *a, char out[64])
{
	const uint8_t *b = (const uint8_t *)a;
	return snprintf(out, 64, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
}

/* The longest run of two or more zero groups becomes "::"; addresses that carry an IPv4 one show
 * it. */
static int v6_text(const IN6_ADDR *a, char out[64])
{
	const uint8_t *b = a->u.Byte;
	uint16_t g[8];
	int at = -1, run = 1, n = 0, groups = 8;
	bool zero5 = true;
	for (int i = 0; i < 8; i++) {
		g[i] = (uint16_t)(b[2 * i] << 8 | b[2 * i + 1]);
		zero5 &= i >= 5 || g[i] == 0;
	}
	bool v4 = zero5 && ((g[5] == 0 && g[6] != 0) || g[5] == 0xFFFF);
	bool isatap = (g[4] == 0 || g[4] == 0x200) && g[5] == 0x5EFE;
	if (v4 || isatap) {
		groups = 6;
	}
	for (int i = 0; i < groups; i++) {
		int k = 0;
		while (i + k < groups && g[i + k] == 0) {
			k++;
		}
		if (k > run) {
			at = i;
			run = k;
		}
	}
	for (int i = 0; i < groups; i++) {
		if (i == at) {
			n += snprintf(out + n, 64 - (size_t)n, "::");
			i += run - 1;
			continue;
		}
		bool colon = i > 0 && !(at >= 0 && i == at + run);
		n += snprintf(out + n, 64 - (size_t)n, "%s%x", colon ? ":" : "", g[i]);
	}
	if (groups == 6) {
		bool colon = !(at >= 0 && at + run == 6);
		n += snprintf(out + n, 64 - (size_t)n, "%s%u.%u.%u.%u", colon ? ":" : "", b[12], b[13], b[14], b[15]);
	}
	return n;
}

static PWSTR widen(const char *text, int n, PWSTR out)
{
	for (int i = 0; i <= n; i++) {
		out[i] = (uint8_t)text[i];
	}
	return out + n;
}

PSTR NTAPI RtlIpv4AddressToStringA(const IN_ADDR *Addr, PSTR S)
{
	char t[64];
	int n = v4_text(Addr, t);
	memcpy(S, t, (size_t)n + 1);
	return S + n;
}
PWSTR NTAPI RtlIpv4AddressToStringW(const IN_ADDR *Addr, PWSTR S)
{
	char t[64];
	int n = v4_text(Addr, t);
	return widen(t, n, S);
}
PSTR NTAPI RtlIpv6AddressToStringA(const IN6_ADDR *Addr, PSTR S)
{
	char t[64];
	int n = v6_text(Addr, t);
	memcpy(S, t, (size_t)n + 1);
	return S + n;
}
PWSTR NTAPI RtlIpv6AddressToStringW(const IN6_ADDR *Addr, PWSTR S)
{
	char t[64];
	int n = v6_text(Addr, t);
	return widen(t, n, S);
}

static int v4_full(const IN_ADDR *a, USHORT port, char out[128])
{
	int n = v4_text(a, out);
	return port ? n + snprintf(out + n, 128 - (size_t)n, ":%u", __builtin_bswap16(port)) : n;
}
static int v6_full(const IN6_ADDR *a, ULONG scope, USHORT port, char out[128])
{
	char t[64];
	v6_text(a, t);
	int n = snprintf(out, 128, "%s%s", port ? "[" : "", t);
	n += scope ? snprintf(out + n, 128 - (size_t)n, "%%%u", scope) : 0;
	return port ? n + snprintf(out + n, 128 - (size_t)n, "]:%u", __builtin_bswap16(port)) : n;
}
static NTSTATUS give(const char *t, int n, void *out, ULONG *cap, bool wide)
{
	if (!out || !cap || *cap <= (ULONG)n) {
		if (cap) {
			*cap = (ULONG)n + 1;
		}
		return (NTSTATUS)STATUS_INVALID_PARAMETER;
	}
	if (wide) {
		widen(t, n, out);
	} else {
		memcpy(out, t, (size_t)n + 1);
	}
	*cap = (ULONG)n + 1;
	return STATUS_SUCCESS;
}
NTSTATUS NTAPI RtlIpv4AddressToStringExA(const IN_ADDR *Address, USHORT Port, PSTR AddressString,
					 PULONG AddressStringLength)
{
	char t[128];
	int n = v4_full(Address, Port, t);
	return give(t, n, AddressString, AddressStringLength, false);
}
NTSTATUS NTAPI RtlIpv4AddressToStringExW(const IN_ADDR *Address, USHORT Port, PWSTR AddressString,
					 PULONG AddressStringLength)
{
	char t[128];
	int n = v4_full(Address, Port, t);
	return give(t, n, AddressString, AddressStringLength, true);
}
NTSTATUS NTAPI RtlIpv6AddressToStringExA(const IN6_ADDR *Address, ULONG ScopeId, USHORT Port, PSTR AddressString,
					 PULONG AddressStringLength)
{
	char t[128];
	int n = v6_full(Address, ScopeId, Port, t);
	return give(t, n, AddressString, AddressStringLength, false);
}
NTSTATUS NTAPI RtlIpv6AddressToStringExW(const IN6_ADDR *Address, ULONG ScopeId, USHORT Port, PWSTR AddressString,
					 PULONG AddressStringLength)
{
	char t[128];
	int n = v6_full(Address, ScopeId, Port, t);
	return give(t, n, AddressString, AddressStringLength, true);
}

/* ---- SHA-1: the data is collected and hashed when the value is asked for
 * ----------------------------- */

struct hash {
	struct strbuf data;
};

BOOL WINAPI CryptAcquireContextW(HCRYPTPROV *phProv, LPCWSTR szContainer, LPCWSTR szProvider, DWORD dwProvType,
				 DWORD dwFlags)
{
	*phProv = 1;
	return TRUE;
}
BOOL WINAPI CryptAcquireContextA(HCRYPTPROV *phProv, LPCSTR szContainer, LPCSTR szProvider, DWORD dwProvType,
				 DWORD dwFlags)
{
	*phProv = 1;
	return TRUE;
}
BOOL WINAPI CryptReleaseContext(HCRYPTPROV hProv, DWORD dwFlags)
{
	return TRUE;
}
BOOL WINAPI CryptCreateHash(HCRYPTPROV hProv, ALG_ID Algid, HCRYPTKEY hKey, DWORD dwFlags, HCRYPTHASH *phHash)
{
	if (Algid != CALG_SHA1) {
		return win_fail(0x80090008u); /* NTE_BAD_ALGID */
	}
	struct hash *h = calloc(1, sizeof *h);
	*phHash = (HCRYPTHASH)h;
	return h ? TRUE : win_fail(ERROR_NOT_ENOUGH_MEMORY);
}
BOOL WINAPI CryptHashData(HCRYPTHASH hHash, const BYTE *pbData, DWORD dwDataLen, DWORD dwFlags)
{
	struct hash *h = (struct hash *)hHash;
	strbuf_add(&h->data, pbData, dwDataLen);
	return h->data.failed ? win_fail(ERROR_NOT_ENOUGH_MEMORY) : TRUE;
}
BOOL WINAPI CryptGetHashParam(HCRYPTHASH hHash, DWORD dwParam, BYTE *pbData, DWORD *pdwDataLen, DWORD dwFlags)
{
	struct hash *h = (struct hash *)hHash;
	DWORD value = dwParam == HP_HASHSIZE ? 20 : CALG_SHA1;
	DWORD n = dwParam == HP_HASHVAL ? 20 : 4;
	if (dwParam != HP_HASHVAL && dwParam != HP_HASHSIZE && dwParam != HP_ALGID) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	bool small = pbData && *pdwDataLen < n;
	*pdwDataLen = n;
	if (small) {
		return win_fail(ERROR_MORE_DATA);
	}
	if (pbData && dwParam == HP_HASHVAL) {
		uint8_t digest[20];
		sha1(h->data.s ? h->data.s : "", h->data.len, digest);
		memcpy(pbData, digest, 20);
	} else if (pbData) {
		memcpy(pbData, &value, 4);
	}
	return TRUE;
}
BOOL WINAPI CryptDestroyHash(HCRYPTHASH hHash)
{
	struct hash *h = (struct hash *)hHash;
	strbuf_finish(&h->data);
	free(h);
	return TRUE;
}
