// A learning rate that is constant between some steps, as
// keras.optimizers.schedules.PiecewiseConstantDecay has it: values[0] up to and
// including step boundaries[0], values[1] up to boundaries[1], and so on, and
// the last value after the last boundary.
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULES_PIECEWISE_CONSTANT_DECAY_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULES_PIECEWISE_CONSTANT_DECAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/optimizer/schedule.h"

namespace paceline {

template <typename T>
class FieldTable;

class PiecewiseConstantDecay final : public Schedule {
 public:
  static constexpr char kClassName[] = "PiecewiseConstantDecay";
  static const FieldTable<PiecewiseConstantDecay>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  double At(int64_t iterations) const override;

  // Ascending; one fewer than the values.
  std::vector<double> boundaries;
  std::vector<double> values;
  // Keras' default.
  std::string name = "PiecewiseConstant";
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULES_PIECEWISE_CONSTANT_DECAY_H_
