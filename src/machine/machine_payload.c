/* SPDX-License-Identifier: MIT */
#include "machine/machine_payload.h"

#include "etw/values/guids.h"
#include "machine/machine.h"

#define SID_REVISION   1u
#define SID_PARTS_MAX  15u
#define PATH_UNITS_MAX 32768u

/* Classes by which programs and merge tools write what the kernel writes with hooks [obs] */
static const struct {
	struct guid guid;
	uint8_t group;
} classes[] = {
	{GUID_INIT(ETW_GUID_CLASS_PROCESS), KERNEL_GROUP_PROCESS},
	{GUID_INIT(ETW_GUID_CLASS_THREAD), KERNEL_GROUP_THREAD},
	{GUID_INIT(ETW_GUID_CLASS_IMAGE), KERNEL_GROUP_IMAGE},
};

uint16_t payload_hook(const struct etl_record *r)
{
	if (BASE_LIKELY(r->type != ETL_RT_FULL32 && r->type != ETL_RT_FULL64)) {
		return r->hook;
	}
	for (unsigned i = 0; i < BASE_ARRAY_LEN(classes); i++) {
		if (guid_equal(&r->provider, &classes[i].guid)) {
			uint16_t hook = (uint16_t)(classes[i].group << 8 | r->opcode);
			return hook == KERNEL_HOOK(KERNEL_GROUP_IMAGE, KP_IMAGE_LOAD) ? KERNEL_HOOK_IMAGE_LOAD : hook;
		}
	}
	return 0;
}

static struct kernel_payload with_pointer(const struct etl_record *r, unsigned pointer)
{
	return (struct kernel_payload){r->payload, r->payload_bytes, pointer};
}

/* Ends with its NUL or with the payload. */
static const uint8_t *take_text16(struct bytes *b, uint32_t *ret_units)
{
	const uint8_t *p = b->p;
	size_t left = bytes_left(b) / 2, n = 0;
	while (n < left && n < PATH_UNITS_MAX && le16_get(p + 2 * n) != 0) {
		n++;
	}
	bytes_take(b, 2 * (n < left ? n + 1 : n));
	*ret_units = (uint32_t)n;
	return p;
}

static void skip_sid(struct bytes *b, unsigned pointer)
{
	const uint8_t *p = b->p;
	size_t left = bytes_left(b);
	const uint8_t *sid = left >= 2 * pointer + 8 ? p + 2 * pointer : NULL;
	bool is_sid =
		sid && sid[0] == SID_REVISION && sid[1] >= 1 && sid[1] <= SID_PARTS_MAX && sid[2] == 0 && sid[3] == 0;
	/* No user: four zeros. But a program may write zeros where the kernel has pointers. */
	if (left >= 4 && le32_get(p) == 0 && !is_sid) {
		bytes_take(b, 4);
		return;
	}
	if (!is_sid) {
		bytes_take(b, left + 1); /* bad from here on */
		return;
	}
	bytes_take(b, 2 * pointer + 8 + 4u * sid[1]);
}

enum fit { FIT_NOT, FIT_WITH_REST, FIT };

/* From the first field on whose place is not fixed. Defunct has what Start has, and more versions. */
static const struct {
	uint32_t user;
	char tail[8];
} process_layouts[] = {
	[1] = {KP_PROCESS_START_V1_USER_SID, KP_PROCESS_START_V1_TAIL},
	[2] = {KP_PROCESS_DEFUNCT_V2_USER_SID, KP_PROCESS_DEFUNCT_V2_TAIL},
	[3] = {KP_PROCESS_DEFUNCT_V3_USER_SID, KP_PROCESS_DEFUNCT_V3_TAIL},
	[4] = {KP_PROCESS_DEFUNCT_V4_USER_SID, KP_PROCESS_DEFUNCT_V4_TAIL},
	[5] = {KP_PROCESS_DEFUNCT_V5_USER_SID, KP_PROCESS_DEFUNCT_V5_TAIL},
};
_Static_assert(KP_PROCESS_START_V2_USER_SID == KP_PROCESS_DEFUNCT_V2_USER_SID &&
		       KP_PROCESS_START_V3_USER_SID == KP_PROCESS_DEFUNCT_V3_USER_SID &&
		       KP_PROCESS_START_V4_USER_SID == KP_PROCESS_DEFUNCT_V4_USER_SID,
	       "alike");

