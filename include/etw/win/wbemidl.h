/* SPDX-License-Identifier: MIT
 *
 * Enough of WMI for old MOF-reading sources to compile. There is no WMI here: CoCreateInstance of
 * WbemLocator returns REGDB_E_CLASSNOTREG, and TDH decodes classic events without it. Since no such
 * object ever exists, the tables hold only the methods such sources call.
 */
#ifndef ETW_WIN_WBEMIDL_H
#define ETW_WIN_WBEMIDL_H
#include "oleauto.h"

#define WBEM_INFINITE                    (-1)
#define WBEM_S_NO_ERROR                  0
#define WBEM_S_FALSE                     1
#define WBEM_E_NOT_FOUND                 ((HRESULT)0x80041002)
#define WBEM_FLAG_DEEP                   0
#define WBEM_FLAG_SHALLOW                1
#define WBEM_FLAG_FORWARD_ONLY           0x20
#define WBEM_FLAG_NONSYSTEM_ONLY         0x40
#define WBEM_FLAG_RETURN_IMMEDIATELY     0x10
#define WBEM_FLAG_USE_AMENDED_QUALIFIERS 0x20000

typedef LONG CIMTYPE;
enum CIMTYPE_ENUMERATION {
	CIM_EMPTY = 0,
	CIM_SINT16 = 2,
	CIM_SINT32 = 3,
	CIM_REAL32 = 4,
	CIM_REAL64 = 5,
	CIM_STRING = 8,
	CIM_BOOLEAN = 11,
	CIM_OBJECT = 13,
	CIM_SINT8 = 16,
	CIM_UINT8 = 17,
	CIM_UINT16 = 18,
	CIM_UINT32 = 19,
	CIM_SINT64 = 20,
	CIM_UINT64 = 21,
	CIM_DATETIME = 101,
	CIM_REFERENCE = 102,
	CIM_CHAR16 = 103,
	CIM_FLAG_ARRAY = 0x2000
};

#ifdef __cplusplus
struct IWbemContext;
struct ETW_UUID("DC12A680-737F-11CF-884D-00AA004B2E24") IWbemQualifierSet : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE Get(LPCWSTR name, LONG flags, VARIANT *value, LONG *flavor) = 0;
};
struct ETW_UUID("DC12A681-737F-11CF-884D-00AA004B2E24") IWbemClassObject : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE GetQualifierSet(IWbemQualifierSet **ret) = 0;
	virtual HRESULT STDMETHODCALLTYPE Get(LPCWSTR name, LONG flags, VARIANT *value, CIMTYPE *type,
					      LONG *flavor) = 0;
	virtual HRESULT STDMETHODCALLTYPE GetNames(LPCWSTR qualifier, LONG flags, VARIANT *value, SAFEARRAY **ret) = 0;
	virtual HRESULT STDMETHODCALLTYPE GetPropertyQualifierSet(LPCWSTR property, IWbemQualifierSet **ret) = 0;
};
struct ETW_UUID("027947E1-D731-11CE-A357-000000000001") IEnumWbemClassObject : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE Next(LONG timeout_ms, ULONG count, IWbemClassObject **objects,
					       ULONG *ret_count) = 0;
};
struct ETW_UUID("9556DC99-828C-11CF-A37E-00AA003240C7") IWbemServices : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE CreateClassEnum(const BSTR superclass, LONG flags, IWbemContext *context,
							  IEnumWbemClassObject **ret) = 0;
};
struct ETW_UUID("DC12A687-737F-11CF-884D-00AA004B2E24") IWbemLocator : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE ConnectServer(const BSTR resource, const BSTR user, const BSTR password,
							const BSTR locale, LONG flags, const BSTR authority,
							IWbemContext *context, IWbemServices **ret) = 0;
};
class ETW_UUID("4590F811-1D3A-11D0-891F-00AA004B2E24") WbemLocator;
#endif
EXTERN_C const CLSID CLSID_WbemLocator;
EXTERN_C const IID IID_IWbemLocator;
ETW_UUID_OF(WbemLocator, CLSID_WbemLocator)
ETW_UUID_OF(IWbemLocator, IID_IWbemLocator)

#endif
