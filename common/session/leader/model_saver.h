// Writes the model files that callbacks ask for, from checkpoints.
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

namespace paceline {

// Writes a file below `output_dir` from the checkpoint in `folder`, atomically:
// there is no half of a file at any time. Errors name the file. Blocks.
absl::Status WriteSavedModel(const std::string& output_dir,
                             const std::string& folder, const SaveModel& save);

// Writes files on a thread of its own while training goes on. Not thread-safe:
// used by the leader's thread.
class ModelSaver {
 public:
  // Gets each file that was written, or why it was not.
  using Saved = std::function<void(const SaveModel&, const absl::Status&)>;

  ModelSaver(std::string output_dir, Saved saved)
      : output_dir_(std::move(output_dir)), saved_(std::move(saved)) {}
  // Blocks until the file that is being written is there. Begins no other one.
  ~ModelSaver();

  // Writes the files from the checkpoint in `folder`, which must stay until
  // `done` is called. Call it only while no others are being written.
  void Begin(std::string folder, std::vector<SaveModel> saves,
             std::function<void()> done);
  // There is no checkpoint for these files.
  void GiveUp(const std::vector<SaveModel>& saves, const absl::Status& reason);
  // Begin does nothing from now on. The checkpoint names the files, so that a
  // resumed job writes them.
  void Close() { is_closed_ = true; }
  // Once the files are written, calls `saved` for each, then `done`. Call it
  // often.
  void Poll();

 private:
  // The thread: writes the files until one fails.
  void Write(const std::string& folder, const std::vector<SaveModel>& saves);

  const std::string output_dir_;
  const Saved saved_;
  bool is_closed_ = false;
  // What is being written; empty: nothing.
  std::vector<SaveModel> saves_;
  std::function<void()> done_;
  std::thread thread_;

  Mutex mutex_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_written_ ABSL_GUARDED_BY(mutex_) = false;
  // Of each file that was begun.
  std::vector<absl::Status> results_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_MODEL_SAVER_H_
