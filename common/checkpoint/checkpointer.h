// Writes snapshots of variables to disk, beside training.
#ifndef PACELINE_COMMON_CHECKPOINT_CHECKPOINTER_H_
#define PACELINE_COMMON_CHECKPOINT_CHECKPOINTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

// Thread-safe. One thread writes, snapshot after snapshot.
class Checkpointer {
 public:
  using Result = absl::StatusOr<ShardFile>;
  using Done = std::function<void(const Result&)>;

  Checkpointer();
  // Finishes the file that is being written; whoever waits for others gets
  // Cancelled.
  ~Checkpointer();

  // Starts to write a snapshot into the folder `path`, which is new. Does not
  // wait. Forgets what was written before.
  void Start(const std::string& path, ShardSnapshot snapshot);

  // Calls `done` with the result once the snapshot for `path` is on disk or has
  // failed: at once if it is so already, else on the writing thread. NotFound
  // if there was no such snapshot.
  void WhenWritten(const std::string& path, Done done);

 private:
  struct Entry {
    std::optional<Result> result;
    std::vector<Done> waiting;
  };
  struct Work {
    std::string path;
    ShardSnapshot snapshot;
  };

  void Run();
  void Finish(const std::string& path, const Result& result);

  Mutex mutex_;
  CondVar changed_;
  std::deque<Work> queue_ ABSL_GUARDED_BY(mutex_);
  // By path.
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_CHECKPOINTER_H_
