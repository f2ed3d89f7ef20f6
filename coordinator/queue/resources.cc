#include "coordinator/queue/resources.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/size_text.h"

namespace paceline {
namespace {

int64_t CountThatFit(int64_t need, int64_t free, int64_t limit) {
  return need <= 0 ? limit : std::min(limit, std::max<int64_t>(0, free) / need);
}

}  // namespace

Resources& Resources::operator+=(const Resources& other) {
  millicores += other.millicores;
  memory_bytes += other.memory_bytes;
  gpus += other.gpus;
  tasks += other.tasks;
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  millicores -= other.millicores;
  memory_bytes -= other.memory_bytes;
  gpus -= other.gpus;
  tasks -= other.tasks;
  return *this;
}

bool Resources::FitsInto(const Resources& other) const {
  return millicores <= other.millicores && memory_bytes <= other.memory_bytes &&
         gpus <= other.gpus && tasks <= other.tasks;
}

std::string Resources::ToString() const {
  std::vector<std::string> parts;
  if (millicores % 1000 != 0) {
    parts.push_back(absl::StrFormat("%.3g cores", millicores / 1000.0));
  } else if (millicores != 0) {
    parts.push_back(Counted(millicores / 1000, "core"));
  }
  if (memory_bytes != 0) {
    parts.push_back(SizeText(static_cast<uint64_t>(memory_bytes)));
  }
  if (gpus != 0) parts.push_back(Counted(gpus, "GPU"));
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

Resources operator+(Resources a, const Resources& b) { return a += b; }
Resources operator-(Resources a, const Resources& b) { return a -= b; }

Resources operator*(int64_t count, Resources each) {
  each.millicores *= count;
  each.memory_bytes *= count;
  each.gpus *= count;
  each.tasks *= count;
  return each;
}

Resources Min(const Resources& a, const Resources& b) {
  return {std::min(a.millicores, b.millicores),
          std::min(a.memory_bytes, b.memory_bytes), std::min(a.gpus, b.gpus),
          std::min(a.tasks, b.tasks)};
}

int64_t CountThatFit(const Resources& need, const Resources& free,
                     int64_t limit) {
  int64_t count = limit;
  count = CountThatFit(need.millicores, free.millicores, count);
  count = CountThatFit(need.memory_bytes, free.memory_bytes, count);
  count = CountThatFit(need.gpus, free.gpus, count);
  return CountThatFit(need.tasks, free.tasks, count);
}

std::string Counted(int64_t count, absl::string_view one) {
  return absl::StrCat(count, " ", one, count == 1 ? "" : "s");
}

Resources ResourcesFromProto(const v1::Resources& message, int64_t tasks) {
  return {static_cast<int64_t>(message.millicores()),
          static_cast<int64_t>(message.memory_bytes()),
          static_cast<int64_t>(message.gpus()), tasks};
}

}  // namespace paceline
