/* SPDX-License-Identifier: MIT
 *
 * A program that begins at wmain and uses COM's helper classes, as relogger clients do. It has no
 * main of its own: libetw-wmain brings it.
 */
#define INITGUID
#include <windows.h>
#include <atlbase.h>
#include <comdef.h>
#include <comutil.h>
#include <relogger.h>
#include <stdio.h>
#include <tlhelp32.h>
#include <wbemidl.h>
#include <wrl/client.h>

/* Legal on Windows too, because INITGUID was defined first. */
static const GUID GUID_NULL = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};

static int failed;
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			failed++;                                              \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
		}                                                              \
	} while (0)

static void strings()
{
	_bstr_t one(L"one"), two("two");
	CHECK(one.length() == 3 && (one + two) == _bstr_t(L"onetwo"));
	CHECK(strcmp((const char *)two, "two") == 0);
	CComBSTR three(L"three");
	CHECK(three.Length() == 5 && SysStringByteLen(three) == 10);
	wchar_t full[64];
	CHECK(_wfullpath(full, L"\\a\\.\\b\\..\\c", 64) && wcscmp(full, L"/a/c") == 0);
	CHECK(!_wfullpath(full, L"\\long", 5) && _wfullpath(full, L"\\long", 6));
}

static void arrays()
{
	SAFEARRAY *a = SafeArrayCreateVector(VT_BSTR, 2, 3);
	LONG low, high, at = 4;
	CHECK(SafeArrayGetLBound(a, 1, &low) == S_OK && low == 2);
	CHECK(SafeArrayGetUBound(a, 1, &high) == S_OK && high == 4);
	_bstr_t text(L"kept");
	CHECK(SafeArrayPutElement(a, &at, text.GetBSTR()) == S_OK);
	BSTR got = NULL;
	CHECK(SafeArrayGetElement(a, &at, &got) == S_OK && wcscmp(got, L"kept") == 0);
	SysFreeString(got);
	at = 5;
	CHECK(SafeArrayGetElement(a, &at, &got) == DISP_E_BADINDEX);
	VARIANT v;
	VariantInit(&v);
	v.vt = VT_ARRAY | VT_BSTR;
	v.parray = a;
	CHECK(VariantClear(&v) == S_OK && v.vt == VT_EMPTY);
}

static void processes()
{
	HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
	PROCESSENTRY32W e;
	bool found = false;
	e.dwSize = 4;
	CHECK(!Process32FirstW(snapshot, &e) && GetLastError() == ERROR_BAD_LENGTH);
	e.dwSize = sizeof e;
	for (BOOL more = Process32FirstW(snapshot, &e); more; more = Process32NextW(snapshot, &e)) {
		found = found ||
			(e.th32ProcessID == GetCurrentProcessId() && wcsncmp(e.szExeFile, L"client_com", 10) == 0);
	}
	CHECK(found && GetLastError() == ERROR_NO_MORE_FILES);
	CloseHandle(snapshot);
}

/* An object that says when it is gone. */
struct Thing : ITraceEventCallback {
	ULONG refs = 1;
	bool *gone;
	explicit Thing(bool *gone) : gone(gone)
	{
	}
	virtual ~Thing() = default;
	STDMETHODIMP QueryInterface(REFIID iid, void **ret) override
	{
		if (iid != __uuidof(ITraceEventCallback) && iid != __uuidof(IUnknown)) {
			*ret = NULL;
			return E_NOINTERFACE;
		}
		*ret = static_cast<ITraceEventCallback *>(this);
		AddRef();
		return S_OK;
	}
	STDMETHODIMP_(ULONG) AddRef() override
	{
		return ++refs;
	}
	STDMETHODIMP_(ULONG) Release() override
	{
		ULONG left = --refs;
		if (left == 0) {
			*gone = true;
			delete this;
		}
		return left;
	}
	STDMETHODIMP OnBeginProcessTrace(ITraceEvent *, ITraceRelogger *) override
	{
		return S_OK;
	}
	STDMETHODIMP OnFinalizeProcessTrace(ITraceRelogger *) override
	{
		return S_OK;
	}
	STDMETHODIMP OnEvent(ITraceEvent *, ITraceRelogger *) override
	{
		return S_OK;
	}
};

