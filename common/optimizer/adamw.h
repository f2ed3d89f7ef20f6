// AdamW (Loshchilov and Hutter, 2019), as keras.optimizers.AdamW computes it:
// Adam (adam.h) with weight decay (weight_decay.h).
#ifndef PACELINE_COMMON_OPTIMIZER_ADAMW_H_
#define PACELINE_COMMON_OPTIMIZER_ADAMW_H_

#include <variant>

#include "absl/strings/string_view.h"
#include "common/optimizer/adam.h"

namespace paceline {

class AdamW final : public Adam {
 public:
  static constexpr char kClassName[] = "AdamW";
  // Adam lists its formulas.
  using Formula = std::variant<>;
  static const FieldTable<AdamW>& Fields();

  AdamW() : Adam("adam_w") { weight_decay = 0.004; }

  absl::string_view class_name() const override { return kClassName; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_ADAMW_H_
