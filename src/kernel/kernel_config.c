/* SPDX-License-Identifier: MIT
 *
 * The processors, the memory, and what the machine and its system are called.
 */
#include "kernel/kernel_config.h"

#include "etw/values/guids.h"
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	CONFIG_CPU = 0x0A,
	CONFIG_POWER = 0x10,
	CONFIG_NUMA = 0x18,
	CONFIG_PLATFORM = 0x19,
	CONFIG_GROUPS = 0x1A,
	CONFIG_NUMBERS = 0x1B,
	CONFIG_MACHINE = 0x1E,
	CONFIG_PROCESSOR = 0x23,
	CONFIG_VIRTUAL = 0x24,
	CONFIG_BOOT = 0x25,
};
#define CPUS_MAX 256u /* in the lists that one record holds */

const struct guid config_class_ex = GUID_INIT(ETW_GUID_CLASS_SYSTEM_CONFIG_EX);

/* ---- helpers ----------------------------------------------------------------------------------
 */

static bool line_of(const char *path, char *out, size_t cap)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(out, (int)cap, f);
	if (f) {
		fclose(f);
	}
	if (!ok) {
		out[0] = 0;
	}
	size_t n = strcspn(out, "\n");
	while (n > 0 && out[n - 1] == ' ') {
		n--;
	}
	out[n] = 0;
	return ok;
}

bool config_line(const struct kernel_config *c, char *out, size_t cap, const char *fmt, ...)
{
	char name[512], path[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(name, sizeof name, fmt, args);
	va_end(args);
	snprintf(path, sizeof path, "%s%s", c->root, name);
	return line_of(path, out, cap);
}

uint64_t config_number(const struct kernel_config *c, uint64_t otherwise, const char *fmt, ...)
{
	char name[512], path[1024], line[64], *end;
	va_list args;
	va_start(args, fmt);
	vsnprintf(name, sizeof name, fmt, args);
	va_end(args);
	snprintf(path, sizeof path, "%s%s", c->root, name);
	if (!line_of(path, line, sizeof line)) {
		return otherwise;
	}
	uint64_t v = strtoull(line, &end, 0);
	return end != line ? v : otherwise;
}

/* Most come with a header that names the collector; five short ones do not. */
struct kernel_record config_record(const struct kernel_config *c, uint8_t type, uint8_t version)
{
	bool plain = type == 0x11 || type == CONFIG_NUMA || type == CONFIG_GROUPS || type == CONFIG_NUMBERS;
	return (struct kernel_record){.hook = (uint16_t)(0x0B00 | type),
				      .version = version,
				      .perfinfo = plain,
				      .cpu = c->cpu,
				      .pid = c->pid,
				      .tid = c->tid,
				      .sessions = UINT64_MAX};
}

void config_out(const struct kernel_config *c, struct kernel_record *r)
{
	r->time = clock_read_system_ns();
	c->out(c->ctx, r);
}

/* ---- processors -------------------------------------------------------------------------------
 */

struct processor {
	uint32_t index, mhz, family, model, stepping;
	bool nx, pae, hypervisor;
	char name[128], vendor[64];
};

static bool flag(const char *flags, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = flags; (p = strstr(p, name)) != NULL; p += n) {
		if ((p == flags || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0)) {
			return true;
		}
	}
	return false;
}

static const char *value_of(char *line)
{
	char *v = strchr(line, ':');
	if (!v) {
		return "";
	}
	char *end = v;
	while (end > line && (end[-1] == '\t' || end[-1] == ' ')) {
		end--;
	}
	*end = 0;
	v[strcspn(v + 1, "\n") + 1] = 0;
	return v + 1 + (v[1] == ' ');
}

