#include "common/model/metrics/confusion_counts.h"

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/metrics/confusion_fields.h"

namespace paceline {

namespace {

// The table of metric M.
template <typename M>
FieldTable<M> CountTable(const char* counted) {
  return FieldTable<M>(M::kClassName, absl::StrCat("Number of ", counted, "."),
                       MetricFields<M>({ThresholdField<M>()}));
}

}  // namespace

const FieldTable<TruePositives>& TruePositives::Fields() {
  static const auto& table = *new FieldTable<TruePositives>(
      CountTable<TruePositives>("positive labels that are predicted"));
  return table;
}

const FieldTable<FalsePositives>& FalsePositives::Fields() {
  static const auto& table =
      *new FieldTable<FalsePositives>(CountTable<FalsePositives>(
          "negative labels that are predicted positive"));
  return table;
}

const FieldTable<TrueNegatives>& TrueNegatives::Fields() {
  static const auto& table = *new FieldTable<TrueNegatives>(
      CountTable<TrueNegatives>("negative labels that are predicted"));
  return table;
}

const FieldTable<FalseNegatives>& FalseNegatives::Fields() {
  static const auto& table =
      *new FieldTable<FalseNegatives>(CountTable<FalseNegatives>(
          "positive labels that are predicted negative"));
  return table;
}

}  // namespace paceline
