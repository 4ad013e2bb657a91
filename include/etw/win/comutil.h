/* SPDX-License-Identifier: MIT
 *
 * _bstr_t and _variant_t, owners of a BSTR and of a VARIANT. C++ only; a BSTR that cannot be
 * allocated reads as an empty string.
 */
#ifndef ETW_WIN_COMUTIL_H
#define ETW_WIN_COMUTIL_H
#ifdef __cplusplus
#include "oleauto.h"
#include "stringapiset.h"

extern "C++" {

class _bstr_t
{
	BSTR text_ = NULL;
	mutable char *narrow_ = NULL;

	static UINT length_of(const WCHAR *s)
	{
		UINT n = 0;
		while (s && s[n]) {
			n++;
		}
		return n;
	}
	void take(BSTR text)
	{
		SysFreeString(text_);
		free(narrow_);
		text_ = text;
		narrow_ = NULL;
	}

      public:
	_bstr_t() = default;
	_bstr_t(const WCHAR *s) : text_(s ? SysAllocString(s) : NULL)
	{
	}
	_bstr_t(BSTR s, bool copy) : text_(copy ? SysAllocString(s) : s)
	{
	}
	_bstr_t(const char *s)
	{
		int n = s ? MultiByteToWideChar(CP_ACP, 0, s, -1, NULL, 0) : 0;
		if (n > 0) {
			text_ = SysAllocStringLen(NULL, (UINT)n - 1);
			if (text_) {
				MultiByteToWideChar(CP_ACP, 0, s, -1, text_, n);
			}
		}
	}
	_bstr_t(const _bstr_t &other) : text_(other.text_ ? SysAllocStringLen(other.text_, other.length()) : NULL)
	{
	}
	~_bstr_t()
	{
		take(NULL);
	}
	_bstr_t &operator=(const _bstr_t &other)
	{
		if (this != &other) {
			take(other.text_ ? SysAllocStringLen(other.text_, other.length()) : NULL);
		}
		return *this;
	}
	_bstr_t &operator=(const WCHAR *s)
	{
		take(s ? SysAllocString(s) : NULL);
		return *this;
	}
	_bstr_t &operator+=(const _bstr_t &other)
	{
		BSTR sum = SysAllocStringLen(NULL, length() + other.length());
		if (sum) {
			memcpy(sum, text_ ? text_ : sum, 2 * (size_t)length());
			memcpy(sum + length(), other.text_ ? other.text_ : sum, 2 * (size_t)other.length());
			take(sum);
		}
		return *this;
	}
	_bstr_t operator+(const _bstr_t &other) const
	{
		_bstr_t sum(*this);
		sum += other;
		return sum;
	}
	bool operator==(const _bstr_t &other) const
	{
		return length() == other.length() &&
		       memcmp(length() ? text_ : (BSTR) "", length() ? other.text_ : (BSTR) "", 2 * (size_t)length()) ==
			       0;
	}
	bool operator!=(const _bstr_t &other) const
	{
		return !(*this == other);
	}
	bool operator!() const
	{
		return !text_;
	}
	operator const WCHAR *() const
	{
		return text_;
	}
	operator WCHAR *() const
	{
		return text_;
	}
	operator const char *() const
	{
		if (!narrow_ && text_) {
			int n = WideCharToMultiByte(CP_ACP, 0, text_, -1, NULL, 0, NULL, NULL);
			narrow_ = n > 0 ? (char *)malloc((size_t)n) : NULL;
			if (narrow_) {
				WideCharToMultiByte(CP_ACP, 0, text_, -1, narrow_, n, NULL, NULL);
			}
		}
		return narrow_;
	}
	UINT length() const
	{
		return SysStringLen(text_);
	}
	BSTR &GetBSTR()
	{
		return text_;
	}
	BSTR *GetAddress()
	{
		take(NULL);
		return &text_;
	}
	BSTR copy() const
	{
		return text_ ? SysAllocStringLen(text_, length()) : NULL;
	}
	BSTR Detach()
	{
		BSTR text = text_;
		text_ = NULL;
		return text;
	}
	void Attach(BSTR text)
	{
		take(text);
	}
};

class _variant_t : public VARIANT
{
      public:
	_variant_t()
	{
		VariantInit(this);
	}
	_variant_t(LONG value)
	{
		VariantInit(this);
		vt = VT_I4;
		lVal = value;
	}
	_variant_t(const WCHAR *value)
	{
		VariantInit(this);
		vt = VT_BSTR;
		bstrVal = SysAllocString(value);
	}
	_variant_t(const _variant_t &) = delete;
	_variant_t &operator=(const _variant_t &) = delete;
	~_variant_t()
	{
		VariantClear(this);
	}
};
}
#endif
#endif
