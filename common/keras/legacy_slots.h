// The state of an optimizer in a legacy `.h5`, which has it by names, below
// optimizer_weights:
//
//   Keras 3               adam/iteration, adam/small_dense_kernel_momentum
//   Keras 2               iteration:0, Adam/m/dense/kernel:0
//   Keras 2 before 2.11   Adam/iter:0, Adam/dense/kernel/m:0
#ifndef PACELINE_COMMON_KERAS_LEGACY_SLOTS_H_
#define PACELINE_COMMON_KERAS_LEGACY_SLOTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/hdf5/hdf5_index.h"

namespace paceline {

inline constexpr char kLegacyOptimizerGroup[] = "optimizer_weights/";

// What releases of Keras call a slot that Keras 3 calls `slot`, which comes
// first.
std::vector<absl::string_view> NamesOfSlot(absl::string_view slot);

class LegacySlots {
 public:
  // No state.
  LegacySlots() = default;
  explicit LegacySlots(const Hdf5Index& index);

  // The path of the number of updates; "": there is none.
  const std::string& iteration_path() const { return iteration_path_; }

  // Those of the state of a LossScaleOptimizer of Keras 3 (slot_paths.h); "":
  // there is none.
  const std::string& step_counter_path() const { return step_counter_path_; }
  const std::string& dynamic_scale_path() const { return dynamic_scale_path_; }

  // How many slots of variables there are.
  size_t size() const { return size_; }

  // The path of a slot, as Optimizer::slot_names calls it, of the variable that
  // the file calls `variable`, "dense/kernel:0"; "": there is none.
  std::string Find(absl::string_view variable, absl::string_view slot) const;

 private:
  // By name without ":0", with and without that of the optimizer.
  std::map<std::string, std::string> paths_;
  std::string iteration_path_;
  std::string step_counter_path_;
  std::string dynamic_scale_path_;
  size_t size_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_LEGACY_SLOTS_H_
