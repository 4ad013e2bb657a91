/* SPDX-License-Identifier: MIT
 * openetw.hpp: its questions give what its reader reads, and exceptions come out of them.
 *
 *   query_cpp FILE.etl
 */
#include <openetw/openetw.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#define CHECK(what)                                                             \
	do {                                                                    \
		if (!(what)) {                                                  \
			std::fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
			std::exit(1);                                           \
		}                                                               \
	} while (0)

static std::map<std::string, std::uint64_t> read_all(const std::string &path)
{
	std::map<std::string, std::uint64_t> events;
	openetw::reader r;
	r.add_file(path);
	r.set_content(OPENETW_READER_NAMES);
	r.start();
	r.for_each([&](const openetw_event &e) {
		if (std::strncmp(e.name, "EventTrace/", 11) != 0) { /* of the file itself: no index has these */
			events[e.provider]++;
		}
	});
	return events;
}

static void questions(const std::string &path)
{
	std::map<std::string, std::uint64_t> read = read_all(path), asked, grouped;
	openetw::index moved(path), x(std::move(moved));
	openetw::query q(x);
	openetw::decoder d;
	std::uint64_t rows = 0, total = 0;
	q.for_each_facet(OPENETW_BY_PROVIDER, 1000, [&](const openetw_facet &f) { asked[f.text] = f.count; });
	CHECK(!read.empty() && asked == read);
	q.for_each_group({OPENETW_BY_PROVIDER, OPENETW_BY_TYPE}, 1000, [&](const openetw_group &g) {
		if (g.depth == 1) {
			grouped[g.text] = g.count;
		}
	});
	CHECK(grouped == read);
	q.for_each_row([&](const openetw_row &r) { rows += r.position == rows; });
	CHECK(rows == q.count().matched && rows == x.about().rows);
	openetw_histogram h = q.histogram(x.about().first, x.about().last + 1, 10);
	for (int i = 0; i < 10; i++) {
		total += h.counts[i];
	}
	CHECK(total == rows);
	CHECK(asked.count(d.provider_name(q.event(0))) == 1);
	std::string fields = "{", one;
	d.for_each_field(q.event(0), [&](const openetw_field &f) {
		fields += (fields.size() > 1 ? ",\"" : "\"") + std::string(f.name, f.name_length) +
			  "\":" + std::string(f.json, f.json_length);
	});
	CHECK(fields + "}" == d.json(q.event(0)));
	d.for_each_field(q.event(0), "int16_type", [&](const openetw_field &f) { one.assign(f.json, f.json_length); });
	CHECK(!one.empty() && fields.find("\"int16_type\":" + one) != std::string::npos);
	openetw_guid guid = openetw::provider_guid("{D3DD3DD4-aac2-4e2a-8dd4-a8fb61b77615}");
	const unsigned char first[] = {0xd4, 0x3d, 0xdd, 0xd3, 0xc2, 0xaa};
	CHECK(std::memcmp(&guid, first, sizeof first) == 0);
	rows = 0;
	q.for_each_row([&](const openetw_row &) { return ++rows < 2; }); /* false ends it */
	CHECK(rows == 2);
	rows = total;
	CHECK(q.position(x.about().first) == 0);
	std::vector<std::string> twice(2, path);
	CHECK(openetw::index(twice, OPENETW_INDEX_MEMORY).about().rows == 2 * rows);
}

template <class Work> static std::uint32_t code_of(Work work)
{
	try {
		work();
	} catch (const openetw::error &e) {
		return e.what()[0] ? e.code() : 0;
	}
	return 0;
}

static void mistakes(const std::string &path)
{
	openetw::index x(path);
	openetw::query q(x);
	CHECK(code_of([&] { openetw::index("/no/such.etl"); }) == 2);
	CHECK(code_of([&] { q.set_filter("providr =="); }) == 87);
	CHECK(code_of([&] { x.type(0xFFFFFFF0u); }) == 1168);
	CHECK(code_of([] { openetw::load_schema("/no/such.man"); }) == 2);
	CHECK(code_of([] { openetw::provider_guid("{x}"); }) == 87);
	bool caught = false;
	try {
		q.for_each_row([](const openetw_row &) { throw 7; });
	} catch (int seven) {
		caught = seven == 7;
	}
	CHECK(caught);
	CHECK(q.count().matched == x.about().rows); /* the query goes on */
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	questions(argv[1]);
	mistakes(argv[1]);
	std::puts("fine");
	return 0;
}
