/* SPDX-License-Identifier: MIT
 *
 * The unit-test macros of Visual Studio, for the tests of ported libraries: TEST_CLASS, TEST_METHOD
 * and Assert. There they make a DLL for a test runner; here a program whose main runs every method,
 * prints the failed ones and returns their number. Arguments select: a method runs when its name
 * contains one of them. C++17 only.
 */
#ifndef ETW_WIN_CPPUNITTEST_H
#define ETW_WIN_CPPUNITTEST_H
#include "windows.h"
#if defined(__cplusplus) && __cplusplus >= 201703L

#include <cmath>
#include <functional>
#include <new>
#include <sstream>
#include <stdio.h>
#include <string.h>
#include <string>
#include <type_traits>
#include <vector>
#include <wctype.h>

extern "C++" {
namespace Microsoft::VisualStudio::CppUnitTestFramework
{

struct etw_test {
	const char *where; /* the signature of a member: "… Class::…" */
	const char *name;
	std::function<void()> run;
};
struct etw_suite {
	std::vector<etw_test> tests;
	std::vector<void (*)()> before, after; /* the module's */
};
inline etw_suite &etw_the_suite()
{
	static etw_suite suite;
	return suite;
}

/* What a failed Assert throws; not derived from std::exception, so that tests do not catch it. */
struct etw_failure {
	std::string text;
};

class __LineInfo
{
      public:
	const wchar_t *file, *function;
	int line;
	__LineInfo(const wchar_t *file, const char *, int line) : file(file), function(L""), line(line)
	{
	}
	__LineInfo(const wchar_t *file, const wchar_t *function, int line) : file(file), function(function), line(line)
	{
	}
};

/* Sources specialise it for their own types; failures here do not print values. */
template <class T> std::wstring ToString(const T &)
{
	return std::wstring();
}
#define RETURN_WIDE_STRING(value)            \
	{                                    \
		std::wstringstream etw_text; \
		etw_text << value;           \
		return etw_text.str();       \
	}

class Logger
{
      public:
	static void WriteMessage(const char *text)
	{
		printf("%s", text ? text : "");
	}
	static void WriteMessage(const wchar_t *text)
	{
		printf("%ls", text ? text : L"");
	}
};

class Assert
{
	static void check(bool holds, const char *what, const wchar_t *message, const __LineInfo *at)
	{
		if (holds) {
			return;
		}
		std::string text(what);
		if (at) {
			text += ", line " + std::to_string(at->line);
		}
		for (text += message ? ": " : ""; message && *message; message++) {
			text += *message < 128 ? (char)*message : '?';
		}
		throw etw_failure{text};
	}
	template <class A, class B> static bool equal(const A &a, const B &b)
	{
		return a == b;
	}
	static bool equal(const char *a, const char *b, bool ignore_case = false)
	{
		return a == b || (a && b && (ignore_case ? strcasecmp(a, b) : strcmp(a, b)) == 0);
	}
	static bool equal(const wchar_t *a, const wchar_t *b, bool ignore_case = false)
	{
		if (!a || !b) {
			return a == b;
		}
		while (*a && (*a == *b || (ignore_case && towlower(*a) == towlower(*b)))) {
			a++;
			b++;
		}
		return *a == *b;
	}

      public:
	template <class T>
	static void AreEqual(const T &expected, const T &actual, const wchar_t *message = NULL,
			     const __LineInfo *at = NULL)
	{
		check(equal(expected, actual), "AreEqual", message, at);
	}
	/* unsigned long and unsigned long long are one type's two names in LLP64 sources only. */
	template <class A, class B,
		  class = std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) == sizeof(B) &&
					   !std::is_same_v<A, B>>>
	static void AreEqual(const A &expected, const B &actual, const wchar_t *message = NULL,
			     const __LineInfo *at = NULL)
	{
		check(expected == (A)actual, "AreEqual", message, at);
	}
	static void AreEqual(double expected, double actual, double tolerance, const wchar_t *message = NULL,
			     const __LineInfo *at = NULL)
	{
		check(std::fabs(expected - actual) <= tolerance, "AreEqual", message, at);
	}
	static void AreEqual(float expected, float actual, float tolerance, const wchar_t *message = NULL,
			     const __LineInfo *at = NULL)
	{
		check(std::fabs(expected - actual) <= tolerance, "AreEqual", message, at);
	}
	template <class C>
	static void AreEqual(const C *expected, const C *actual, const wchar_t *message = NULL,
			     const __LineInfo *at = NULL)
	{
		check(equal(expected, actual), "AreEqual", message, at);
	}
	template <class C>
	static void AreEqual(const C *expected, const C *actual, bool ignore_case, const wchar_t *message = NULL,
			     const __LineInfo *at = NULL)
	{
		check(equal(expected, actual, ignore_case), "AreEqual", message, at);
	}
	template <class T>
	static void AreNotEqual(const T &other, const T &actual, const wchar_t *message = NULL,
				const __LineInfo *at = NULL)
	{
		check(!equal(other, actual), "AreNotEqual", message, at);
	}
	template <class C>
	static void AreNotEqual(const C *other, const C *actual, const wchar_t *message = NULL,
				const __LineInfo *at = NULL)
	{
		check(!equal(other, actual), "AreNotEqual", message, at);
	}
	template <class T>
	static void AreSame(const T &expected, const T &actual, const wchar_t *message = NULL,
			    const __LineInfo *at = NULL)
	{
		check(&expected == &actual, "AreSame", message, at);
	}
	template <class T>
	static void AreNotSame(const T &other, const T &actual, const wchar_t *message = NULL,
			       const __LineInfo *at = NULL)
	{
		check(&other != &actual, "AreNotSame", message, at);
	}
	template <class P> static void IsNull(const P &p, const wchar_t *message = NULL, const __LineInfo *at = NULL)
	{
		check(p == nullptr, "IsNull", message, at);
	}
	template <class P> static void IsNotNull(const P &p, const wchar_t *message = NULL, const __LineInfo *at = NULL)
	{
		check(p != nullptr, "IsNotNull", message, at);
	}
	static void IsTrue(bool holds, const wchar_t *message = NULL, const __LineInfo *at = NULL)
	{
		check(holds, "IsTrue", message, at);
	}
	static void IsFalse(bool holds, const wchar_t *message = NULL, const __LineInfo *at = NULL)
	{
		check(!holds, "IsFalse", message, at);
	}
	static void Fail(const wchar_t *message = NULL, const __LineInfo *at = NULL)
	{
		check(false, "Fail", message, at);
	}
	template <class E, class F>
	static void ExpectException(F function, const wchar_t *message = NULL, const __LineInfo *at = NULL)
	{
		bool thrown = false;
		try {
			function();
		} catch (const E &) {
			thrown = true;
		}
		check(thrown, "ExpectException", message, at);
	}
};

template <class T> class TestClass
{
      public:
	typedef T ThisClass;
	typedef void etw_method(T &);

	static inline std::vector<etw_method *> etw_before, etw_after;
	static inline std::vector<void (*)()> etw_class_before, etw_class_after;
	static inline bool etw_begun;

	static void etw_run(etw_method *method)
	{
		if (!etw_begun) {
			etw_begun = true;
			for (auto f : etw_class_before) {
				f();
			}
		}
		T object;
		for (auto f : etw_before) {
			f(object);
		}
		method(object);
		for (auto f : etw_after) {
			f(object);
		}
	}
};

inline int etw_run_all(int argc, char **argv)
{
	etw_suite &suite = etw_the_suite();
	int failed = 0, ran = 0;
	for (auto f : suite.before) {
		f();
	}
	for (const etw_test &t : suite.tests) {
		bool wanted = argc < 2;
		for (int i = 1; i < argc; i++) {
			wanted = wanted || strstr(t.name, argv[i]) || strstr(t.where, argv[i]);
		}
		if (!wanted) {
			continue;
		}
		ran++;
		std::string why;
		try {
			t.run();
			continue;
		} catch (const etw_failure &f) {
			why = f.text;
		} catch (const std::exception &e) {
			why = std::string("exception: ") + e.what();
		} catch (...) {
			why = "exception";
		}
		failed++;
		printf("FAILED %s (%s): %s\n", t.name, t.where, why.c_str());
	}
	for (auto f : suite.after) {
		f();
	}
	printf("%d passed, %d failed\n", ran - failed, failed);
	return failed;
}
} // namespace Microsoft::VisualStudio::CppUnitTestFramework
}

