// Writes snapshots of variables to disk while training goes on.
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
#include "common/checkpoint/manifest_content.h"
#include "common/safetensors/safetensors.h"
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
  // Name of the shard's file in the checkpoint's folder.
  std::string file;
  int64_t step = 0;
  SafetensorsMetadata metadata;
  std::vector<SnapshotTensor> tensors;
};

// Thread-safe. A single thread writes one snapshot after the other. At most two
// snapshots are in memory: the one being written, and the latest one that
// waits.
class Checkpointer {
 public:
  using Result = absl::StatusOr<ShardFile>;
  using Done = std::function<void(const Result&)>;

  Checkpointer();
  // Finishes the file that is being written. Calls for a waiting snapshot get
  // Cancelled.
  ~Checkpointer();

  // Starts to write a snapshot into `directory`/`name`, the folder of a
  // checkpoint, which must not have such a file yet. It must exist if
  // `directory` is an absolute path, since all tasks of the job share it. A
  // relative one is a folder of this task, and is created. Does not block.
  // Drops a snapshot that still waits, with Aborted, and forgets the results of
  // earlier ones. InvalidArgument if `name` is not that of a checkpoint
  // (CheckCheckpointName). FailedPrecondition if a relative `directory` leaves
  // the working folder, or a snapshot of that name is not written yet.
  absl::Status Start(const std::string& directory, const std::string& name,
                     ShardSnapshot snapshot);

  // Calls `done` with the result once the snapshot for `name` is on disk or has
  // failed: immediately if that has already happened, else on the writing
  // thread or on the thread that starts another snapshot. NotFound if there was
  // no such snapshot.
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
  // The snapshot that waits.
  std::optional<Work> next_ ABSL_GUARDED_BY(mutex_);
  // By name.
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_CHECKPOINTER_H_
