/* SPDX-License-Identifier: MIT
 * What a trace says about the machine and the images on it: sysconfig and symcache.
 */
#include "tools/common/event_xml.h"
#include "xml/xml.h"
#include "tools/wpt/xperf_action.h"

#include <stdlib.h>

/* ---- sysconfig -------------------------------------------------------------------------------------- */

/* What can be asked for by name. */
enum { NETIDENTITY, CPU, MEMORY, BUILD, ETW, POWER, DISK, IDECHANNEL, VIDEO, NIC, IRQ, SERVICES, PNP };

/* One kind of record, in the order of the report. Fields "Label=Field", separated by |. */
static const struct part {
	int group;
	const char *title, *event, *fields;
} parts[] = {
	{CPU, "CPU", "SystemConfig/CPU",
	 "ComputerName=ComputerName|DomainName=DomainName|ProcessorNum=NumberOfProcessors|ProcessorSpeed=MHz|"
	 "ProcessorArchitecture=ProcessorArchitecture|ProcessorLevel=ProcessorLevel|ProcessorRevision="
	 "ProcessorRevision|"
	 "HyperThreadingFlag=HyperThreadingFlag"},
	{CPU, "Processor", "SystemConfig/Processors",
	 "ProcessorIndex=ProcessorIndex|Name=ProcessorName|Vendor=ProcessorIdentifier|Identifier=VendorIdentifier|"
	 "Speed=ProcessorSpeed"},
	{CPU, "NUMA", "SystemConfig/NumaNode", "NodeCount=NodeCount|NodeMap=NodeMap"},
	{MEMORY, "Memory", "SystemConfig/CPU",
	 "MemorySize=MemSize|PageSize=PageSize|AllocationGranularity=AllocationGranularity|"
	 "HighestUserAddress=HighestUserAddress|MemorySpeed=MemorySpeed"},
	{BUILD, "Build", "SystemConfigEx/BuildInfo",
	 "BuildLab=BuildLab|ProductName=ProductName|InstallDate=InstallDate"},
	{BUILD, "Platform", "SystemConfig/Platform",
	 "Manufacturer=SystemManufacturer|Product=SystemProductName|BiosDate=BiosDate|BiosVersion=BiosVersion"},
	{ETW, "ETW", "EventTrace/Header",
	 "OS "
	 "Version=Version|Build=ProviderVersion|BufferSize=BufferSize|Processors=NumberOfProcessors|PointerSize="
	 "PointerSize|"
	 "TimerResolution=TimerResolution|ClockFrequency=PerfFreq|BootTime=BootTime"},
	{POWER, "Power", "SystemConfig/Power", "S1=S1|S2=S2|S3=S3|S4=S4|S5=S5"},
	{DISK, "Disk", "SystemConfig/PhyDisk",
	 "DiskNumber=DiskNumber|Model=Manufacturer|BytesPerSector=BytesPerSector|SectorsPerTrack=SectorsPerTrack|"
	 "TracksPerCylinder=TracksPerCylinder|Cylinders=Cylinders|WriteCacheEnabled=WriteCacheEnabled|"
	 "PartitionCount=PartitionCount"},
	{DISK, "Volume", "SystemConfig/LogDisk",
	 "DriveLetter=DriveLetterString|DiskNumber=DiskNumber|FileSystem=FileSystem|StartOffset=StartOffset|"
	 "PartitionSize=PartitionSize|SectorsPerCluster=SectorsPerCluster|BytesPerSector=BytesPerSector|"
	 "FreeClusters=NumberOfFreeClusters|TotalClusters=TotalNumberOfClusters"},
	{DISK, "Optical disk", "SystemConfig/OpticalDisk", "DiskNumber=DiskNumber|Device=DeviceName|Size=Size"},
	{IDECHANNEL, "IDE channel", "SystemConfig/IDEChannel",
	 "TargetId=TargetId|DeviceType=DeviceType|DeviceTimingMode=DeviceTimingMode|Location=LocationInformation"},
	{VIDEO, "Video", "SystemConfig/Video",
	 "Adapter=AdapterString|Chip=ChipType|MemorySize=MemorySize|XResolution=XResolution|YResolution=YResolution|"
	 "BitsPerPixel=BitsPerPixel|VRefresh=VRefresh"},
	{NIC, "NIC", "SystemConfig/NIC",
	 "Device "
	 "Desc=NICDescription|Name=NICName|PhysicalAddr=PhysicalAddr|IpAddresses=IpAddresses|IpAddress=IpAddress|"
	 "DnsServers=DnsServerAddresses"},
	{NETIDENTITY, "Network", "SystemConfig/Network",
	 "TcbTablePartitions=TcbTablePartitions|MaxHashTableSize=MaxHashTableSize|MaxUserPort=MaxUserPort|"
	 "TcpTimedWaitDelay=TcpTimedWaitDelay"},
	{IRQ, "IRQ", "SystemConfig/IRQ", "IRQ=IRQNum|Affinity=IRQAffinity|Group=IRQGroup|Device=DeviceDescription"},
	{SERVICES, "Service", "SystemConfig/Services",
	 "Name=ServiceName|DisplayName=DisplayName|Process=ProcessName|PID=ProcessId|State=ServiceState"},
	{PNP, "PnP", "SystemConfig/PnP",
	 "DeviceID=DeviceID|Description=DeviceDescription|FriendlyName=FriendlyName|Service=ServiceName|Pdo=PdoName"},
};

