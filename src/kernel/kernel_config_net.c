/* SPDX-License-Identifier: MIT
 *
 * Network interfaces with their addresses, and TCP's tables.
 */
#include "kernel/kernel_config.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONFIG_NIC = 0x0D, CONFIG_NETWORK = 0x11 };
#define TEXT_MAX          600u
#define TIME_WAIT_SECONDS 60u /* fixed in Linux */

static void add(char *list, const char *s)
{
	size_t n = strlen(list);
	snprintf(list + n, TEXT_MAX - n, "%s%s", n ? ";" : "", s);
}

static FILE *open_below(const struct kernel_config *c, const char *name)
{
	char path[1024];
	snprintf(path, sizeof path, "%s%s", c->root, name);
	return fopen(path, "re");
}

/* Addresses of IPv6 stand in /proc as 32 digits. */
static void addresses6(const struct kernel_config *c, const char *name, char list[TEXT_MAX])
{
	char line[256], digits[40], device[32], text[INET6_ADDRSTRLEN];
	FILE *f = open_below(c, "/proc/net/if_inet6");
	while (f && fgets(line, sizeof line, f)) {
		uint8_t a[16];
		if (sscanf(line, "%39s %*x %*x %*x %*x %31s", digits, device) != 2 || strcmp(device, name) != 0 ||
		    strlen(digits) != 32) {
			continue;
		}
		for (int i = 0; i < 16; i++) {
			char two[3] = {digits[2 * i], digits[2 * i + 1], 0};
			a[i] = (uint8_t)strtoul(two, NULL, 16);
		}
		if (inet_ntop(AF_INET6, a, text, sizeof text)) {
			add(list, text);
		}
	}
	if (f) {
		fclose(f);
	}
}

/* Those of IPv4 the kernel says only when asked. */
static void addresses4(const char *name, char list[TEXT_MAX])
{
	struct ifaddrs *all = NULL;
	char text[INET_ADDRSTRLEN];
	if (getifaddrs(&all) < 0) {
		return;
	}
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && strcmp(i->ifa_name, name) == 0 &&
		    inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, text, sizeof text)) {
			add(list, text);
		}
	}
	freeifaddrs(all);
}

static void name_servers(const struct kernel_config *c, char list[TEXT_MAX])
{
	char line[256], server[128];
	FILE *f = open_below(c, "/etc/resolv.conf");
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "nameserver %127s", server) == 1) {
			add(list, server);
		}
	}
	if (f) {
		fclose(f);
	}
}

static void write_nic(const struct kernel_config *c, const char *name, const char *servers)
{
	struct kernel_record r = config_record(c, CONFIG_NIC, 2);
	char line[64], driver[1024], to[512], text[TEXT_MAX] = "", description[200];
	uint8_t a[8] = {0};
	unsigned n = 0, part[8];
	config_line(c, line, sizeof line, "/sys/class/net/%s/address", name);
	int parts = sscanf(line, "%x:%x:%x:%x:%x:%x:%x:%x", &part[0], &part[1], &part[2], &part[3], &part[4], &part[5],
			   &part[6], &part[7]);
	for (; parts > 0 && n < (unsigned)parts; n++) {
		a[n] = (uint8_t)part[n];
	}
	if (le64_get(a) == 0) { /* the loopback has none, and says zeros */
		n = 0;
	}
	snprintf(driver, sizeof driver, "%s/sys/class/net/%.31s/device/driver", c->root, name);
	ssize_t bytes = readlink(driver, to, sizeof to - 1);
	to[bytes > 0 ? bytes : 0] = 0;
	const char *base = strrchr(to, '/');
	snprintf(description, sizeof description, "%.31s%s%.100s%s", name, base ? " (" : "", base ? base + 1 : "",
		 base ? ")" : "");
	uint32_t index = (uint32_t)config_number(c, 0, "/sys/class/net/%s/ifindex", name);
	addresses6(c, name, text);
	addresses4(name, text);
	kernel_put(&r, le64_get(a), 8);
	kernel_put(&r, n, 4);
	kernel_put(&r, index, 4);
	kernel_put(&r, index, 4);
	kernel_put_wide(&r, description, 200);
	kernel_put_wide(&r, text, 500);
	kernel_put_wide(&r, servers, 300);
	config_out(c, &r);
}

static void write_tcp(const struct kernel_config *c)
{
	struct kernel_record r = config_record(c, CONFIG_NETWORK, 2);
	char line[64];
	unsigned low, high = 0;
	config_line(c, line, sizeof line, "/proc/sys/net/ipv4/ip_local_port_range");
	if (sscanf(line, "%u %u", &low, &high) != 2) {
		high = 0;
	}
	kernel_put(&r, 0, 4); /* TcbTablePartitions */
	kernel_put(&r, config_number(c, 0, "/proc/sys/net/ipv4/tcp_ehash_entries"), 4);
	kernel_put(&r, high, 4);
	kernel_put(&r, TIME_WAIT_SECONDS, 4);
	config_out(c, &r);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

void config_network(const struct kernel_config *c)
{
	enum { NICS = 64, NAME = 32 };
	char path[1024], names[NICS][NAME], servers[TEXT_MAX] = "";
	size_t n = 0;
	snprintf(path, sizeof path, "%s/sys/class/net", c->root);
	DIR *d = opendir(path);
	for (struct dirent *e; d && n < NICS && (e = readdir(d));) {
		if (e->d_name[0] != '.' && strlen(e->d_name) < NAME) {
			strcpy(names[n++], e->d_name);
		}
	}
	if (d) {
		closedir(d);
	}
	qsort(names, n, NAME, by_text);
	name_servers(c, servers);
	for (size_t i = 0; i < n; i++) {
		write_nic(c, names[i], servers);
	}
	write_tcp(c);
}