static enum fit process_as(const struct etl_record *r, unsigned pointer, struct payload_process *ret)
{
	struct kernel_payload k = with_pointer(r, pointer);
	unsigned layout = BASE_MIN((unsigned)r->version, (unsigned)BASE_ARRAY_LEN(process_layouts) - 1);
	struct bytes b = kernel_payload_from(k, process_layouts[layout].user);
	*ret = (struct payload_process){.pid = kernel_payload_get32(k, KP_PROCESS_START_SINCE_V1_PROCESS_ID),
					.parent = kernel_payload_get32(k, KP_PROCESS_START_SINCE_V1_PARENT_ID),
					.session = kernel_payload_get32(k, KP_PROCESS_START_SINCE_V1_SESSION_ID)};
	for (const char *t = process_layouts[layout].tail; *t; t++) {
		size_t left = bytes_left(&b), n;
		uint32_t units;
		const uint8_t *p = b.p;
		switch (*t) {
		case 's': skip_sid(&b, pointer); break;
		case 'a': /* the name */
			n = b.bad ? left : strnlen((const char *)p, left);
			if (n >= left) {
				return FIT_NOT;
			}
			bytes_take(&b, n + 1);
			ret->name = p;
			ret->name_bytes = (uint32_t)n;
			break;
		case 'w': /* the command line, then package and application */
			p = take_text16(&b, &units);
			if (!ret->command) {
				ret->command = p;
				ret->command_units = units;
			}
			break;
		default: bytes_take(&b, left >= 8 ? 8 : 0); break; /* when it ended */
		}
	}
	if (b.bad) {
		return FIT_NOT;
	}
	return bytes_left(&b) == 0 ? FIT : FIT_WITH_REST;
}

bool payload_process(const struct etl_record *r, struct payload_process *ret)
{
	unsigned pointer = r->pointer_size;
	if (r->version < 1) {
		return false;
	}
	enum fit fit = process_as(r, pointer, ret);
	struct payload_process other;
	/* The end tells which size the pointers have: zeros of wide ones look like a missing user and
	 * an empty name. */
	if (fit != FIT && process_as(r, 12 - pointer, &other) > fit) {
		*ret = other;
		return true;
	}
	return fit != FIT_NOT;
}

static bool image_as(const struct etl_record *r, unsigned pointer, struct payload_image *ret)
{
	struct kernel_payload k = with_pointer(r, pointer);
	bool first = r->version == 0;
	uint32_t path = KP_IMAGE_LOAD_SINCE_V2_FILE_NAME;
	*ret = (struct payload_image){
		.pid = first ? r->pid : kernel_payload_get32(k, KP_IMAGE_LOAD_SINCE_V1_PROCESS_ID),
		.base = kernel_payload_get(k, KP_IMAGE_LOAD_SINCE_V0_IMAGE_BASE),
		.size = kernel_payload_get(k, first ? KP_IMAGE_LOAD_V0_IMAGE_SIZE : KP_IMAGE_LOAD_SINCE_V1_IMAGE_SIZE),
	};
	if (r->version >= 2) {
		ret->checksum = kernel_payload_get32(k, KP_IMAGE_LOAD_SINCE_V2_IMAGE_CHECKSUM);
		ret->time_date_stamp = kernel_payload_get32(k, KP_IMAGE_LOAD_SINCE_V2_TIME_DATE_STAMP);
	} else {
		path = first ? KP_IMAGE_LOAD_V0_FILE_NAME : KP_IMAGE_LOAD_V1_FILE_NAME;
	}
	struct bytes b = kernel_payload_from(k, path);
	size_t left = bytes_left(&b);
	ret->path = take_text16(&b, &ret->path_units);
	/* The end tells whether the pointers had this size: the path is the last field. */
	return !b.bad && left >= 2 && 2 * (size_t)ret->path_units + 2 + 1 >= left;
}