#define ETW_TEST_NAMESPACE ::Microsoft::VisualStudio::CppUnitTestFramework
#define TEST_CLASS(name)   class name : public ETW_TEST_NAMESPACE::TestClass<name>
/* A nested type registers the method when the program starts, and may call it if it is private. */
#define ETW_TEST_HOOK(method, registration)         \
	struct etw_register_##method {              \
		static void call(ThisClass &object) \
		{                                   \
			object.method();            \
		}                                   \
		etw_register_##method()             \
		{                                   \
			registration;               \
		}                                   \
	};                                          \
	static inline etw_register_##method etw_registered_##method
#define TEST_METHOD(method)                                                                               \
	ETW_TEST_HOOK(method, ETW_TEST_NAMESPACE::etw_the_suite().tests.push_back(                        \
				      {__PRETTY_FUNCTION__, #method, [] { ThisClass::etw_run(call); }})); \
	void method()
#define TEST_METHOD_INITIALIZE(method)                                \
	ETW_TEST_HOOK(method, ThisClass::etw_before.push_back(call)); \
	void method()
#define TEST_METHOD_CLEANUP(method)                                  \
	ETW_TEST_HOOK(method, ThisClass::etw_after.push_back(call)); \
	void method()
#define ETW_TEST_STATIC_HOOK(method, registration) \
	struct etw_register_##method {             \
		etw_register_##method()            \
		{                                  \
			registration;              \
		}                                  \
	};                                         \
	static inline etw_register_##method etw_registered_##method
#define TEST_CLASS_INITIALIZE(method)                                                            \
	ETW_TEST_STATIC_HOOK(method, ThisClass::etw_class_before.push_back(&ThisClass::method)); \
	static void method()
#define TEST_CLASS_CLEANUP(method)                                                                             \
	ETW_TEST_STATIC_HOOK(method, ETW_TEST_NAMESPACE::etw_the_suite().after.push_back(&ThisClass::method)); \
	static void method()
#define ETW_TEST_MODULE_HOOK(method, list)                                          \
	static void method();                                                       \
	static const bool etw_registered_##method =                                 \
		(ETW_TEST_NAMESPACE::etw_the_suite().list.push_back(method), true); \
	static void method()
#define TEST_MODULE_INITIALIZE(method) ETW_TEST_MODULE_HOOK(method, before)
#define TEST_MODULE_CLEANUP(method)    ETW_TEST_MODULE_HOOK(method, after)
#define BEGIN_TEST_METHOD_ATTRIBUTE(method)
#define END_TEST_METHOD_ATTRIBUTE()
#define BEGIN_TEST_CLASS_ATTRIBUTE()
#define END_TEST_CLASS_ATTRIBUTE()
#define TEST_METHOD_ATTRIBUTE(name, value)
#define TEST_CLASS_ATTRIBUTE(name, value)
#define TEST_OWNER(name)
#define TEST_DESCRIPTION(text)
#define TEST_PRIORITY(number)
#define TEST_IGNORE()
#define LINE_INFO() ::Microsoft::VisualStudio::CppUnitTestFramework::__LineInfo(L"" __FILE__, "", __LINE__)

/* Weak: every source of the program may bring it, and a program may have its own. */
__attribute__((weak)) int main(int argc, char **argv)
{
	return ETW_TEST_NAMESPACE::etw_run_all(argc, argv);
}
#endif
#endif