struct sysconfig {
	bool xml;
	uint32_t groups;                           /* 1 << CPU, …; none: all */
	struct strbuf text[BASE_ARRAY_LEN(parts)]; /* each part's records, told in the order above */
	uint32_t count[BASE_ARRAY_LEN(parts)];
};

/* A name for XML: no blanks. */
static void add_tag(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] != ' ') {
			strbuf_addc(b, s[i]);
		}
	}
}

static void add_record(struct xperf_job *j, size_t at)
{
	struct sysconfig *s = j->own;
	const struct part *p = &parts[at];
	struct strbuf *b = &s->text[at];
	/* The same record again, as each session of a merged file has it. */
	size_t before = b->len;
	if (s->xml) {
		strbuf_adds(b, "  <");
		add_tag(b, p->title, strlen(p->title));
	}
	for (const char *f = p->fields; *f;) {
		size_t title = strcspn(f, "="), all = strcspn(f, "|");
		char field[64];
		snprintf(field, sizeof field, "%.*s", (int)(all - title - 1), f + title + 1);
		const char *value = xperf_text(j, field);
		if (*value && s->xml) {
			strbuf_addc(b, ' ');
			add_tag(b, f, title);
			strbuf_adds(b, "=\"");
			xml_escape(b, value, strlen(value));
			strbuf_addc(b, '"');
		} else if (*value) {
			strbuf_addf(b, "%.*s: %s\n", (int)title, f, value);
		}
		f += all + (f[all] == '|');
	}
	strbuf_adds(b, s->xml ? "/>\n" : "\n");
	size_t n = b->len - before;
	for (size_t i = 0; !b->failed && n && i + n <= before; i++) {
		if ((i == 0 || b->s[i - 1] == '\n') && memcmp(b->s + i, b->s + before, n) == 0) {
			b->len = before;
			b->s[before] = 0;
			return;
		}
		if (before > (1u << 20)) { /* so many cannot be compared with one another */
			break;
		}
	}
	s->count[at]++;
	j->failed = j->failed || b->failed;
}

static void config_event(struct xperf_job *j)
{
	const struct sysconfig *s = j->own;
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		if (strcmp(j->name, parts[i].event) == 0 && (!s->groups || s->groups >> parts[i].group & 1)) {
			add_record(j, i);
		}
	}
}

