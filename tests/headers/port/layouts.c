/* SPDX-License-Identifier: MIT
 *
 * Structures as 64-bit Windows lays them out, in each spelling that sources have for it: C and C++, every
 * compiler. All of it is checked while it is compiled.
 */
#include "layouts.h"

#include <windows.h>

#include <evntrace.h>
#include <fenv.h>
#include <stddef.h>

#ifdef __cplusplus
#define ALIGN_OF(type) alignof(type)
#else
#define ALIGN_OF(type) __alignof__(type)
#endif
#define SIZE(type, bytes)           C_ASSERT(sizeof(type) == (bytes));
#define ALIGNMENT(type, bytes)      C_ASSERT(ALIGN_OF(type) == (bytes));
#define OFFSET(type, member, bytes) C_ASSERT(offsetof(type, member) == (bytes));

/* ---- packing --------------------------------------------------------------------------------- */

__pragma(pack(push, 1)) typedef struct packed_1 {
	UCHAR a;
	ULONG b;
	ULONGLONG c;
} packed_1;
__pragma(pack(pop)) SIZE(packed_1, 13) OFFSET(packed_1, c, 5)

#define PACK_BEGIN(n) __pragma(pack(push, n))
#define PACK_END      __pragma(pack(pop))
	PACK_BEGIN(2) typedef struct packed_2 {
	UCHAR a;
	ULONG b;
} packed_2;
PACK_END
SIZE(packed_2, 6)

#define WIDTH    1
#define WIDTH_OF WIDTH
#pragma pack(push, WIDTH_OF)
typedef struct packed_macro {
	UCHAR a;
	ULONG b;
} packed_macro;
#pragma pack(pop)
SIZE(packed_macro, 5)

__pragma(pack(push, WIDTH)) typedef struct packed_pragma_macro {
	UCHAR a;
	ULONG b;
} packed_pragma_macro;
__pragma(pack(pop)) SIZE(packed_pragma_macro, 5)

#pragma pack(push, before, WIDTH)
	typedef struct packed_label {
	UCHAR a;
	ULONG b;
} packed_label;
#pragma pack(pop, before)
SIZE(packed_label, 5)

#pragma pack(push, 1)
#pragma pack(pop, 2)
typedef struct packed_after_pop {
	UCHAR a;
	ULONG b;
} packed_after_pop;
#pragma pack()
SIZE(packed_after_pop, 6)
#if __LINE__ != 73
#error "a line too many"
#endif

#include <pshpack4.h>
typedef struct packed_4 {
	UCHAR a;
	ULONGLONG b;
} packed_4;
#include <poppack.h>
SIZE(packed_4, 12)

typedef struct natural {
	UCHAR a;
	ULONGLONG b;
} natural;
SIZE(natural, 16)

/* ---- alignment --------------------------------------------------------------------------------- */

__declspec(align(32)) struct in_front {
	int a;
};
SIZE(struct in_front, 32)
ALIGNMENT(struct in_front, 32)

struct __declspec(align(32)) behind {
	int a;
};
SIZE(struct behind, 32)

typedef __declspec(align(16)) struct {
	UCHAR a[20];
} in_typedef;
SIZE(in_typedef, 32)

__declspec(align(16)) typedef struct before_typedef_tag {
	UCHAR a[20];
} before_typedef;
SIZE(before_typedef, 32)

typedef DECLSPEC_ALIGN(16) struct by_name_tag {
	UCHAR a;
} by_name;
SIZE(by_name, 16)

#define CACHE_LINE DECLSPEC_CACHEALIGN
CACHE_LINE struct cached {
	int a;
};
SIZE(struct cached, 64)

__declspec(align(8)) union number {
	UCHAR bytes[4];
	ULONG whole;
};
SIZE(union number, 8)

struct aligned_member {
	UCHAR a;
	__declspec(align(16)) UCHAR b;
	DECLSPEC_ALIGN(8) UCHAR c;
};
OFFSET(struct aligned_member, b, 16)
OFFSET(struct aligned_member, c, 24)
SIZE(struct aligned_member, 32)

