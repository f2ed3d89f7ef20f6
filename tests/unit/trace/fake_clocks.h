// Clocks of a recorder that stand still until they are moved.
#ifndef PACELINE_TESTS_UNIT_TRACE_FAKE_CLOCKS_H_
#define PACELINE_TESTS_UNIT_TRACE_FAKE_CLOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/callback/trace.h"
#include "worker/trace/trace_recorder.h"

namespace paceline {

struct FakeClocks {
  // How much later it is by the wall's clock.
  static constexpr int64_t kWallSeconds = 1'000'000'000;

  TraceRecorder::Clock Monotonic() {
    return [this] { return now; };
  }
  TraceRecorder::Clock Wall() {
    return [this] { return now + absl::Seconds(kWallSeconds); };
  }

  absl::Time now = absl::FromUnixSeconds(1000);
};

// Each span as "lane: name begin+duration", in nanoseconds.
inline std::vector<std::string> SpansOf(const Trace& trace) {
  std::vector<std::string> spans;
  for (const TraceSpan& span : trace.spans) {
    spans.push_back(absl::StrCat(trace.lanes[span.lane], ": ",
                                 trace.names[span.name], " ", span.begin_ns,
                                 "+", span.duration_ns));
  }
  return spans;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_TRACE_FAKE_CLOCKS_H_
