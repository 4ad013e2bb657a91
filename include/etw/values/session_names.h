/* SPDX-License-Identifier: MIT
 *
 * Names that Windows gives to sessions of its own. u"" KERNEL_LOGGER_NAMEA is the UTF-16 form in C11.
 */
#ifndef ETW_VALUES_SESSION_NAMES_H
#define ETW_VALUES_SESSION_NAMES_H

#define KERNEL_LOGGER_NAMEA "NT Kernel Logger"
#define GLOBAL_LOGGER_NAMEA "GlobalLogger"
#define EVENT_LOGGER_NAMEA  "EventLog"
#define DIAG_LOGGER_NAMEA   "DiagLog"

#endif
