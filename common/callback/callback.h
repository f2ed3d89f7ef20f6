// Keras' callbacks, as state machines without I/O.
//
// A callback is one file in common/callback: a class whose public members are
// Keras' config keys, with its field table, its state and what it decides.
// make_callbacks.cc lists all. docs/design/callbacks.md says why they are so.
#ifndef PACELINE_COMMON_CALLBACK_CALLBACK_H_
#define PACELINE_COMMON_CALLBACK_CALLBACK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/callback/logs.h"
#include "common/callback/profile_batch.h"
#include "common/callback/trace.h"
#include "common/image/image_size.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

class ObjectReader;
class Path;

// Whether a metric is better if it is larger or smaller.
enum class Direction { kUp, kDown };

// What errors expect where callbacks may not run programs.
inline constexpr char kAllowExec[] =
    "--allow-exec of the daemons of a service, or of the task of TF_CONFIG "
    "that leads";

// What callbacks know of the job.
struct CallbackContext {
  // The keys in the logs of training for which Keras knows which values are
  // better.
  std::map<std::string, Direction> directions = {};
  // Whether the optimizer's learning rate is a schedule.
  bool has_rate_schedule = false;
  // Whether the optimizer averages the variables (use_ema).
  bool has_averages = false;
  // The names of the loss and the metrics, as the logs of training have them.
  std::set<std::string> log_names = {};
  // Whether the logs of an epoch may have those of a validation, too.
  bool has_validation = true;
  // Whether callbacks may run programs and send to addresses: where only its
  // files bound a job, kAllowExec has to allow it.
  bool allows_exec = true;
  // The job's own terminate_on_nan.
  bool terminates_on_nan = true;
  // Why examples cannot be drawn: "the model's inputs are …; expected …". "":
  // they can, or it is not known.
  std::string no_images = "";
  // Why the model cannot be saved as a legacy `.h5`, if it cannot. Null: it has
  // been checked.
  std::function<absl::Status()> check_legacy_file = nullptr;
  // NotFound, which says where it was looked for, if callbacks cannot run the
  // program. Null: that is not known yet.
  std::function<absl::Status(const std::string& program)> find_program =
      nullptr;
  // The size of a file in the output folder, in bytes; 0 if there is none.
  // Null: there are no files.
  std::function<int64_t(const std::string& path)> output_size = nullptr;
};

// An epoch is about to begin.
struct EpochStart {
  // From 0.
  int epoch = 0;
  // Of the next step.
  double learning_rate = 0;
  // Steps of the job so far.
  int64_t steps = 0;
  // How many replicas take each step together.
  int num_replicas = 1;
};

// Training steps are about to be taken: the first of those that follow the last
// group (BatchEnd) have been handed out to workers, or are when the group ends.
struct BatchStart {
  // From 0.
  int epoch = 0;
  // The first of the group, by its number in the epoch, from 0.
  int64_t batch = 0;
  // Steps of the job before the group.
  int64_t steps = 0;
  // Of the next step.
  double learning_rate = 0;
};

// Training steps have ended. Progress comes in groups of steps, so a group has
// one event, in the place of Keras' one for each batch.
struct BatchEnd {
  // From 0.
  int epoch = 0;
  // The last of the group, by its number in the epoch, from 0.
  int64_t batch = 0;
  // How many steps the group has.
  int64_t count = 1;
  // Steps of the job so far.
  int64_t steps = 0;
  // The means from the epoch's begin to this step, sorted by key. If replicas
  // take each step together, they are over all replicas. If workers are
  // asynchronous, they are over the examples reported so far.
  Logs logs;
  // Of the next step.
  double learning_rate = 0;
  // Since the group before it, or since the epoch began, or a resumed job went
  // on with it.
  double seconds = 0;
};

// Steps of a validation have ended, in groups like BatchEnd. A step is a batch
// of one worker.
struct ValidationBatchEnd {
  // From 0.
  int epoch = 0;
  // The last of the group, by its number in the validation, from 0.
  int64_t batch = 0;
  // How many steps the group has.
  int64_t count = 1;
  // The means since the validation began, sorted by key; no key has "val_".
  Logs logs;
};

