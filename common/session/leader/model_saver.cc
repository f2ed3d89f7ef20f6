#include "common/session/leader/model_saver.h"

#include <glog/logging.h>

#include <cstddef>
#include <variant>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/export/export_checkpoint.h"
#include "common/session/leader/weight_summaries.h"

namespace paceline {
namespace {

ExportedValues ExportedAs(SavedValues values) {
  switch (values) {
    case SavedValues::kSwapped:
      return ExportedValues::kSwapped;
    case SavedValues::kAverages:
      return ExportedValues::kFinal;
    default:
      return ExportedValues::kStored;
  }
}

// Below the output folder.
std::string PathOf(const OutputPlaces& places, const std::string& path) {
  return absl::StrCat(places.output_dir, "/", path);
}

// Adds what could not be made.
absl::Status AddOutput(const absl::Status& status, const OutputPlaces& places,
                       const CheckpointOutput& output) {
  if (const auto* const save = std::get_if<SaveModel>(&output)) {
    return Annotate(status,
                    absl::StrCat("ModelCheckpoint: cannot save the model as ",
                                 PathOf(places, save->path)));
  }
  return Annotate(
      status,
      absl::StrCat("TensorBoard: cannot write histograms to ",
                   PathOf(places, std::get<WriteWeights>(output).folder)));
}

// Atomically: there is no half of a file at any time.
absl::Status Make(const OutputPlaces& places, const std::string& folder,
                  const SaveModel& save, absl::FunctionRef<bool()> /*stops*/) {
  const std::string path = PathOf(places, save.path);
  RETURN_IF_ERROR(MakeDirectories(path.substr(0, path.rfind('/'))));
  return ExportCheckpoint(folder, ExportFormatOf(path), path,
                          ExportedAs(save.values));
}

absl::Status Make(const OutputPlaces& places, const std::string& folder,
                  const WriteWeights& weights,
                  absl::FunctionRef<bool()> stops) {
  return WriteWeightSummaries(folder, places.graph, weights,
                              PathOf(places, weights.folder),
                              places.event_files, stops);
}

// Makes an output of the checkpoint in `folder`. Errors name what cannot be
// written. Cancelled soon after `stops` says so, for which histograms and
// images ask it; the file of a model is completed.
absl::Status MakeOutput(const OutputPlaces& places, const std::string& folder,
                        const CheckpointOutput& output,
                        absl::FunctionRef<bool()> stops) {
  const absl::Status made = std::visit(
      [&](const auto& each) { return Make(places, folder, each, stops); },
      output);
  return AddOutput(made, places, output);
}

}  // namespace

ModelSaver::~ModelSaver() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void ModelSaver::Begin(std::string folder, std::vector<CheckpointOutput> saves,
                       std::function<void()> done) {
  if (is_closed_) return;
  CHECK(!thread_.joinable()) << "outputs are being made";
  saves_ = std::move(saves);
  done_ = std::move(done);
  {
    MutexLock lock(mutex_);
    is_written_ = false;
    results_.clear();
  }
  thread_ = std::thread([this, folder = std::move(folder), saves = saves_] {
    Write(folder, saves);
  });
}

void ModelSaver::GiveUp(const std::vector<CheckpointOutput>& saves,
                        const absl::Status& reason) {
  for (const CheckpointOutput& save : saves) {
    saved_(save, AddOutput(reason, places_, save));
  }
}

void ModelSaver::Write(const std::string& folder,
                       const std::vector<CheckpointOutput>& saves) {
  for (const CheckpointOutput& save : saves) {
    if (IsStopping()) return;
    const absl::Status status =
        MakeOutput(places_, folder, save, [this] { return IsStopping(); });
    MutexLock lock(mutex_);
    results_.push_back(status);
    if (!status.ok()) break;
  }
  MutexLock lock(mutex_);
  is_written_ = true;
}

bool ModelSaver::IsStopping() {
  MutexLock lock(mutex_);
  return is_stopping_;
}

void ModelSaver::Poll() {
  std::vector<absl::Status> results;
  {
    MutexLock lock(mutex_);
    if (!is_written_) return;
    is_written_ = false;
    results = std::exchange(results_, {});
  }
  thread_.join();
  for (size_t i = 0; i < results.size(); ++i) saved_(saves_[i], results[i]);
  saves_.clear();
  std::exchange(done_, nullptr)();
}

}  // namespace paceline
