#include "common/callback/xplane.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/callback/protobuf_encoding.h"

namespace paceline {
namespace {

// The name of the plane that has what threads of the host do.
constexpr char kHostPlane[] = "/host:CPU";

std::string WholeNumber(int field, int64_t value) {
  return WholeField(field, static_cast<uint64_t>(value));
}

// A map from numbers to messages has its entries as messages.
std::string MapEntry(int field, int64_t key, std::string value) {
  return BytesField(field, absl::StrCat(WholeNumber(1, key),
                                        BytesField(2, std::move(value))));
}

// Ids of lines and of names count from 1, since 0 means that there is none.
int64_t IdOf(size_t index) { return static_cast<int64_t>(index) + 1; }

// XEvent, in picoseconds.
std::string Event(const TraceSpan& span) {
  std::string event = absl::StrCat(WholeNumber(1, IdOf(span.name)),
                                   WholeNumber(2, span.begin_ns * 1'000));
  // Proto3 leaves zeros out.
  if (span.duration_ns > 0) {
    absl::StrAppend(&event, WholeNumber(3, span.duration_ns * 1'000));
  }
  return event;
}

// XLine. A span comes before those that lie in it.
std::string Line(const Trace& trace, size_t lane,
                 std::vector<TraceSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const TraceSpan& a, const TraceSpan& b) {
              return std::pair(a.begin_ns, -a.duration_ns) <
                     std::pair(b.begin_ns, -b.duration_ns);
            });
  std::string line =
      absl::StrCat(WholeNumber(1, IdOf(lane)), BytesField(2, trace.lanes[lane]),
                   WholeNumber(3, trace.start_ns));
  for (const TraceSpan& span : spans) {
    absl::StrAppend(&line, BytesField(4, Event(span)));
  }
  return line;
}

}  // namespace

std::string EncodeXSpace(absl::string_view task, const Trace& trace) {
  std::vector<std::vector<TraceSpan>> lanes(trace.lanes.size());
  for (const TraceSpan& span : trace.spans) lanes[span.lane].push_back(span);
  std::string plane =
      absl::StrCat(WholeNumber(1, 1), BytesField(2, kHostPlane));
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    absl::StrAppend(&plane,
                    BytesField(3, Line(trace, lane, std::move(lanes[lane]))));
  }
  for (size_t name = 0; name < trace.names.size(); ++name) {
    absl::StrAppend(&plane,
                    MapEntry(4, IdOf(name),
                             absl::StrCat(WholeNumber(1, IdOf(name)),
                                          BytesField(2, trace.names[name]))));
  }
  std::string space = BytesField(1, std::move(plane));
  if (trace.dropped_spans > 0) {
    absl::StrAppend(
        &space,
        BytesField(3, absl::StrCat(trace.dropped_spans,
                                   " spans were left out: there were too "
                                   "many")));
  }
  absl::StrAppend(&space, BytesField(4, std::string(task)));
  return space;
}

}  // namespace paceline
