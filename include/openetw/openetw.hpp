/* SPDX-License-Identifier: MIT
 *
 * reader.h, recorder.h, decode.h and state.h for C++11 and later: objects that end what they began, and exceptions
 * instead of codes. The functions have the names of the C functions; the C headers say what they do.
 *
 *   openetw::reader r;
 *   r.add_file("web.etl");
 *   r.set_content(OPENETW_READER_JSON);
 *   r.start();
 *   r.for_each([](const openetw_event &e) { std::printf("%s/%s %s\n", e.provider, e.name, e.json); });
 *
 * Objects can be moved and not copied. get() gives the object of the C functions, for what is not here. Everything is
 * inline: a program is linked with libopenetw and libetw, and nothing of this file is part of their binary interface.
 */
#ifndef OPENETW_OPENETW_HPP
#define OPENETW_OPENETW_HPP

#include <openetw/decode.h>
#include <openetw/openetw.h>
#include <openetw/reader.h>
#include <openetw/recorder.h>
#include <openetw/state.h>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

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
	void add_pid(std::uint32_t pid)
	{
		openetw_recorder_add_pid(get(), pid);
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

} // namespace openetw

#endif
