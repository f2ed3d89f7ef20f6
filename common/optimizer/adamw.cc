#include "common/optimizer/adamw.h"

#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"

namespace paceline {
namespace {

absl::Status CheckDecays(const AdamW& adamw, const Path& path) {
  if (adamw.weight_decay) return absl::OkStatus();
  return ConfigError(path.Key("weight_decay"), "expected a number, got null");
}

}  // namespace

const FieldTable<AdamW>& AdamW::Fields() {
  static const auto& table = *new FieldTable<AdamW>(
      kClassName, "Adam with decoupled weight decay.",
      WithBaseFields<AdamW>(OwnFields()), [] { return AdamW(); }, CheckDecays);
  return table;
}

}  // namespace paceline