/* How surely it is the path of a file: 2 with a drive, 1 from a root, 0 not. */
static int path_rank(const uint8_t *p, uint32_t units)
{
	uint16_t first = units ? le16_get(p) : 0, letter = first | 0x20;
	if (units > 2 && letter >= 'a' && letter <= 'z' && le16_get(p + 2) == ':' && le16_get(p + 4) == '\\') {
		return 2;
	}
	return first == '\\';
}

bool payload_image(const struct etl_record *r, struct payload_image *ret)
{
	unsigned pointer = r->pointer_size;
	bool fits = image_as(r, pointer, ret);
	struct payload_image other;
	/* In version 0 the path takes in what the pointer leaves, so it fits with any. */
	if ((!fits || r->version == 0) && image_as(r, 12 - pointer, &other) &&
	    (!fits || path_rank(other.path, other.path_units) > path_rank(ret->path, ret->path_units))) {
		*ret = other;
		return true;
	}
	return fits;
}

static const struct guid image_id = GUID_INIT(ETW_GUID_CLASS_IMAGE_ID);

/* Of the GUIDs above and of those that name code made at run time. */
static bool speaks(uint32_t first)
{
	switch (first) {
	case GUID_FIRST(ETW_GUID_CLASS_PROCESS):
	case GUID_FIRST(ETW_GUID_CLASS_THREAD):
	case GUID_FIRST(ETW_GUID_CLASS_IMAGE):
	case GUID_FIRST(ETW_GUID_CLASS_IMAGE_ID):
	case GUID_FIRST(ETW_GUID_CLASS_SYSTEM_CONFIG_EX):
	case GUID_FIRST(KP_OPEN_ETW_SYMBOLS_GUID):
	case GUID_FIRST(KP_OPEN_ETW_RECORDING_GUID):
	case GUID_FIRST(KP_DOT_NETRUNTIME_GUID):
	case GUID_FIRST(KP_DOT_NETRUNTIME_RUNDOWN_GUID):
	case GUID_FIRST(KP_JSCRIPT_GUID): return true;
	default: return false;
	}
}

bool machine_wants(uint8_t type, const uint8_t *raw)
{
	switch (type) {
	case ETL_RT_SYSTEM32:
	case ETL_RT_SYSTEM64:
	case ETL_RT_COMPACT32:
	case ETL_RT_COMPACT64:
	case ETL_RT_PERFINFO32:
	case ETL_RT_PERFINFO64:
		switch (raw[7]) {
		case KERNEL_GROUP_PROCESS:
		case KERNEL_GROUP_THREAD:
		case KERNEL_GROUP_IMAGE:
		case KERNEL_GROUP_STACK: return true;
		case KERNEL_GROUP_FILE: return raw[6] < KP_FILE_IO_CREATE;
		default: return false;
		}
	case ETL_RT_FULL32:
	case ETL_RT_FULL64:
	case ETL_RT_EVENT32:
	case ETL_RT_EVENT64: return speaks(le32_get(raw + 0x18));
	default: return false;
	}
}

bool payload_thread(const struct etl_record *r, uint32_t *ret_pid, uint32_t *ret_tid)
{
	struct kernel_payload k = payload_of(r);
	bool first = r->version == 0;
	uint32_t pid = first ? KP_THREAD_START_V0_PROCESS_ID : KP_THREAD_START_SINCE_V1_PROCESS_ID;
	uint32_t tid = first ? KP_THREAD_START_V0_TTHREAD_ID : KP_THREAD_START_SINCE_V1_TTHREAD_ID;
	_Static_assert(KP_THREAD_END_V0_PROCESS_ID == KP_THREAD_START_V0_PROCESS_ID &&
			       KP_THREAD_END_SINCE_V1_PROCESS_ID == KP_THREAD_START_SINCE_V1_PROCESS_ID,
		       "alike");
	*ret_pid = kernel_payload_get32(k, pid);
	*ret_tid = kernel_payload_get32(k, tid);
	return kernel_payload_has(k, pid) && kernel_payload_has(k, tid);
}

