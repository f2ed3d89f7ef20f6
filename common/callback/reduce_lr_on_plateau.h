// Reduces the learning rate once a value no longer gets better, as
// keras.callbacks.ReduceLROnPlateau does.
#ifndef PACELINE_COMMON_CALLBACK_REDUCE_LR_ON_PLATEAU_H_
#define PACELINE_COMMON_CALLBACK_REDUCE_LR_ON_PLATEAU_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/monitor_callback.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
class FieldTable;

class ReduceLrOnPlateau final : public MonitorCallback {
 public:
  static constexpr char kClassName[] = "ReduceLROnPlateau";
  static const FieldTable<ReduceLrOnPlateau>& Fields();

  ReduceLrOnPlateau() { min_delta = 1e-4; }

  absl::string_view class_name() const override { return kClassName; }
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;
  nlohmann::json Save() const override;
  absl::Status Restore(const ObjectReader& state) override;

  double factor = 0.1;
  int64_t patience = 10;
  int64_t verbose = 0;
  int64_t cooldown = 0;
  double min_lr = 0;

 private:
  // Unless the rate is as small as it may be.
  void Reduce(const EpochEnd& end, Decision& decision);

  std::optional<double> best_;
  // Epochs since the last improvement.
  int64_t wait_ = 0;
  // Epochs until `wait_` counts again.
  int64_t cooldown_left_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_REDUCE_LR_ON_PLATEAU_H_
