// Ends training once a value no longer gets better, and may give the model back
// the variables of its best epoch, as keras.callbacks.EarlyStopping does.
#ifndef PACELINE_COMMON_CALLBACK_EARLY_STOPPING_H_
#define PACELINE_COMMON_CALLBACK_EARLY_STOPPING_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/monitor_callback.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
class FieldTable;

class EarlyStopping final : public MonitorCallback {
 public:
  static constexpr char kClassName[] = "EarlyStopping";
  static const FieldTable<EarlyStopping>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  bool keeps_model() const override { return restore_best_weights; }
  // As in Keras also if training has not ended early.
  bool restores_kept() const override { return best_epoch_.has_value(); }
  void EpochEnded(EpochEnd& end, Decision& decision) override;
  void TrainingEnded(Decision& decision) override;
  nlohmann::json Save() const override;
  absl::Status Restore(const ObjectReader& state) override;

  int64_t patience = 0;
  int64_t verbose = 0;
  std::optional<double> baseline;
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;

 private:
  std::optional<double> best_;
  // The epoch, from 0, whose model was kept last; nullopt: none.
  std::optional<int> best_epoch_;
  // Epochs since the last improvement.
  int64_t wait_ = 0;
  // The epoch, from 0, that ended training in this process; 0: none.
  int stopped_epoch_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_EARLY_STOPPING_H_
