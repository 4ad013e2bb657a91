/* SPDX-License-Identifier: MIT
 *
 * Real Windows files through reader and decoder: every self-describing event, every event whose
 * description a merge put into the file and every log-file header must decode without a remainder
 * of doubt. `decode_corpus [-m MANIFEST] FILE...` prints the JSON of a file
 * instead.
 */
#include "etl/etl_reader.h"
#include "evntcons.h"
#include "format/etl_item.h"
#include "openetw/decode.h"

#include "../corpus/corpus.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ITEMS_MAX 64

struct tally {
	unsigned records, decoded, partly, no_schema, tlg, learnt, classic_known, manifest, header;
	unsigned unread; /* records with bytes that no field covers */
};

static void to_record(const struct etl_record *e, EVENT_RECORD *r, EVENT_HEADER_EXTENDED_DATA_ITEM *items)
{
	memset(r, 0, sizeof *r);
	r->EventHeader.Flags = e->event_flags;
	r->EventHeader.ProcessId = e->pid;
	memcpy(&r->EventHeader.ProviderId, &e->provider, 16);
	r->EventHeader.EventDescriptor.Id = e->id;
	r->EventHeader.EventDescriptor.Version = e->version;
	r->EventHeader.EventDescriptor.Channel = e->channel;
	r->EventHeader.EventDescriptor.Level = e->level;
	r->EventHeader.EventDescriptor.Opcode = e->opcode;
	r->EventHeader.EventDescriptor.Task = e->task;
	r->EventHeader.EventDescriptor.Keyword = e->keyword;
	r->UserData = (void *)(uintptr_t)e->payload;
	r->UserDataLength = (USHORT)e->payload_bytes;
	uint32_t at = 0;
	uint16_t type, bytes, n = 0;
	const uint8_t *data;
	while (n < ITEMS_MAX && etl_item_next(e->items, e->items_bytes, &at, &type, &data, &bytes)) {
		items[n++] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
			.ExtType = type, .DataSize = bytes, .DataPtr = (uintptr_t)data};
	}
	r->ExtendedDataCount = n;
	r->ExtendedData = n ? items : NULL;
}

static bool has_item(const EVENT_RECORD *r, unsigned type)
{
	for (unsigned i = 0; i < r->ExtendedDataCount; i++) {
		if (r->ExtendedData[i].ExtType == type) {
			return true;
		}
	}
	return false;
}

static struct tally run(const char *name, struct openetw_text *first_tlg, FILE *print)
{
	struct tally c = {0};
	struct etl_reader *reader;
	struct diag d;
	char path[4096];
	diag_clear(&d);
	if (print) {
		snprintf(path, sizeof path, "%s", name);
	} else {
		corpus_path(name, path, sizeof path);
	}
	assert_int_equal(etl_reader_open(path, 0, &reader, &d), 0);
	struct openetw_decoder *dec = openetw_decoder_create();
	struct openetw_text t = {0};
	struct etl_record e;
	while (etl_reader_next(reader, &e) > 0) {
		EVENT_RECORD r;
		EVENT_HEADER_EXTENDED_DATA_ITEM items[ITEMS_MAX];
		to_record(&e, &r, items);
		c.records++;
		c.learnt += (unsigned)openetw_decoder_learn(dec, &r);
		openetw_text_clear(&t);
		uint32_t result = openetw_decode_json(dec, &r, &t);
		assert_true(result == OPENETW_DECODED || result == OPENETW_NO_SCHEMA || result == OPENETW_PARTLY);
		assert_true(t.data[0] == '{' && t.data[t.length - 1] == '}');
		if (result == OPENETW_DECODED && openetw_decoder_unread(dec) != 0) {
			c.unread++;
			if (c.unread <= 3 || print) {
				printf("%s: %zu bytes unread: %s %.300s\n", name, openetw_decoder_unread(dec),
				       openetw_event_name(dec, &r), t.data);
			}
		}
		bool tlg = has_item(&r, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL);
		c.decoded += result == OPENETW_DECODED;
		c.partly += result == OPENETW_PARTLY;
		c.no_schema += result == OPENETW_NO_SCHEMA;
		c.tlg += tlg;
		c.header += result == OPENETW_DECODED && e.hook == 0 && c.records == 1;
		c.manifest += result == OPENETW_DECODED && !tlg && !(r.EventHeader.Flags & 0x100);
		if (tlg && first_tlg && first_tlg->length == 0) {
			openetw_decode_json(dec, &r, first_tlg);
		}
		if (result == OPENETW_PARTLY) {
			printf("%s: %s/%s: %.400s\n", name, openetw_provider_name(dec, &r), "", t.data);
		}
		if (print) {
			fprintf(print, "%s", openetw_provider_name(dec, &r));
			fprintf(print, "\t%s\t%u\t%s\n", openetw_event_name(dec, &r), r.UserDataLength, t.data);
		}
	}
	printf("%s: %u records, %u decoded (%u self-describing, %u manifest), %u partly, %u "
	       "without "
	       "schema, %u learnt, %u with unread bytes\n",
	       name, c.records, c.decoded, c.tlg, c.manifest, c.partly, c.no_schema, c.learnt, c.unread);
	openetw_text_free(&t);
	openetw_decoder_destroy(dec);
	etl_reader_close(reader);
	return c;
}

