/* SPDX-License-Identifier: MIT
 *
 * Activities: a start event, a stop event, and between them events that carry the same activity id.
 * C++11.
 *
 *   TraceLoggingActivity<g_provider, keyword, level> job;
 *   TraceLoggingWriteStart(job, "Job", TraceLoggingInt32(size));
 *   TraceLoggingWriteTagged(job, "Step", TraceLoggingInt32(step));
 *   TraceLoggingWriteStop(job, "Job", TraceLoggingInt32(result));
 *
 * An activity is created, started, stopped, destroyed, each at most once and in this order. One
 * that is destroyed while started writes a stop event of its own, "ActivityStoppedAutomatically".
 * Start and stop events have the level and keyword of the activity's type; tagged events have their
 * own.
 *
 *   TraceLoggingActivity        its id goes where you put it; may be moved
 *   TraceLoggingThreadActivity  its id is the thread's while it runs, and the thread's id before it
 *                               is the related id; must nest, and stay on its thread
 *   TraceLoggingThreadActivityIdSetter   gives the thread an id for a scope
 *   TraceLoggingFunction        with provider and arguments: a thread activity for the rest of the
 *                               scope, named after the function
 *
 * Objects are not safe for use by two threads at once.
 */
#ifndef ETW_TRACELOGGINGACTIVITY_H
#define ETW_TRACELOGGINGACTIVITY_H
#define _TRACELOGGINGACTIVITY_ 1

#ifndef __cplusplus
#error "TraceLoggingActivity.h is for C++. In C, make an id with EventActivityIdControl and use \
TraceLoggingWriteActivity."
#endif

#include "TraceLoggingProvider.h"

#ifndef TLG_EVENT_ACTIVITY_ID_CONTROL
#define TLG_EVENT_ACTIVITY_ID_CONTROL EventActivityIdControl
#endif

#if TLG_DEBUG
#define _tlgActivityAssert(condition) ((condition) ? (void)0 : (void)TLG_RAISEASSERTIONFAILURE())
#else
#define _tlgActivityAssert(condition) ((void)sizeof(condition))
#endif

/* ---- macros ----------------------------------------------------------------------------- */

/* Start an activity that is fresh and write its start event. */
#define TraceLoggingWriteStart(activity, ...) \
	_tlgWriteStartStop(activity, zInternalStart, 1, zInternalRelatedId, __VA_ARGS__)

/* Stop an activity that is started and write its stop event. */
#define TraceLoggingWriteStop(activity, ...) _tlgWriteStartStop(activity, zInternalStop, 2, zInternalNoId, __VA_ARGS__)

/* Write an event with the activity's id. */
#define TraceLoggingWriteTagged(activity, ...)                                          \
	do {                                                                            \
		auto const &_tlgActivity = (activity);                                  \
		_tlgWriteAt(_tlgActivity.Provider(), _tlgFirst(__VA_ARGS__),            \
			    (_tlgWriteTransfer, _tlgActivity.Id(), NULL), __VA_ARGS__); \
	} while (0)

/* The same, or nothing unless the activity is started. */
#define TraceLoggingWriteTaggedIfStarted(activity, ...)                                         \
	do {                                                                                    \
		auto const &_tlgActivity = (activity);                                          \
		if (_tlgActivity.IsStarted()) {                                                 \
			_tlgWriteAt(_tlgActivity.Provider(), _tlgFirst(__VA_ARGS__),            \
				    (_tlgWriteTransfer, _tlgActivity.Id(), NULL), __VA_ARGS__); \
		}                                                                               \
	} while (0)

#define _tlgWriteStartStop(activity, change, opcode, related, ...)                                                \
	do {                                                                                                      \
		auto &_tlgActivity = (activity);                                                                  \
		static constexpr UINT64 _tlgActivity_Keyword = _TlgActivityConst<decltype(activity)>::Keyword;    \
		static constexpr UINT8 _tlgActivity_Level = _TlgActivityConst<decltype(activity)>::Level;         \
		static_assert((0 _tlg_EACH(_tlgLevelMark, __VA_ARGS__)) == 0,                                     \
			      "TraceLoggingLevel does not go into start and stop events: the "                    \
			      "activity's type has the level");                                                   \
		static_assert((0 _tlg_EACH(_tlgKeywordVal, __VA_ARGS__)) == 0,                                    \
			      "TraceLoggingKeyword does not go into start and stop events: the "                  \
			      "activity's type has the keyword");                                                 \
		_tlgActivity.change();                                                                            \
		_tlgWriteAt(_tlgActivity.Provider(), _tlgFirst(__VA_ARGS__),                                      \
			    (_tlgWriteTransfer, _tlgActivity.zInternalId(), _tlgActivity.related()), __VA_ARGS__, \
			    TraceLoggingOpcode(opcode), TraceLoggingLevel(_tlgActivity_Level),                    \
			    TraceLoggingKeyword(_tlgActivity_Keyword));                                           \
	} while (0)