bool payload_thread_name(const struct etl_record *r, uint16_t hook, struct payload_thread_name *ret)
{
	struct kernel_payload k = payload_of(r);
	bool set = hook == HOOK_THREAD_NAME;
	struct bytes b = kernel_payload_from(k, set ? KP_THREAD_SET_NAME_SINCE_V2_THREAD_NAME
						    : KP_THREAD_START_SINCE_V3_THREAD_NAME);
	if (b.bad || (!set && r->version < 3)) {
		return false;
	}
	ret->tid = kernel_payload_get32(k, set ? KP_THREAD_SET_NAME_SINCE_V2_THREAD_ID
					       : KP_THREAD_START_SINCE_V1_TTHREAD_ID);
	ret->name = take_text16(&b, &ret->name_units);
	return ret->name_units > 0;
}

bool payload_debug_id(const struct etl_record *r, struct payload_debug_id *ret)
{
	struct kernel_payload k = payload_of(r);
	if (r->opcode != KP_IMAGE_ID_DBG_ID_RSDS || !guid_equal(&r->provider, &image_id)) {
		return false;
	}
	ret->base = kernel_payload_get(k, KP_IMAGE_ID_DBG_ID_RSDS_SINCE_V0_IMAGE_BASE);
	ret->pid = kernel_payload_get32(k, KP_IMAGE_ID_DBG_ID_RSDS_SINCE_V0_PROCESS_ID);
	ret->guid = kernel_payload_bytes(k, KP_IMAGE_ID_DBG_ID_RSDS_SINCE_V0_GUID_SIG);
	ret->age = kernel_payload_get32(k, KP_IMAGE_ID_DBG_ID_RSDS_SINCE_V0_AGE);
	struct bytes b = kernel_payload_from(k, KP_IMAGE_ID_DBG_ID_RSDS_SINCE_V0_PDB_FILE_NAME);
	ret->name = b.p;
	ret->name_bytes = (uint32_t)strnlen((const char *)b.p, bytes_left(&b));
	return !b.bad;
}

static const struct guid config_ex = GUID_INIT(ETW_GUID_CLASS_SYSTEM_CONFIG_EX);

bool payload_volume(const struct etl_record *r, struct payload_volume *ret)
{
	struct bytes b = kernel_payload_from(payload_of(r), KP_SYSTEM_CONFIG_EX_VOLUME_MAPPING_SINCE_V0_NT_PATH);
	if (r->opcode != KP_SYSTEM_CONFIG_EX_VOLUME_MAPPING || !guid_equal(&r->provider, &config_ex)) {
		return false;
	}
	ret->device = take_text16(&b, &ret->device_units);
	ret->name = take_text16(&b, &ret->name_units);
	return !b.bad;
}

bool payload_file(const struct etl_record *r, uint64_t *ret_key, const uint8_t **ret_path, uint32_t *ret_units)
{
	int best = -1;
	for (unsigned pointer = r->pointer_size, i = 0; i < 2; i++, pointer = 12 - pointer) {
		struct kernel_payload k = with_pointer(r, pointer);
		uint64_t key = kernel_payload_get(k, KP_FILE_IO_NAME_SINCE_V0_FILE_OBJECT);
		struct bytes b = kernel_payload_from(k, KP_FILE_IO_NAME_SINCE_V0_FILE_NAME);
		if (b.bad || bytes_left(&b) < 2) {
			continue;
		}
		uint32_t units;
		const uint8_t *path = take_text16(&b, &units);
		int rank = path_rank(path, units);
		if (rank > best) {
			*ret_key = key;
			*ret_path = path;
			*ret_units = units;
			best = rank;
		}
		if (rank > 0 && pointer == r->pointer_size) {
			break;
		}
	}
	return best >= 0;
}