static void pointers()
{
	using Microsoft::WRL::ComPtr;
	bool gone = false;
	{
		ComPtr<ITraceEventCallback> a;
		a.Attach(new Thing(&gone));
		ComPtr<IUnknown> unknown;
		CHECK(a.As(&unknown) == S_OK && unknown && unknown == a);
		ComPtr<ITraceRelogger> other;
		CHECK(a.As(&other) == E_NOINTERFACE && other == nullptr);
		ComPtr<ITraceEventCallback> b(a), c(std::move(b));
		CHECK(!b && c.Get() == a.Get());
		c = nullptr;
		CHECK(a.CopyTo(b.ReleaseAndGetAddressOf()) == S_OK && b == a);
		CComPtr<ITraceEventCallback> atl(a.Get());
		CHECK(atl.IsEqualObject(unknown.Get()) && atl == a.Get());
		CComQIPtr<ITraceEventCallback> asked(unknown.Get());
		CComQIPtr<ITraceRelogger> not_there(unknown.Get());
		CHECK(asked && !not_there);
		CHECK(a.Reset() == 4 && !gone); /* b, unknown, atl, asked */
	}
	CHECK(gone);
	ComPtr<ITraceRelogger> relogger;
	CHECK(CoCreateInstance(CLSID_TraceRelogger, NULL, CLSCTX_INPROC_SERVER, __uuidof(ITraceRelogger),
			       (void **)&relogger) == S_OK &&
	      relogger);
	CHECK(relogger->RegisterCallback(NULL) != S_OK);
	ComPtr<ITraceRelogger> again;
	ITraceRelogger *bare = NULL;
	CHECK(relogger.CopyTo(IID_PPV_ARGS(&again)) == S_OK && again == relogger);
	CHECK(relogger->QueryInterface(IID_PPV_ARGS(&bare)) == S_OK && bare == relogger.Get());
	bare->Release();
}

/* The program owns its callback: the relogger may outlive it, and never calls its Release. */
static void owned_callbacks()
{
	using Microsoft::WRL::ComPtr;
	bool gone = false, second_gone = false;
	{
		ComPtr<ITraceRelogger> relogger;
		CHECK(CoCreateInstance(CLSID_TraceRelogger, NULL, CLSCTX_INPROC_SERVER, IID_PPV_ARGS(&relogger)) ==
		      S_OK);
		Thing *counts_from_zero = new Thing(&gone);
		counts_from_zero->refs = 0;
		CHECK(relogger->RegisterCallback(counts_from_zero) == S_OK);
		Thing *given_away = new Thing(&second_gone);
		CHECK(relogger->RegisterCallback(given_away) == S_OK);
		CHECK(!gone && counts_from_zero->refs == 1);
		CHECK(given_away->Release() == 1 && !second_gone);
		relogger.Reset();
		CHECK(!gone && counts_from_zero->refs == 1);
		CHECK(!second_gone && given_away->refs == 1);
		delete counts_from_zero;
		delete given_away;
	}
}

_COM_SMARTPTR_TYPEDEF(ITraceRelogger, __uuidof(ITraceRelogger));
_COM_SMARTPTR_TYPEDEF(IUnknown, __uuidof(IUnknown));

static void counted_pointers()
{
	ITraceReloggerPtr a(CLSID_TraceRelogger), none;
	IUnknownPtr unknown(a);
	ITraceReloggerPtr back = unknown;
	CHECK(a && back == a && unknown && !none);
	ITraceRelogger *asked = NULL;
	CHECK(unknown.QueryInterface(__uuidof(ITraceRelogger), &asked) == S_OK && asked == a);
	a.Attach(asked);
	HRESULT thrown = S_OK;
	try {
		none->AddRef();
	} catch (const _com_error &e) {
		thrown = e.Error();
	}
	CHECK(thrown == E_POINTER);
	try {
		ITraceReloggerPtr other(CLSID_WbemLocator);
	} catch (const _com_error &e) {
		thrown = e.Error();
	}
	CHECK(thrown == REGDB_E_CLASSNOTREG);
}

int wmain(int argc, wchar_t **argv)
{
	CHECK(argc == 2 && wcscmp(argv[1], L"\x00e4\x20ac") == 0);
	CHECK(sizeof(VARIANT) == 24 && sizeof(PROCESSENTRY32W) == 568);
	CHECK(GUID_NULL == GUID());
	CHECK(__uuidof(ITraceRelogger) == IID_ITraceRelogger);
	CComPtr<IWbemLocator> wmi;
	CHECK(wmi.CoCreateInstance(CLSID_WbemLocator) == REGDB_E_CLASSNOTREG && !wmi);
	pointers();
	owned_callbacks();
	counted_pointers();
	strings();
	arrays();
	processes();
	return failed;
}
