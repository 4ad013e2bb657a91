/* SPDX-License-Identifier: MIT
 *
 * Disks and the file systems on them.
 */
#include "kernel/kernel_config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { CONFIG_PHYDISK = 0x0B, CONFIG_LOGDISK = 0x0C };
#define SECTORS_PER_TRACK   63u /* what everybody says who has no cylinders */
#define TRACKS_PER_CYLINDER 255u
#define SECTOR_BYTES        512u /* sysfs counts in these, whatever the disk does */
#define LOGDISK_BYTES       112u
#define VOLUMES_MAX         64u

static bool is_disk(const char *name)
{
	return name[0] != '.' && strncmp(name, "loop", 4) != 0 && strncmp(name, "ram", 3) != 0 &&
	       strncmp(name, "zram", 4) != 0;
}

static int by_number(const void *a, const void *b)
{
	const struct kernel_disk *x = a, *y = b;
	return x->major != y->major ? (x->major < y->major ? -1 : 1) : x->minor < y->minor ? -1 : x->minor > y->minor;
}

void kernel_disks_read(const char *root, struct kernel_disks *ret)
{
	struct kernel_config c = {.root = root};
	char path[1024], line[64];
	ret->count = 0;
	snprintf(path, sizeof path, "%s/sys/block", root);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct kernel_disk *k = &ret->disk[ret->count];
		if (!is_disk(e->d_name) || strlen(e->d_name) >= sizeof k->name ||
		    ret->count == BASE_ARRAY_LEN(ret->disk)) {
			continue;
		}
		config_line(&c, line, sizeof line, "/sys/block/%s/dev", e->d_name);
		if (sscanf(line, "%u:%u", &k->major, &k->minor) == 2) {
			memcpy(k->name, e->d_name, strlen(e->d_name) + 1); /* fits, see above */
			ret->count++;
		}
	}
	if (d) {
		closedir(d);
	}
	qsort(ret->disk, ret->count, sizeof ret->disk[0], by_number);
}

static uint32_t index_of(const struct kernel_disks *d, uint32_t major, uint32_t minor)
{
	for (uint32_t i = 0; i < d->count; i++) {
		if (d->disk[i].major == major && d->disk[i].minor == minor) {
			return i;
		}
	}
	return UINT32_MAX;
}

/* A partition's folder lies in its disk's. */
uint32_t kernel_disk_number(const struct kernel_disks *d, const char *root, uint32_t major, uint32_t minor)
{
	struct kernel_config c = {.root = root};
	char line[64];
	uint32_t i = index_of(d, major, minor);
	if (i == UINT32_MAX && config_line(&c, line, sizeof line, "/sys/dev/block/%u:%u/../dev", major, minor) &&
	    sscanf(line, "%u:%u", &major, &minor) == 2) {
		i = index_of(d, major, minor);
	}
	return i;
}

/* ---- volumes ----------------------------------------------------------------------------------
 */

struct volume {
	uint32_t major, minor, disk;
	char point[512], type[32];
};

/* Spaces and such are \040 there. */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}

/* Each device once, where it was mounted first. */
static uint32_t volumes(const struct kernel_config *c, const struct kernel_disks *disks, struct volume *v)
{
	char path[1024], line[4096];
	uint32_t n = 0;
	snprintf(path, sizeof path, "%s/proc/self/mountinfo", c->root);
	FILE *f = fopen(path, "re");
	while (f && n < VOLUMES_MAX && fgets(line, sizeof line, f)) {
		struct volume x;
		char from[512];
		const char *rest = strstr(line, " - ");
		if (!rest || sscanf(line, "%*u %*u %u:%u %511s %511s", &x.major, &x.minor, from, x.point) != 4 ||
		    sscanf(rest, " - %31s", x.type) != 1) {
			continue;
		}
		x.disk = kernel_disk_number(disks, c->root, x.major, x.minor);
		bool known = x.disk == UINT32_MAX || strcmp(from, "/") != 0;
		for (uint32_t i = 0; i < n; i++) {
			known = known || (v[i].major == x.major && v[i].minor == x.minor);
		}
		if (!known) {
			unescape(x.point);
			v[n++] = x;
		}
	}
	if (f) {
		fclose(f);
	}
	return n;
}

/* Windows has room for three characters: the root is called by its name, the others by numbers,
 * which volume mappings explain. */
static void letter(const struct volume *v, uint32_t index, char out[8])
{
	if (strcmp(v->point, "/") == 0) {
		snprintf(out, 8, "/");
	} else {
		snprintf(out, 8, "%u:", index % 100);
	}
}

static void write_mapping(const struct kernel_config *c, const struct volume *v, const char *name)
{
	struct kernel_record r = {.hook = 0x23, .class = &config_class_ex, .sessions = UINT64_MAX, .cpu = c->cpu};
	kernel_put_wide(&r, name, 8);
	kernel_put_wide(&r, v->point, 512);
	config_out(c, &r);
}

