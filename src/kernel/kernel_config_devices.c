/* SPDX-License-Identifier: MIT
 *
 * Interrupts, the devices of the PCI bus, screens, and services.
 */
#include "kernel/kernel_config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONFIG_VIDEO = 0x0E, CONFIG_SERVICE = 0x0F, CONFIG_IRQ = 0x15, CONFIG_PNP = 0x16 };
#define SERVICE_RUNNING 4u

/* The names in a folder, in order. The caller frees both. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}
static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int list(const struct kernel_config *c, const char *folder, struct dirent ***ret)
{
	char path[1024];
	snprintf(path, sizeof path, "%s%s", c->root, folder);
	int n = scandir(path, ret, visible, by_name);
	return n < 0 ? 0 : n;
}

static void done(struct dirent **e, int n)
{
	for (int i = 0; i < n; i++) {
		free(e[i]);
	}
	if (n > 0) {
		free(e);
	}
}

/* The last part of where a link leads. */
static void link_name(const struct kernel_config *c, const char *name, char *out, size_t cap)
{
	char path[1024], to[1024];
	snprintf(path, sizeof path, "%s%s", c->root, name);
	ssize_t n = readlink(path, to, sizeof to - 1);
	to[n > 0 ? n : 0] = 0;
	const char *base = strrchr(to, '/');
	snprintf(out, cap, "%.*s", (int)cap - 1, base ? base + 1 : to);
}

/* ---- interrupts -------------------------------------------------------------------------------
 */

static void interrupts(const struct kernel_config *c)
{
	struct dirent **e = NULL;
	int n = list(c, "/proc/irq", &e);
	for (int i = 0; i < n; i++) {
		char hex[256], name[128];
		struct dirent **of = NULL;
		unsigned long irq = strtoul(e[i]->d_name, NULL, 10);
		if (e[i]->d_name[0] < '0' || e[i]->d_name[0] > '9' ||
		    !config_line(c, hex, sizeof hex, "/proc/irq/%lu/smp_affinity", irq)) {
			continue;
		}
		/* Who takes it: a folder each. An interrupt without is not in use. */
		snprintf(name, sizeof name, "/proc/irq/%lu", irq);
		int entries = list(c, name, &of);
		name[0] = 0;
		for (int k = 0; k < entries; k++) {
			size_t used = strlen(name);
			if (of[k]->d_type == DT_DIR) {
				snprintf(name + used, sizeof name - used, "%s%.*s", used ? "," : "",
					 (int)(sizeof name - used), of[k]->d_name);
			}
		}
		done(of, entries);
		if (!name[0]) {
			continue;
		}
		/* Words of 32 bits, the lowest processors last. */
		const char *last = strrchr(hex, ',');
		uint64_t mask = strtoull(last ? last + 1 : hex, NULL, 16);
		if (last && last >= hex + 8) {
			mask |= strtoull(last - 8, NULL, 16) << 32;
		}
		struct kernel_record r = config_record(c, CONFIG_IRQ, 3);
		kernel_put(&r, mask, 8);
		kernel_put(&r, 0, 4); /* IRQGroup */
		kernel_put(&r, irq, 4);
		kernel_put(&r, strlen(name), 4);
		kernel_put_wide(&r, name, sizeof name);
		config_out(c, &r);
	}
	done(e, n);
}

/* ---- devices ----------------------------------------------------------------------------------
 */

/* Windows' setup class of a PCI class. */
static struct guid setup_class(unsigned pci_class)
{
	static const struct {
		unsigned pci;
		const char *text;
	} classes[] = {
		{0x01, "4d36e97b-e325-11ce-bfc1-08002be10318"}, /* storage */
		{0x02, "4d36e972-e325-11ce-bfc1-08002be10318"}, /* network */
		{0x03, "4d36e968-e325-11ce-bfc1-08002be10318"}, /* display */
		{0x04, "4d36e96c-e325-11ce-bfc1-08002be10318"}, /* multimedia */
		{0x0C, "36fc9e60-c465-11cf-8056-444553540000"}, /* serial buses */
	};
	struct guid g;
	const char *text = "4d36e97d-e325-11ce-bfc1-08002be10318"; /* the system's own */
	for (size_t i = 0; i < BASE_ARRAY_LEN(classes); i++) {
		text = classes[i].pci == pci_class ? classes[i].text : text;
	}
	return guid_parse(text, &g) == 0 ? g : GUID_ZERO;
}

static unsigned hex_of(const struct kernel_config *c, const char *device, const char *file)
{
	return (unsigned)config_number(c, 0, "/sys/bus/pci/devices/%s/%s", device, file);
}

