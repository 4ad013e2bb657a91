/* SPDX-License-Identifier: MIT
 *
 * CComPtr and CComBSTR, the two classes of this header that relogger programs use. C++ only.
 */
#ifndef ETW_WIN_ATLBASE_H
#define ETW_WIN_ATLBASE_H
#include "comdef.h"
#ifdef __cplusplus

extern "C++" {
namespace ATL
{

template <class T> class CComPtr
{
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
	HRESULT CoCreateInstance(LPCWSTR name, IUnknown *outer = NULL, DWORD context = CLSCTX_ALL)
	{
		CLSID clsid;
		HRESULT hr = CLSIDFromString(name, &clsid);
		return FAILED(hr) ? hr : CoCreateInstance(clsid, outer, context);
	}
	template <class Q> HRESULT QueryInterface(Q **ret) const
	{
		return p->QueryInterface(__uuidof(Q), (void **)ret);
	}
	HRESULT CopyTo(T **ret)
	{
		if (!ret) {
			return E_POINTER;
		}
		*ret = p;
		if (p) {
			p->AddRef();
		}
		return S_OK;
	}
	/* Two interfaces are of one object when their IUnknowns are one. */
	bool IsEqualObject(IUnknown *other)
	{
		if (!p || !other) {
			return !p && !other;
		}
		CComPtr<IUnknown> a, b;
		p->QueryInterface(__uuidof(IUnknown), (void **)&a);
		other->QueryInterface(__uuidof(IUnknown), (void **)&b);
		return a.p == b.p;
	}
	bool operator==(T *other) const
	{
		return p == other;
	}
	bool operator!=(T *other) const
	{
		return p != other;
	}
	bool operator<(T *other) const
	{
		return p < other;
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

/* The same, which asks what it is given for the interface it wants. */
template <class T> class CComQIPtr : public CComPtr<T>
{
      public:
	CComQIPtr() = default;
	CComQIPtr(T *other) : CComPtr<T>(other)
	{
	}
	CComQIPtr(const CComQIPtr &other) : CComPtr<T>(other.p)
	{
	}
	CComQIPtr(IUnknown *other)
	{
		if (other) {
			other->QueryInterface(__uuidof(T), (void **)&this->p);
		}
	}
	T *operator=(IUnknown *other)
	{
		CComQIPtr fresh(other);
		this->Attach(fresh.Detach());
		return this->p;
	}
};

class CComBSTR
{
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
} // namespace ATL
}
#ifndef _ATL_NO_AUTOMATIC_NAMESPACE
using namespace ATL;
#endif

#endif
#endif
