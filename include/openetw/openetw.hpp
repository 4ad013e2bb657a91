/* SPDX-License-Identifier: MIT
 *
 * reader.h, query.h, recorder.h, decode.h and state.h for C++11 and later: objects that end what they began, and exceptions
 * instead of codes. The functions have the names of the C functions; the C headers say what they do.
 *
 *   openetw::reader r;
 *   r.add_file("web.etl");
 *   r.set_content(OPENETW_READER_JSON);
 *   r.start();
 *   r.for_each([](const openetw_event &e) { std::printf("%s/%s %s\n", e.provider, e.name, e.json); });
 *
 *   openetw::index x("web.etl");
 *   openetw::query q(x);
 *   q.set_filter("level <= warning");
 *   q.for_each_facet(OPENETW_BY_PROVIDER, 10, [](const openetw_facet &f) { std::printf("%s\n", f.text); });
 *
 * Objects can be moved and not copied. get() gives the object of the C functions, for what is not here. Everything is
 * inline: a program is linked with libopenetw and libetw, and nothing of this file is part of their binary interface.
 */
#ifndef OPENETW_OPENETW_HPP
#define OPENETW_OPENETW_HPP

#include <openetw/decode.h>
#include <openetw/openetw.h>
#include <openetw/query.h>
#include <openetw/reader.h>
#include <openetw/recorder.h>
#include <openetw/state.h>

