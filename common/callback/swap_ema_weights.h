// Evaluates and saves the model with the moving averages of its variables, as
// keras.callbacks.SwapEMAWeights does.
#ifndef PACELINE_COMMON_CALLBACK_SWAP_EMA_WEIGHTS_H_
#define PACELINE_COMMON_CALLBACK_SWAP_EMA_WEIGHTS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/callback.h"

namespace paceline {

template <typename T>
class FieldTable;

// It has no state: the session swaps the averages back before it saves its own.
class SwapEmaWeights final : public Callback {
 public:
  static constexpr char kClassName[] = "SwapEMAWeights";
  static const FieldTable<SwapEmaWeights>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  // ConfigError if the optimizer has no averages.
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  bool swaps_averages() const override { return true; }
  void EpochEnded(EpochEnd& end, Decision& decision) override;

  // Whether files of the model that later callbacks save at the end of an epoch
  // have the averages, too.
  bool swap_on_epoch = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_SWAP_EMA_WEIGHTS_H_
