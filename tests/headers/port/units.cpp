/* SPDX-License-Identifier: MIT
 *
 * Tests written for Visual Studio's framework, and shapes that libraries for its compiler have.
 */
#if _MSC_VER < 1900
#error "this wants Visual Studio 2015"
#endif
#include "CppUnitTest.h"

#include <winsock2.h>
#include <netiodef.h>
#include <stdexcept>
#include <string>
#include <versionhelpers.h>

using namespace Microsoft::VisualStudio::CppUnitTestFramework;

#ifndef _CPPUNWIND
#error "exceptions are on"
#endif

namespace shapes
{
/* An int in the braces of an unsigned: a warning there. */
struct region {
	DWORD width;
};
inline region region_of(LONG right)
{
	return region{right};
}

struct address {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage stor;
	};
};

TEST_CLASS(unit_tests)
{
	int fresh = 0; /* a new object for each test */

	static bool threw(bool yes)
	{
		if (yes) {
			throw std::invalid_argument("yes");
		}
		return false;
	}

      public:
	TEST_METHOD(compares_what_it_is_given)
	{
		Assert::AreEqual(0, fresh++);
		Assert::AreEqual(std::wstring(L"a"), std::wstring(L"a"));
		Assert::AreEqual("text", std::string("text").c_str());
		Assert::AreEqual(L"TEXT", L"text", true);
		Assert::AreEqual((size_t)4, 4ull);
		Assert::AreNotEqual(1, 2, L"different");
		Assert::AreEqual(1.0, 1.05, 0.1);
	}
	TEST_METHOD(expects_exceptions)
	{
		Assert::AreEqual(0, fresh++);
		Assert::ExpectException<std::invalid_argument>([] { threw(true); });
		Assert::IsFalse(threw(false));
	}
	TEST_METHOD(knows_the_version)
	{
		OSVERSIONINFOEXW v = {sizeof v, 6, 1};
		ULONGLONG mask = VerSetConditionMask(VerSetConditionMask(0, VER_MAJORVERSION, VER_GREATER_EQUAL),
						     VER_MINORVERSION, VER_GREATER_EQUAL);
		Assert::IsTrue(VerifyVersionInfoW(&v, VER_MAJORVERSION | VER_MINORVERSION, mask));
		v.dwMajorVersion = 11;
		Assert::IsFalse(VerifyVersionInfoW(&v, VER_MAJORVERSION | VER_MINORVERSION, mask));
		Assert::AreEqual((DWORD)ERROR_OLD_WIN_VERSION, GetLastError());
		Assert::IsTrue(IsWindows10OrGreater() && IsWindows7SP1OrGreater() && !IsWindowsServer());
	}
	TEST_METHOD(lays_out_addresses_and_packets)
	{
		address a = {};
		Assert::AreEqual((size_t)128, sizeof a);
		a.in6.sin6_addr.u.Byte[15] = 1;
		a.in.sin_addr.s_addr = 5;
		Assert::AreEqual((size_t)14, sizeof(ETHERNET_HEADER));
		Assert::AreEqual((size_t)20, sizeof(IPV4_HEADER));
		Assert::AreEqual((size_t)40, sizeof(IPV6_HEADER));
		const UINT8 first = 0x45;
		Assert::AreEqual(4, (int)((const IPV4_HEADER *)&first)->Version);
	}
	TEST_METHOD(copies_as_microsofts_library_does)
	{
		wchar_t buffer[4] = {};
		std::wstring(L"abc")._Copy_s(buffer, ARRAYSIZE(buffer), 3);
		Assert::AreEqual(L"abc", buffer);
	}
};
} // namespace shapes
