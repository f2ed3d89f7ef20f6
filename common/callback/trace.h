// What a task did, as spans of time on the lines of a timeline.
#ifndef PACELINE_COMMON_CALLBACK_TRACE_H_
#define PACELINE_COMMON_CALLBACK_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace paceline {

// The most that a trace has of each. Names and lanes are texts of up to
// kMaxTraceTextBytes bytes.
inline constexpr size_t kMaxTraceLanes = 64;
inline constexpr size_t kMaxTraceNames = 4'096;
inline constexpr size_t kMaxTraceSpans = 100'000;
inline constexpr size_t kMaxTraceTextBytes = 200;
// From its start to the end of the last span: 30 days. So sums, and
// picoseconds, are far from the range of int64.
inline constexpr int64_t kMaxTraceNanoseconds =
    int64_t{30} * 24 * 3'600 * 1'000'000'000;

struct TraceSpan {
  // What was done: an index into Trace::names.
  uint32_t name = 0;
  // Where: an index into Trace::lanes.
  uint32_t lane = 0;
  // Nanoseconds since Trace::start_ns.
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
};

struct Trace {
  // Nanoseconds since 1970, by the clock of the task.
  int64_t start_ns = 0;
  std::vector<std::string> lanes;
  std::vector<std::string> names;
  // In any order. Those of a lane do not overlap, or one lies in the other.
  std::vector<TraceSpan> spans;
  // Spans that were left out since there were more.
  uint64_t dropped_spans = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_TRACE_H_
