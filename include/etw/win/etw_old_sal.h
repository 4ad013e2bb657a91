/* SPDX-License-Identifier: MIT
 *
 * For C++ sources with the lower-case annotations of the Windows 7 era (__in, __out, __inout): force
 * it in front with -include. libstdc++ uses the same names inside, so its headers are read first;
 * they have include guards and are not read again.
 */
#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
#endif
#define ETW_WANT_OLD_SAL 1
#include "sal.h"
