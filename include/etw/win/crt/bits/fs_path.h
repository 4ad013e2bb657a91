/* SPDX-License-Identifier: MIT
 *
 * std::filesystem::path from and to wide strings of 16 bits. libstdc++ converts them with a facet it
 * holds ready, which was compiled for 32 bits; ours stands in for it while the system's header is read.
 */
#pragma GCC system_header
#if defined(__cplusplus) && __cplusplus >= 201703L && __SIZEOF_WCHAR_T__ == 2 &&                   \
	!defined(_GLIBCXX_FS_PATH_H)
#include <codecvt>
#include <ext/concurrence.h>
#include <iomanip>
#include <iosfwd>
#include <locale>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <bits/locale_conv.h>
#include <bits/shared_ptr.h>
#include <bits/stl_algobase.h>
#include <bits/stl_pair.h>
#include <bits/unique_ptr.h>
#if __cplusplus > 201703L
#include <compare>
#endif
#include "../etw_wide_locale.h"

namespace std {
template <class Unit, class Byte, class State> struct etw_path_codecvt : codecvt<Unit, Byte, State> {
};
template <class Byte, class State>
struct etw_path_codecvt<wchar_t, Byte, State> : etw_wide::codecvt16 {
};
}
#define codecvt etw_path_codecvt
#include_next <bits/fs_path.h>
#undef codecvt
#else
#include_next <bits/fs_path.h>
#endif