static void write_volume(const struct kernel_config *c, const struct kernel_disks *disks, const struct volume *v,
			 uint32_t index)
{
	struct kernel_record r = config_record(c, CONFIG_LOGDISK, 2);
	char name[8], path[1024];
	struct statvfs s;
	snprintf(path, sizeof path, "%s%s", c->root, v->point);
	if (statvfs(path, &s) < 0) {
		memset(&s, 0, sizeof s);
	}
	uint32_t sector = (uint32_t)config_number(c, SECTOR_BYTES, "/sys/block/%s/queue/logical_block_size",
						  disks->disk[v->disk].name);
	letter(v, index, name);
	kernel_put(&r, SECTOR_BYTES * config_number(c, 0, "/sys/dev/block/%u:%u/start", v->major, v->minor), 8);
	kernel_put(&r, SECTOR_BYTES * config_number(c, 0, "/sys/dev/block/%u:%u/size", v->major, v->minor), 8);
	kernel_put(&r, v->disk, 4);
	kernel_put(&r, LOGDISK_BYTES, 4);
	kernel_put(&r, 1, 4); /* DriveType: a partition */
	kernel_put_fixed(&r, name, 4);
	kernel_put(&r, 0, 4);
	kernel_put(&r, config_number(c, 0, "/sys/dev/block/%u:%u/partition", v->major, v->minor), 4);
	kernel_put(&r, sector ? s.f_frsize / sector : 0, 4);
	kernel_put(&r, sector, 4);
	kernel_put(&r, 0, 4);
	kernel_put(&r, s.f_bfree, 8);
	kernel_put(&r, s.f_blocks, 8);
	kernel_put_fixed(&r, v->type, 16);
	kernel_put(&r, 0, 8); /* VolumeExt, Pad3 */
	config_out(c, &r);
	if (strcmp(name, "/") != 0) {
		write_mapping(c, v, name);
	}
}

/* ---- disks ------------------------------------------------------------------------------------
 */

/* A partition's folder holds a file `partition`. */
static uint32_t partitions(const struct kernel_config *c, const char *disk)
{
	char path[1024], line[32];
	uint32_t n = 0;
	snprintf(path, sizeof path, "%s/sys/block/%s", c->root, disk);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		n += e->d_name[0] != '.' &&
		     config_line(c, line, sizeof line, "/sys/block/%s/%s/partition", disk, e->d_name);
	}
	if (d) {
		closedir(d);
	}
	return n;
}

/* host:channel:target:lun is the name of the device behind a SCSI disk. */
static void scsi_address(const struct kernel_config *c, const char *disk, uint32_t out[4])
{
	char path[1024], to[512];
	snprintf(path, sizeof path, "%s/sys/block/%s/device", c->root, disk);
	ssize_t n = readlink(path, to, sizeof to - 1);
	memset(out, 0, 4 * sizeof out[0]);
	if (n > 0) {
		to[n] = 0;
		const char *name = strrchr(to, '/');
		if (sscanf(name ? name + 1 : to, "%u:%u:%u:%u", &out[0], &out[1], &out[2], &out[3]) != 4) {
			memset(out, 0, 4 * sizeof out[0]);
		}
	}
}

static void write_disk(const struct kernel_config *c, const struct kernel_disk *k, uint32_t index, bool boot)
{
	struct kernel_record r = config_record(c, CONFIG_PHYDISK, 2);
	char vendor[64], model[128], name[256], cache[32];
	uint32_t scsi[4];
	uint64_t sectors = config_number(c, 0, "/sys/block/%s/size", k->name);
	uint32_t sector = (uint32_t)config_number(c, SECTOR_BYTES, "/sys/block/%s/queue/logical_block_size", k->name);
	config_line(c, vendor, sizeof vendor, "/sys/block/%s/device/vendor", k->name);
	if (!config_line(c, model, sizeof model, "/sys/block/%s/device/model", k->name) ||
	    strncmp(vendor, "0x", 2) == 0) { /* of PCI, as paravirtual disks have it */
		vendor[0] = 0;
	}
	if (!model[0]) {
		snprintf(model, sizeof model, "%s", k->name);
	}
	snprintf(name, sizeof name, "%s%s%s", vendor, vendor[0] ? " " : "", model);
	config_line(c, cache, sizeof cache, "/sys/block/%s/queue/write_cache", k->name);
	scsi_address(c, k->name, scsi);
	kernel_put(&r, index, 4);
	kernel_put(&r, sector, 4);
	kernel_put(&r, SECTORS_PER_TRACK, 4);
	kernel_put(&r, TRACKS_PER_CYLINDER, 4);
	kernel_put(&r, sectors * SECTOR_BYTES / BASE_MAX(sector, 1u) / (SECTORS_PER_TRACK * TRACKS_PER_CYLINDER), 8);
	for (int i = 0; i < 4; i++) {
		kernel_put(&r, scsi[i], 4);
	}
	kernel_put_fixed(&r, name, 256);
	kernel_put(&r, partitions(c, k->name), 4);
	kernel_put(&r, strcmp(cache, "write back") == 0, 1);
	kernel_put(&r, 0, 1);
	kernel_put_fixed(&r, boot ? "/" : "", 3);
	kernel_put(&r, 0, 4);
	config_out(c, &r);
}

void config_disks(const struct kernel_config *c)
{
	struct kernel_disks disks;
	struct volume *v = calloc(VOLUMES_MAX, sizeof *v);
	kernel_disks_read(c->root, &disks);
	uint32_t n = v ? volumes(c, &disks, v) : 0;
	for (uint32_t i = 0; i < disks.count; i++) {
		bool boot = false;
		for (uint32_t k = 0; k < n; k++) {
			boot = boot || (v[k].disk == i && strcmp(v[k].point, "/") == 0);
		}
		write_disk(c, &disks.disk[i], i, boot);
	}
	for (uint32_t k = 0; k < n; k++) {
		write_volume(c, &disks, &v[k], k);
	}
	free(v);
}
