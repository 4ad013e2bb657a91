/* SPDX-License-Identifier: MIT
 *
 * Headers of packets, as they stand in captures: network byte order, no padding.
 */
#ifndef ETW_WIN_NETIODEF_H
#define ETW_WIN_NETIODEF_H
#include "winsock2.h"

#define NET_IFINDEX_UNSPECIFIED 0
#define IFI_UNSPECIFIED         0
typedef ULONG NET_IFINDEX, *PNET_IFINDEX;

#pragma pack(push, 1)

typedef union _DL_EUI48 {
	UINT8 Byte[6];
	__extension__ struct {
		UINT8 Oui[3];
		UINT8 Ei48[3];
	} DUMMYSTRUCTNAME;
} DL_EUI48, *PDL_EUI48;

#define ETHERNET_TYPE_MINIMUM 0x0600
#define ETHERNET_TYPE_IPV4    0x0800
#define ETHERNET_TYPE_ARP     0x0806
#define ETHERNET_TYPE_802_1Q  0x8100
#define ETHERNET_TYPE_IPV6    0x86DD

typedef struct _ETHERNET_HEADER {
	DL_EUI48 Destination;
	DL_EUI48 Source;
	__extension__ union {
		UINT16 Type;
		UINT16 Length;
	} DUMMYUNIONNAME;
} ETHERNET_HEADER, *PETHERNET_HEADER;

typedef struct _IPV4_HEADER {
	__extension__ union {
		UINT8 VersionAndHeaderLength;
		__extension__ struct {
			UINT8 HeaderLength : 4; /* in units of 4 bytes */
			UINT8 Version : 4;
		} DUMMYSTRUCTNAME;
	} DUMMYUNIONNAME;
	__extension__ union {
		UINT8 TypeOfServiceAndEcnField;
		__extension__ struct {
			UINT8 EcnField : 2;
			UINT8 TypeOfService : 6;
		} DUMMYSTRUCTNAME2;
	} DUMMYUNIONNAME2;
	UINT16 TotalLength;
	UINT16 Identification;
	__extension__ union {
		UINT16 FlagsAndOffset;
		__extension__ struct {
			UINT16 DontUse1 : 5;
			UINT16 MoreFragments : 1;
			UINT16 DontFragment : 1;
			UINT16 Reserved : 1;
			UINT16 DontUse2 : 8;
		} DUMMYSTRUCTNAME3;
	} DUMMYUNIONNAME3;
	UINT8 TimeToLive;
	UINT8 Protocol;
	UINT16 HeaderChecksum;
	IN_ADDR SourceAddress;
	IN_ADDR DestinationAddress;
} IPV4_HEADER, *PIPV4_HEADER;

typedef struct _IPV6_HEADER {
	__extension__ union {
		UINT32 VersionClassFlow;
		__extension__ struct {
			UINT32 DontUse1 : 4;
			UINT32 Version : 4;
			UINT32 DontUse2 : 24;
		} DUMMYSTRUCTNAME;
	} DUMMYUNIONNAME;
	UINT16 PayloadLength;
	UINT8 NextHeader;
	UINT8 HopLimit;
	IN6_ADDR SourceAddress;
	IN6_ADDR DestinationAddress;
} IPV6_HEADER, *PIPV6_HEADER;

typedef struct _TCP_HDR {
	USHORT th_sport;
	USHORT th_dport;
	UINT32 th_seq;
	UINT32 th_ack;
	UCHAR th_x2 : 4;
	UCHAR th_len : 4; /* in units of 4 bytes */
	UCHAR th_flags;
	USHORT th_win;
	USHORT th_sum;
	USHORT th_urp;
} TCP_HDR, *PTCP_HDR;

typedef struct _UDP_HDR {
	USHORT uh_sport;
	USHORT uh_dport;
	USHORT uh_ulen;
	USHORT uh_sum;
} UDP_HDR, *PUDP_HDR;

#pragma pack(pop)
#endif
