#include "worker/trace/trace_recorder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

// Keeps what some span has of `texts`, in their order; `index` is the span's
// index of it.
void KeepUsed(uint32_t TraceSpan::*index, std::vector<std::string>& texts,
              std::vector<TraceSpan>& spans) {
  std::vector<bool> is_used(texts.size());
  for (const TraceSpan& span : spans) is_used[span.*index] = true;
  std::vector<uint32_t> places;
  std::vector<std::string> used;
  for (size_t i = 0; i < texts.size(); ++i) {
    places.push_back(static_cast<uint32_t>(used.size()));
    if (is_used[i]) used.push_back(std::move(texts[i]));
  }
  for (TraceSpan& span : spans) span.*index = places[span.*index];
  texts = std::move(used);
}

// Spans begin at the first one's, whose begin is returned.
int64_t Rebase(Trace& trace) {
  if (trace.spans.empty()) return 0;
  const int64_t first =
      std::min_element(trace.spans.begin(), trace.spans.end(),
                       [](const TraceSpan& a, const TraceSpan& b) {
                         return a.begin_ns < b.begin_ns;
                       })
          ->begin_ns;
  for (TraceSpan& span : trace.spans) span.begin_ns -= first;
  trace.dropped_spans += std::erase_if(trace.spans, [](const TraceSpan& span) {
    return span.begin_ns + span.duration_ns > kMaxTraceNanoseconds;
  });
  return first;
}

}  // namespace

absl::Time TraceLane::Now() const { return recorder_.Now(); }

void TraceLane::Add(absl::string_view name, absl::Time begin, absl::Time end) {
  recorder_.Add(index_, name, begin, end);
}

TraceRecorder::TraceRecorder(Clock monotonic, Clock wall)
    : monotonic_(std::move(monotonic)), wall_(std::move(wall)) {
  MutexLock lock(mutex_);
  trace_.spans.reserve(kMaxTraceSpans);
}

TraceLane& TraceRecorder::AddLane(absl::string_view name) {
  MutexLock lock(mutex_);
  if (lanes_.size() < kMaxTraceLanes) trace_.lanes.emplace_back(name);
  return lanes_.emplace_back(*this, static_cast<uint32_t>(lanes_.size()));
}

size_t TraceRecorder::IndexOf(absl::string_view name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  const size_t index = names_.size();
  if (index == kMaxTraceNames) return index;
  trace_.names.emplace_back(name.substr(0, kMaxTraceTextBytes));
  names_.emplace(name, index);
  return index;
}

void TraceRecorder::Add(uint32_t lane, absl::string_view name, absl::Time begin,
                        absl::Time end) {
  MutexLock lock(mutex_);
  if (is_taken_) return;
  const bool has_room =
      trace_.spans.size() < kMaxTraceSpans && lane < kMaxTraceLanes;
  const size_t index = has_room ? IndexOf(name) : kMaxTraceNames;
  if (index == kMaxTraceNames) {
    ++trace_.dropped_spans;
    return;
  }
  trace_.spans.push_back(
      {.name = static_cast<uint32_t>(index),
       .lane = lane,
       .begin_ns = absl::ToUnixNanos(begin),
       .duration_ns = absl::ToInt64Nanoseconds(end - begin)});
}

Trace TraceRecorder::Take() {
  Trace taken;
  {
    MutexLock lock(mutex_);
    is_taken_ = true;
    taken = std::exchange(trace_, {});
  }
  const absl::Duration offset = wall_() - monotonic_();
  taken.start_ns = Rebase(taken) + absl::ToInt64Nanoseconds(offset);
  KeepUsed(&TraceSpan::name, taken.names, taken.spans);
  KeepUsed(&TraceSpan::lane, taken.lanes, taken.spans);
  return taken;
}

std::string ScopedSpan::Numbered(absl::string_view name, int64_t number,
                                 int64_t count) {
  if (count == 1) return std::string(name);
  return count == 0 ? absl::StrCat(name, " ", number)
                    : absl::StrCat(name, " ", number, "/", count);
}

}  // namespace paceline