static void config_end(struct xperf_job *j)
{
	struct sysconfig *s = j->own;
	bool any = false;
	if (s->xml) {
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<SystemConfig>\n", j->out);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		if (s->text[i].len == 0) {
			continue;
		}
		any = true;
		if (!s->xml) {
			fprintf(j->out, "%s:\n", parts[i].title);
		}
		fwrite(s->text[i].s, 1, s->text[i].len, j->out);
	}
	if (s->xml) {
		fputs("</SystemConfig>\n", j->out);
	}
	if (!any) {
		fprintf(stderr, "%s: the files have no such records about their machine\n", j->a->command->name);
	}
}

static void config_release(struct xperf_job *j)
{
	struct sysconfig *s = j->own;
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		strbuf_finish(&s->text[i]);
	}
}

static const struct cli_option config_options[] = {
	CLI_FLAG(sysconfig, xml, 0, "xml", "as XML"),
	CLI_BITS(sysconfig, groups, 1 << NETIDENTITY, 0, "netidentity", "settings of the network"),
	CLI_BITS(sysconfig, groups, 1 << CPU, 0, "cpu", "processors"),
	CLI_BITS(sysconfig, groups, 1 << MEMORY, 0, "memory", "memory"),
	CLI_BITS(sysconfig, groups, 1 << BUILD, 0, "build", "the system's build"),
	CLI_BITS(sysconfig, groups, 1 << ETW, 0, "etw", "of the trace's header"),
	CLI_BITS(sysconfig, groups, 1 << POWER, 0, "power", "sleep states"),
	CLI_BITS(sysconfig, groups, 1 << DISK, 0, "disk", "disks and volumes"),
	CLI_BITS(sysconfig, groups, 1 << IDECHANNEL, 0, "idechannel", "IDE channels"),
	CLI_BITS(sysconfig, groups, 1 << VIDEO, 0, "video", "video adapters"),
	CLI_BITS(sysconfig, groups, 1 << NIC, 0, "nic", "network adapters"),
	CLI_BITS(sysconfig, groups, 1 << IRQ, 0, "irq", "interrupts"),
	CLI_BITS(sysconfig, groups, 1 << SERVICES, 0, "services", "services"),
	CLI_BITS(sysconfig, groups, 1 << PNP, 0, "pnp", "devices"),
	{0},
};

/* ---- symcache ------------------------------------------------------------------------------------------ */

struct symcache {
	bool imageid, dbgid, build;
	struct xperf_sums images; /* by process and base: the name, to join the two kinds of records */
	struct xperf_sums lines;
};

static bool sym_begin(struct xperf_job *j)
{
	struct symcache *s = j->own;
	s->dbgid = s->dbgid || (!s->imageid && !s->build);
	return true;
}

/* Symbols of an image are here when the state finds a name in it: asked at its base and a bit behind. */
static bool has_symbols(struct xperf_job *j, uint32_t pid, uint64_t base, uint64_t size)
{
	for (uint64_t at = 0; at < size && at < 16; at++) {
		struct openetw_symbol y = {.size = sizeof y};
		if (openetw_state_symbol(j->state, pid, base + size / 16 * at, j->time, &y) == ERROR_SUCCESS) {
			return true;
		}
	}
	return false;
}

