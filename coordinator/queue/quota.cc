#include "coordinator/queue/quota.h"

#include <vector>

#include "absl/strings/str_join.h"

namespace paceline {

bool Quota::Allows(int64_t held_jobs, const Resources& held) const {
  return held_jobs <= jobs && held.FitsInto(resources);
}

std::string Quota::ToString() const {
  std::vector<std::string> parts;
  if (jobs != kAny) parts.push_back(Counted(jobs, "job"));
  // Resources::ToString leaves out what is 0.
  const auto add = [&parts](int64_t limit, const Resources& limited,
                            absl::string_view none) {
    if (limit == kAny) return;
    parts.push_back(limit == 0 ? std::string(none) : limited.ToString());
  };
  add(resources.millicores, {.millicores = resources.millicores}, "0 cores");
  add(resources.memory_bytes, {.memory_bytes = resources.memory_bytes},
      "no memory");
  add(resources.gpus, {.gpus = resources.gpus}, "0 GPUs");
  return parts.empty() ? "any" : absl::StrJoin(parts, ", ");
}

}  // namespace paceline
