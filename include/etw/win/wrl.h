/* SPDX-License-Identifier: MIT
 *
 * Of the template library: ComPtr. Implementing classes with it (RuntimeClass) is not there.
 */
#include "wrl/client.h"
