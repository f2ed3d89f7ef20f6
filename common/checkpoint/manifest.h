// The manifest of a checkpoint, which lists its content. FORMAT.md describes
// the keys.
#ifndef PACELINE_COMMON_CHECKPOINT_MANIFEST_H_
#define PACELINE_COMMON_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "common/sharding/shard_plan.h"
#include "common/tensor/shape.h"
#include "nlohmann/json_fwd.hpp"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// The file of one shard.
struct ShardFile {
  // Relative to the checkpoint's folder.
  std::string file;
  int64_t size_bytes = 0;
  uint32_t crc32 = 0;
  // Logical steps that the shard had applied.
  int64_t step = 0;
};

v1::CheckpointFile ToProto(const ShardFile& file);
// InvalidArgument names the field, its value and what is expected.
absl::StatusOr<ShardFile> ReadCheckpointFile(const v1::CheckpointFile& file);

// Elements [begin, begin + count) of a variable, in the file of `shard`.
struct StoredPart {
  int shard = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

struct StoredVariable {
  std::string name;
  Shape shape;
  // In order; together they cover the whole variable.
  std::vector<StoredPart> parts;
};

struct Manifest {
  std::string job_name;
  std::string job_fingerprint;
  // Logical steps in the leader's count.
  int64_t step = 0;
  // float32 or float64.
  DataType type = DataType::kFloat32;
  // The optimizer's slots, in its order.
  std::vector<std::string> slot_names;
  std::vector<ShardFile> shards;
  std::vector<StoredVariable> variables;
  // The session's state, a JSON object. Never null.
  std::shared_ptr<const nlohmann::json> session;
};

// The manifest's `variables` for a `plan`.
std::vector<StoredVariable> StoredVariables(
    absl::Span<const VariableSpec> variables, const ShardPlan& plan);

// "shard-00000-of-00002.safetensors".
std::string ShardFileName(int shard, int shard_count);

// The name of the tensor with a part of a variable (slot "") or of its slot,
// such as "dense/kernel/momentum[0:173056]".
std::string TensorName(const StoredVariable& variable, const StoredPart& part,
                       absl::string_view slot);
// The shape of that tensor: whole rows of the variable.
Shape TensorShape(const StoredVariable& variable, const StoredPart& part);

// The number of logical steps with which a shard resumes. If the number of
// shards has changed, no file belongs to this shard alone: it takes the largest
// number of all files.
int64_t RestoredStep(const Manifest& manifest, int shard, int shard_count);

// Completes a checkpoint: checks that the shards' files are in `folder` with
// the right sizes, then writes manifest.json. NotFound or DataLoss names a
// missing or wrong file, for instance if `folder` is not on a shared file
// system. ResourceExhausted if the manifest would be too large for readers.
absl::Status WriteManifest(const std::string& folder, const Manifest& manifest);

// NotFound if the folder has no manifest; DataLoss or Unimplemented if it is
// unusable, with its path and the key.
absl::StatusOr<Manifest> ReadManifest(const std::string& folder);

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_MANIFEST_H_
