// Class ids as vectors with a one.
#ifndef PACELINE_COMMON_DATA_STEP_TO_CATEGORICAL_STEP_H_
#define PACELINE_COMMON_DATA_STEP_TO_CATEGORICAL_STEP_H_

#include <cstdint>

#include "common/data_step/data_step.h"

namespace paceline {

template <typename T>
class FieldTable;

// keras.utils.to_categorical, of labels.
class ToCategoricalStep : public DataStep {
 public:
  static constexpr char kClassName[] = "to_categorical";
  static const FieldTable<ToCategoricalStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_of_labels() const override { return true; }
  // A last dimension of 1 becomes that of the classes.
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  int64_t num_classes = 0;

 private:
  int64_t size_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_TO_CATEGORICAL_STEP_H_
