// The tensors in the files of a checkpoint of TensorFlow.
#ifndef PACELINE_COMMON_TENSORFLOW_CHECKPOINT_CHECKPOINT_FILE_H_
#define PACELINE_COMMON_TENSORFLOW_CHECKPOINT_CHECKPOINT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/random_access.h"
#include "common/tensorflow_checkpoint/bundle_index.h"

namespace paceline {

// As bytes it is those of its shards, one behind another. Not thread-safe.
class CheckpointFile final : public RandomAccess {
 public:
  // `path`: of the index, with its ending. Opens the shards that have tensors,
  // and checks that these lie within them. Errors name the file: those of
  // ReadBundleIndex and OpenRandomAccess, ResourceExhausted if the index or all
  // shards are above a limit, DataLoss if a shard is too short. Blocks on the
  // disk.
  static absl::StatusOr<std::unique_ptr<CheckpointFile>> Open(
      const std::string& path);

  const std::map<std::string, BundleEntry>& entries() const {
    return index_.entries;
  }

  // Of an entry that is not in parts: where it begins in all bytes.
  int64_t OffsetOf(const BundleEntry& entry) const {
    return shards_[entry.shard].begin_bytes + entry.offset_bytes;
  }

  // Reads the tensor, which is not in parts nor of strings, and compares its
  // checksum. DataLoss if that is another; the message has the shard and the
  // key. Blocks on the disk.
  absl::Status CheckTensor(const std::string& key);

  // A tensor of one string of at most `limit_bytes`. NotFound; InvalidArgument
  // if it is another tensor; ResourceExhausted; DataLoss if its checksum is
  // another. Messages have the key. Blocks on the disk.
  absl::StatusOr<std::string> ReadString(const std::string& key,
                                         int64_t limit_bytes);

  int64_t size_bytes() const override { return size_bytes_; }
  // The range must lie within a shard.
  absl::Status ReadAt(int64_t offset_bytes, absl::Span<std::byte> out) override;

 private:
  struct Shard {
    std::string path;
    // Null: no tensor lies there.
    std::unique_ptr<RandomAccess> file;
    // In all bytes.
    int64_t begin_bytes = 0;
  };

  explicit CheckpointFile(BundleIndex index) : index_(std::move(index)) {}

  absl::Status OpenShards(const std::string& path);

  const BundleIndex index_;
  std::vector<Shard> shards_;
  int64_t size_bytes_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TENSORFLOW_CHECKPOINT_CHECKPOINT_FILE_H_
