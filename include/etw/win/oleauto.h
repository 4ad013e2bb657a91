/* SPDX-License-Identifier: MIT
 *
 * VARIANT and SAFEARRAY as far as programs around ETW touch them: scalars, strings, and
 * one-dimensional arrays.
 */
#ifndef ETW_WIN_OLEAUTO_H
#define ETW_WIN_OLEAUTO_H
#include "objbase.h"

typedef unsigned short VARTYPE;
typedef short VARIANT_BOOL;
#define VARIANT_TRUE  ((VARIANT_BOOL)-1)
#define VARIANT_FALSE ((VARIANT_BOOL)0)

enum VARENUM {
	VT_EMPTY = 0,
	VT_NULL = 1,
	VT_I2 = 2,
	VT_I4 = 3,
	VT_R4 = 4,
	VT_R8 = 5,
	VT_DATE = 7,
	VT_BSTR = 8,
	VT_ERROR = 10,
	VT_BOOL = 11,
	VT_VARIANT = 12,
	VT_UNKNOWN = 13,
	VT_I1 = 16,
	VT_UI1 = 17,
	VT_UI2 = 18,
	VT_UI4 = 19,
	VT_I8 = 20,
	VT_UI8 = 21,
	VT_INT = 22,
	VT_UINT = 23,
	VT_ARRAY = 0x2000,
	VT_BYREF = 0x4000
};

typedef struct tagSAFEARRAYBOUND {
	ULONG cElements;
	LONG lLbound;
} SAFEARRAYBOUND;
typedef struct tagSAFEARRAY {
	USHORT cDims;
	USHORT fFeatures;
	ULONG cbElements; /* bytes of one element */
	ULONG cLocks;
	PVOID pvData;
	SAFEARRAYBOUND rgsabound[1];
} SAFEARRAY, *LPSAFEARRAY;

typedef struct tagVARIANT {
	VARTYPE vt;
	WORD wReserved1, wReserved2, wReserved3;
	__extension__ union {
		LONGLONG llVal;
		LONG lVal;
		BYTE bVal;
		SHORT iVal;
		FLOAT fltVal;
		DOUBLE dblVal;
		VARIANT_BOOL boolVal;
		LONG scode;
		DOUBLE date;
		BSTR bstrVal;
		IUnknown *punkVal;
		SAFEARRAY *parray;
		CHAR cVal;
		USHORT uiVal;
		ULONG ulVal;
		ULONGLONG ullVal;
		INT intVal;
		UINT uintVal;
		PVOID byref;
		PVOID pair[2]; /* gives the union the size Windows' has */
	};
} VARIANT, VARIANTARG, *LPVARIANT;
#define V_VT(v)   ((v)->vt)
#define V_BSTR(v) ((v)->bstrVal)
#define V_I4(v)   ((v)->lVal)

/* VariantClear frees what the variant owns (BSTR, SAFEARRAY, a COM reference). DISP_E_BADVARTYPE for
 * types not listed above. */
ETW_API VOID WINAPI VariantInit(VARIANTARG *pvarg);
ETW_API HRESULT WINAPI VariantClear(VARIANTARG *pvarg);

/* One dimension. Elements: VT_BSTR are freed with the array. */
ETW_API SAFEARRAY *WINAPI SafeArrayCreateVector(VARTYPE vt, LONG lLbound, ULONG cElements);
ETW_API HRESULT WINAPI SafeArrayDestroy(SAFEARRAY *psa);
ETW_API HRESULT WINAPI SafeArrayGetLBound(SAFEARRAY *psa, UINT nDim, LONG *plLbound);
ETW_API HRESULT WINAPI SafeArrayGetUBound(SAFEARRAY *psa, UINT nDim, LONG *plUbound);
/* Copies the element at rgIndices[0] to pv; a BSTR is duplicated. DISP_E_BADINDEX. */
ETW_API HRESULT WINAPI SafeArrayGetElement(SAFEARRAY *psa, LONG *rgIndices, VOID *pv);
ETW_API HRESULT WINAPI SafeArrayPutElement(SAFEARRAY *psa, LONG *rgIndices, VOID *pv);
ETW_API HRESULT WINAPI SafeArrayAccessData(SAFEARRAY *psa, VOID **ppvData);
ETW_API HRESULT WINAPI SafeArrayUnaccessData(SAFEARRAY *psa);

#endif