// An epoch has ended, its validation included.
struct EpochEnd {
  // From 0.
  int epoch = 0;
  // As Keras has them: the values of training sorted by key, then those of
  // validation, then what callbacks before this one have added.
  Logs logs;
  // Of the next step.
  double learning_rate = 0;
  // Updates so far, as Keras counts them.
  int64_t iterations = 0;
  // Steps of the job so far.
  int64_t steps = 0;
  // Whether the job has no further epochs.
  bool is_last = false;
  // Those of the iterations that the epoch has made.
  int64_t epoch_iterations = 0;
  // Since the epoch began, its validation included. What passed between an
  // interrupted run and the one that resumes it does not count.
  double seconds = 0;
};

// The most images of the first batch, and their bytes together.
inline constexpr int64_t kMaxFirstImages = 64;
inline constexpr int64_t kMaxFirstImageBytes = int64_t{4} << 20;

// Pictures of the first examples of the job's first batch.
struct FirstImages {
  ImageSize size;
  // Encoded as PNG, each of this size; at least one.
  std::vector<std::string> images;
};

// --- What callbacks ask of the leader ----------------------------------------

// A message of a callback with `verbose`, as Keras prints it.
struct ShowMessage {
  std::string text;
};
// Keras' warning.
struct ShowWarning {
  std::string text;
};
// Appends to a file, which is cut to `offset` bytes before. So a job that goes
// on from a checkpoint writes over what came after it.
struct WriteToFile {
  // In the output folder.
  std::string path;
  int64_t offset = 0;
  std::string bytes;
};
// Appends points of curves to the event file of a run of TensorBoard.
struct WriteScalars {
  // The run's, in the output folder.
  std::string folder;
  int64_t step = 0;
  // By their tags.
  Logs scalars;
};
// Appends the job's model to it.
struct WriteModelGraph {
  std::string folder;
};
// Appends images to it.
struct WriteImages {
  std::string folder;
  int64_t step = 0;
  std::string tag;
  FirstImages images;
};
// Writes what a task did for TensorBoard's profile page. The traces of all
// tasks come into one run of it.
struct WriteTrace {
  // The folder of the runs, in the output folder.
  std::string folder;
  // The name of the task, such as "worker-0".
  std::string task;
  std::shared_ptr<const Trace> trace;
};
// Runs a program, and then calls Answered of the callback that asks for it.
struct RunCommand {
  // The place of the callback in the job's list, from 0. CallbackList sets it.
  size_t callback = 0;
  // What the callback calls the event; it comes back with the answer.
  int event = 0;
  // The program and its arguments.
  std::vector<std::string> command;
  // Its standard input.
  std::string input;
  absl::Duration timeout;
  // Whether the job waits for the answer: no lease is handed out before it.
  // Otherwise only the end of the epoch waits.
  bool is_awaited = true;
};
// Sends a request by HTTP, which may fail with a warning. Nothing waits for it.
struct PostLogs {
  std::string url;
  // "Name: value".
  std::vector<std::string> headers;
  std::string body;
  std::string warning;
};
using CallbackOutput = std::variant<ShowMessage, ShowWarning, WriteToFile,
                                    WriteScalars, WriteModelGraph, WriteImages,
                                    WriteTrace, RunCommand, PostLogs>;

// What a file of a model has as the values of trained variables, and as those
// of their moving averages.
enum class SavedValues {
  // Each its own.
  kOwn,
  // Each those of the other.
  kSwapped,
  // Both the averages.
  kAverages,
};

// The model as it is at the end of this epoch, or after this group of steps, as
// a file.
struct SaveModel {
  // In the output folder.
  std::string path;
  // Whether as `.weights.h5`, instead of the whole model in the format of the
  // path's suffix (IsModelPath).
  bool is_weights_only = false;
  // Shown once the file is there; "": nothing.
  std::string message = "";
  // Other than kOwn only if the optimizer averages the variables.
  SavedValues values = SavedValues::kOwn;
};

// Histograms of the model's variables, as they are at the end of this epoch, in
// the event file of a run of TensorBoard.
struct WriteWeights {
  // The run's, in the output folder.
  std::string folder;
  int64_t step = 0;
  // Whether also as images, where Keras has images of such variables.
  bool has_images = false;
};

// What the leader makes of a checkpoint.
using CheckpointOutput = std::variant<SaveModel, WriteWeights>;

