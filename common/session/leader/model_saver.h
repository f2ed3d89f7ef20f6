// Makes what callbacks ask for of checkpoints: files of models, and histograms
// and images of variables.
#ifndef PACELINE_COMMON_SESSION_LEADER_MODEL_SAVER_H_
#define PACELINE_COMMON_SESSION_LEADER_MODEL_SAVER_H_

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/callback/callback.h"
#include "common/model/graph.h"
#include "common/session/leader/event_files.h"

namespace paceline {

// What makes outputs of checkpoints writes to. What it refers to must outlive
// the calls.
struct OutputPlaces {
  std::string output_dir;
  // Of the job's model.
  const Graph& graph;
  EventFiles& event_files;
};

// Makes outputs on a thread of its own while training goes on. Not thread-safe:
// used by the leader's thread.
class ModelSaver {
 public:
  // Gets each output that was made, or why it was not; the error names what
  // cannot be written.
  using Saved =
      std::function<void(const CheckpointOutput&, const absl::Status&)>;

  ModelSaver(const OutputPlaces& places, Saved saved)
      : places_(places), saved_(std::move(saved)) {}
  // Blocks until the file of a model that is being made is there. Begins no
  // other output, and stops histograms and images after a piece of a variable.
  ~ModelSaver();

  // Makes the outputs of the checkpoint in `folder`, which must stay until
  // `done` is called. Call it only while no others are being made.
  void Begin(std::string folder, std::vector<CheckpointOutput> saves,
             std::function<void()> done);
  // There is no checkpoint for these outputs.
  void GiveUp(const std::vector<CheckpointOutput>& saves,
              const absl::Status& reason);
  // Begin does nothing from now on. The checkpoint names the outputs, so that a
  // resumed job makes them.
  void Close() { is_closed_ = true; }
  // Once the outputs are made, calls `saved` for each, then `done`. Call it
  // often.
  void Poll();

 private:
  // The thread: makes the outputs until one fails.
  void Write(const std::string& folder,
             const std::vector<CheckpointOutput>& saves);
  bool IsStopping();

  const OutputPlaces places_;
  const Saved saved_;
  bool is_closed_ = false;
  // What is being made; empty: nothing.
  std::vector<CheckpointOutput> saves_;
  std::function<void()> done_;
  std::thread thread_;

  Mutex mutex_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_written_ ABSL_GUARDED_BY(mutex_) = false;
  // Of each output that was begun.
  std::vector<absl::Status> results_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_MODEL_SAVER_H_
