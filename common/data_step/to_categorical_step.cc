#include "common/data_step/to_categorical_step.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"

namespace paceline {
namespace {

// More classes than any model has; a float32 tells them apart.
constexpr int64_t kMaxClasses = int64_t{1} << 24;

}  // namespace

const FieldTable<ToCategoricalStep>& ToCategoricalStep::Fields() {
  static const auto& table = *new FieldTable<ToCategoricalStep>(
      kClassName, "Labels that are class ids as vectors with a one.",
      {Required("num_classes", &ToCategoricalStep::num_classes,
                Between(1, kMaxClasses), "Number of classes.")});
  return table;
}

absl::StatusOr<Shape> ToCategoricalStep::Build(const Shape& input) {
  Shape output = input;
  if (!output.empty() && output.back() == 1) output.pop_back();
  size_ = NumElements(output);
  output.push_back(num_classes);
  return output;
}

absl::Status ToCategoricalStep::Apply(const float* in, float* out,
                                      StepRandom& /*random*/) {
  std::fill_n(out, size_ * num_classes, 0.0F);
  for (int64_t i = 0; i < size_; ++i) {
    const float id = in[i];
    if (!(id >= 0 && id < static_cast<float>(num_classes)) ||
        std::trunc(id) != id) {
      return absl::InvalidArgumentError(
          absl::StrCat("label is ", id, ", expected a class id from 0 to ",
                       num_classes - 1));
    }
    out[i * num_classes + static_cast<int64_t>(id)] = 1;
  }
  return absl::OkStatus();
}

}  // namespace paceline
