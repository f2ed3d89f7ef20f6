// Records what the threads of a process do, as spans on the lanes of a
// timeline.
//
// Who may record holds a TraceLane*, which is null where nothing is recorded:
//
//   const ScopedSpan span(lane, "update");
//
// Then a span costs a test of the pointer. With a lane that is off it costs a
// load, and with one that is on two readings of the clock and a lock. Which
// steps are recorded is up to whoever switches lanes (replica_trace.h).
#ifndef PACELINE_WORKER_TRACE_TRACE_RECORDER_H_
#define PACELINE_WORKER_TRACE_TRACE_RECORDER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/callback/trace.h"

namespace paceline {

class TraceRecorder;

// A line of the timeline. Its spans must not overlap, unless one lies in the
// other: so it is of one thread, or of threads that take turns. Thread-safe.
class TraceLane {
 public:
  TraceLane(TraceRecorder& recorder, uint32_t index)
      : recorder_(recorder), index_(index) {}
  TraceLane(const TraceLane&) = delete;
  TraceLane& operator=(const TraceLane&) = delete;

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  void Switch(bool is_on) { is_on_ = is_on; }

  absl::Time Now() const;
  // Records a span, also while the lane is off: it may have begun before.
  void Add(absl::string_view name, absl::Time begin, absl::Time end);

 private:
  TraceRecorder& recorder_;
  const uint32_t index_;
  std::atomic<bool> is_on_ = false;
};

// Holds at most kMaxTraceSpans spans, 2.4 MB; counts those beyond. Thread-safe.
class TraceRecorder {
 public:
  using Clock = std::function<absl::Time()>;
  // `monotonic` orders the spans; `wall` dates the trace.
  explicit TraceRecorder(Clock monotonic = MonotonicNow,
                         Clock wall = absl::Now);

  // A new lane, switched off, that lives as long as the recorder. Spans of more
  // than kMaxTraceLanes lanes are counted as left out.
  TraceLane& AddLane(absl::string_view name);

  // What was recorded, from the begin of its first span on; the recorder
  // forgets it, as it does later spans. Lanes and names that no span has are
  // left out, as are spans that end more than kMaxTraceNanoseconds later.
  Trace Take();

 private:
  friend class TraceLane;

  absl::Time Now() const { return monotonic_(); }
  void Add(uint32_t lane, absl::string_view name, absl::Time begin,
           absl::Time end);
  // The index of a name; kMaxTraceNames if there is no room for it.
  size_t IndexOf(absl::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock monotonic_;
  const Clock wall_;

  Mutex mutex_;
  // Lanes refer to the recorder, and do not move.
  std::deque<TraceLane> lanes_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, size_t, std::less<>> names_ ABSL_GUARDED_BY(mutex_);
  // Spans begin at times of the monotonic clock.
  Trace trace_ ABSL_GUARDED_BY(mutex_);
  bool is_taken_ ABSL_GUARDED_BY(mutex_) = false;
};

// Records the time of its scope. Not thread-safe.
class ScopedSpan {
 public:
  // `lane`: null, or outlives the span; nothing is recorded if it is off.
  ScopedSpan(TraceLane* lane, absl::string_view name) : lane_(OnlyIfOn(lane)) {
    if (lane_ != nullptr) Begin(name);
  }
  // The same with the number behind the name: "bucket 3", or "section 3/5" if
  // it is of so many; no number if there is only one.
  ScopedSpan(TraceLane* lane, absl::string_view name, int64_t number,
             int64_t count = 0)
      : lane_(OnlyIfOn(lane)) {
    if (lane_ != nullptr) Begin(Numbered(name, number, count));
  }
  ~ScopedSpan() {
    if (lane_ != nullptr) lane_->Add(name_, begin_, lane_->Now());
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

 private:
  static TraceLane* OnlyIfOn(TraceLane* lane) {
    return lane != nullptr && lane->is_on() ? lane : nullptr;
  }
  static std::string Numbered(absl::string_view name, int64_t number,
                              int64_t count);
  void Begin(absl::string_view name) {
    name_ = std::string(name);
    begin_ = lane_->Now();
  }

  TraceLane* const lane_;
  std::string name_;
  absl::Time begin_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_TRACE_TRACE_RECORDER_H_
