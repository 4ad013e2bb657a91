/* SPDX-License-Identifier: MIT
 *
 * Addresses as text. The plain forms return a pointer to the terminator; buffers hold 16 (IPv4) or
 * 46 (IPv6) characters. The Ex forms add [..]%scope:port and take the size in characters, in and
 * out; port in network order.
 */
#ifndef ETW_WIN_IP2STRING_H
#define ETW_WIN_IP2STRING_H
#include "winsock2.h"
ETW_API PSTR NTAPI RtlIpv4AddressToStringA(const IN_ADDR *Addr, PSTR S);
ETW_API PWSTR NTAPI RtlIpv4AddressToStringW(const IN_ADDR *Addr, PWSTR S);
ETW_API PSTR NTAPI RtlIpv6AddressToStringA(const IN6_ADDR *Addr, PSTR S);
ETW_API PWSTR NTAPI RtlIpv6AddressToStringW(const IN6_ADDR *Addr, PWSTR S);
ETW_API NTSTATUS NTAPI RtlIpv4AddressToStringExA(const IN_ADDR *Address, USHORT Port, PSTR AddressString,
						 PULONG AddressStringLength);
ETW_API NTSTATUS NTAPI RtlIpv6AddressToStringExA(const IN6_ADDR *Address, ULONG ScopeId, USHORT Port,
						 PSTR AddressString, PULONG AddressStringLength);
ETW_API NTSTATUS NTAPI RtlIpv4AddressToStringExW(const IN_ADDR *Address, USHORT Port, PWSTR AddressString,
						 PULONG AddressStringLength);
ETW_API NTSTATUS NTAPI RtlIpv6AddressToStringExW(const IN6_ADDR *Address, ULONG ScopeId, USHORT Port,
						 PWSTR AddressString, PULONG AddressStringLength);
#endif
