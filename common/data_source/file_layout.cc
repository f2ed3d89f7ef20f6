#include "common/data_source/file_layout.h"

#include <algorithm>
#include <cstddef>

#include "glog/logging.h"

namespace paceline {

int64_t FileLayout::FilesWithin(int64_t count) const {
  if (has_file_per_example) return count;
  return static_cast<int64_t>(SpansWithin(count).size());
}

std::vector<ExampleSpan> FileLayout::SpansWithin(int64_t count) const {
  CHECK(!has_file_per_example);
  std::vector<ExampleSpan> spans;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t next = i + 1 < begins.size() ? begins[i + 1] : count;
    const int64_t end = std::min(next, count);
    if (begins[i] < end) spans.push_back({begins[i], end});
  }
  return spans;
}

}  // namespace paceline
