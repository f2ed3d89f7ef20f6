#include "common/model/metrics/precision.h"

#include "common/config/field_table.h"
#include "common/model/metrics/confusion_fields.h"

namespace paceline {

const FieldTable<PrecisionMetric>& PrecisionMetric::Fields() {
  static const auto& table = *new FieldTable<PrecisionMetric>(
      kClassName, "Share of the positive predictions that are right.",
      PrecisionFields<PrecisionMetric>());
  return table;
}

}  // namespace paceline
