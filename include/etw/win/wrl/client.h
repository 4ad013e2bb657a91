/* SPDX-License-Identifier: MIT
 *
 * Microsoft::WRL::ComPtr: a counted pointer to a COM object. C++ only. The interface ids are those of
 * __uuidof.
 */
#ifndef ETW_WIN_WRL_CLIENT_H
#define ETW_WIN_WRL_CLIENT_H
#include "../windows.h"
#include "../objbase.h"
#ifdef __cplusplus
#include <utility>

extern "C++" {
namespace Microsoft
{
namespace WRL
{

template <class T> class ComPtr;

/* What &pointer is: an address to write to, or the pointer that is there. */
template <class T> class ComPtrRef
{
	ComPtr<T> *p_;

      public:
	explicit ComPtrRef(ComPtr<T> *p) : p_(p)
	{
	}
	operator T **() const
	{
		return p_->ReleaseAndGetAddressOf();
	}
	operator void **() const
	{
		return reinterpret_cast<void **>(p_->ReleaseAndGetAddressOf());
	}
	operator ComPtr<T> *() const
	{
		return p_;
	}
	T *operator*() const
	{
		return p_->Get();
	}
	T *const *GetAddressOf() const
	{
		return p_->GetAddressOf();
	}
	T **ReleaseAndGetAddressOf() const
	{
		return p_->ReleaseAndGetAddressOf();
	}
};

template <class T> class ComPtr
{
      protected:
	T *ptr_ = nullptr;

	void add() const
	{
		if (ptr_) {
			ptr_->AddRef();
		}
	}
	unsigned long drop()
	{
		T *old = ptr_;
		ptr_ = nullptr;
		return old ? old->Release() : 0;
	}
	template <class U> friend class ComPtr;

      public:
	typedef T InterfaceType;

	ComPtr()
	{
	}
	ComPtr(decltype(nullptr))
	{
	}
	template <class U> ComPtr(U *other) : ptr_(other)
	{
		add();
	}
	ComPtr(const ComPtr &other) : ptr_(other.ptr_)
	{
		add();
	}
	template <class U> ComPtr(const ComPtr<U> &other) : ptr_(other.ptr_)
	{
		add();
	}
	ComPtr(ComPtr &&other) : ptr_(other.ptr_)
	{
		other.ptr_ = nullptr;
	}
	template <class U> ComPtr(ComPtr<U> &&other) : ptr_(other.ptr_)
	{
		other.ptr_ = nullptr;
	}
	~ComPtr()
	{
		drop();
	}
	ComPtr &operator=(decltype(nullptr))
	{
		drop();
		return *this;
	}
	ComPtr &operator=(T *other)
	{
		if (ptr_ != other) {
			ComPtr(other).Swap(*this);
		}
		return *this;
	}
	ComPtr &operator=(const ComPtr &other)
	{
		if (ptr_ != other.ptr_) {
			ComPtr(other).Swap(*this);
		}
		return *this;
	}
	template <class U> ComPtr &operator=(const ComPtr<U> &other)
	{
		ComPtr(other).Swap(*this);
		return *this;
	}
	ComPtr &operator=(ComPtr &&other)
	{
		ComPtr(std::move(other)).Swap(*this);
		return *this;
	}

	void Swap(ComPtr &other)
	{
		T *mine = ptr_;
		ptr_ = other.ptr_;
		other.ptr_ = mine;
	}
	explicit operator bool() const
	{
		return ptr_ != nullptr;
	}
	T *Get() const
	{
		return ptr_;
	}
	T *operator->() const
	{
		return ptr_;
	}
	ComPtrRef<T> operator&()
	{
		return ComPtrRef<T>(this);
	}
	T *const *GetAddressOf() const
	{
		return &ptr_;
	}
	T **GetAddressOf()
	{
		return &ptr_;
	}
	T **ReleaseAndGetAddressOf()
	{
		drop();
		return &ptr_;
	}
	T *Detach()
	{
		T *old = ptr_;
		ptr_ = nullptr;
		return old;
	}
	void Attach(T *other)
	{
		drop();
		ptr_ = other;
	}
	unsigned long Reset()
	{
		return drop();
	}
	HRESULT CopyTo(T **ret) const
	{
		add();
		*ret = ptr_;
		return S_OK;
	}
	HRESULT CopyTo(REFIID iid, void **ret) const
	{
		return ptr_->QueryInterface(iid, ret);
	}
	template <class U> HRESULT CopyTo(U **ret) const
	{
		return ptr_->QueryInterface(__uuidof(U), reinterpret_cast<void **>(ret));
	}
	template <class U> HRESULT As(ComPtr<U> *ret) const
	{
		return ptr_->QueryInterface(__uuidof(U), reinterpret_cast<void **>(ret->ReleaseAndGetAddressOf()));
	}
	template <class U> HRESULT As(ComPtrRef<U> ret) const
	{
		return As(static_cast<ComPtr<U> *>(ret));
	}
	HRESULT AsIID(REFIID iid, ComPtr<IUnknown> *ret) const
	{
		return ptr_->QueryInterface(iid, reinterpret_cast<void **>(ret->ReleaseAndGetAddressOf()));
	}
};

template <class A, class B> bool operator==(const ComPtr<A> &a, const ComPtr<B> &b)
{
	return a.Get() == b.Get();
}
template <class A, class B> bool operator!=(const ComPtr<A> &a, const ComPtr<B> &b)
{
	return a.Get() != b.Get();
}
template <class A> bool operator==(const ComPtr<A> &a, decltype(nullptr))
{
	return a.Get() == nullptr;
}
template <class A> bool operator!=(const ComPtr<A> &a, decltype(nullptr))
{
	return a.Get() != nullptr;
}
template <class A> bool operator==(decltype(nullptr), const ComPtr<A> &a)
{
	return a.Get() == nullptr;
}
template <class A> bool operator!=(decltype(nullptr), const ComPtr<A> &a)
{
	return a.Get() != nullptr;
}
} // namespace WRL
} // namespace Microsoft
template <class T> void **IID_PPV_ARGS_Helper(Microsoft::WRL::ComPtrRef<T> pointer)
{
	return pointer;
}
}
#endif
#endif
