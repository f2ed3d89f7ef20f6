#include "common/callback/swap_ema_weights.h"

#include "common/config/field_table.h"
#include "common/config/path.h"

namespace paceline {

const FieldTable<SwapEmaWeights>& SwapEmaWeights::Fields() {
  static const auto& table = *new FieldTable<SwapEmaWeights>(
      kClassName,
      "Validates the model with the moving averages of its variables in their "
      "place. The optimizer needs `use_ema`.",
      {Optional("swap_on_epoch", &SwapEmaWeights::swap_on_epoch,
                "Whether files of the model that callbacks after this one save "
                "at the end of an epoch have the averages, too.")});
  return table;
}

absl::Status SwapEmaWeights::Prepare(const CallbackContext& context,
                                     const Path& path) {
  if (context.has_averages) return absl::OkStatus();
  return ConfigError(path,
                     "SwapEMAWeights needs the averages of `use_ema`, but the "
                     "job's optimizer has use_ema: false; expected an "
                     "`optimizer` with use_ema: true");
}

void SwapEmaWeights::EpochEnded(EpochEnd& end, Decision& decision) {
  if (!swap_on_epoch) return;
  decision.saved_values =
      end.is_last ? SavedValues::kAverages : SavedValues::kSwapped;
}

}  // namespace paceline