/* One processor of /proc/cpuinfo after the other; x86 and arm64 name things differently. */
static bool next_processor(FILE *f, struct processor *ret)
{
	char line[8192];
	struct processor p = {.index = KERNEL_NO_ID};
	while (fgets(line, sizeof line, f)) {
		if (line[0] == '\n') {
			if (p.index != KERNEL_NO_ID) {
				break;
			}
			continue;
		}
		const char *v = value_of(line);
		if (strcmp(line, "processor") == 0) {
			p.index = (uint32_t)strtoul(v, NULL, 10);
		} else if (strcmp(line, "cpu MHz") == 0) {
			p.mhz = (uint32_t)(strtod(v, NULL) + 0.5);
		} else if (strcmp(line, "cpu family") == 0) {
			p.family = (uint32_t)strtoul(v, NULL, 0);
		} else if (strcmp(line, "model") == 0 || strcmp(line, "CPU part") == 0) {
			p.model = (uint32_t)strtoul(v, NULL, 0);
		} else if (strcmp(line, "stepping") == 0 || strcmp(line, "CPU revision") == 0) {
			p.stepping = (uint32_t)strtoul(v, NULL, 0);
		} else if (strcmp(line, "CPU architecture") == 0) {
			p.family = (uint32_t)strtoul(v, NULL, 0);
		} else if (strcmp(line, "model name") == 0) {
			snprintf(p.name, sizeof p.name, "%s", v);
		} else if (strcmp(line, "vendor_id") == 0 || strcmp(line, "CPU implementer") == 0) {
			snprintf(p.vendor, sizeof p.vendor, "%s", v);
		} else if (strcmp(line, "flags") == 0) {
			p.nx = flag(v, "nx");
			p.pae = flag(v, "pae");
			p.hypervisor = flag(v, "hypervisor");
		}
	}
	if (p.index == KERNEL_NO_ID) {
		return false;
	}
	*ret = p;
	return true;
}

static FILE *open_below(const struct kernel_config *c, const char *name)
{
	char path[1024];
	snprintf(path, sizeof path, "%s%s", c->root, name);
	return fopen(path, "re");
}

/* Lists such as "0-3,8". */
static uint64_t mask_of(const char *list)
{
	uint64_t mask = 0;
	while (*list) {
		char *end;
		unsigned long from = strtoul(list, &end, 10), to = from;
		if (end == list) {
			break;
		}
		if (*end == '-') {
			to = strtoul(end + 1, &end, 10);
		}
		for (; from <= to && from < 64; from++) {
			mask |= 1ull << from;
		}
		list = *end == ',' ? end + 1 : end;
	}
	return mask;
}

/* Bit n: processor n shares its core with another. */
static uint64_t siblings(const struct kernel_config *c, uint32_t cpus)
{
	uint64_t mask = 0;
	for (uint32_t i = 0; i < cpus && i < 64; i++) {
		char list[256];
		if (config_line(c, list, sizeof list, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
				i)) {
			uint64_t m = mask_of(list);
			mask |= m & (m - 1) ? m : 0;
		}
	}
	return mask;
}

static uint32_t memory_mb(const struct kernel_config *c)
{
	FILE *f = open_below(c, "/proc/meminfo");
	char line[256];
	unsigned long long kb = 0;
	while (f && fgets(line, sizeof line, f) && sscanf(line, "MemTotal: %llu", &kb) != 1) {
	}
	if (f) {
		fclose(f);
	}
	return (uint32_t)(kb / 1024);
}

static uint64_t highest_user_address(void)
{
#if defined(__x86_64__)
	return 0x7FFFFFFFEFFFull;
#else
	return 0xFFFFFFFFFFFFull;
#endif
}

static void write_cpu(const struct kernel_config *c, const struct processor *first, uint32_t cpus)
{
	struct kernel_record r = config_record(c, CONFIG_CPU, 3);
	char host[256], domain[256];
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	config_line(c, host, sizeof host, "/proc/sys/kernel/hostname");
	config_line(c, domain, sizeof domain, "/proc/sys/kernel/domainname");
	kernel_put(&r, first->mhz, 4);
	kernel_put(&r, cpus, 4);
	kernel_put(&r, memory_mb(c), 4);
	kernel_put(&r, page, 4);
	kernel_put(&r, page, 4); /* AllocationGranularity */
	kernel_put_fixed(&r, host, 256);
	kernel_put_fixed(&r, strcmp(domain, "(none)") == 0 ? "" : domain, 134);
	kernel_put(&r, siblings(c, cpus), 8);
	kernel_put(&r, highest_user_address(), 8);
#if defined(__x86_64__)
	kernel_put(&r, 9, 2); /* PROCESSOR_ARCHITECTURE_AMD64 */
#else
	kernel_put(&r, 12, 2); /* PROCESSOR_ARCHITECTURE_ARM64 */
#endif
	kernel_put(&r, first->family, 2);
	kernel_put(&r, (uint64_t)first->model << 8 | (first->stepping & 0xFF), 2);
	kernel_put(&r, first->pae, 1);
	kernel_put(&r, first->nx, 1);
	kernel_put(&r, 0, 4); /* MemorySpeed */
	config_out(c, &r);
}

