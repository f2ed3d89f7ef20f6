// Cosine decay with warm restarts (Loshchilov and Hutter, "SGDR", 2017), as
// keras.optimizers.schedules.CosineDecayRestarts has it. The first period has
// first_decay_steps steps, each next one t_mul times as many. In period i, from
// 0, where p goes from 0 to 1:
//
//   lr = initial_learning_rate ·
//        ((1 - alpha) · m_mul^i · (1 + cos(π p)) / 2 + alpha)
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULES_COSINE_DECAY_RESTARTS_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULES_COSINE_DECAY_RESTARTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/optimizer/schedule.h"

namespace paceline {

template <typename T>
class FieldTable;

class CosineDecayRestarts final : public Schedule {
 public:
  static constexpr char kClassName[] = "CosineDecayRestarts";
  static const FieldTable<CosineDecayRestarts>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  double At(int64_t iterations) const override;

  // Keras' default.
  std::string name = "SGDRDecay";
  double initial_learning_rate = 0;
  double first_decay_steps = 1;
  double t_mul = 2;
  double m_mul = 1;
  double alpha = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULES_COSINE_DECAY_RESTARTS_H_