static void every_self_describing_event_decodes(void **state)
{
	static const struct {
		const char *name;
		unsigned tlg;
	} files[] = {
		{"perfview/primitive-types.etl", 5},
		{"perfview/SelfDescribingSingleEvent.etl", 1},
		{"etl-parser/lxcore_kernel.etl", 2},
		{"sonde/test.etl", 0},
	};
	if (!corpus_present()) {
		skip();
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		struct tally c = run(files[i].name, NULL, NULL);
		assert_int_equal(c.partly, 0);
		assert_int_equal(c.header, 1);
		if (files[i].tlg) {
			assert_int_equal(c.tlg, files[i].tlg);
		} else {
			assert_true(c.tlg > 0);
		}
		assert_true(c.decoded >= c.tlg);
	}
}

static void primitive_types_have_the_listed_values(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	struct openetw_text t = {0};
	run("perfview/primitive-types.etl", &t, NULL);
	assert_non_null(strstr(t.data, "\"string_type\":\"Mercury\",\"boolean_type\":false"));
	assert_non_null(strstr(t.data, "\"guid_type\":\"0ad614c4-0ef4-4225-8"));
	assert_non_null(strstr(t.data, "\"file_time_type\":\"2021-09-09T14:59:35.79"));
	openetw_text_free(&t);
}

static void merged_files_describe_their_own_manifest_events(void **state)
{
	static const char *const files[] = {"demikernel/PktMon.etl", "perfview/net.4.5.2.x86.etl",
					    "monogame-samples/PerfViewData.etl"};
	if (!corpus_present()) {
		skip();
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		struct tally c = run(files[i], NULL, NULL);
		assert_int_equal(c.partly, 0);
		assert_true(c.learnt > 0);
		assert_true(c.manifest > 0);
		if (i == 0) {
			assert_true(c.manifest >= 403); /* all of them, says the corpus */
		}
	}
}

