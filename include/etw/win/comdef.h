/* SPDX-License-Identifier: MIT
 *
 * _com_error and the counted pointer _com_ptr_t. C++ only. Nothing is thrown: a failed conversion
 * leaves a null pointer.
 */
#ifndef ETW_WIN_COMDEF_H
#define ETW_WIN_COMDEF_H
#include "comutil.h"
#include "winbase.h"
#ifdef __cplusplus

extern "C++" {

class _com_error {
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
		if (!FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
				    (DWORD)code_, 0, text_, 256, NULL)) {
			text_[0] = 0;
		}
		return text_;
	}
};

template <class T> class _com_ptr_t {
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
	HRESULT CreateInstance(const CLSID &clsid, IUnknown *outer = NULL,
			       DWORD context = CLSCTX_ALL)
	{
		Release();
		return CoCreateInstance(clsid, outer, context, __uuidof(T), (void **)&p_);
	}
	operator T *() const
	{
		return p_;
	}
	T *operator->() const
	{
		return p_;
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
