// Saves the model at the ends of epochs, or after so many batches, as
// keras.callbacks.ModelCheckpoint does.
#ifndef PACELINE_COMMON_CALLBACK_MODEL_CHECKPOINT_H_
#define PACELINE_COMMON_CALLBACK_MODEL_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/monitor_callback.h"
#include "common/callback/save_frequency.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
class FieldTable;

class ModelCheckpoint final : public MonitorCallback {
 public:
  static constexpr char kClassName[] = "ModelCheckpoint";
  static const FieldTable<ModelCheckpoint>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> output_paths() const override { return {filepath}; }
  // ConfigError, too, if the template asks for what is never in the logs.
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  bool hears_batches() const override { return save_freq.batches > 0; }
  std::optional<int64_t> steps_to_save() const override;
  void BatchEnded(const BatchEnd& end, Decision& decision) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;
  nlohmann::json Save() const override;
  absl::Status Restore(const ObjectReader& state) override;

  // A template (number_template.h) of a path below the output folder.
  std::string filepath;
  int64_t verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  SaveFrequency save_freq;
  std::optional<double> initial_value_threshold;

 private:
  // When the model may be saved.
  struct Moment {
    // From 0.
    int epoch = 0;
    // From 0; nullopt: at the end of the epoch.
    std::optional<int64_t> batch;
    const Logs& logs;
  };
  // The template with these numbers filled in. InvalidArgument if it asks for
  // what the logs do not have.
  absl::StatusOr<std::string> FileAt(const Moment& moment) const;
  // The keys of the logs where it saves; their values count for nothing.
  Logs LogsAtSaves(const CallbackContext& context) const;
  void SaveAt(const Moment& moment, Decision& decision);
  // Whether the model is to be saved, as `file`. Says why or why not.
  bool Saves(const Moment& moment, const std::string& file, Decision& decision);
  void Say(const Moment& moment, const std::string& text,
           Decision& decision) const;

  std::optional<double> best_;
  // Since the last time that the model may have been saved.
  int64_t batches_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_MODEL_CHECKPOINT_H_
