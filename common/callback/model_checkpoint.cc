#include "common/callback/model_checkpoint.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/number_template.h"
#include "common/callback/output_path.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

constexpr char kEpochName[] = "epoch";

absl::Status CheckModelCheckpoint(const ModelCheckpoint& checkpoint,
                                  const Path& path) {
  const char* const suffix =
      checkpoint.save_weights_only ? ".weights.h5" : ".keras";
  if (absl::EndsWith(checkpoint.filepath, suffix)) return absl::OkStatus();
  return ConfigError(
      path.Key("filepath"),
      absl::StrCat(Excerpt(Value(checkpoint.filepath)),
                   " is no name of such a file; expected one that ends in ",
                   suffix, ", as `save_weights_only` is ",
                   checkpoint.save_weights_only ? "true" : "false"));
}

// As Python's f"{number:.5f}".
std::string FiveDigits(double number) {
  return *FormatTemplate("{x:.5f}", [&](absl::string_view) { return number; });
}

// The template with the number of the epoch (`epoch` counts from 0) and its
// logs filled in.
absl::StatusOr<std::string> FileOf(const std::string& filepath, int epoch,
                                   const Logs& logs) {
  return FormatTemplate(
      filepath, [&](absl::string_view name) -> std::optional<TemplateNumber> {
        if (name == kEpochName) return int64_t{epoch} + 1;
        for (const auto& [key, value] : logs) {
          if (key == name) return value;
        }
        return std::nullopt;
      });
}

}  // namespace

const FieldTable<ModelCheckpoint>& ModelCheckpoint::Fields() {
  static const auto& table = *new FieldTable<ModelCheckpoint>(
      kClassName, "Saves the model as a file at the end of each epoch.",
      {Required("filepath", &ModelCheckpoint::filepath,
                "The file, below the job's output folder: `.keras`, or "
                "`.weights.h5` with `save_weights_only`. `{epoch:02d}` and "
                "`{val_loss:.2f}` are filled in as Python does it."),
       MonitorField(),
       Optional("verbose", &ModelCheckpoint::verbose, AtLeast(0),
                "1: says what it does."),
       Optional("save_best_only", &ModelCheckpoint::save_best_only,
                "Whether only epochs count whose watched value is the best so "
                "far."),
       Optional("save_weights_only", &ModelCheckpoint::save_weights_only,
                "Whether the file has only the variables and the optimizer's "
                "state."),
       ModeField(), Only("save_freq", "epoch", "When the model is saved."),
       Optional("initial_value_threshold",
                &ModelCheckpoint::initial_value_threshold,
                "What counts as the best value at first.")},
      [] { return ModelCheckpoint(); }, CheckModelCheckpoint);
  return table;
}

absl::Status ModelCheckpoint::Prepare(const CallbackContext& context,
                                      const Path& path) {
  RETURN_IF_ERROR(MonitorCallback::Prepare(context, path));
  best_ = initial_value_threshold;
  const Path field = path.Key("filepath");
  Logs logs = {{"learning_rate", 0}};
  for (const std::string& name : context.log_names) {
    logs.emplace_back(name, 0);
    logs.emplace_back(absl::StrCat("val_", name), 0);
  }
  const absl::StatusOr<std::string> file = FileOf(filepath, 0, logs);
  if (!file.ok()) {
    return ConfigError(field, absl::StrCat(Excerpt(Value(filepath)), ": ",
                                           file.status().message()));
  }
  return OutputPath(*file, field).status();
}

void ModelCheckpoint::EpochEnded(EpochEnd& end, Decision& decision) {
  const absl::StatusOr<std::string> file =
      FileOf(filepath, end.epoch, end.logs);
  absl::StatusOr<std::string> path =
      file.ok() ? OutputPath(*file, Path("filepath")) : file.status();
  if (!path.ok()) {
    decision.failure.Update(absl::InvalidArgumentError(absl::StrCat(
        "ModelCheckpoint: filepath: \"", filepath, "\" after epoch ",
        end.epoch + 1, ": ", path.status().message(), "; the logs have ",
        KeysText(end.logs))));
    return;
  }
  if (!Saves(end, *file, decision)) return;
  SaveModel save;
  save.path = *std::move(path);
  save.is_weights_only = save_weights_only;
  if (verbose > 0) {
    save.message = absl::StrCat("\nEpoch ", end.epoch + 1,
                                ": finished saving model to ", *file);
  }
  decision.saves.emplace_back(std::move(save));
}

bool ModelCheckpoint::Saves(const EpochEnd& end, const std::string& file,
                            Decision& decision) {
  if (!save_best_only) {
    Say(end, absl::StrCat("saving model to ", file), decision);
    return true;
  }
  const std::optional<double> current = ValueIn(end.logs);
  if (!current) {
    WarnOnce(
        absl::StrCat("Can save best model only with ", monitor, " available."),
        decision);
    return true;
  }
  const std::string best = best_ ? FiveDigits(*best_) : "None";
  if (!Improves(*current, best_)) {
    Say(end, absl::StrCat(monitor, " did not improve from ", best), decision);
    return false;
  }
  Say(end,
      absl::StrCat(monitor, " improved from ", best, " to ",
                   FiveDigits(*current), ", saving model to ", file),
      decision);
  best_ = current;
  return true;
}

void ModelCheckpoint::Say(const EpochEnd& end, const std::string& text,
                          Decision& decision) const {
  if (verbose == 0) return;
  decision.outputs.emplace_back(
      ShowMessage{absl::StrCat("\nEpoch ", end.epoch + 1, ": ", text)});
}

nlohmann::json ModelCheckpoint::Save() const {
  return {{"best", SaveNumber(best_)}};
}

absl::Status ModelCheckpoint::Restore(const ObjectReader& state) {
  ASSIGN_OR_RETURN(best_, RestoreNumber(state, "best"));
  return absl::OkStatus();
}

}  // namespace paceline
