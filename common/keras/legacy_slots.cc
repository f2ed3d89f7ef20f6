#include "common/keras/legacy_slots.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace paceline {
namespace {

// Of the optimizer in mixed precision. It has the slots of that in it, but a
// number of updates of its own.
constexpr absl::string_view kLossScaleOptimizer = "loss_scale_optimizer/";

absl::string_view WithoutNumber(absl::string_view name) {
  return absl::StripSuffix(name, ":0");
}

bool IsIteration(absl::string_view name) {
  const absl::string_view last = name.substr(name.rfind('/') + 1);
  return last == "iteration" || last == "iter";
}

}  // namespace

std::vector<absl::string_view> NamesOfSlot(absl::string_view slot) {
  if (slot == "momentum") return {slot, "m"};
  if (slot == "velocity") return {slot, "v", "rms"};
  if (slot == "velocity_hat") return {slot, "vhat"};
  if (slot == "norm") return {slot, "u", "v"};
  if (slot == "average_gradient") return {slot, "mg"};
  if (slot == "accumulated_grad") return {slot, "accum_grad"};
  if (slot == "accumulated_delta_var") return {slot, "accum_var"};
  return {slot};
}

LegacySlots::LegacySlots(const Hdf5Index& index) {
  for (auto each = index.lower_bound(kLegacyOptimizerGroup);
       each != index.end() &&
       absl::StartsWith(each->first, kLegacyOptimizerGroup);
       ++each) {
    const auto& [path, dataset] = *each;
    absl::string_view name =
        WithoutNumber(absl::StripPrefix(path, kLegacyOptimizerGroup));
    absl::ConsumePrefix(&name, "training/");
    const bool scales = absl::ConsumePrefix(&name, kLossScaleOptimizer);
    if (!scales && IsIteration(name)) iteration_path_ = path;
    if (scales && name == "step_counter") step_counter_path_ = path;
    if (scales && name == "dynamic_scale") dynamic_scale_path_ = path;
    if (dataset.shape.empty()) continue;
    ++size_;
    // Keras 2 writes no name of an optimizer that it has read from a file.
    paths_.emplace(name, path);
    paths_.emplace(name.substr(name.find('/') + 1), path);
  }
}

std::string LegacySlots::Find(absl::string_view variable,
                              absl::string_view slot) const {
  const absl::string_view own = WithoutNumber(variable);
  const auto path_of = [this](const std::string& name) {
    const auto found = paths_.find(name);
    return found == paths_.end() ? "" : found->second;
  };
  std::string path =
      path_of(absl::StrCat(absl::StrReplaceAll(own, {{"/", "_"}}), "_", slot));
  for (const absl::string_view name : NamesOfSlot(slot)) {
    if (path.empty()) path = path_of(absl::StrCat(name, "/", own));
    if (path.empty()) path = path_of(absl::StrCat(own, "/", name));
  }
  return path;
}

}  // namespace paceline
