#include "common/model/metrics/recall.h"

#include "common/config/field_table.h"
#include "common/model/metrics/confusion_fields.h"

namespace paceline {

const FieldTable<Recall>& Recall::Fields() {
  static const auto& table = *new FieldTable<Recall>(
      kClassName, "Share of the positive labels that are predicted.",
      PrecisionFields<Recall>());
  return table;
}

}  // namespace paceline
