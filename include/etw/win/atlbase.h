/* SPDX-License-Identifier: MIT
 *
 * CComPtr and CComBSTR, the two classes of this header that relogger programs use. C++ only.
 */
#ifndef ETW_WIN_ATLBASE_H
#define ETW_WIN_ATLBASE_H
#include "comdef.h"
#ifdef __cplusplus

extern "C++" {
namespace ATL {

template <class T> class CComPtr {
      public:
	T *p = NULL;

	CComPtr() = default;
	CComPtr(T *other) : p(other)
	{
		if (p) {
			p->AddRef();
		}
	}
	CComPtr(const CComPtr &other) : CComPtr(other.p)
	{
	}
	~CComPtr()
	{
		Release();
	}
	T *operator=(T *other)
	{
		if (other) {
			other->AddRef();
		}
		Release();
		return p = other;
	}
	T *operator=(const CComPtr &other)
	{
		return *this = other.p;
	}
	void Release()
	{
		T *old = p;
		p = NULL;
		if (old) {
			old->Release();
		}
	}
	void Attach(T *other)
	{
		Release();
		p = other;
	}
	T *Detach()
	{
		T *old = p;
		p = NULL;
		return old;
	}
	HRESULT CoCreateInstance(REFCLSID clsid, IUnknown *outer = NULL, DWORD context = CLSCTX_ALL)
	{
		return ::CoCreateInstance(clsid, outer, context, __uuidof(T), (void **)&p);
	}
	template <class Q> HRESULT QueryInterface(Q **ret) const
	{
		return p->QueryInterface(__uuidof(Q), (void **)ret);
	}
	operator T *() const
	{
		return p;
	}
	T &operator*() const
	{
		return *p;
	}
	T **operator&()
	{
		return &p;
	}
	T *operator->() const
	{
		return p;
	}
	bool operator!() const
	{
		return !p;
	}
};

class CComBSTR {
      public:
	BSTR m_str = NULL;

	CComBSTR() = default;
	CComBSTR(const WCHAR *s) : m_str(s ? SysAllocString(s) : NULL)
	{
	}
	CComBSTR(const char *s) : m_str(_bstr_t(s).Detach())
	{
	}
	CComBSTR(const CComBSTR &other) : m_str(other.Copy())
	{
	}
	~CComBSTR()
	{
		SysFreeString(m_str);
	}
	CComBSTR &operator=(const CComBSTR &other)
	{
		BSTR copy = other.Copy();
		SysFreeString(m_str);
		m_str = copy;
		return *this;
	}
	BSTR Copy() const
	{
		return m_str ? SysAllocStringLen(m_str, SysStringLen(m_str)) : NULL;
	}
	BSTR Detach()
	{
		BSTR s = m_str;
		m_str = NULL;
		return s;
	}
	UINT Length() const
	{
		return SysStringLen(m_str);
	}
	void Empty()
	{
		SysFreeString(m_str);
		m_str = NULL;
	}
	operator BSTR() const
	{
		return m_str;
	}
	BSTR *operator&()
	{
		return &m_str;
	}
};
}
}
#ifndef _ATL_NO_AUTOMATIC_NAMESPACE
using namespace ATL;
#endif

#endif
#endif
