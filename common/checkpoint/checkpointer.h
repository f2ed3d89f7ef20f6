// Writes snapshots of variables to disk, beside training.
#ifndef PACELINE_COMMON_CHECKPOINT_CHECKPOINTER_H_
#define PACELINE_COMMON_CHECKPOINT_CHECKPOINTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/checkpoint/manifest.h"
#include "common/checkpoint/safetensors.h"
#include "common/tensor/shape.h"

namespace paceline {

// A tensor copied in memory.
struct SnapshotTensor {
  std::string name;
  DataType type = DataType::kFloat32;
  Shape shape;
  std::vector<std::byte> bytes;
};

// A consistent copy of a shard.
struct ShardSnapshot {
  // Name of the shard's file in the folder of the checkpoint.
  std::string file;
  int64_t step = 0;
  SafetensorsMetadata metadata;
  std::vector<SnapshotTensor> tensors;
};

// Thread-safe. One thread writes, snapshot after snapshot. At most two are
// kept: the one that is being written, and the latest of those that wait.
class Checkpointer {
 public:
  using Result = absl::StatusOr<ShardFile>;
  using Done = std::function<void(const Result&)>;

  Checkpointer();
  // Finishes the file that is being written; whoever waits for another gets
  // Cancelled.
  ~Checkpointer();

  // Starts to write a snapshot into `directory`/`name`, the folder of a
  // checkpoint, which is there and has no such file. Does not wait. A snapshot
  // that waits is given up, Aborted; what was written before is forgotten.
  // InvalidArgument if `name` is not that of a checkpoint
  // (CheckCheckpointName), FailedPrecondition if `directory` is no absolute
  // path, and while a snapshot of that name is kept.
  absl::Status Start(const std::string& directory, const std::string& name,
                     ShardSnapshot snapshot);

  // Calls `done` with the result once the snapshot for `name` is on disk or has
  // failed: at once if it is so already, else on the thread that writes or
  // starts another. NotFound if there was no such snapshot.
  void WhenWritten(const std::string& name, Done done);

 private:
  struct Entry {
    std::optional<Result> result;
    std::vector<Done> waiting;
  };
  struct Work {
    std::string directory;
    std::string name;
    ShardSnapshot snapshot;
  };

  void Run();
  void Finish(const std::string& name, const Result& result);

  Mutex mutex_;
  CondVar changed_;
  // What waits.
  std::optional<Work> next_ ABSL_GUARDED_BY(mutex_);
  // By name.
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_CHECKPOINTER_H_
