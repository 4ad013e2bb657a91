/* SPDX-License-Identifier: MIT
 *
 * VARIANT and one-dimensional SAFEARRAY.
 */
#include "winrt/win.h"

#include "win/oleauto.h"

#include <stdlib.h>

#define FADF_BSTR        0x100
#define FADF_HAVEVARTYPE 0x80
#define MAX_ARRAY_BYTES  (1u << 30)

static ULONG element_bytes(VARTYPE vt)
{
	switch (vt) {
	case VT_I1:
	case VT_UI1: return 1;
	case VT_I2:
	case VT_UI2:
	case VT_BOOL: return 2;
	case VT_I4:
	case VT_UI4:
	case VT_R4:
	case VT_INT:
	case VT_UINT:
	case VT_ERROR: return 4;
	case VT_I8:
	case VT_UI8:
	case VT_R8:
	case VT_DATE: return 8;
	case VT_BSTR: return sizeof(BSTR);
	default: return 0;
	}
}

SAFEARRAY *WINAPI SafeArrayCreateVector(VARTYPE vt, LONG lLbound, ULONG cElements)
{
	ULONG size = element_bytes(vt);
	if (!size || cElements > MAX_ARRAY_BYTES / size) {
		return NULL;
	}
	SAFEARRAY *a = calloc(1, sizeof *a);
	void *data = calloc(cElements ? cElements : 1, size);
	if (!a || !data) {
		free(a);
		free(data);
		return NULL;
	}
	a->cDims = 1;
	a->fFeatures = FADF_HAVEVARTYPE | (vt == VT_BSTR ? FADF_BSTR : 0);
	a->cbElements = size;
	a->pvData = data;
	a->rgsabound[0].cElements = cElements;
	a->rgsabound[0].lLbound = lLbound;
	return a;
}

HRESULT WINAPI SafeArrayDestroy(SAFEARRAY *psa)
{
	if (!psa) {
		return S_OK;
	}
	if (psa->cLocks) {
		return DISP_E_ARRAYISLOCKED;
	}
	if (psa->fFeatures & FADF_BSTR) {
		BSTR *strings = psa->pvData;
		for (ULONG i = 0; i < psa->rgsabound[0].cElements; i++) {
			SysFreeString(strings[i]);
		}
	}
	free(psa->pvData);
	free(psa);
	return S_OK;
}

HRESULT WINAPI SafeArrayGetLBound(SAFEARRAY *psa, UINT nDim, LONG *plLbound)
{
	if (!psa || !plLbound) {
		return E_INVALIDARG;
	}
	if (nDim != 1) {
		return DISP_E_BADINDEX;
	}
	*plLbound = psa->rgsabound[0].lLbound;
	return S_OK;
}

HRESULT WINAPI SafeArrayGetUBound(SAFEARRAY *psa, UINT nDim, LONG *plUbound)
{
	LONG low;
	HRESULT hr = plUbound ? SafeArrayGetLBound(psa, nDim, &low) : E_INVALIDARG;
	if (hr == S_OK) {
		*plUbound = (LONG)((ULONG)low + psa->rgsabound[0].cElements - 1);
	}
	return hr;
}

static void *element(SAFEARRAY *psa, const LONG *index)
{
	int64_t at = (int64_t)*index - psa->rgsabound[0].lLbound;
	if (at < 0 || at >= (int64_t)psa->rgsabound[0].cElements) {
		return NULL;
	}
	return (char *)psa->pvData + (size_t)at * psa->cbElements;
}

static HRESULT copy_element(SAFEARRAY *psa, void *to, const void *from, BSTR *old)
{
	if (!(psa->fFeatures & FADF_BSTR)) {
		memcpy(to, from, psa->cbElements);
		return S_OK;
	}
	BSTR text, copy = NULL;
	memcpy(&text, from, sizeof text);
	if (text && !(copy = SysAllocStringLen(text, SysStringLen(text)))) {
		return E_OUTOFMEMORY;
	}
	if (old) {
		SysFreeString(*old);
	}
	memcpy(to, &copy, sizeof copy);
	return S_OK;
}

HRESULT WINAPI SafeArrayGetElement(SAFEARRAY *psa, LONG *rgIndices, VOID *pv)
{
	if (!psa || !rgIndices || !pv) {
		return E_INVALIDARG;
	}
	void *e = element(psa, rgIndices);
	return e ? copy_element(psa, pv, e, NULL) : DISP_E_BADINDEX;
}

HRESULT WINAPI SafeArrayPutElement(SAFEARRAY *psa, LONG *rgIndices, VOID *pv)
{
	if (!psa || !rgIndices || !pv) {
		return E_INVALIDARG;
	}
	void *e = element(psa, rgIndices);
	if (!e) {
		return DISP_E_BADINDEX;
	}
	/* A BSTR is passed itself, not by address. */
	const void *from = psa->fFeatures & FADF_BSTR ? (const void *)&pv : pv;
	return copy_element(psa, e, from, e);
}

HRESULT WINAPI SafeArrayAccessData(SAFEARRAY *psa, VOID **ppvData)
{
	if (!psa || !ppvData) {
		return E_INVALIDARG;
	}
	psa->cLocks++;
	*ppvData = psa->pvData;
	return S_OK;
}

HRESULT WINAPI SafeArrayUnaccessData(SAFEARRAY *psa)
{
	if (!psa || !psa->cLocks) {
		return E_INVALIDARG;
	}
	psa->cLocks--;
	return S_OK;
}

VOID WINAPI VariantInit(VARIANTARG *pvarg)
{
	memset(pvarg, 0, sizeof *pvarg);
}

HRESULT WINAPI VariantClear(VARIANTARG *pvarg)
{
	HRESULT hr = S_OK;
	if (!pvarg) {
		return E_INVALIDARG;
	}
	if (!(pvarg->vt & VT_BYREF)) {
		if (pvarg->vt & VT_ARRAY) {
			hr = SafeArrayDestroy(pvarg->parray);
		} else if (pvarg->vt == VT_BSTR) {
			SysFreeString(pvarg->bstrVal);
		} else if (pvarg->vt == VT_UNKNOWN && pvarg->punkVal) {
			pvarg->punkVal->lpVtbl->Release(pvarg->punkVal);
		} else if (pvarg->vt > VT_UNKNOWN && !element_bytes(pvarg->vt)) {
			return DISP_E_BADVARTYPE;
		}
	}
	if (hr == S_OK) {
		VariantInit(pvarg);
	}
	return hr;
}