static void devices(const struct kernel_config *c)
{
	struct dirent **e = NULL;
	int n = list(c, "/sys/bus/pci/devices", &e);
	for (int i = 0; i < n; i++) {
		const char *name = e[i]->d_name;
		char id[160], driver[64], path[600], place[600];
		struct kernel_record r = config_record(c, CONFIG_PNP, 5);
		unsigned class = hex_of(c, name, "class");
		snprintf(id, sizeof id, "PCI\\VEN_%04X&DEV_%04X&SUBSYS_%04X%04X&REV_%02X\\%.40s",
			 hex_of(c, name, "vendor"), hex_of(c, name, "device"), hex_of(c, name, "subsystem_device"),
			 hex_of(c, name, "subsystem_vendor"), hex_of(c, name, "revision"), name);
		snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/driver", name);
		link_name(c, path, driver, sizeof driver);
		snprintf(place, sizeof place, "/sys/bus/pci/devices/%.100s", name);
		struct guid g = setup_class(class >> 16);
		kernel_put(&r, le64_get(g.b), 8);
		kernel_put(&r, le64_get(g.b + 8), 8);
		kernel_put(&r, 0, 8); /* no filters */
		kernel_put(&r, 0, 8); /* DevStatus, DevProblem */
		kernel_put_wide(&r, id, sizeof id);
		kernel_put_wide(&r, "", 0); /* DeviceDescription: the kernel keeps no names of them */
		kernel_put_wide(&r, "", 0);
		kernel_put_wide(&r, place, sizeof place);
		kernel_put_wide(&r, driver, sizeof driver);
		config_out(c, &r);
	}
	done(e, n);
}

/* Screens that are connected; what they show is their first mode. */
static void screens(const struct kernel_config *c)
{
	struct dirent **e = NULL;
	int n = list(c, "/sys/class/drm", &e);
	for (int i = 0; i < n; i++) {
		const char *name = e[i]->d_name;
		char status[32], mode[64], card[32], driver[64], path[400];
		unsigned width = 0, height = 0;
		const char *dash = strchr(name, '-');
		if (!dash || strncmp(name, "card", 4) != 0 ||
		    !config_line(c, status, sizeof status, "/sys/class/drm/%s/status", name) ||
		    strcmp(status, "connected") != 0 ||
		    !config_line(c, mode, sizeof mode, "/sys/class/drm/%s/modes", name) ||
		    sscanf(mode, "%ux%u", &width, &height) != 2) {
			continue;
		}
		snprintf(card, sizeof card, "%.*s", (int)BASE_MIN(dash - name, 31), name);
		snprintf(path, sizeof path, "/sys/class/drm/%s/device/driver", card);
		link_name(c, path, driver, sizeof driver);
		struct kernel_record r = config_record(c, CONFIG_VIDEO, 2);
		kernel_put(&r, config_number(c, 0, "/sys/class/drm/%s/device/mem_info_vram_total", card), 4);
		kernel_put(&r, width, 4);
		kernel_put(&r, height, 4);
		kernel_put(&r, 32, 4);
		kernel_put(&r, 0, 4); /* VRefresh */
		kernel_put_fixed(&r, driver, 256);
		kernel_put_fixed(&r, "", 256);
		kernel_put_fixed(&r, name, 256);
		kernel_put_fixed(&r, "", 256);
		kernel_put_fixed(&r, card, 256);
		kernel_put(&r, 1, 4); /* DISPLAY_DEVICE_ACTIVE */
		config_out(c, &r);
	}
	done(e, n);
}

void config_devices(const struct kernel_config *c)
{
	screens(c);
	interrupts(c);
	devices(c);
}

/* ---- services ---------------------------------------------------------------------------------
 */

/* systemd gives each service a control group; its first process is the oldest. */
void config_services(const struct kernel_config *c)
{
	static const char *const roots[] = {"/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/unified/system.slice",
					    "/sys/fs/cgroup/systemd/system.slice"};
	struct dirent **e = NULL;
	const char *root = NULL;
	int n = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(roots) && n == 0; i++) {
		root = roots[i];
		n = list(c, root, &e);
	}
	uint32_t tag = 0;
	for (int i = 0; i < n; i++) {
		const char *name = e[i]->d_name;
		size_t length = strlen(name);
		char process[64], line[512];
		if (length < 9 || strcmp(name + length - 8, ".service") != 0) {
			continue;
		}
		uint32_t pid = (uint32_t)config_number(c, 0, "%s/%s/cgroup.procs", root, name);
		if (pid == 0) { /* its processes are in groups below, or in another namespace */
			continue;
		}
		config_line(c, process, sizeof process, "/proc/%u/comm", pid);
		snprintf(line, sizeof line, "%.*s", (int)BASE_MIN(length - 8, sizeof line - 1), name);
		struct kernel_record r = config_record(c, CONFIG_SERVICE, 3);
		kernel_put(&r, pid, 4);
		kernel_put(&r, SERVICE_RUNNING, 4);
		kernel_put(&r, ++tag, 4);
		kernel_put_wide(&r, line, 256);
		kernel_put_wide(&r, name, 256);
		kernel_put_wide(&r, process, 64);
		kernel_put_wide(&r, "", 0);
		kernel_put_wide(&r, "", 0);
		config_out(c, &r);
	}
	done(e, n);
}