/* For code that writes such macros itself, with Microsoft's names. */
#define _tlgActivityDecl(activity)
#define _tlgActivityRef(activity) (activity)

struct _TlgReflectorTag_Param0IsHProvider {
};
struct _TlgReflectorTag_Param0IsProviderType {
};

/* ---- what all activities have ----------------------------------------------------------- */

template <class T> struct _TlgActivityConst {
	static constexpr UINT64 Keyword = T::Keyword;
	static constexpr UINT8 Level = T::Level;
};
template <class T> struct _TlgActivityConst<T &> : _TlgActivityConst<T> {
};
template <class T> struct _TlgActivityConst<T &&> : _TlgActivityConst<T> {
};

static __inline__ __attribute__((unused)) bool _tlgGuidIsNull(GUID const &id)
{
	GUID const null = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
	return __builtin_memcmp(&id, &null, sizeof(id)) == 0;
}

/* `DerivedTy` has Provider(), and may have hooks: OnStarted() runs after the id was made,
 * OnStopped() before the stop event. Both run only for an activity whose provider was enabled at
 * its start. */
template <class DerivedTy, UINT64 keyword, UINT8 level> class _TlgActivityBase
{
      public:
	static constexpr UINT64 Keyword = keyword;
	static constexpr UINT8 Level = level;

	bool IsStarted() const
	{
		return m_state == Started;
	}

	/* Only once started. All zero if the provider was disabled at that moment. */
	GUID const *Id() const
	{
		_tlgActivityAssert(m_state == Started || m_state == Stopped);
		return &m_id;
	}

	/* Before the start, at most once: the activity that caused this one. */
	template <class OtherTy> void SetRelatedActivity(OtherTy const &other)
	{
		SetRelatedActivityId(other.Id());
	}
	void SetRelatedActivityId(GUID const &id)
	{
		_tlgActivityAssert(m_state == Created && !m_relatedIsSet);
		m_relatedId = id;
		m_relatedIsSet = true;
	}
	/* The same under the names that classes built on this one use; NULL while none was set. */
	void SetRelatedId(GUID const &id)
	{
		SetRelatedActivityId(id);
	}
	GUID const *GetRelatedId() const
	{
		return m_relatedIsSet ? &m_relatedId : NULL;
	}
	void SetRelatedActivityId(GUID const *id)
	{
		if (id != NULL) {
			SetRelatedActivityId(*id);
		}
	}

	/* Used by the macros. */
	void zInternalStart()
	{
		_tlgActivityAssert(m_state == Created);
		if (_tlgEnabled(Self()->Provider(), Level, Keyword)) {
			CreateActivityId(m_id);
			Self()->OnStarted();
			m_hooked = true;
		} else {
			m_id = GUID();
		}
		m_state = Started;
	}
	void zInternalStop()
	{
		_tlgActivityAssert(m_state == Started);
		if (m_hooked) {
			Self()->OnStopped();
			m_hooked = false;
		}
		m_state = Stopped;
	}
	GUID const *zInternalId() const
	{
		return &m_id;
	}
	GUID const *zInternalRelatedId() const
	{
		return m_relatedIsSet && !_tlgGuidIsNull(m_relatedId) ? &m_relatedId : NULL;
	}
	GUID const *zInternalNoId() const
	{
		return NULL;
	}

      protected:
	_TlgActivityBase() : m_state(Created), m_relatedIsSet(false), m_hooked(false), m_id(), m_relatedId()
	{
	}
	_TlgActivityBase(_TlgActivityBase &&other) : _TlgActivityBase()
	{
		Take(other);
	}
	_TlgActivityBase &operator=(_TlgActivityBase &&other)
	{
		Take(other);
		return *this;
	}
	_TlgActivityBase(_TlgActivityBase const &) = delete;
	_TlgActivityBase &operator=(_TlgActivityBase const &) = delete;
	~_TlgActivityBase()
	{
		m_state = Destroyed;
	}

	/* A derived class may make ids in its own way. */
	virtual void CreateActivityId(GUID &id)
	{
		(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_CREATE_ID, &id);
	}

	void OnStarted()
	{
	}
	void OnStopped()
	{
	}

	/* The thread gets this activity's id; what it had becomes the related id. */
	void PushThreadActivityId()
	{
		GUID id = m_id;
		(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_GET_SET_ID, &id);
		m_relatedId = id;
		m_relatedIsSet = true;
	}
	void PopThreadActivityId()
	{
		GUID id = m_relatedId;
		(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_GET_SET_ID, &id);
		/* Another id here means that activities of this thread did not nest. */
		_tlgActivityAssert(__builtin_memcmp(&id, &m_id, sizeof(id)) == 0);
	}

      private:
	enum State { Created, Started, Stopped, Destroyed };

	DerivedTy *Self()
	{
		return static_cast<DerivedTy *>(this);
	}
	/* `other` leaves without a trace: whatever it still had to write is ours to write. */
	void Take(_TlgActivityBase &other)
	{
		_tlgActivityAssert(m_state == Created);
		m_state = other.m_state;
		m_relatedIsSet = other.m_relatedIsSet;
		m_hooked = other.m_hooked;
		m_id = other.m_id;
		m_relatedId = other.m_relatedId;
		other.m_state = Destroyed;
		other.m_hooked = false;
	}

	State m_state;
	bool m_relatedIsSet;
	bool m_hooked;
	GUID m_id;
	GUID m_relatedId;
};

