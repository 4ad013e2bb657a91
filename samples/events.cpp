/* SPDX-License-Identifier: MIT
 *
 * openetw.hpp: a recording of one provider, live, or the events of a file by their provider:
 *
 *   events FILE.etl
 *   events --record PROVIDER FILE.etl SECONDS
 */
#include <openetw/openetw.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>

static void count(const std::string &path)
{
	std::map<std::string, unsigned> events;
	openetw::reader r;
	r.add_file(path);
	r.set_content(OPENETW_READER_NAMES);
	r.start();
	r.for_each([&](const openetw_event &e) { events[std::string(e.provider) + "/" + e.name]++; });
	for (const auto &one : events) {
		std::printf("%8u %s\n", one.second, one.first.c_str());
	}
}

static void record(const std::string &provider, const std::string &path, int seconds)
{
	openetw::recorder r("events-sample");
	r.set_file(path);
	r.set_replace(true);
	r.add_provider(provider);
	r.start(); /* destroyed, the recorder stops its session */
	std::printf("recording\n");
	std::fflush(stdout);
	std::this_thread::sleep_for(std::chrono::seconds(seconds));
	r.stop();
}

int main(int argc, char **argv)
{
	try {
		if (argc == 2) {
			count(argv[1]);
		} else if (argc == 5 && std::strcmp(argv[1], "--record") == 0) {
			record(argv[2], argv[3], std::atoi(argv[4]));
		} else {
			std::fprintf(stderr, "usage: events FILE.etl | --record PROVIDER FILE.etl SECONDS\n");
			return 2;
		}
	} catch (const openetw::error &e) {
		std::fprintf(stderr, "events: %s (%u)\n", e.what(), e.code());
		return 1;
	}
	return 0;
}