// What the callbacks of a job decide together: later ones see, and may change,
// what those before them decided.
struct Decision {
  bool stops_training = false;
  // The class of the callback that has decided so first. CallbackList sets it.
  std::string stopped_by = "";
  // Of all steps from now on, in the place of the optimizer's own.
  std::optional<double> learning_rate;
  // To be carried out in this order.
  std::vector<CallbackOutput> outputs;
  // At the end of an epoch or of a group of steps. A checkpoint is taken for
  // them.
  std::vector<CheckpointOutput> saves;
  // Of files that later callbacks ask for at this event.
  SavedValues saved_values = SavedValues::kOwn;
  // At the end of an epoch only: whether the model, as it is then, is kept in
  // the place of an earlier one. See Callback::restores_kept.
  bool keeps_model = false;
  // Why the job cannot go on, if it cannot.
  absl::Status failure;
};

// Not thread-safe.
class Callback {
 public:
  virtual ~Callback() = default;

  // Keras' class name, such as "EarlyStopping".
  virtual absl::string_view class_name() const = 0;

  // Called once, before any event. ConfigError below `path` if the callback
  // does not fit the job.
  virtual absl::Status Prepare(const CallbackContext& context,
                               const Path& path);

  // The files that it writes and the folders that it fills, below the output
  // folder.
  virtual std::vector<std::string> output_paths() const { return {}; }

  // Whether BatchBegan and BatchEnded are called.
  virtual bool hears_batches() const { return false; }
  // Whether ValidationBatchBegan and ValidationBatchEnded are called.
  virtual bool hears_validation_batches() const { return false; }

  // The steps after which it asks for a file of the model, counted from those
  // that BatchEnded has told of; at least 1. A group of steps ends there, so
  // that the file has the model after just these; it may come later where steps
  // are lost with their worker, of which BatchEnded does not tell. nullopt:
  // after none.
  virtual std::optional<int64_t> steps_to_save() const { return std::nullopt; }

  // Whether validation is to see the averages of the variables in their place.
  // Only if the optimizer has averages.
  virtual bool swaps_averages() const { return false; }

  // Whether it may decide Decision::keeps_model. At most one callback does.
  virtual bool keeps_model() const { return false; }

  // Whether the model gets back the variables that were kept last when training
  // ends.
  virtual bool restores_kept() const { return false; }

  // The steps of which workers make traces; at most one callback has some.
  virtual ProfileBatch traced_steps() const { return {}; }

  // How many examples of the job's first batch are drawn; at most one callback
  // wants some.
  virtual int64_t first_batch_images() const { return 0; }

  // Events. The next epoch does not begin before an EpochEnded is over.
  virtual void TrainingBegan(Decision& decision);
  virtual void EpochBegan(const EpochStart& start, Decision& decision);
  // Before each BatchEnded, in turn with it. What is decided holds from the
  // next lease of steps, which may come after this group.
  virtual void BatchBegan(const BatchStart& start, Decision& decision);
  // What is decided holds from the next lease of steps. Where training stops,
  // the epoch ends with the leases that are open.
  virtual void BatchEnded(const BatchEnd& end, Decision& decision);
  // Between the training of an epoch and its end. The logs are sorted, and
  // their keys have no "val_".
  virtual void ValidationBegan(int epoch, Decision& decision);
  // Between these two, in turn. `batch` is how many steps have ended.
  virtual void ValidationBatchBegan(int epoch, int64_t batch,
                                    Decision& decision);
  virtual void ValidationBatchEnded(const ValidationBatchEnd& end,
                                    Decision& decision);
  virtual void ValidationEnded(int epoch, const Logs& logs, Decision& decision);
  virtual void EpochEnded(EpochEnd& end, Decision& decision);
  // After the last epoch and its checkpoint.
  virtual void TrainingEnded(Decision& decision);
  // What a worker has sent. These may come at any time, also after the end of
  // training; what is decided beside outputs counts for nothing.
  virtual void ImagesCame(const FirstImages& images, Decision& decision);
  virtual void TraceCame(const std::string& task,
                         std::shared_ptr<const Trace> trace,
                         Decision& decision);
  // A program that it asked for has ended: `output` is what it printed, or why
  // it failed. An error ends the job.
  virtual absl::Status Answered(const RunCommand& run,
                                const absl::StatusOr<std::string>& output,
                                Decision& decision);

  // The state after some events, an object; {}: it has none.
  virtual nlohmann::json Save() const;
  // Goes on from a state. DataLoss if Save cannot have returned it.
  virtual absl::Status Restore(const ObjectReader& state);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_CALLBACK_H_
