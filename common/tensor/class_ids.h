// The ids of classes that labels may have.
#ifndef PACELINE_COMMON_TENSOR_CLASS_IDS_H_
#define PACELINE_COMMON_TENSOR_CLASS_IDS_H_

#include <cstdint>
#include <optional>

namespace paceline {

struct ClassIds {
  // The ids are those in [0, count). 0: the labels are no class ids.
  int64_t count = 0;
  // One more id, that of labels that do not count (Loss::ignored_class).
  std::optional<int64_t> ignored = std::nullopt;

  bool contains(int64_t id) const {
    return (id >= 0 && id < count) || id == ignored;
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TENSOR_CLASS_IDS_H_