template <class DerivedTy, UINT64 keyword, UINT8 level>
constexpr UINT64 _TlgActivityBase<DerivedTy, keyword, level>::Keyword;
template <class DerivedTy, UINT64 keyword, UINT8 level>
constexpr UINT8 _TlgActivityBase<DerivedTy, keyword, level>::Level;

/* ---- the activities
 * ------------------------------------------------------------------------------ */

template <TraceLoggingHProvider const &provider, UINT64 keyword = 0, UINT8 level = 5,
	  typename TlgReflectorTag = _TlgReflectorTag_Param0IsHProvider>
class TraceLoggingActivity
    : public _TlgActivityBase<TraceLoggingActivity<provider, keyword, level, TlgReflectorTag>, keyword, level>
{
	typedef _TlgActivityBase<TraceLoggingActivity, keyword, level> Base;
	friend Base;

      public:
	TraceLoggingActivity()
	{
	}
	TraceLoggingActivity(TraceLoggingActivity &&other) : Base(static_cast<Base &&>(other))
	{
	}
	TraceLoggingActivity &operator=(TraceLoggingActivity &&other)
	{
		Base::operator=(static_cast<Base &&>(other));
		return *this;
	}
	~TraceLoggingActivity()
	{
		if (this->IsStarted()) {
			TraceLoggingWriteStop(*this, "ActivityStoppedAutomatically");
		}
	}
	static TraceLoggingHProvider Provider()
	{
		return provider;
	}
};

template <TraceLoggingHProvider const &provider, UINT64 keyword = 0, UINT8 level = 5,
	  typename TlgReflectorTag = _TlgReflectorTag_Param0IsHProvider>
class TraceLoggingThreadActivity
    : public _TlgActivityBase<TraceLoggingThreadActivity<provider, keyword, level, TlgReflectorTag>, keyword, level>
{
	typedef _TlgActivityBase<TraceLoggingThreadActivity, keyword, level> Base;
	friend Base;

      public:
	TraceLoggingThreadActivity()
	{
	}
	~TraceLoggingThreadActivity()
	{
		if (this->IsStarted()) {
			TraceLoggingWriteStop(*this, "ActivityStoppedAutomatically");
		}
	}
	static TraceLoggingHProvider Provider()
	{
		return provider;
	}

      private:
	TraceLoggingThreadActivity(TraceLoggingThreadActivity &&) = delete;
	void OnStarted()
	{
		this->PushThreadActivityId();
	}
	void OnStopped()
	{
		this->PopThreadActivityId();
	}
};

