/* SPDX-License-Identifier: MIT
 *
 * The log-file header, first record of buffer 0, and the clock it defines.
 */
#include "etl/etl_record.h"

#define FILETIME_PER_SECOND 10000000ull
#define NS_PER_SECOND       1000000000ull
#define CLOCK_SYSTEM_TIME   2u
#define CLOCK_CPU_CYCLES    3u

uint64_t etl_clock_to_filetime(const struct etl_clock *c, uint64_t raw)
{
	if (c->clock_type == CLOCK_SYSTEM_TIME) {
		return raw;
	}
	uint64_t freq = c->clock_type == CLOCK_CPU_CYCLES ? c->cpu_mhz * 1000000ull : c->perf_freq;
	bool back = raw < c->start_raw;
	uint64_t ticks = back ? c->start_raw - raw : raw - c->start_raw;
	/* Whole seconds and the rest apart: exact, and without a 128-bit division an event. A clock in
	 * nanoseconds, which is ours, needs none by a variable at all. */
	if (freq == NS_PER_SECOND) {
		ticks /= NS_PER_SECOND / FILETIME_PER_SECOND;
	} else if (freq != FILETIME_PER_SECOND && freq != 0) {
		uint64_t rest = ticks % freq;
		ticks = ticks / freq * FILETIME_PER_SECOND + (rest < UINT64_MAX / FILETIME_PER_SECOND
								      ? rest * FILETIME_PER_SECOND / freq
								      : clock_muldiv(rest, FILETIME_PER_SECOND, freq));
	}
	return back ? c->start_filetime - ticks : c->start_filetime + ticks;
}

/* A string that its NUL or the end of the record ends; wants an even number of bytes. */
static const uint8_t *name_take(struct bytes *b, uint32_t *ret_units)
{
	const uint8_t *p = b->p;
	size_t left = bytes_left(b) / 2;
	size_t n = 0;
	while (n < left && le16_get(p + 2 * n) != 0) {
		n++;
	}
	bytes_take(b, 2 * (n < left ? n + 1 : n));
	*ret_units = (uint32_t)n;
	return p;
}

/* A backing file of a real-time session [doc]: plain buffers, each with the clock's kind and
 * frequency and one pair of FILETIME and raw time. */
static bool is_spill(const uint8_t *buf, size_t n)
{
	uint32_t bytes = le32_get(buf);
	uint64_t clock = le64_get(buf + ETL_BH_CLOCK);
	return n > ETL_BUFFER_HEADER_SIZE && (le16_get(buf + ETL_BH_FLAG) & ETL_BF_RTBACKUP) &&
	       le16_get(buf + ETL_BH_TYPE) != ETL_BT_HEADER && bytes >= 0x200 && bytes <= ETL_BUFFER_MAX &&
	       (clock & 7) <= CLOCK_CPU_CYCLES && le64_get(buf + ETL_BH_REFERENCE_TIME) != 0;
}

static void spill_parse(const uint8_t *buf, struct etl_file_info *ret)
{
	uint64_t clock = le64_get(buf + ETL_BH_CLOCK);
	*ret = (struct etl_file_info){
		.buffer_size = le32_get(buf + ETL_BH_BUFFER_SIZE),
		.pointer_size = 8,
		.clock_type = clock & 7 ? (uint32_t)(clock & 7) : 1,
		.perf_freq = clock >> 3 ? clock >> 3 : FILETIME_PER_SECOND,
		.cpu_mhz = (uint32_t)BASE_MIN((clock >> 3) / 1000000, UINT32_MAX),
		.start_filetime = le64_get(buf + ETL_BH_REFERENCE_TIME),
		.start_raw = le64_get(buf + ETL_BH_REFERENCE_TIME + 8),
		.timer_resolution = 156250,
		.logger_name = buf, /* none */
		.file_name = buf,
		.header = buf,
		.header_bytes = ETL_BUFFER_HEADER_SIZE,
		.spill = true,
	};
}

/* Before Vista the place of the buffer type holds other things [doc: the published structures of
 * that time]. The first record is the same. */
static bool is_old(const uint8_t *buf)
{
	const uint8_t *r = buf + ETL_BUFFER_HEADER_SIZE;
	const uint8_t *h = r + ETL_SYSTEM_HEADER_SIZE;
	uint32_t pointer = le32_get(h + ETL_LH_POINTER_SIZE);
	return (r[2] == ETL_RT_SYSTEM32 || r[2] == ETL_RT_SYSTEM64) && r[3] == ETL_MARK_HEADER &&
	       le16_get(r + 6) == 0 && h[ETL_LH_VERSION + 2] == 1 && h[ETL_LH_VERSION + 3] < 4 &&
	       h[ETL_LH_VERSION] <= 5 && h[ETL_LH_VERSION] != 0 && le32_get(h + ETL_LH_BUFFER_SIZE) == le32_get(buf) &&
	       (pointer == 4 || pointer == 8);
}