#include <cstddef>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace openetw
{

/* A Win32 code and a sentence. */
class error : public std::runtime_error
{
      public:
	error(std::uint32_t code, const char *problem) : std::runtime_error(sentence(code, problem)), code_(code)
	{
	}
	std::uint32_t code() const noexcept
	{
		return code_;
	}

      private:
	static std::string sentence(std::uint32_t code, const char *problem)
	{
		const char *text = problem && *problem ? problem : openetw_error_text(code);
		return text ? text : "code " + std::to_string(code);
	}
	std::uint32_t code_;
};

namespace detail
{
/* What is called for each of several things may return false, which ends it, or nothing. */
template <class Each, class What>
using result_of = typename std::remove_reference<decltype(std::declval<Each &>()(std::declval<const What &>()))>::type;
template <class Each, class What> bool goes_on(Each &each, const What &what, bool *)
{
	return each(what);
}
template <class Each, class What, class Other> bool goes_on(Each &each, const What &what, Other *)
{
	each(what);
	return true;
}
/* An exception does not pass through C: it waits until the question has ended. */
template <class Each, class What> struct calls {
	Each &each;
	std::exception_ptr thrown;

	explicit calls(Each &e) : each(e)
	{
	}
	static bool call(void *context, const What *what)
	{
		calls *c = static_cast<calls *>(context);
		try {
			return goes_on(c->each, *what, static_cast<result_of<Each, What> *>(nullptr));
		} catch (...) {
			c->thrown = std::current_exception();
			return false;
		}
	}
	void raise()
	{
		if (thrown) {
			std::rethrow_exception(thrown);
		}
	}
	void done(std::uint32_t code)
	{
		raise();
		if (code) {
			throw error(code, openetw_last_error_text());
		}
	}
};
} // namespace detail

/* Descriptions of events, in a file of any kind that docs/schemas.md names. */
inline void load_schema(const std::string &path)
{
	std::uint32_t code = openetw_schema_load_file(path.c_str());
	if (code) {
		throw error(code, openetw_last_error_text());
	}
}

/* Of a provider's name, or of a GUID in braces. */
inline openetw_guid provider_guid(const std::string &name)
{
	openetw_guid ret = openetw_guid();
	std::uint32_t code = openetw_provider_guid(name.c_str(), &ret);
	if (code) {
		throw error(code, ("'" + name + "' is no provider").c_str());
	}
	return ret;
}

/* An object of the C functions, which its owner destroys. */
template <class T, void (*Destroy)(T *)> class owner
{
      public:
	explicit owner(T *object) : object_(object)
	{
		if (!object) {
			throw std::bad_alloc();
		}
	}
	owner(owner &&other) noexcept : object_(other.object_)
	{
		other.object_ = nullptr;
	}
	owner &operator=(owner &&other) noexcept
	{
		std::swap(object_, other.object_);
		return *this;
	}
	owner(const owner &) = delete;
	owner &operator=(const owner &) = delete;
	~owner()
	{
		Destroy(object_);
	}
	T *get() const noexcept
	{
		return object_;
	}

      private:
	T *object_;
};

class text
{
      public:
	text() = default;
	text(const text &) = delete;
	text &operator=(const text &) = delete;
	~text()
	{
		openetw_text_free(&t_);
	}
	openetw_text *get() noexcept
	{
		return &t_;
	}
	std::string str() const
	{
		return t_.data ? std::string(t_.data, t_.length) : std::string();
	}

      private:
	openetw_text t_ = openetw_text();
};

/* Ends a reader from any thread, also one that is gone. */
class stopper : public owner<openetw_stopper, openetw_stopper_release>
{
      public:
	using owner::owner;
	void stop() const
	{
		openetw_stopper_stop(get());
	}
};

class reader : public owner<openetw_reader, openetw_reader_destroy>
{
      public:
	reader() : owner(openetw_reader_create())
	{
	}
	void add_file(const std::string &path)
	{
		openetw_reader_add_file(get(), path.c_str());
	}
	void set_session(const std::string &name)
	{
		openetw_reader_set_session(get(), name.c_str());
	}
	void set_content(std::uint32_t content)
	{
		openetw_reader_set_content(get(), content);
	}
	void attach(std::uint32_t what)
	{
		openetw_reader_attach(get(), what);
	}
	void add_pid(std::uint32_t pid)
	{
		openetw_reader_add_pid(get(), pid);
	}
	void add_process(const std::string &name)
	{
		openetw_reader_add_process(get(), name.c_str());
	}
	void add_provider(const openetw_guid &guid)
	{
		openetw_reader_add_provider(get(), &guid);
	}
	void set_range(std::uint64_t from, std::uint64_t to)
	{
		openetw_reader_set_range(get(), from, to);
	}
	void start()
	{
		std::uint32_t code = openetw_reader_start(get());
		if (code) {
			throw error(code, openetw_reader_problem(get()));
		}
	}
	void stop()
	{
		openetw_reader_stop(get());
	}
	openetw::stopper stopper()
	{
		return openetw::stopper(openetw_reader_stopper(get()));
	}
	std::uint64_t lost()
	{
		return openetw_reader_lost(get());
	}
	std::uint64_t dropped()
	{
		return openetw_reader_dropped(get());
	}
	/* Not 0: more may have been lost (OPENETW_UNKNOWN_…). */
	std::uint32_t lost_unknown()
	{
		return openetw_reader_lost_unknown(get());
	}
	/* Calls each(const openetw_event &) for every event until the end; throws when the reading failed. */
	template <class Each> void for_each(Each each)
	{
		const std::uint32_t no_more_items = 259; /* ERROR_NO_MORE_ITEMS */
		OPENETW_SIZED(openetw_batch, batch);
		std::uint32_t code;
		while ((code = openetw_reader_next(get(), OPENETW_READER_FOREVER, &batch)) == 0) {
			for (std::uint32_t i = 0; i < batch.count; i++) {
				each(*openetw_batch_event(&batch, i));
			}
		}
		if (code != no_more_items) {
			throw error(code, openetw_reader_problem(get()));
		}
	}
};

class recorder : public owner<openetw_recorder, openetw_recorder_destroy>
{
      public:
	explicit recorder(const std::string &name) : owner(openetw_recorder_create(name.c_str()))
	{
	}
	void set_file(const std::string &path, std::uint32_t mib = 0, std::uint32_t mode = OPENETW_RECORDER_SEQUENTIAL)
	{
		openetw_recorder_set_file(get(), path.c_str(), mib, mode);
	}
	void set_live(bool live)
	{
		openetw_recorder_set_live(get(), live);
	}
	void set_replace(bool replace)
	{
		openetw_recorder_set_replace(get(), replace);
	}
	void add_provider(const std::string &provider, std::uint32_t level = 0, std::uint64_t any_keyword = 0,
			  std::uint64_t all_keywords = 0, std::uint32_t properties = 0)
	{
		openetw_recorder_add_provider(get(), provider.c_str(), level, any_keyword, all_keywords, properties);
	}
	/* Of the provider that was added last. */
	void set_filter(const std::string &filter)
	{
		openetw_recorder_set_filter(get(), filter.c_str());
	}
	void add_kernel(const std::string &flags)
	{
		openetw_recorder_add_kernel(get(), flags.c_str());
	}
	void add_kernel_stacks(const std::string &events)
	{
		openetw_recorder_add_kernel_stacks(get(), events.c_str());
	}
	void add_pid(std::uint32_t pid)
	{
		openetw_recorder_add_pid(get(), pid);
	}
	/* What is not recorded of the kernel, and why; "" when nothing is missing. */
	std::string note()
	{
		return openetw_recorder_note(get());
	}
	void start()
	{
		done(openetw_recorder_start(get()));
	}
	void stop()
	{
		done(openetw_recorder_stop(get()));
	}

      private:
	void done(std::uint32_t code)
	{
		if (code) {
			throw error(code, openetw_recorder_problem(get()));
		}
	}
};

class decoder : public owner<openetw_decoder, openetw_decoder_destroy>
{
      public:
	decoder() : owner(openetw_decoder_create())
	{
	}
	/* The payload as one JSON object; *ret_result: OPENETW_DECODED, OPENETW_NO_SCHEMA or OPENETW_PARTLY. */
	std::string json(const openetw_event_record &e, std::uint32_t *ret_result = nullptr)
	{
		text t;
		std::uint32_t result = openetw_decode_json(get(), &e, t.get());
		if (result != OPENETW_DECODED && result != OPENETW_NO_SCHEMA && result != OPENETW_PARTLY) {
			throw error(result, nullptr);
		}
		if (ret_result) {
			*ret_result = result;
		}
		return t.str();
	}
	/* Calls each(const openetw_field &) for each field of the payload, or only for that which a path such as
	 * "Line.Price" begins with. False ends it. Returns what json() gives as *ret_result. */
	template <class Each> std::uint32_t for_each_field(const openetw_event_record &e, Each each)
	{
		detail::calls<Each, openetw_field> c(each);
		std::uint32_t result = openetw_decode_fields(get(), &e, c.call, &c);
		c.raise();
		return result;
	}
	template <class Each>
	std::uint32_t for_each_field(const openetw_event_record &e, const std::string &path, Each each)
	{
		detail::calls<Each, openetw_field> c(each);
		std::uint32_t result = openetw_decode_field(get(), &e, path.c_str(), c.call, &c);
		c.raise();
		return result;
	}
	std::string event_name(const openetw_event_record &e)
	{
		return openetw_event_name(get(), &e);
	}
	std::string provider_name(const openetw_event_record &e)
	{
		return openetw_provider_name(get(), &e);
	}
};

/* The functions that look something up return false when nobody knows it. */
class state : public owner<openetw_state, openetw_state_destroy>
{
      public:
	explicit state(std::uint32_t flags = 0) : owner(openetw_state_create(flags))
	{
	}
	void read_file(const std::string &path)
	{
		done(openetw_state_read_file(get(), path.c_str(), nullptr, nullptr));
	}
	void attach(openetw_trace_handle trace)
	{
		done(openetw_state_attach(get(), trace));
	}
	void feed(const openetw_event_record &e)
	{
		done(openetw_state_feed(get(), &e));
	}
	bool event(const openetw_event_record &e, openetw_event_origin &ret)
	{
		return found(openetw_state_event(get(), &e, sized(ret)));
	}
	bool process(std::uint32_t pid, std::uint64_t time, openetw_process &ret)
	{
		return found(openetw_state_process(get(), pid, time, sized(ret)));
	}
	bool thread(std::uint32_t tid, std::uint64_t time, openetw_thread &ret)
	{
		return found(openetw_state_thread(get(), tid, time, sized(ret)));
	}
	bool module(std::uint32_t pid, std::uint64_t address, std::uint64_t time, openetw_module &ret)
	{
		return found(openetw_state_module(get(), pid, address, time, sized(ret)));
	}
	bool symbol(std::uint32_t pid, std::uint64_t address, std::uint64_t time, openetw_symbol &ret)
	{
		return found(openetw_state_symbol(get(), pid, address, time, sized(ret)));
	}
	bool stack(const openetw_event_record &e, openetw_stack &ret)
	{
		return found(openetw_state_stack(get(), &e, sized(ret)));
	}

      private:
	template <class T> static T *sized(T &ret)
	{
		ret = T();
		ret.size = static_cast<std::uint32_t>(sizeof(T));
		return &ret;
	}
	static void done(std::uint32_t code)
	{
		if (code) {
			throw error(code, openetw_last_error_text());
		}
	}
	static bool found(std::uint32_t code)
	{
		const std::uint32_t not_found = 1168; /* ERROR_NOT_FOUND */
		if (code && code != not_found) {
			throw error(code, nullptr);
		}
		return code == 0;
	}
};

/* Trace files behind the columns that answer questions; as one, when there are several. */
class index : public owner<openetw_index, openetw_index_close>
{
      public:
	/* In C these structures and the functions that fill them have one name. */
	typedef struct openetw_index_about about_type;
	typedef struct openetw_index_type type_type;
	typedef struct openetw_index_process process_type;
	typedef struct openetw_index_thread thread_type;

	explicit index(const std::string &path, std::uint32_t flags = 0)
	    : owner(open(std::vector<std::string>(1, path), flags))
	{
	}
	explicit index(const std::vector<std::string> &paths, std::uint32_t flags = 0) : owner(open(paths, flags))
	{
	}
	about_type about() const
	{
		OPENETW_SIZED(about_type, ret);
		done(openetw_index_about(get(), &ret));
		return ret;
	}
	/* By number; throws when there is none. */
	type_type type(std::uint32_t number) const
	{
		OPENETW_SIZED(type_type, ret);
		done(openetw_index_type(get(), number, &ret));
		return ret;
	}
	process_type process(std::uint32_t number) const
	{
		OPENETW_SIZED(process_type, ret);
		done(openetw_index_process(get(), number, &ret));
		return ret;
	}
	thread_type thread(std::uint32_t number) const
	{
		OPENETW_SIZED(thread_type, ret);
		done(openetw_index_thread(get(), number, &ret));
		return ret;
	}
	/* Addresses, innermost first. */
	std::vector<std::uint64_t> stack(std::uint32_t number) const
	{
		std::vector<std::uint64_t> ret(openetw_index_stack(get(), number, nullptr, 0));
		openetw_index_stack(get(), number, ret.data(), static_cast<std::uint32_t>(ret.size()));
		return ret;
	}

      private:
	static openetw_index *open(const std::vector<std::string> &paths, std::uint32_t flags)
	{
		OPENETW_SIZED(openetw_index_options, options);
		std::vector<const char *> list;
		openetw_index *ret = nullptr;
		for (const std::string &path : paths) {
			list.push_back(path.c_str());
		}
		options.flags = flags;
		done(openetw_index_open(list.data(), static_cast<std::uint32_t>(list.size()), &options, &ret));
		return ret;
	}
	static void done(std::uint32_t code)
	{
		if (code) {
			throw error(code, openetw_last_error_text());
		}
	}
};

/* Questions to an index, which must live longer. A callback that returns false ends the question; one that returns nothing
 * takes all. What it throws comes out of the question. */
class query : public owner<openetw_query, openetw_query_destroy>
{
      public:
	explicit query(const index &x) : owner(openetw_query_create(x.get()))
	{
	}
	void set_filter(const std::string &filter)
	{
		std::uint32_t code = openetw_query_set_filter(get(), filter.c_str());
		if (code) {
			throw error(code, openetw_query_problem(get()));
		}
	}
	void set_range(std::int64_t from, std::int64_t to)
	{
		openetw_query_set_range(get(), from, to);
	}
	void set_field(const std::string &name)
	{
		done(openetw_query_set_field(get(), name.c_str()));
	}
	/* Any thread. */
	void cancel()
	{
		openetw_query_cancel(get());
	}
	/* False ends the question. NULL: nobody wants to know. */
	void set_progress(openetw_query_progress_fn fn, void *context)
	{
		openetw_query_set_progress(get(), fn, context);
	}
	openetw_answer count()
	{
		OPENETW_SIZED(openetw_answer, ret);
		done(openetw_query_count(get(), &ret));
		return ret;
	}
	/* Its arrays live until the next question. */
	openetw_histogram histogram(std::int64_t from, std::int64_t to, std::uint32_t buckets,
				    openetw_key by = OPENETW_BY_NOTHING, std::uint32_t most = 1)
	{
		OPENETW_SIZED(openetw_histogram, ret);
		done(openetw_query_histogram(get(), from, to, buckets, by, most, &ret));
		return ret;
	}
	template <class Each>
	openetw_answer for_each_row(Each each, std::uint64_t position = 0,
				    std::uint64_t count = std::numeric_limits<std::uint64_t>::max())
	{
		OPENETW_SIZED(openetw_answer, ret);
		calls<Each, openetw_row> c(each);
		c.done(openetw_query_rows(get(), position, count, c.call, &c, &ret));
		return ret;
	}
	template <class Each> openetw_answer for_each_first_row(std::uint64_t count, Each each)
	{
		OPENETW_SIZED(openetw_answer, ret);
		calls<Each, openetw_row> c(each);
		c.done(openetw_query_first_rows(get(), count, c.call, &c, &ret));
		return ret;
	}
	template <class Each> openetw_answer for_each_facet(openetw_key by, std::uint32_t most, Each each)
	{
		OPENETW_SIZED(openetw_answer, ret);
		calls<Each, openetw_facet> c(each);
		c.done(openetw_query_facets(get(), by, most, c.call, &c, &ret));
		return ret;
	}
	template <class Each>
	openetw_answer for_each_group(const std::vector<openetw_key> &keys, std::uint32_t most, Each each)
	{
		OPENETW_SIZED(openetw_answer, ret);
		calls<Each, openetw_group> c(each);
		c.done(openetw_query_group(get(), keys.data(), static_cast<std::uint32_t>(keys.size()), most, c.call,
					   &c, &ret));
		return ret;
	}
	template <class Each> openetw_answer for_each_stack_node(std::uint32_t flags, double least, Each each)
	{
		OPENETW_SIZED(openetw_answer, ret);
		calls<Each, openetw_stack_node> c(each);
		c.done(openetw_query_stacks(get(), flags, least, c.call, &c, &ret));
		return ret;
	}
	std::uint64_t position(std::int64_t time)
	{
		std::uint64_t ret = 0;
		done(openetw_query_position(get(), time, &ret));
		return ret;
	}
	/* A whole event, for a decoder; valid until the next question. */
	const openetw_event_record &event(std::uint64_t row)
	{
		const openetw_event_record *ret = nullptr;
		done(openetw_query_event(get(), row, &ret));
		return *ret;
	}

      private:
	template <class Each, class What> using calls = detail::calls<Each, What>;
	static void done(std::uint32_t code)
	{
		if (code) {
			throw error(code, openetw_last_error_text());
		}
	}
};

} // namespace openetw

#endif