static void sym_event(struct xperf_job *j)
{
	struct symcache *s = j->own;
	uint32_t pid = (uint32_t)xperf_number(j, "ProcessId");
	uint64_t base = xperf_number(j, "ImageBase");
	char where[48];
	snprintf(where, sizeof where, "%x:%llx\t", pid, (unsigned long long)base);
	strbuf_clear(&j->key);
	if (strcmp(j->name, "ImageID/DbgID_RSDS") == 0 || strcmp(j->name, "ImageID/DbgID_ILRSDS") == 0) {
		struct xperf_sum *image = xperf_sum(j, &s->images, where);
		const char *guid = xperf_text(j, "GuidSig");
		if (!s->dbgid || !image) {
			return;
		}
		strbuf_addf(&j->key, "0x%08llx, 0x%08llx, ", (unsigned long long)image->v[0],
			    (unsigned long long)image->v[1]);
		const char *pdb = xperf_text(j, "PdbFileName"), *last = strrchr(pdb, '/');
		strbuf_addf(&j->key, "\"%s\", \"[RSDS] PdbSig: {%s}; Age: %llu; Pdb: %s\"",
			    image->tag ? (const char *)(uintptr_t)image->tag
			    : last     ? last + 1
				       : pdb,
			    guid, (unsigned long long)xperf_number(j, "Age"), pdb);
	} else {
		const char *name = xperf_text(j, "OriginalFileName");
		struct xperf_sum *image = xperf_sum(j, &s->images, where);
		if (image && !image->tag) {
			image->v[0] = (double)xperf_number(j, "TimeDateStamp");
			image->v[1] = (double)xperf_number(j, "ImageSize");
			char *own = strdup(name);
			j->failed = j->failed || !own;
			image->tag = (uint64_t)(uintptr_t)own;
		}
		if (s->imageid) {
			strbuf_addf(&j->key, "0x%08llx, 0x%08llx, \"%s\"",
				    (unsigned long long)xperf_number(j, "TimeDateStamp"),
				    (unsigned long long)xperf_number(j, "ImageSize"), name);
		} else if (s->build) {
			strbuf_addf(&j->key, "\"%s\", %s", name,
				    has_symbols(j, pid, base, xperf_number(j, "ImageSize")) ? "symbols found"
											    : "no symbols found");
		}
	}
	if (j->key.len && !j->key.failed) {
		xperf_sum(j, &s->lines, j->key.s);
	}
}

static void sym_end(struct xperf_job *j)
{
	struct symcache *s = j->own;
	xperf_sums_sort(&s->lines, -1);
	if (s->imageid || s->dbgid) {
		fprintf(j->out, "TimeDateStamp, ImageSize, \"OriginalFileName\"%s\n", s->dbgid ? ", \"DbgId\"" : "");
	} else {
		fprintf(j->out, "\"OriginalFileName\", Symbols\n");
		fprintf(stderr,
			"%s: nothing is cached: symbols are read from the images and their debug files each time\n",
			j->a->command->name);
	}
	for (size_t i = 0; i < s->lines.count; i++) {
		fprintf(j->out, "%s\n", s->lines.list[i].key);
	}
}

static void sym_release(struct xperf_job *j)
{
	struct symcache *s = j->own;
	for (size_t i = 0; i < s->images.count; i++) {
		free((void *)(uintptr_t)s->images.list[i].tag);
	}
	xperf_sums_finish(&s->images);
	xperf_sums_finish(&s->lines);
}

static const struct cli_option sym_options[] = {
	CLI_FLAG(symcache, build, 0, "build", "of which images symbols are found"),
	CLI_FLAG(symcache, imageid, 0, "imageid", "the images of the trace"),
	CLI_FLAG(symcache, dbgid, 0, "dbgid", "and the builds that they are of (default)"),
	{0},
};

const struct xperf_action xperf_config_actions[] = {
	{.name = "sysconfig",
	 .summary = "what the trace says about its machine",
	 .options = config_options,
	 .events = "SystemConfig/* SystemConfigEx/* EventTrace/Header",
	 .source = "any kernel flag",
	 .own = sizeof(struct sysconfig),
	 .event = config_event,
	 .end = config_end,
	 .release = config_release},
	{.name = "symcache",
	 .summary = "images of the trace and the builds they are of",
	 .options = sym_options,
	 .events = "ImageID ImageID/DbgID_RSDS ImageID/DbgID_ILRSDS ImageID/Info",
	 .source = "LOADER",
	 .own = sizeof(struct symcache),
	 .begin = sym_begin,
	 .event = sym_event,
	 .end = sym_end,
	 .release = sym_release},
	{0},
};
