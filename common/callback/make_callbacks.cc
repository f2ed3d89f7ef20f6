#include "common/callback/make_callbacks.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/callback/backup_and_restore.h"
#include "common/callback/csv_logger.h"
#include "common/callback/early_stopping.h"
#include "common/callback/exec.h"
#include "common/callback/learning_rate_scheduler.h"
#include "common/callback/model_checkpoint.h"
#include "common/callback/reduce_lr_on_plateau.h"
#include "common/callback/remote_monitor.h"
#include "common/callback/swap_ema_weights.h"
#include "common/callback/tensor_board.h"
#include "common/callback/terminate_on_nan.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
#include "common/model/metric.h"

namespace paceline {
namespace {

using CallbackPtr = std::unique_ptr<Callback>;

// The registry of callbacks.
const std::vector<ClassEntry<CallbackPtr>>& CallbackEntries() {
  static const auto& entries = *new std::vector<ClassEntry<CallbackPtr>>{
      ClassEntryOf<CallbackPtr, BackupAndRestore>(),
      ClassEntryOf<CallbackPtr, CsvLogger>(),
      ClassEntryOf<CallbackPtr, EarlyStopping>(),
      ClassEntryOf<CallbackPtr, Exec>(),
      ClassEntryOf<CallbackPtr, LearningRateScheduler>(),
      ClassEntryOf<CallbackPtr, ModelCheckpoint>(),
      ClassEntryOf<CallbackPtr, ReduceLrOnPlateau>(),
      ClassEntryOf<CallbackPtr, RemoteMonitor>(),
      ClassEntryOf<CallbackPtr, SwapEmaWeights>(),
      ClassEntryOf<CallbackPtr, TensorBoard>(),
      ClassEntryOf<CallbackPtr, TerminateOnNan>(),
  };
  return entries;
}

absl::StatusOr<CallbackPtr> MakeCallback(const KerasObject& object,
                                         const Path& path) {
  std::vector<std::string> known;
  for (const ClassEntry<CallbackPtr>& entry : CallbackEntries()) {
    if (entry.class_name == object.class_name) {
      return entry.read(object.config, path);
    }
    known.push_back(entry.class_name);
  }
  return UnknownClass(path, "callback", object.class_name, known);
}

// Whether an optimizer, or the one in it, averages the variables.
bool HasAverages(const google::protobuf::Struct& config) {
  const auto& fields = config.fields();
  const auto averages = fields.find("use_ema");
  if (averages != fields.end() && averages->second.bool_value()) return true;
  // Of a LossScaleOptimizer, in any form of a Keras object.
  return absl::c_any_of(fields, [](const auto& field) {
    return field.second.has_struct_value() &&
           HasAverages(field.second.struct_value());
  });
}

// As the metrics of Keras say, in their attribute _direction; nullopt: it does
// not.
std::optional<Direction> DirectionOf(const Metric& metric) {
  constexpr absl::string_view kUp[] = {"AUC",
                                       "BinaryAccuracy",
                                       "BinaryIoU",
                                       "CategoricalAccuracy",
                                       "CosineSimilarity",
                                       "F1Score",
                                       "FBetaScore",
                                       "IoU",
                                       "MeanIoU",
                                       "OneHotIoU",
                                       "OneHotMeanIoU",
                                       "Precision",
                                       "R2Score",
                                       "Recall",
                                       "SparseCategoricalAccuracy",
                                       "SparseTopKCategoricalAccuracy",
                                       "TopKCategoricalAccuracy"};
  constexpr absl::string_view kDown[] = {"LogCoshError",
                                         "RootMeanSquaredError"};
  if (metric.mean_of() != nullptr) return Direction::kDown;
  if (absl::c_linear_search(kUp, metric.class_name())) return Direction::kUp;
  if (absl::c_linear_search(kDown, metric.class_name())) {
    return Direction::kDown;
  }
  return std::nullopt;
}

// Whether two files or folders are the same, or one lies in the other.
bool Overlap(absl::string_view a, absl::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return absl::StartsWith(b, a) && (a.size() == b.size() || b[a.size()] == '/');
}

// Adds what the callback writes to what the ones before it do.
absl::Status AddOutputs(const Callback& callback, const Path& path,
                        std::vector<std::string>& outputs) {
  const std::vector<std::string> own = callback.output_paths();
  for (const std::string& output : own) {
    for (const std::string& other : outputs) {
      if (!Overlap(output, other)) continue;
      return ConfigError(
          path, absl::StrCat("it writes to \"", output, "\", but \"", other,
                             "\" is of an earlier callback or of the run; "
                             "expected another name"));
    }
  }
  outputs.insert(outputs.end(), own.begin(), own.end());
  return absl::OkStatus();
}

}  // namespace

CallbackContext ContextOf(const v1::Job& job,
                          absl::Span<const OutputSpec> outputs) {
  CallbackContext context;
  context.has_validation =
      job.data().has_validation() || job.data().validation_split() > 0;
  context.terminates_on_nan = job.terminate_on_nan();
  const auto& optimizer = job.optimizer().config().fields();
  const auto rate = optimizer.find("learning_rate");
  context.has_rate_schedule =
      rate != optimizer.end() && rate->second.has_struct_value();
  context.has_averages = HasAverages(job.optimizer().config());
  context.directions["loss"] = Direction::kDown;
  context.log_names.insert("loss");
  for (const OutputSpec& output : outputs) {
    for (const std::unique_ptr<const Metric>& metric : output.metrics) {
      context.log_names.insert(metric->name);
      if (const auto direction = DirectionOf(*metric)) {
        context.directions[metric->name] = *direction;
      }
    }
  }
  return context;
}

absl::StatusOr<std::unique_ptr<CallbackList>> MakeCallbacks(
    const v1::Job& job, const CallbackContext& context) {
  std::vector<CallbackPtr> callbacks;
  // Task logs lie in it.
  std::vector<std::string> outputs = {"logs/worker-0.log"};
  bool has_backup = false;
  bool keeps_model = false;
  bool swaps_averages = false;
  bool has_trace = false;
  bool has_images = false;
  for (int i = 0; i < job.callbacks_size(); ++i) {
    const Path path = Path("callbacks").Index(i);
    ASSIGN_OR_RETURN(CallbackPtr callback,
                     MakeCallback(FromProto(job.callbacks(i)), path));
    RETURN_IF_ERROR(callback->Prepare(context, path));
    if (callback->class_name() == BackupAndRestore::kClassName) {
      if (std::exchange(has_backup, true)) {
        return ConfigError(path, "BackupAndRestore is there twice");
      }
      // The job's checkpoints (common/job/backup.h), nothing that hears events.
      continue;
    }
    if (callback->keeps_model() && std::exchange(keeps_model, true)) {
      return ConfigError(path.Key("restore_best_weights"),
                         "got true, as an earlier callback has; expected one "
                         "callback with it");
    }
    if (callback->swaps_averages() && std::exchange(swaps_averages, true)) {
      return ConfigError(path, absl::StrCat(callback->class_name(),
                                            " is there twice; expected one"));
    }
    if (callback->traced_steps().is_on() && std::exchange(has_trace, true)) {
      return ConfigError(path.Key("profile_batch"),
                         "an earlier callback has some, too; expected one "
                         "callback with some");
    }
    if (callback->first_batch_images() > 0 && std::exchange(has_images, true)) {
      return ConfigError(path.Key("first_batch_images"),
                         "an earlier callback has some, too; expected one "
                         "callback with some");
    }
    RETURN_IF_ERROR(AddOutputs(*callback, path, outputs));
    callbacks.push_back(std::move(callback));
  }
  return std::make_unique<CallbackList>(std::move(callbacks));
}

std::vector<ClassReference> CallbackReferences() {
  return ReferencesOf(CallbackEntries());
}

}  // namespace paceline
