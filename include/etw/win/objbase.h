/* SPDX-License-Identifier: MIT
 *
 * The bit of COM that ETW needs: GUIDs as text, task memory, BSTR, IUnknown.
 */
#ifndef ETW_WIN_OBJBASE_H
#define ETW_WIN_OBJBASE_H

#include <stdlib.h>

#include "guiddef.h"
#include "rpcndr.h"
#include "winerror.h"
#include "winnt.h"

EXTERN_C_START

typedef WCHAR OLECHAR, *LPOLESTR, *BSTR;
typedef const WCHAR *LPCOLESTR;
#define OLESTR(text) ETW_WIDE(text)

#define CLSCTX_INPROC_SERVER     1
#define CLSCTX_INPROC_HANDLER    2
#define CLSCTX_LOCAL_SERVER      4
#define CLSCTX_ALL               23
#define COINIT_MULTITHREADED     0
#define COINIT_APARTMENTTHREADED 2

#define STDAPI              EXTERN_C HRESULT STDAPICALLTYPE
#define STDAPI_(type)       EXTERN_C type STDAPICALLTYPE
#define STDMETHODIMP        HRESULT STDMETHODCALLTYPE
#define STDMETHODIMP_(type) type STDMETHODCALLTYPE
#ifdef __cplusplus
#define STDMETHOD(method)        virtual HRESULT STDMETHODCALLTYPE method
#define STDMETHOD_(type, method) virtual type STDMETHODCALLTYPE method
#define PURE                     = 0
#endif

EXTERN_C const IID IID_IUnknown; /* in libetw */

/* One pointer to a table of functions, as everywhere in COM: C and C++ see the same object. */
#ifdef __cplusplus
extern "C++" {
struct ETW_UUID("00000000-0000-0000-C000-000000000046") IUnknown {
	virtual HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void **ppvObject) = 0;
	virtual ULONG STDMETHODCALLTYPE AddRef() = 0;
	virtual ULONG STDMETHODCALLTYPE Release() = 0;
};
}
#else
typedef struct IUnknown IUnknown;
typedef struct IUnknownVtbl {
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(IUnknown *This, REFIID riid, void **ppvObject);
	ULONG(STDMETHODCALLTYPE *AddRef)(IUnknown *This);
	ULONG(STDMETHODCALLTYPE *Release)(IUnknown *This);
} IUnknownVtbl;
struct IUnknown {
	const IUnknownVtbl *lpVtbl;
};
#endif
typedef IUnknown *LPUNKNOWN;

EXTERN_C_END
ETW_UUID_OF(IUnknown, IID_IUnknown)

ETW_API HRESULT WINAPI CoInitialize(LPVOID pvReserved);
ETW_API HRESULT WINAPI CoInitializeEx(LPVOID pvReserved, DWORD dwCoInit);
ETW_API VOID WINAPI CoUninitialize(void);
ETW_API HRESULT WINAPI CoCreateGuid(GUID *pguid);
ETW_API LPVOID WINAPI CoTaskMemAlloc(SIZE_T cb);
ETW_API VOID WINAPI CoTaskMemFree(LPVOID pv);
/* {XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX}, upper case. Returns 39, or 0 when cchMax is less. */
ETW_API int WINAPI StringFromGUID2(REFGUID rguid, LPOLESTR lpsz, int cchMax);
/* The same text in memory for CoTaskMemFree. */
ETW_API HRESULT WINAPI StringFromCLSID(REFCLSID rclsid, LPOLESTR *lplpsz);
ETW_API HRESULT WINAPI StringFromIID(REFIID rclsid, LPOLESTR *lplpsz);
/* With braces; CO_E_CLASSSTRING otherwise. */
ETW_API HRESULT WINAPI CLSIDFromString(LPCOLESTR lpsz, LPCLSID pclsid);
ETW_API HRESULT WINAPI ProgIDFromCLSID(REFCLSID clsid, LPOLESTR *lplpszProgID);
ETW_API HRESULT WINAPI CLSIDFromProgID(LPCOLESTR lpszProgID, LPCLSID lpclsid);
ETW_API HRESULT WINAPI IIDFromString(LPCOLESTR lpsz, LPIID lpiid);
ETW_API LONG WINAPI UuidCreate(UUID *Uuid); /* RPC_S_OK */

/* Objects of libopenetw, which is loaded for them: CLSID_TraceRelogger.
 * REGDB_E_CLASSNOTREG for any other class. */
ETW_API HRESULT WINAPI CoCreateInstance(REFCLSID rclsid, LPUNKNOWN pUnkOuter, DWORD dwClsContext, REFIID riid,
					LPVOID *ppv);

/* The id of the interface that a pointer's pointer is for, and that pointer: two arguments. */
#ifdef __cplusplus
extern "C++" {
template <class T> void **IID_PPV_ARGS_Helper(T **pointer)
{
	return (void **)pointer;
}
}
#define IID_PPV_ARGS(pointer) __uuidof(__typeof__(**(pointer))), IID_PPV_ARGS_Helper(pointer)
#endif

/* A string with its length in bytes in the 4 bytes before it. NULL is an empty one. */
ETW_API BSTR WINAPI SysAllocString(const OLECHAR *psz);
ETW_API BSTR WINAPI SysAllocStringLen(const OLECHAR *strIn, UINT ui);
ETW_API VOID WINAPI SysFreeString(BSTR bstrString);
ETW_API UINT WINAPI SysStringLen(BSTR bstr);
ETW_API UINT WINAPI SysStringByteLen(BSTR bstr);

/* COM's security has no meaning here: S_OK. */
ETW_API HRESULT WINAPI CoInitializeSecurity(PVOID pSecDesc, LONG cAuthSvc, PVOID asAuthSvc, PVOID pReserved1,
					    DWORD dwAuthnLevel, DWORD dwImpLevel, PVOID pAuthList, DWORD dwCapabilities,
					    PVOID pReserved3);
ETW_API HRESULT WINAPI CoSetProxyBlanket(IUnknown *pProxy, DWORD dwAuthnSvc, DWORD dwAuthzSvc,
					 OLECHAR *pServerPrincName, DWORD dwAuthnLevel, DWORD dwImpLevel,
					 PVOID pAuthInfo, DWORD dwCapabilities);
#define RPC_C_AUTHN_WINNT           10
#define RPC_C_AUTHZ_NONE            0
#define RPC_C_AUTHN_LEVEL_DEFAULT   0
#define RPC_C_AUTHN_LEVEL_CALL      3
#define RPC_C_AUTHN_LEVEL_PKT       4
#define RPC_C_IMP_LEVEL_IDENTIFY    2
#define RPC_C_IMP_LEVEL_IMPERSONATE 3
#define EOAC_NONE                   0

/* As on Windows: a source that defines INITGUID first may have a GUID_NULL of its own. */
#ifndef INITGUID
#include "cguid.h"
#endif

#endif
