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

/* Legal on Windows too, because INITGUID was defined first. */
static const GUID GUID_NULL = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};

static int failed;
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			failed++;                                                                  \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                     \
		}                                                                                  \
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
		found = found || (e.th32ProcessID == GetCurrentProcessId() &&
				  wcsncmp(e.szExeFile, L"client_com", 10) == 0);
	}
	CHECK(found && GetLastError() == ERROR_NO_MORE_FILES);
	CloseHandle(snapshot);
}

int wmain(int argc, wchar_t **argv)
{
	CHECK(argc == 2 && wcscmp(argv[1], L"\x00e4\x20ac") == 0);
	CHECK(sizeof(VARIANT) == 24 && sizeof(PROCESSENTRY32W) == 568);
	CHECK(GUID_NULL == GUID());
	CHECK(__uuidof(ITraceRelogger) == IID_ITraceRelogger);
	CComPtr<IWbemLocator> wmi;
	CHECK(wmi.CoCreateInstance(CLSID_WbemLocator) == REGDB_E_CLASSNOTREG && !wmi);
	strings();
	arrays();
	processes();
	return failed;
}