int etl_header_parse(const uint8_t *buf, size_t n, struct etl_file_info *ret, struct diag *d)
{
	const uint32_t fixed = ETL_BUFFER_HEADER_SIZE + ETL_SYSTEM_HEADER_SIZE;
	if (n < fixed + ETL_LH32_NAMES) {
		diag_at(d, n, "too short for a trace file: %zu bytes", n);
		return -EBADMSG;
	}
	if (is_spill(buf, n)) {
		spill_parse(buf, ret);
		return 0;
	}
	bool old = is_old(buf);
	if (!old && le16_get(buf + ETL_BH_TYPE) != ETL_BT_HEADER) {
		diag_at(d, ETL_BH_TYPE, "not a trace file: buffer 0 is of type %u, not %u", le16_get(buf + ETL_BH_TYPE),
			ETL_BT_HEADER);
		return -EBADMSG;
	}
	uint32_t buffer_bytes = le32_get(buf + ETL_BH_BUFFER_SIZE);
	if (buffer_bytes < 0x200 || buffer_bytes > ETL_BUFFER_MAX) {
		diag_at(d, 0, "not a trace file: buffer 0 claims %u bytes", buffer_bytes);
		return -EBADMSG;
	}
	const uint8_t *r = buf + ETL_BUFFER_HEADER_SIZE;
	uint32_t bytes = le16_get(r + 4);
	if ((r[2] != ETL_RT_SYSTEM32 && r[2] != ETL_RT_SYSTEM64) || r[3] != ETL_MARK_HEADER || le16_get(r + 6) != 0) {
		diag_at(d, ETL_BUFFER_HEADER_SIZE, "not a trace file: no log-file header record");
		return -EBADMSG;
	}
	const uint8_t *h = r + ETL_SYSTEM_HEADER_SIZE;
	uint32_t pointer = le32_get(h + ETL_LH_POINTER_SIZE);
	if (pointer != 4 && pointer != 8) {
		pointer = r[2] == ETL_RT_SYSTEM32 ? 4 : 8;
	}
	bool wide = pointer == 8;
	uint32_t names = wide ? ETL_LH64_NAMES : ETL_LH32_NAMES;
	if (bytes < ETL_SYSTEM_HEADER_SIZE + names || bytes > n - ETL_BUFFER_HEADER_SIZE) {
		diag_at(d, ETL_BUFFER_HEADER_SIZE, "log-file header claims %u bytes", bytes);
		return -EBADMSG;
	}
	struct etl_file_info i = {
		.buffer_size = le32_get(h + ETL_LH_BUFFER_SIZE),
		.pointer_size = pointer,
		.os_version = le32_get(h + ETL_LH_VERSION),
		.os_build = le32_get(h + ETL_LH_PROVIDER_VERSION),
		.processors = le32_get(h + ETL_LH_PROCESSORS),
		.timer_resolution = le32_get(h + ETL_LH_TIMER_RESOLUTION),
		.maximum_file_size = le32_get(h + ETL_LH_MAXIMUM_FILE_SIZE),
		.log_file_mode = le32_get(h + ETL_LH_MODE),
		.buffers_written = le32_get(h + ETL_LH_BUFFERS_WRITTEN),
		.events_lost = le32_get(h + ETL_LH_EVENTS_LOST),
		.buffers_lost = le32_get(h + (wide ? ETL_LH64_BUFFERS_LOST : ETL_LH32_BUFFERS_LOST)),
		.cpu_mhz = le32_get(h + ETL_LH_CPU_MHZ),
		.clock_type = le32_get(h + (wide ? ETL_LH64_CLOCK_TYPE : ETL_LH32_CLOCK_TYPE)),
		.perf_freq = le64_get(h + (wide ? ETL_LH64_PERF_FREQ : ETL_LH32_PERF_FREQ)),
		.start_filetime = le64_get(h + (wide ? ETL_LH64_START_TIME : ETL_LH32_START_TIME)),
		.end_filetime = le64_get(h + ETL_LH_END_TIME),
		.boot_filetime = le64_get(h + (wide ? ETL_LH64_BOOT_TIME : ETL_LH32_BOOT_TIME)),
		.start_raw = le64_get(r + 0x10),
	};
	memcpy(i.time_zone, h + (wide ? ETL_LH64_TIME_ZONE : ETL_LH32_TIME_ZONE), ETL_TIME_ZONE_SIZE);
	struct bytes b = bytes_of(h + names, bytes - ETL_SYSTEM_HEADER_SIZE - names);
	i.logger_name = name_take(&b, &i.logger_name_units);
	i.file_name = name_take(&b, &i.file_name_units);
	i.old = old;
	i.header = buf;
	i.header_bytes = etl_buffer_end(buf, n);
	/* A session that died leaves EndTime as it was first written. */
	i.stopped_cleanly = i.end_filetime != 0;
	*ret = i;
	return 0;
}