class TraceLoggingThreadActivityIdSetter
{
      public:
	explicit TraceLoggingThreadActivityIdSetter(GUID const &id) : m_id(id), m_previous(id)
	{
		(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_GET_SET_ID, &m_previous);
	}
	explicit TraceLoggingThreadActivityIdSetter(GUID const *id) : TraceLoggingThreadActivityIdSetter(*id)
	{
	}
	template <class ActivityTy>
	explicit TraceLoggingThreadActivityIdSetter(ActivityTy const &activity)
	    : TraceLoggingThreadActivityIdSetter(*activity.Id())
	{
	}
	~TraceLoggingThreadActivityIdSetter()
	{
		(void)TLG_EVENT_ACTIVITY_ID_CONTROL(EVENT_ACTIVITY_CTRL_GET_SET_ID, &m_previous);
		(void)m_id;
		_tlgActivityAssert(__builtin_memcmp(&m_previous, &m_id, sizeof(m_id)) == 0);
	}
	TraceLoggingThreadActivityIdSetter(TraceLoggingThreadActivityIdSetter const &) = delete;
	TraceLoggingThreadActivityIdSetter &operator=(TraceLoggingThreadActivityIdSetter const &) = delete;

      private:
	GUID m_id;
	GUID m_previous;
};

/* ---- TraceLoggingFunction
 * ------------------------------------------------------------------------- */

/* __FUNCTION__ is a variable here, not a literal, so its characters are copied into the constant
 * one by one while compiling. */
template <unsigned length> struct _TlgText {
	char unit[length];
};
template <unsigned... i> struct _TlgIndex {
};
template <unsigned n, unsigned... i> struct _TlgIndexTo : _TlgIndexTo<n - 1, n - 1, i...> {
};
template <unsigned... i> struct _TlgIndexTo<0, i...> {
	typedef _TlgIndex<i...> type;
};
template <unsigned length, unsigned... i>
constexpr _TlgText<length> _tlgText2(char const (&text)[length], _TlgIndex<i...>)
{
	return _TlgText<length>{{text[i]...}};
}
template <unsigned length> constexpr _TlgText<length> _tlgText(char const (&text)[length])
{
	return _tlgText2(text, typename _TlgIndexTo<length>::type());
}

class _TlgFunctionActivity : public _TlgActivityBase<_TlgFunctionActivity, 0, 5>
{
	typedef _TlgActivityBase<_TlgFunctionActivity, 0, 5> Base;
	friend Base;

      public:
	/* `stopEvent` is a call site's constant without fields. */
	_TlgFunctionActivity(TraceLoggingHProvider provider, void const *stopEvent)
	    : m_provider(provider), m_stopEvent(stopEvent)
	{
	}
	~_TlgFunctionActivity()
	{
		zInternalStop();
		if (_tlgEnabled(m_provider, Level, Keyword)) {
			EVENT_DATA_DESCRIPTOR data[2];
			(void)_tlgWriteTransfer(m_provider, m_stopEvent, data, 2, zInternalId(), NULL);
		}
	}
	TraceLoggingHProvider Provider() const
	{
		return m_provider;
	}

      private:
	void OnStarted()
	{
		PushThreadActivityId();
	}
	void OnStopped()
	{
		PopThreadActivityId();
	}

	TraceLoggingHProvider m_provider;
	void const *m_stopEvent;
};

/* At the top of a scope, once. The arguments are fields of the start event. */
#define TraceLoggingFunction(hProvider, ...)                                                                           \
	enum { _tlgFunctionLength = sizeof(__FUNCTION__) };                                                            \
	static const struct __attribute__((packed)) {                                                                  \
		EVENT_DESCRIPTOR _tlgDescriptor;                                                                       \
		UINT16 _tlgEvtMetaSize;                                                                                \
		UINT8 _tlgEvtTag;                                                                                      \
		_TlgText<_tlgFunctionLength> _tlgEvtName;                                                              \
	} _tlgFunctionStop __attribute__((aligned(8))) = {                                                             \
		{0, 0, 11, 5, 2, 0, 0}, 3 + _tlgFunctionLength, 0, _tlgText(__FUNCTION__)};                            \
	_TlgFunctionActivity _tlgFunctionActivity((hProvider), &_tlgFunctionStop);                                     \
	_tlgFunctionActivity.zInternalStart();                                                                         \
	_tlgWriteNamed(                                                                                                \
		_tlgFunctionActivity.Provider(), _TlgText<_tlgFunctionLength> _tlgEvtName, _tlgText(__FUNCTION__),     \
		(_tlgWriteTransfer, _tlgFunctionActivity.zInternalId(), _tlgFunctionActivity.zInternalRelatedId()), 0, \
		TraceLoggingOpcode(1), ##__VA_ARGS__)

#endif
