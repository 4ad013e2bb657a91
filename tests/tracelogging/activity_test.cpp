/* SPDX-License-Identifier: MIT
 *
 * TraceLoggingActivity.h: states, ids, what is written when.
 */
#include "record.h"
#include "TraceLoggingActivity.h"

#include <string>
#include <utility>

TRACELOGGING_DEFINE_PROVIDER(P, "Tests.Activity", (0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16));

typedef TraceLoggingActivity<P, 0x10, 4> Job;

static GUID id_of(unsigned n)
{
	GUID id = {n, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
	return id;
}

static void plain()
{
	Job job;
	CHECK("a fresh activity is not started", !job.IsStarted() && job.Provider() == P);
	rec.writes = 0;
	TraceLoggingWriteTaggedIfStarted(job, "no");
	CHECK("nothing is written before the start", rec.writes == 0);

	TraceLoggingWriteStart(job, "Job", TraceLoggingInt8(1, "v"));
	unsigned const mine = rec.created;
	EVENT_IS("the start event has its fields", META("\0Job\0v\0\x03"), DATA("\x01"), 1);
	CHECK("the start event has the activity's level and keyword",
	      rec.descriptor.Opcode == 1 && rec.descriptor.Level == 4 && rec.descriptor.Keyword == 0x10);
	CHECK("the start event has the new id and no related one",
	      rec.has_activity && rec.activity.Data1 == mine && !rec.has_related);
	CHECK("a started activity says so", job.IsStarted() && job.Id()->Data1 == mine);
	CHECK("the thread's id is not touched", rec.thread.Data1 == 0);

	TraceLoggingWriteTagged(job, "Step", TraceLoggingKeyword(0x2), TraceLoggingInt8(2, "v"));
	CHECK("a tagged event has a level and keyword of its own",
	      rec.descriptor.Level == 5 && rec.descriptor.Keyword == 2 && rec.descriptor.Opcode == 0 &&
		      rec.activity.Data1 == mine && !rec.has_related);
	TraceLoggingWriteTaggedIfStarted(job, "Step2");
	EVENT_IS("a tagged event of a started activity", META("\0Step2\0"), DATA(""), 0);
	TraceLoggingWriteStop(job, "Job", TraceLoggingInt8(3, "r"));
	EVENT_IS("the stop event has its fields", META("\0Job\0r\0\x03"), DATA("\x03"), 1);
	CHECK("the stop event", rec.descriptor.Opcode == 2 && rec.descriptor.Level == 4 &&
					rec.descriptor.Keyword == 0x10 && rec.activity.Data1 == mine &&
					!rec.has_related && !job.IsStarted());
	rec.writes = 0;
	TraceLoggingWriteTaggedIfStarted(job, "no");
	CHECK("nothing is written after the stop", rec.writes == 0);
}

static void related()
{
	Job parent;
	TraceLoggingWriteStart(parent, "Parent");
	{
		Job child;
		child.SetRelatedActivity(parent);
		TraceLoggingWriteStart(child, "Child");
		CHECK("a related activity goes with the start",
		      rec.has_related && rec.related.Data1 == parent.Id()->Data1);
		TraceLoggingWriteTagged(child, "Step");
		CHECK("and with nothing else", !rec.has_related);
		rec.writes = 0;
	}
	EVENT_IS("an activity that is left behind stops itself", META("\0ActivityStoppedAutomatically\0"), DATA(""), 0);
	CHECK("its stop event is like any other", rec.writes == 1 && rec.descriptor.Opcode == 2 &&
							  rec.descriptor.Level == 4 && rec.descriptor.Keyword == 0x10);
	Job other;
	GUID const none = id_of(0);
	other.SetRelatedActivityId(none);
	TraceLoggingWriteStart(other, "Other");
	CHECK("a null related id is no related id", !rec.has_related);
	TraceLoggingWriteStop(other, "Other");
	Job third;
	GUID const nine = id_of(9);
	third.SetRelatedActivityId(&nine);
	TraceLoggingWriteStart(third, "Third");
	CHECK("a related id by pointer", rec.has_related && rec.related.Data1 == 9);
}

static void moves()
{
	rec.writes = 0;
	{
		Job a;
		TraceLoggingWriteStart(a, "A");
		unsigned const id = a.Id()->Data1;
		Job b(std::move(a));
		CHECK("a moved activity goes on", b.IsStarted() && b.Id()->Data1 == id && !a.IsStarted());
		Job c;
		c = std::move(b);
		CHECK("and may move again", c.IsStarted() && c.Id()->Data1 == id && !b.IsStarted());
		TraceLoggingWriteStop(c, "A");
	}
	CHECK("only one of them stopped", rec.writes == 2);
}

static void threads()
{
	rec.thread = id_of(100);
	{
		TraceLoggingThreadActivity<P> outer;
		TraceLoggingWriteStart(outer, "Outer");
		CHECK("the thread's id becomes the related id",
		      rec.has_related && rec.related.Data1 == 100 && rec.activity.Data1 == rec.created);
		CHECK("the activity's id becomes the thread's", rec.thread.Data1 == outer.Id()->Data1);
		{
			TraceLoggingThreadActivity<P> inner;
			TraceLoggingWriteStart(inner, "Inner");
			CHECK("nested activities are related",
			      rec.related.Data1 == outer.Id()->Data1 && rec.thread.Data1 == inner.Id()->Data1);
		}
		CHECK("the inner one gives the thread back", rec.thread.Data1 == outer.Id()->Data1);
		TraceLoggingWriteStop(outer, "Outer");
		CHECK("the stop event has no related id", !rec.has_related);
	}
	CHECK("the outer one too", rec.thread.Data1 == 100);
	{
		GUID const seven = id_of(7);
		TraceLoggingThreadActivityIdSetter set(seven);
		CHECK("a setter sets", rec.thread.Data1 == 7);
		Job job;
		TraceLoggingWriteStart(job, "Job");
		TraceLoggingThreadActivityIdSetter set2(job);
		CHECK("a setter takes an activity", rec.thread.Data1 == job.Id()->Data1);
	}
	CHECK("a setter restores", rec.thread.Data1 == 100);
	rec.thread = id_of(0);
}

static void disabled()
{
	unsigned const created = rec.created;
	rec_enable(1, 3, ~0ull, 0);
	rec.writes = 0;
	rec.thread = id_of(5);
	TraceLoggingThreadActivity<P, 0x10, 4> job;
	TraceLoggingWriteStart(job, "Job");
	CHECK("no id is made while nobody listens", rec.created == created && rec.writes == 0);
	CHECK("the activity is started nevertheless", job.IsStarted() && job.Id()->Data1 == 0);
	CHECK("the thread keeps its id", rec.thread.Data1 == 5);
	rec_enable(1, 5, ~0ull, 0);
	TraceLoggingWriteStop(job, "Job");
	CHECK("the stop event has an id of zero", rec.writes == 1 && rec.activity.Data1 == 0 && rec.thread.Data1 == 5);
	rec.thread = id_of(0);
}

struct OwnIds : Job {
	void CreateActivityId(GUID &id)
	{
		id = id_of(4242);
	}
};

template <class T> static void in_template(T value)
{
	TraceLoggingActivity<P> a;
	TraceLoggingWriteStart(a, "T", TraceLoggingValue(value, "v"));
}

static std::string make(const char *text)
{
	return std::string(text) + std::string(40, 'x');
}

static void some_function(int v)
{
	TraceLoggingFunction(P, TraceLoggingInt32(v));
	EVENT_IS("a function activity starts with the function's name", META("\0some_function\0v\0\x07"),
		 DATA("\x05\0\0\0"), 1);
	CHECK("its start", rec.descriptor.Opcode == 1 && rec.thread.Data1 == rec.activity.Data1);
	TraceLoggingWrite(P, "inside");
}

static void rest()
{
	OwnIds own;
	TraceLoggingWriteStart(own, "Own");
	CHECK("a derived class makes its own ids", rec.activity.Data1 == 4242);
	in_template(5);
	in_template("text");
	CHECK("templates work", rec.descriptor.Opcode == 2);
	some_function(5);
	EVENT_IS("and stops with it", META("\0some_function\0"), DATA(""), 0);
	CHECK("its stop", rec.descriptor.Opcode == 2 && rec.thread.Data1 == 0 && !rec.has_related);
	TraceLoggingWrite(P, "e", TraceLoggingString(make("abc").c_str(), "v"),
			  TraceLoggingString(make("def").c_str(), "w"));
	CHECK("temporaries live until the event is written", rec.payload_bytes == 88 &&
								     memcmp(rec.payload, "abcx", 4) == 0 &&
								     memcmp(rec.payload + 44, "defx", 4) == 0);

	rec_assertions = 0;
	{
		Job job;
		(void)job.Id();
		CHECK("an id before the start is a mistake", rec_assertions == 1);
		TraceLoggingWriteStart(job, "Job");
		TraceLoggingWriteStart(job, "Job");
		CHECK("starting twice is a mistake", rec_assertions == 2);
	}
}

int main()
{
	(void)TraceLoggingRegister(P);
	rec_enable(1, 0, ~0ull, 0);
	plain();
	related();
	moves();
	threads();
	disabled();
	rest();
	return finish("activity");
}
