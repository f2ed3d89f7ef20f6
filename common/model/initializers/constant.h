// Zeros, Ones, Constant.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_CONSTANT_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_CONSTANT_H_

#include <memory>
#include <string>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/initializers/elementwise.h"

namespace paceline {

// `value` everywhere. Zeros and Ones have it fixed.
class Constant : public ElementwiseInitializer<Constant> {
 public:
  // One for each class name.
  static const std::vector<FieldTable<Constant>>& Tables();

  absl::string_view class_name() const override { return table().name(); }
  Value Config() const override { return table().Write(*this); }
  auto Elements(RandomKey, absl::Span<const int64_t>) const {
    return [this](int64_t) { return value; };
  }

  double value = 0;

 private:
  // The narrowest table that gives the value.
  const FieldTable<Constant>& table() const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_CONSTANT_H_
