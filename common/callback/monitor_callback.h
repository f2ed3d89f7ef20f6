// A callback that watches a value of the logs, as Keras' MonitorCallback.
#ifndef PACELINE_COMMON_CALLBACK_MONITOR_CALLBACK_H_
#define PACELINE_COMMON_CALLBACK_MONITOR_CALLBACK_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/callback/callback.h"
#include "common/config/codec.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
struct Field;

// Which values are better: kAuto is as the metric says.
enum class MonitorMode { kAuto, kMin, kMax };
absl::Span<const EnumName<MonitorMode>> EnumNames(MonitorMode);

class MonitorCallback : public Callback {
 public:
  // The config keys that these callbacks share.
  static Field<MonitorCallback> MonitorField();
  static Field<MonitorCallback> ModeField();
  static Field<MonitorCallback> MinDeltaField();

  // ConfigError if `mode` is auto and the metric does not say it.
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;

  std::string monitor = "val_loss";
  MonitorMode mode = MonitorMode::kAuto;
  // The smallest change that counts.
  double min_delta = 0;

 protected:
  // The watched value; nullopt if the logs do not have it.
  std::optional<double> ValueIn(const Logs& logs) const;
  // The keys of the logs, as Keras' warnings list them.
  static std::string KeysText(const Logs& logs);
  // Whether `value` is better than `reference`, of which there may be none.
  // Compared in float32, as in Keras.
  bool Improves(double value, std::optional<double> reference) const;
  // Warns once in the life of the process.
  void WarnOnce(std::string text, Decision& decision);

 private:
  bool is_larger_better_ = false;
  bool has_warned_ = false;
};

// A number as a value of JSON that keeps infinities and NaN, and back.
// DataLoss unless it is such a value, or null for nullopt.
nlohmann::json SaveNumber(std::optional<double> number);
absl::StatusOr<std::optional<double>> RestoreNumber(const ObjectReader& reader,
                                                    const char* key);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_MONITOR_CALLBACK_H_
