// Saves the model at the ends of epochs, as keras.callbacks.ModelCheckpoint
// does.
#ifndef PACELINE_COMMON_CALLBACK_MODEL_CHECKPOINT_H_
#define PACELINE_COMMON_CALLBACK_MODEL_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/monitor_callback.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
class FieldTable;

class ModelCheckpoint final : public MonitorCallback {
 public:
  static constexpr char kClassName[] = "ModelCheckpoint";
  static const FieldTable<ModelCheckpoint>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  std::string output_path() const override { return filepath; }
  // ConfigError, too, if the template asks for what is never in the logs.
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;
  nlohmann::json Save() const override;
  absl::Status Restore(const ObjectReader& state) override;

  // A template (number_template.h) of a path below the output folder.
  std::string filepath;
  int64_t verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  std::optional<double> initial_value_threshold;

 private:
  // Whether the model is to be saved, as `file`. Says why or why not.
  bool Saves(const EpochEnd& end, const std::string& file, Decision& decision);
  void Say(const EpochEnd& end, const std::string& text,
           Decision& decision) const;

  std::optional<double> best_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_MODEL_CHECKPOINT_H_
