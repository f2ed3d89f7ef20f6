#include "common/callback/model_checkpoint.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/number_template.h"
#include "common/callback/output_path.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

constexpr char kEpochName[] = "epoch";
constexpr char kBatchName[] = "batch";

absl::Status CheckModelCheckpoint(const ModelCheckpoint& checkpoint,
                                  const Path& path) {
  if (IsModelPath(checkpoint.filepath, checkpoint.save_weights_only)) {
    return absl::OkStatus();
  }
  return ConfigError(
      path.Key("filepath"),
      absl::StrCat(
          Excerpt(Value(checkpoint.filepath)),
          " is no name of such a file; expected one that ends in ",
          checkpoint.save_weights_only ? kWeightsSuffix : ".keras or .h5",
          ", as `save_weights_only` is ",
          checkpoint.save_weights_only ? "true" : "false"));
}

// As Python's f"{number:.5f}".
std::string FiveDigits(double number) {
  return *FormatTemplate("{x:.5f}", [&](absl::string_view) { return number; });
}

}  // namespace

const FieldTable<ModelCheckpoint>& ModelCheckpoint::Fields() {
  static const auto& table = *new FieldTable<ModelCheckpoint>(
      kClassName,
      "Saves the model as a file at the ends of epochs or after batches.",
      {Required("filepath", &ModelCheckpoint::filepath,
                "The file, below the job's output folder: `.keras`, a "
                "legacy `.h5`, or `.weights.h5` with `save_weights_only`. "
                "`{epoch:02d}`, "
                "`{val_loss:.2f}` and, with `save_freq` in batches, "
                "`{batch:02d}` are filled in as Python does it."),
       MonitorField(),
       Optional("verbose", &ModelCheckpoint::verbose, AtLeast(0),
                "1: says what it does."),
       Optional(
           "save_best_only", &ModelCheckpoint::save_best_only,
           "Whether the model is saved only where the watched value is the "
           "best so far. Within an epoch there is none of validation."),
       Optional("save_weights_only", &ModelCheckpoint::save_weights_only,
                "Whether the file has only the variables and the optimizer's "
                "state."),
       ModeField(),
       Optional("save_freq", &ModelCheckpoint::save_freq,
                "After how many batches the model is saved, with the values of "
                "training so far in the logs; `epoch`: where an epoch ends. "
                "Replicas wait there until the variables are copied."),
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
  const Logs logs = LogsAtSaves(context);
  Moment moment = {0, std::nullopt, logs};
  if (hears_batches()) moment.batch = 0;
  const absl::StatusOr<std::string> file = FileAt(moment);
  if (!file.ok()) {
    return ConfigError(
        field, absl::StrCat(Excerpt(Value(filepath)), ": ",
                            file.status().message(), "; expected ", kEpochName,
                            hears_batches() ? ",batch," : ",", KeysText(logs),
                            context.has_validation || hears_batches()
                                ? ""
                                : " (the job has no validation)"));
  }
  if (!save_weights_only && absl::EndsWith(*file, kLegacySuffix) &&
      context.check_legacy_file != nullptr) {
    const absl::Status checked = context.check_legacy_file();
    if (!checked.ok()) {
      return ConfigError(field, absl::StrCat(Excerpt(Value(filepath)), ": ",
                                             checked.message()));
    }
  }
  return OutputPath(*file, field).status();
}

Logs ModelCheckpoint::LogsAtSaves(const CallbackContext& context) const {
  Logs logs;
  for (const std::string& name : context.log_names) {
    logs.emplace_back(name, 0);
    // What the end of an epoch has besides.
    if (!hears_batches() && context.has_validation) {
      logs.emplace_back(absl::StrCat("val_", name), 0);
    }
  }
  if (!hears_batches()) logs.emplace_back("learning_rate", 0);
  return logs;
}

absl::StatusOr<std::string> ModelCheckpoint::FileAt(
    const Moment& moment) const {
  return FormatTemplate(
      filepath, [&](absl::string_view name) -> std::optional<TemplateNumber> {
        if (name == kEpochName) return int64_t{moment.epoch} + 1;
        for (const auto& [key, value] : moment.logs) {
          if (key == name) return value;
        }
        if (name == kBatchName && moment.batch) return *moment.batch + 1;
        return std::nullopt;
      });
}

std::optional<int64_t> ModelCheckpoint::steps_to_save() const {
  if (!hears_batches()) return std::nullopt;
  // A resumed job may have another `save_freq`.
  return std::max<int64_t>(save_freq.batches - batches_, 1);
}

void ModelCheckpoint::BatchEnded(const BatchEnd& end, Decision& decision) {
  batches_ += end.count;
  if (batches_ < save_freq.batches) return;
  batches_ = 0;
  SaveAt({end.epoch, end.batch, end.logs}, decision);
}

void ModelCheckpoint::EpochEnded(EpochEnd& end, Decision& decision) {
  if (hears_batches()) return;
  SaveAt({end.epoch, std::nullopt, end.logs}, decision);
}

void ModelCheckpoint::SaveAt(const Moment& moment, Decision& decision) {
  const absl::StatusOr<std::string> file = FileAt(moment);
  absl::StatusOr<std::string> path =
      file.ok() ? OutputPath(*file, Path("filepath")) : file.status();
  if (!path.ok()) {
    const std::string batch =
        moment.batch ? absl::StrCat("batch ", *moment.batch + 1, " of ") : "";
    decision.failure.Update(absl::InvalidArgumentError(absl::StrCat(
        "ModelCheckpoint: filepath: \"", filepath, "\" after ", batch, "epoch ",
        moment.epoch + 1, ": ", path.status().message(), "; the logs have ",
        KeysText(moment.logs))));
    return;
  }
  if (!Saves(moment, *file, decision)) return;
  SaveModel save;
  save.path = *std::move(path);
  save.is_weights_only = save_weights_only;
  save.values = decision.saved_values;
  if (verbose > 0) {
    save.message = absl::StrCat("\nEpoch ", moment.epoch + 1,
                                ": finished saving model to ", *file);
  }
  decision.saves.emplace_back(std::move(save));
}

bool ModelCheckpoint::Saves(const Moment& moment, const std::string& file,
                            Decision& decision) {
  if (!save_best_only) {
    Say(moment, absl::StrCat("saving model to ", file), decision);
    return true;
  }
  const std::optional<double> current = ValueIn(moment.logs);
  if (!current) {
    WarnOnce(
        absl::StrCat("Can save best model only with ", monitor, " available."),
        decision);
    return true;
  }
  const std::string best = best_ ? FiveDigits(*best_) : "None";
  if (!Improves(*current, best_)) {
    Say(moment, absl::StrCat(monitor, " did not improve from ", best),
        decision);
    return false;
  }
  Say(moment,
      absl::StrCat(monitor, " improved from ", best, " to ",
                   FiveDigits(*current), ", saving model to ", file),
      decision);
  best_ = current;
  return true;
}

void ModelCheckpoint::Say(const Moment& moment, const std::string& text,
                          Decision& decision) const {
  if (verbose == 0) return;
  decision.outputs.emplace_back(
      ShowMessage{absl::StrCat("\nEpoch ", moment.epoch + 1, ": ", text)});
}

nlohmann::json ModelCheckpoint::Save() const {
  return {{"best", SaveNumber(best_)}, {"batches", batches_}};
}

absl::Status ModelCheckpoint::Restore(const ObjectReader& state) {
  ASSIGN_OR_RETURN(best_, RestoreNumber(state, "best"));
  // Checkpoints of earlier releases do not have it.
  if (state.Has("batches")) {
    ASSIGN_OR_RETURN(batches_, state.Count("batches", limits::kMaxSteps));
  }
  return absl::OkStatus();
}

}  // namespace paceline