static void write_processor(const struct kernel_config *c, const struct processor *p)
{
	struct kernel_record r = config_record(c, CONFIG_PROCESSOR, 2);
	char identifier[128];
	snprintf(identifier, sizeof identifier, "%s Family %u Model %u Stepping %u",
		 strcmp(p->vendor, "GenuineIntel") == 0   ? "Intel64"
		 : strcmp(p->vendor, "AuthenticAMD") == 0 ? "AMD64"
							  : "ARMv8",
		 p->family, p->model, p->stepping);
	kernel_put(&r, p->index, 4);
	kernel_put(&r, 0, 4); /* FeatureSet: bits of the Windows kernel's own */
	kernel_put(&r, p->mhz, 4);
	kernel_put_fixed(&r, p->name, 64);
	kernel_put_fixed(&r, identifier, 128);
	kernel_put_fixed(&r, p->vendor, 16);
	config_out(c, &r);
}

static void write_virtual(const struct kernel_config *c, bool hypervisor)
{
	struct kernel_record r = config_record(c, CONFIG_VIRTUAL, 2);
	kernel_put(&r, 0, 2); /* VbsEnabled, HvciEnabled */
	kernel_put(&r, hypervisor, 1);
	kernel_put(&r, 0, 1);
	config_out(c, &r);
}

/* One group holds 64 processors. */
static void write_groups(const struct kernel_config *c, uint32_t cpus)
{
	struct kernel_record r = config_record(c, CONFIG_GROUPS, 2);
	uint32_t groups = (cpus + 63) / 64;
	kernel_put(&r, groups, 4);
	for (uint32_t i = 0; i < groups; i++) {
		uint32_t in = BASE_MIN(cpus - i * 64, 64u);
		kernel_put(&r, in == 64 ? UINT64_MAX : (1ull << in) - 1, 8);
	}
	config_out(c, &r);
	r = config_record(c, CONFIG_NUMBERS, 2);
	cpus = BASE_MIN(cpus, CPUS_MAX);
	kernel_put(&r, cpus, 4);
	for (uint32_t i = 0; i < cpus; i++) { /* PROCESSOR_NUMBER: group, number in it */
		kernel_put(&r, i / 64, 2);
		kernel_put(&r, i % 64, 2);
	}
	config_out(c, &r);
}

static void write_numa(const struct kernel_config *c)
{
	struct kernel_record r = config_record(c, CONFIG_NUMA, 2);
	uint32_t nodes = 0;
	char list[512];
	while (nodes < 64 && config_line(c, list, sizeof list, "/sys/devices/system/node/node%u/cpulist", nodes)) {
		nodes++;
	}
	if (nodes == 0) {
		return;
	}
	kernel_put(&r, nodes, 4);
	for (uint32_t i = 0; i < nodes; i++) { /* GROUP_AFFINITY */
		config_line(c, list, sizeof list, "/sys/devices/system/node/node%u/cpulist", i);
		kernel_put(&r, mask_of(list), 8);
		kernel_put(&r, 0, 8);
	}
	config_out(c, &r);
}

static void processors(const struct kernel_config *c)
{
	FILE *f = open_below(c, "/proc/cpuinfo");
	struct processor p, first = {0};
	uint32_t cpus = 0;
	while (f && next_processor(f, &p)) {
		if (p.mhz == 0) {
			p.mhz = (uint32_t)(config_number(c, 0,
							 "/sys/devices/system/cpu/cpu%u/cpufreq/"
							 "cpuinfo_max_freq",
							 p.index) /
					   1000);
		}
		first = cpus++ == 0 ? p : first;
	}
	write_cpu(c, &first, cpus);
	if (f) {
		rewind(f);
	}
	while (f && next_processor(f, &p)) {
		write_processor(c, &p);
	}
	if (f) {
		fclose(f);
	}
	write_virtual(c, first.hypervisor);
	write_groups(c, cpus);
	write_numa(c);
}

/* ---- the machine ------------------------------------------------------------------------------
 */

