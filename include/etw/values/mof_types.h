/* SPDX-License-Identifier: MIT
 *
 * MOF_FIELD.DataType.
 */
#ifndef ETW_VALUES_MOF_TYPES_H
#define ETW_VALUES_MOF_TYPES_H

#define ETW_NULL_TYPE_VALUE                        0
#define ETW_OBJECT_TYPE_VALUE                      1
#define ETW_STRING_TYPE_VALUE                      2
#define ETW_SBYTE_TYPE_VALUE                       3
#define ETW_BYTE_TYPE_VALUE                        4
#define ETW_INT16_TYPE_VALUE                       5
#define ETW_UINT16_TYPE_VALUE                      6
#define ETW_INT32_TYPE_VALUE                       7
#define ETW_UINT32_TYPE_VALUE                      8
#define ETW_INT64_TYPE_VALUE                       9
#define ETW_UINT64_TYPE_VALUE                      10
#define ETW_CHAR_TYPE_VALUE                        11
#define ETW_SINGLE_TYPE_VALUE                      12
#define ETW_DOUBLE_TYPE_VALUE                      13
#define ETW_BOOLEAN_TYPE_VALUE                     14
#define ETW_DECIMAL_TYPE_VALUE                     15
#define ETW_GUID_TYPE_VALUE                        101
#define ETW_ASCIICHAR_TYPE_VALUE                   102
#define ETW_ASCIISTRING_TYPE_VALUE                 103
#define ETW_COUNTED_STRING_TYPE_VALUE              104
#define ETW_POINTER_TYPE_VALUE                     105
#define ETW_SIZET_TYPE_VALUE                       106
#define ETW_HIDDEN_TYPE_VALUE                      107
#define ETW_BOOL_TYPE_VALUE                        108
#define ETW_COUNTED_ANSISTRING_TYPE_VALUE          109
#define ETW_REVERSED_COUNTED_STRING_TYPE_VALUE     110
#define ETW_REVERSED_COUNTED_ANSISTRING_TYPE_VALUE 111
#define ETW_NON_NULL_TERMINATED_STRING_TYPE_VALUE  112
#define ETW_REDUCED_ANSISTRING_TYPE_VALUE          113
#define ETW_REDUCED_STRING_TYPE_VALUE              114
#define ETW_SID_TYPE_VALUE                         115
#define ETW_VARIANT_TYPE_VALUE                     116
#define ETW_PTVECTOR_TYPE_VALUE                    117
#define ETW_WMITIME_TYPE_VALUE                     118
#define ETW_DATETIME_TYPE_VALUE                    119
#define ETW_REFRENCE_TYPE_VALUE                    120

#endif
