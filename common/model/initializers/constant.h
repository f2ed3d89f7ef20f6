// Zeros, Ones, Constant.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_CONSTANT_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_CONSTANT_H_

#include <memory>
#include <string>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/initializers/elementwise.h"

namespace paceline {

// All elements are `value`; Zeros and Ones fix it.
class Constant : public ElementwiseInitializer<Constant> {
 public:
  // One table per class name.
  static const std::vector<FieldTable<Constant>>& Tables();
  // "Zeros" and so on; CHECK-fails on another name.
  static Constant Named(absl::string_view class_name);

  absl::string_view class_name() const override { return table_name; }
  auto Elements(RandomKey, absl::Span<const int64_t>) const {
    return [this](int64_t) { return value; };
  }

  double value = 0;
  // The class name in configs.
  std::string table_name = "Constant";
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_CONSTANT_H_