/* The type it names keeps its size; so do its arrays. */
typedef __declspec(align(16)) struct natural aligned_natural;
SIZE(aligned_natural, 16)

static __declspec(align(64)) UCHAR buffer[3];
static __declspec(thread) struct in_front per_thread;
__declspec(thread) static int per_thread_first;

/* ---- bit-fields -------------------------------------------------------------------------------- */

struct bits_of_two_types {
	UCHAR a : 4;
	ULONG b : 4;
};
SIZE(struct bits_of_two_types, 8)

struct bits_then_byte {
	ULONG a : 4;
	UCHAR b;
};
SIZE(struct bits_then_byte, 8)
OFFSET(struct bits_then_byte, b, 4)

struct bits_of_three_types {
	USHORT a : 1;
	ULONG b : 3;
	UCHAR c : 1;
};
SIZE(struct bits_of_three_types, 12)

struct bits_of_one_type {
	ULONG a : 20;
	ULONG b : 12;
	ULONG c : 1;
};
SIZE(struct bits_of_one_type, 8)

struct bits_closed {
	USHORT a : 3;
	USHORT : 0;
	USHORT b : 3;
};
SIZE(struct bits_closed, 4)

typedef union {
	struct {
		ULONGLONG a : 48;
		USHORT b;
	} parts;
	ULONGLONG whole;
} bits_nested;
SIZE(bits_nested, 16)

typedef struct {
	UCHAR head;
	struct {
		BOOLEAN on : 1;
		ULONG level : 7;
	};
	UCHAR tail;
} bits_nameless;
SIZE(bits_nameless, 16)
OFFSET(bits_nameless, tail, 12)

#pragma pack(push, 1)
struct bits_packed {
	UCHAR a : 4;
	ULONG b : 4;
	UCHAR c;
};
#pragma pack(pop)
SIZE(struct bits_packed, 6)

typedef enum { kind_a, kind_b } kind;
struct bits_of_enum {
	kind a : 2;
	UCHAR b : 2;
};
SIZE(struct bits_of_enum, 8)

/* From a header of the program: packed, aligned and with bits. */
SIZE(struct of_header, 32)
SIZE(struct header_bits, 8)

/* Structures of the system keep the layout that its libraries were compiled with. */
#ifdef __x86_64__
SIZE(fenv_t, 32)
#endif
SIZE(EVENT_TRACE_PROPERTIES, 120)

#ifdef __cplusplus
/* Classes with bits and functions, colons that are none of bits. */
class with_functions
{
      public:
	with_functions() : a_(1), b_{2}, c_(a_ ? 1 : 0)
	{
	}
	enum small : UCHAR { one, two };
	struct base {
		int x;
	};
	struct derived : base {
		int y;
	};
	int pick(int n) const
	{
		return n ? a_ : b_;
	}

      private:
	UCHAR a_ : 4;
	ULONG b_ : 4;
	USHORT c_;
	friend struct of_class;
};
SIZE(with_functions, 12)
SIZE(with_functions::derived, 8)

template <class T> struct of_template {
	T a : 4;
	ULONG b : 4;
};
SIZE(of_template<UCHAR>, 8)

/* The numbers of an enumeration keep their width. */
enum class wide : ULONGLONG { low = 1, high = 0x100000000ull };
DEFINE_ENUM_FLAG_OPERATORS(wide)
C_ASSERT((wide::low | wide::high) == static_cast<wide>(0x100000001ull));
C_ASSERT((~wide::low & wide::high) == wide::high);
#endif

int main(void)
{
	const char *colon = "struct s { int a : 3; }"; /* struct s { int a : 3; }; */
	per_thread.a = per_thread_first = colon[0];
	return ((UINT_PTR)buffer & 63) != 0 || per_thread.a != 's';
}
