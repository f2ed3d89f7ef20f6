#include "common/callback/tensor_board.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/callback/output_path.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

absl::Status CheckLogDir(const TensorBoard& board, const Path& path) {
  return OutputPath(board.log_dir, path.Key("log_dir")).status();
}

}  // namespace

const FieldTable<TensorBoard>& TensorBoard::Fields() {
  static const auto& table = *new FieldTable<TensorBoard>(
      kClassName,
      "Writes curves, the model's graph, histograms and images of its "
      "variables, images of the first batch, and traces for TensorBoard.",
      {Optional("log_dir", &TensorBoard::log_dir,
                "The folder of the runs `train` and `validation`, below the "
                "job's output folder."),
       Optional("histogram_freq", &TensorBoard::histogram_freq, AtLeast(0),
                "After how many epochs histograms of the variables are "
                "written, the first epoch included; 0: never. A checkpoint is "
                "taken for each, which `checkpoint.keep` counts, so older "
                "ones of the job may be deleted for it. Parameter servers on "
                "several machines must share the output folder if its path is "
                "absolute."),
       Optional("write_graph", &TensorBoard::write_graph,
                "Whether the model is written, for the page of graphs."),
       Optional("write_images", &TensorBoard::write_images,
                "Whether the variables are also written as images, with their "
                "histograms."),
       Optional("write_steps_per_second", &TensorBoard::write_steps_per_second,
                "Whether the speed is written: `epoch_steps_per_second`, and "
                "`batch_steps_per_second` as `update_freq` says."),
       Optional(
           "update_freq", &TensorBoard::update_freq,
           "After how many steps of training values are also written, as "
           "`batch_loss`; `batch`: 1; `epoch`: only where an epoch ends. "
           "Progress comes in groups of steps: one that has such a step has "
           "one point, at its last step, with the values up to it."),
       Optional("profile_batch", &TensorBoard::profile_batch,
                "The step of the job, from 1, of which each worker makes a "
                "trace for the profile page, or the first and the last of "
                "several, as a pair; 0: none."),
       Optional("first_batch_images", &TensorBoard::first_images,
                Between(0, kMaxFirstImages),
                "How many examples of the job's first batch are drawn, as the "
                "model gets them; not in Keras."),
       Only("embeddings_freq", 0, "The variables of embeddings."),
       Only("embeddings_metadata", nullptr, "Names of what is embedded.")},
      [] { return TensorBoard(); }, CheckLogDir);
  return table;
}

std::vector<std::string> TensorBoard::output_paths() const {
  return {absl::StrCat(log_dir, "/train"), absl::StrCat(log_dir, "/validation"),
          absl::StrCat(log_dir, "/plugins")};
}

absl::Status TensorBoard::Prepare(const CallbackContext& context,
                                  const Path& path) {
  if (first_images > 0 && !context.no_images.empty()) {
    return ConfigError(path.Key("first_batch_images"),
                       absl::StrCat("got ", first_images, ", and ",
                                    context.no_images, "; or 0"));
  }
  ASSIGN_OR_RETURN(log_dir, OutputPath(log_dir, path.Key("log_dir")));
  return absl::OkStatus();
}

std::string TensorBoard::TrainFolder() const {
  return absl::StrCat(log_dir, "/train");
}

void TensorBoard::EpochBegan(const EpochStart& /*start*/, Decision& decision) {
  if (!write_graph || std::exchange(has_graph_, true)) return;
  decision.outputs.emplace_back(WriteModelGraph{TrainFolder()});
}

void TensorBoard::BatchEnded(const BatchEnd& end, Decision& decision) {
  steps_since_point_ += end.count;
  seconds_since_point_ += end.seconds;
  const std::optional<int64_t> step = update_freq.StepIn(end);
  if (!step) return;
  WriteScalars train{TrainFolder(), *step, {}};
  if (write_steps_per_second && seconds_since_point_ > 0) {
    train.scalars.emplace_back(
        "batch_steps_per_second",
        static_cast<double>(std::exchange(steps_since_point_, 0)) /
            std::exchange(seconds_since_point_, 0));
  }
  for (const auto& [key, value] : end.logs) {
    train.scalars.emplace_back(absl::StrCat("batch_", key), value);
  }
  decision.outputs.emplace_back(std::move(train));
}

void TensorBoard::EpochEnded(EpochEnd& end, Decision& decision) {
  if (histogram_freq > 0 && end.epoch % histogram_freq == 0) {
    decision.saves.emplace_back(
        WriteWeights{TrainFolder(), end.epoch, write_images});
  }
  if (end.logs.empty()) return;
  WriteScalars train{TrainFolder(), end.epoch, {}};
  const std::string validation_folder = absl::StrCat(log_dir, "/validation");
  WriteScalars validation{validation_folder, end.epoch, {}};
  WriteScalars evaluation{validation_folder, end.iterations, {}};
  for (const auto& [key, value] : end.logs) {
    absl::string_view name = key;
    if (absl::ConsumePrefix(&name, "val_")) {
      validation.scalars.emplace_back(absl::StrCat("epoch_", name), value);
      evaluation.scalars.emplace_back(
          absl::StrCat("evaluation_", name, "_vs_iterations"), value);
    } else if (name != "learning_rate") {
      train.scalars.emplace_back(absl::StrCat("epoch_", name), value);
    }
  }
  train.scalars.emplace_back(
      "epoch_learning_rate",
      decision.learning_rate.value_or(end.learning_rate));
  if (write_steps_per_second && end.seconds > 0) {
    train.scalars.emplace_back(
        "epoch_steps_per_second",
        static_cast<double>(end.epoch_iterations) / end.seconds);
  }
  if (!evaluation.scalars.empty()) {
    decision.outputs.emplace_back(std::move(evaluation));
  }
  decision.outputs.emplace_back(std::move(train));
  if (!validation.scalars.empty()) {
    decision.outputs.emplace_back(std::move(validation));
  }
}

void TensorBoard::ImagesCame(const FirstImages& images, Decision& decision) {
  if (first_images == 0) return;
  decision.outputs.emplace_back(
      WriteImages{TrainFolder(), /*step=*/0, "first_batch", images});
}

void TensorBoard::TraceCame(const std::string& task,
                            std::shared_ptr<const Trace> trace,
                            Decision& decision) {
  if (!profile_batch.is_on()) return;
  decision.outputs.emplace_back(WriteTrace{log_dir, task, std::move(trace)});
}

nlohmann::json TensorBoard::Save() const { return {{"has_graph", has_graph_}}; }

absl::Status TensorBoard::Restore(const ObjectReader& state) {
  ASSIGN_OR_RETURN(has_graph_, state.Bool("has_graph"));
  return absl::OkStatus();
}

}  // namespace paceline