static void power(const struct kernel_config *c)
{
	struct kernel_record r = config_record(c, CONFIG_POWER, 2);
	char states[128], deep[128];
	config_line(c, states, sizeof states, "/sys/power/state");
	config_line(c, deep, sizeof deep, "/sys/power/mem_sleep");
	bool mem = flag(states, "mem");
	kernel_put(&r, flag(states, "standby"), 1);                           /* S1 */
	kernel_put(&r, 0, 1);                                                 /* S2 */
	kernel_put(&r, mem && (!deep[0] || strstr(deep, "deep") != NULL), 1); /* S3 */
	kernel_put(&r, flag(states, "disk"), 1);                              /* S4 */
	kernel_put(&r, 1, 1);                                                 /* S5: it can be switched off */
	kernel_put(&r, 0, 3);
	config_out(c, &r);
}

static void platform(const struct kernel_config *c)
{
	char vendor[128], product[128], date[64], version[128];
	if (!config_line(c, vendor, sizeof vendor, "/sys/class/dmi/id/sys_vendor")) {
		return;
	}
	config_line(c, product, sizeof product, "/sys/class/dmi/id/product_name");
	config_line(c, date, sizeof date, "/sys/class/dmi/id/bios_date");
	config_line(c, version, sizeof version, "/sys/class/dmi/id/bios_version");
	struct kernel_record r = config_record(c, CONFIG_PLATFORM, 2);
	kernel_put_wide(&r, vendor, 128);
	kernel_put_wide(&r, product, 128);
	kernel_put_wide(&r, date, 64);
	kernel_put_wide(&r, version, 128);
	config_out(c, &r);
}

/* The machine's id is a secret of it (machine-id(5)): what is written is a hash that only tells
 * whether two traces come from the same machine. */
static void machine(const struct kernel_config *c)
{
	char id[64], salted[96];
	struct guid g;
	if (!config_line(c, id, sizeof id, "/etc/machine-id") || strlen(id) != 32) {
		return;
	}
	snprintf(salted, sizeof salted, "openetw machine %s", id);
	if (guid_from_provider_name(salted, &g) == 0) {
		struct kernel_record r = config_record(c, CONFIG_MACHINE, 2);
		kernel_put(&r, le64_get(g.b), 8);
		kernel_put(&r, le64_get(g.b + 8), 8);
		config_out(c, &r);
	}
}

static void boot(const struct kernel_config *c)
{
	struct kernel_record r = config_record(c, CONFIG_BOOT, 2);
	char path[1024];
	uint8_t secure[5] = {0};
	snprintf(path, sizeof path, "%s/sys/firmware/efi", c->root);
	bool uefi = access(path, F_OK) == 0;
	FILE *f = open_below(c, "/sys/firmware/efi/efivars/"
				"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
	bool capable = f && fread(secure, 1, sizeof secure, f) == sizeof secure;
	if (f) {
		fclose(f);
	}
	kernel_put(&r, 0, 8);              /* BootFlags */
	kernel_put(&r, uefi ? 2 : 1, 4);   /* FIRMWARE_TYPE */
	kernel_put(&r, secure[4] == 1, 1); /* behind four bytes of attributes */
	kernel_put(&r, capable, 1);
	kernel_put(&r, 0, 2);
	config_out(c, &r);
}

/* What a merge adds on Windows: which system, and how it calls itself. */
static void build(const struct kernel_config *c)
{
	struct kernel_record r = {.hook = 0x20, .class = &config_class_ex, .sessions = UINT64_MAX, .cpu = c->cpu};
	char release[128], version[160], line[256], product[200] = "", lab[300];
	config_line(c, release, sizeof release, "/proc/sys/kernel/osrelease");
	config_line(c, version, sizeof version, "/proc/sys/kernel/version");
	FILE *f = open_below(c, "/etc/os-release");
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "PRETTY_NAME=\"%199[^\"]", product) == 1) {
			break;
		}
	}
	if (f) {
		fclose(f);
	}
	snprintf(lab, sizeof lab, "%s %s", release, version);
	kernel_put(&r, 0, 8); /* InstallDate: nothing says */
	kernel_put_wide(&r, lab, 300);
	kernel_put_wide(&r, product, 200);
	config_out(c, &r);
}

void kernel_config_write(const struct kernel_config *c)
{
	processors(c);
	config_disks(c);
	config_network(c);
	config_services(c);
	power(c);
	config_devices(c);
	platform(c);
	machine(c);
	boot(c);
	build(c);
}