/* Events, how many of them lack a schema, and records whose payload holds more than their fields. */
static void every_file_decodes_to_its_last_byte(void **state)
{
	static const struct {
		const char *name;
		const char *manifest;
		unsigned records, no_schema, unread;
	} files[] = {
		{"demikernel/PktMon.etl", NULL, 467, 0, 0},
		{"etl-parser/ShutdownPerfDiagLogger.etl", NULL, 17078, 0, 0},
		{"etl-parser/lxcore_kernel.etl", NULL, 4, 0, 0},
		{"krabsetw/powershell.etl", NULL, 114, 0, 0},
		{"monogame-samples/PerfViewData.etl", NULL, 104, 0, 0},
		{"perfview/SelfDescribingSingleEvent.etl", NULL, 23, 0, 0},
		{"perfview/gcevents.etl", NULL, 71, 0, 0},
		/* Two events of PerfView itself carry more than their own manifest says. */
		{"perfview/net.4.5.2.x86.etl", NULL, 168298, 0, 2},
		{"perfview/primitive-types.etl", NULL, 7, 0, 0},
		{"sawbuck/image_data_32_v0.etl", NULL, 27, 0, 0},
		{"sawbuck/image_data_32_v2.etl", NULL, 27, 0, 0},
		{"sawbuck/image_data_64_v1.etl", NULL, 27, 0, 0},
		{"sawbuck/process_data_32_v1.etl", NULL, 3, 0, 0},
		{"sawbuck/process_data_64_v2.etl", NULL, 9, 0, 0},
		{"sawbuck/vista_test_data_32_v0.etl", NULL, 27, 0, 0},
		{"sonde/test.etl", NULL, 112, 0, 0},
		{"tx/BondEtwSample-8e8c94d6.etl", NULL, 13, 0, 0},
		{"tx/HTTP_Server.etl", "tx/HTTP_Server.man", 2042, 0, 0},
		{"tx/Process.etl", NULL, 10344, 0, 0},
		/* WinRM's manifest is nowhere to be had. */
		{"tx/WsRm01.etl", NULL, 71, 70, 0},
	};
	char path[4096];
	if (!corpus_present()) {
		skip();
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		if (files[i].manifest &&
		    openetw_schema_load_file(corpus_path(files[i].manifest, path, sizeof path)) != 0) {
			fail_msg("%s: %s", files[i].manifest, err_text_get());
		}
		struct tally c = run(files[i].name, NULL, NULL);
		assert_int_equal(c.records, files[i].records);
		assert_int_equal(c.partly, 0);
		assert_int_equal(c.no_schema, files[i].no_schema);
		assert_int_equal(c.unread, files[i].unread);
	}
}

/* Sizes, addresses and paths that the origin's unit tests expect. */
static void modules_of_every_class_version_are_those_listed(void **state)
{
	static const char *const files[] = {"sawbuck/image_data_32_v0.etl", "sawbuck/image_data_32_v2.etl",
					    "sawbuck/image_data_64_v1.etl", "sawbuck/vista_test_data_32_v0.etl"};
	size_t n;
	char *list = corpus_present() ? corpus_load("sawbuck/expected-modules.tsv", &n) : NULL;
	if (!list) {
		skip();
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		char *all = NULL;
		size_t bytes = 0;
		FILE *f = open_memstream(&all, &bytes);
		char path[4096];
		run(corpus_path(files[i], path, sizeof path), NULL, f);
		fclose(f);
		unsigned found = 0;
		for (const char *s = list; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : NULL) {
			unsigned long long base, size;
			char want[128];
			if (sscanf(s, "%llx %llx", &base, &size) != 2) {
				continue;
			}
			snprintf(want, sizeof want, "\"ImageBase\":\"0x%llx\",\"ImageSize\":%llu", base, size);
			if (!strstr(all, want)) {
				fail_msg("%s: no %s", files[i], want);
			}
			found++;
		}
		assert_true(found >= 24);
		free(all);
	}
	free(list);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int i = 1; i < argc; i++) {
			if (i + 1 < argc && strcmp(argv[i], "-m") == 0) {
				if (openetw_schema_load_file(argv[++i]) != 0) {
					printf("%s: %s\n", argv[i], err_text_get());
				}
				continue;
			}
			run(argv[i], NULL, stdout);
		}
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_self_describing_event_decodes),
		cmocka_unit_test(primitive_types_have_the_listed_values),
		cmocka_unit_test(merged_files_describe_their_own_manifest_events),
		cmocka_unit_test(every_file_decodes_to_its_last_byte),
		cmocka_unit_test(modules_of_every_class_version_are_those_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
