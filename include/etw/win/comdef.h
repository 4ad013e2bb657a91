/* SPDX-License-Identifier: MIT
 *
 * _com_error and the counted pointer _com_ptr_t. C++ only. As there, a pointer to nothing throws
 * _com_error(E_POINTER) when it is used; one made from another interface is null when that lacks
 * it.
 */
#ifndef ETW_WIN_COMDEF_H
#define ETW_WIN_COMDEF_H
#include "comutil.h"
#include "winbase.h"
#ifdef __cplusplus

extern "C++" {

class _com_error
{
	HRESULT code_;
	mutable WCHAR text_[256];

      public:
	explicit _com_error(HRESULT code, void * = NULL, bool = false) : code_(code), text_{0}
	{
	}
	HRESULT Error() const
	{
		return code_;
	}
	WORD WCode() const
	{
		return (WORD)HRESULT_CODE(code_);
	}
	const WCHAR *ErrorMessage() const
	{
		if (!FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)code_, 0,
				    text_, 256, NULL)) {
			text_[0] = 0;
		}
		return text_;
	}
};

[[noreturn]] inline void __stdcall _com_raise_error(HRESULT code, void * = NULL)
{
#ifdef __EXCEPTIONS
	throw _com_error(code);
#else
	(void)code;
	__builtin_trap();
#endif
}
inline void __stdcall _com_issue_error(HRESULT code)
{
	_com_raise_error(code);
}
namespace _com_util
{
inline void CheckError(HRESULT code)
{
	if (FAILED(code)) {
		_com_issue_error(code);
	}
}
} // namespace _com_util

template <class T> class _com_ptr_t
{
	T *p_ = NULL;

      public:
	_com_ptr_t() = default;
	_com_ptr_t(T *p, bool add = true) : p_(p)
	{
		if (p_ && add) {
			p_->AddRef();
		}
	}
	_com_ptr_t(const _com_ptr_t &other) : _com_ptr_t(other.p_)
	{
	}
	/* From another interface of the object, or a new object. */
	template <class U> _com_ptr_t(const _com_ptr_t<U> &other)
	{
		(void)other.QueryInterface(__uuidof(T), &p_);
	}
	template <class U, class = decltype(((U *)NULL)->QueryInterface(IID(), (void **)NULL))> _com_ptr_t(U *other)
	{
		if (other) {
			(void)other->QueryInterface(__uuidof(T), (void **)&p_);
		}
	}
	explicit _com_ptr_t(const CLSID &clsid, IUnknown *outer = NULL, DWORD context = CLSCTX_ALL)
	{
		HRESULT code = CreateInstance(clsid, outer, context);
		if (FAILED(code) && code != E_NOINTERFACE) {
			_com_issue_error(code);
		}
	}
	~_com_ptr_t()
	{
		Release();
	}
	_com_ptr_t &operator=(const _com_ptr_t &other)
	{
		T *p = other.p_;
		if (p) {
			p->AddRef();
		}
		Release();
		p_ = p;
		return *this;
	}
	void Release()
	{
		T *p = p_;
		p_ = NULL;
		if (p) {
			p->Release();
		}
	}
	void Attach(T *p)
	{
		Release();
		p_ = p;
	}
	T *Detach()
	{
		T *p = p_;
		p_ = NULL;
		return p;
	}
	T *GetInterfacePtr() const
	{
		return p_;
	}
	HRESULT CreateInstance(const CLSID &clsid, IUnknown *outer = NULL, DWORD context = CLSCTX_ALL)
	{
		Release();
		return CoCreateInstance(clsid, outer, context, __uuidof(T), (void **)&p_);
	}
	HRESULT CreateInstance(LPCWSTR name, IUnknown *outer = NULL, DWORD context = CLSCTX_ALL)
	{
		CLSID clsid;
		HRESULT code = CLSIDFromString(name, &clsid);
		return FAILED(code) ? code : CreateInstance(clsid, outer, context);
	}
	operator T *() const
	{
		return p_;
	}
	T *operator->() const
	{
		_com_util::CheckError(p_ ? S_OK : E_POINTER);
		return p_;
	}
	T &operator*() const
	{
		_com_util::CheckError(p_ ? S_OK : E_POINTER);
		return *p_;
	}
	T *&GetInterfacePtr()
	{
		return p_;
	}
	void AddRef()
	{
		_com_util::CheckError(p_ ? S_OK : E_POINTER);
		p_->AddRef();
	}
	void Attach(T *p, bool add)
	{
		Attach(p);
		if (p && add) {
			p->AddRef();
		}
	}
	template <class U> HRESULT QueryInterface(const IID &iid, U **ret) const
	{
		*ret = NULL;
		return p_ ? p_->QueryInterface(iid, (void **)ret) : E_POINTER;
	}
	template <class U> HRESULT QueryInterface(const IID &iid, U *&ret) const
	{
		return QueryInterface(iid, &ret);
	}
	T **operator&()
	{
		Release();
		return &p_;
	}
};
}
#define _COM_SMARTPTR_TYPEDEF(type, iid) typedef _com_ptr_t<type> type##Ptr

#endif
#endif
