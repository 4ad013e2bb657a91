/* SPDX-License-Identifier: MIT
 *
 * GUIDs as text, BSTR, and the way to libetw's own COM objects.
 */
#include "winrt/win.h"

#include "win/wbemidl.h"
#include "win/windows.h"

#include <stdlib.h>

WIN_EXPORT const CLSID CLSID_WbemLocator = {
	0x4590f811, 0x1d3a, 0x11d0, {0x89, 0x1f, 0x00, 0xaa, 0x00, 0x4b, 0x2e, 0x24}};
WIN_EXPORT const IID IID_IWbemLocator = {0xdc12a687, 0x737f, 0x11cf, {0x88, 0x4d, 0x00, 0xaa, 0x00, 0x4b, 0x2e, 0x24}};

HRESULT WINAPI CoInitialize(LPVOID pvReserved)
{
	return S_OK;
}
HRESULT WINAPI CoInitializeEx(LPVOID pvReserved, DWORD dwCoInit)
{
	return S_OK;
}
VOID WINAPI CoUninitialize(void)
{
}
HRESULT WINAPI CoInitializeSecurity(PVOID pSecDesc, LONG cAuthSvc, PVOID asAuthSvc, PVOID pReserved1,
				    DWORD dwAuthnLevel, DWORD dwImpLevel, PVOID pAuthList, DWORD dwCapabilities,
				    PVOID pReserved3)
{
	return S_OK;
}
HRESULT WINAPI CoSetProxyBlanket(IUnknown *pProxy, DWORD dwAuthnSvc, DWORD dwAuthzSvc, OLECHAR *pServerPrincName,
				 DWORD dwAuthnLevel, DWORD dwImpLevel, PVOID pAuthInfo, DWORD dwCapabilities)
{
	return S_OK;
}
HRESULT WINAPI CoCreateGuid(GUID *pguid)
{
	struct guid g;
	if (!pguid) {
		return E_INVALIDARG;
	}
	if (guid_random(&g) < 0) {
		return E_FAIL;
	}
	memcpy(pguid, &g, sizeof g);
	return S_OK;
}
LONG WINAPI UuidCreate(UUID *Uuid)
{
	return CoCreateGuid(Uuid) == S_OK ? (LONG)RPC_S_OK : (LONG)RPC_S_UUID_NO_ADDRESS;
}

int WINAPI StringFromGUID2(REFGUID rguid, LPOLESTR lpsz, int cchMax)
{
	struct guid g;
	char text[37];
	if (cchMax < 39) {
		return 0;
	}
	memcpy(&g, rguid, sizeof g);
	guid_format(&g, text);
	lpsz[0] = '{';
	for (int i = 0; i < 36; i++) {
		lpsz[i + 1] = win_upper((uint8_t)text[i]);
	}
	lpsz[37] = '}';
	lpsz[38] = 0;
	return 39;
}
HRESULT WINAPI StringFromCLSID(REFCLSID rclsid, LPOLESTR *lplpsz)
{
	*lplpsz = CoTaskMemAlloc(39 * sizeof(WCHAR));
	return *lplpsz && StringFromGUID2(rclsid, *lplpsz, 39) ? S_OK : E_OUTOFMEMORY;
}
HRESULT WINAPI StringFromIID(REFIID rclsid, LPOLESTR *lplpsz)
{
	return StringFromCLSID(rclsid, lplpsz);
}
/* Names of classes are in the registry, which is not here. */
HRESULT WINAPI ProgIDFromCLSID(REFCLSID clsid, LPOLESTR *lplpszProgID)
{
	if (lplpszProgID) {
		*lplpszProgID = NULL;
	}
	return clsid && lplpszProgID ? REGDB_E_CLASSNOTREG : E_INVALIDARG;
}
HRESULT WINAPI CLSIDFromProgID(LPCOLESTR lpszProgID, LPCLSID lpclsid)
{
	return lpszProgID && lpclsid ? CO_E_CLASSSTRING : E_INVALIDARG;
}
HRESULT WINAPI CLSIDFromString(LPCOLESTR lpsz, LPCLSID pclsid)
{
	struct guid g = {{0}};
	if (!pclsid) {
		return E_INVALIDARG;
	}
	if (lpsz) {
		char *t = win_utf8(lpsz);
		bool ok = t && t[0] == '{' && guid_parse(t, &g) == 0;
		free(t);
		if (!ok) {
			return CO_E_CLASSSTRING;
		}
	}
	memcpy(pclsid, &g, sizeof g);
	return S_OK;
}
HRESULT WINAPI IIDFromString(LPCOLESTR lpsz, LPIID lpiid)
{
	HRESULT hr = CLSIDFromString(lpsz, lpiid);
	return hr == CO_E_CLASSSTRING ? E_INVALIDARG : hr;
}

HRESULT WINAPI CoCreateInstance(REFCLSID rclsid, LPUNKNOWN pUnkOuter, DWORD dwClsContext, REFIID riid, LPVOID *ppv)
{
	union {
		void *p;
		HRESULT (*make)(const GUID *clsid, const GUID *iid, void **ret);
	} u;
	if (!ppv) {
		return E_POINTER;
	}
	*ppv = NULL;
	if (pUnkOuter) {
		return CLASS_E_NOAGGREGATION;
	}
	u.p = win_openetw("openetw_create_object");
	return u.p ? u.make(rclsid, riid, ppv) : REGDB_E_CLASSNOTREG;
}

/* ---- BSTR: 4 bytes of length, text, terminator; the head is 8 bytes to keep malloc's alignment
 * ------- */

BSTR WINAPI SysAllocStringLen(const OLECHAR *strIn, UINT ui)
{
	char *p = ui <= UINT32_MAX / 4 ? calloc(1, 8 + 2 * (size_t)ui + 2) : NULL;
	if (!p) {
		return NULL;
	}
	le32_put(p + 4, 2 * ui);
	if (strIn) {
		memcpy(p + 8, strIn, 2 * (size_t)ui);
	}
	return (BSTR)(void *)(p + 8);
}
BSTR WINAPI SysAllocString(const OLECHAR *psz)
{
	return psz ? SysAllocStringLen(psz, (UINT)utf16_len(psz)) : NULL;
}
VOID WINAPI SysFreeString(BSTR bstrString)
{
	if (bstrString) {
		free((char *)bstrString - 8);
	}
}
UINT WINAPI SysStringByteLen(BSTR bstr)
{
	return bstr ? le32_get((const char *)bstr - 4) : 0;
}
UINT WINAPI SysStringLen(BSTR bstr)
{
	return SysStringByteLen(bstr) / 2;
}
