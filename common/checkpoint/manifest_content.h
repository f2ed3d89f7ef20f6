// What the manifest of a checkpoint says: the checkpoint's files, and which
// parts of the variables are in each. Without I/O; manifest.h reads and writes
// it.
#ifndef PACELINE_COMMON_CHECKPOINT_MANIFEST_CONTENT_H_
#define PACELINE_COMMON_CHECKPOINT_MANIFEST_CONTENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "common/sharding/shard_plan.h"
#include "common/tensor/shape.h"
#include "nlohmann/json_fwd.hpp"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The file of one shard.
struct ShardFile {
  // Directly in the checkpoint's folder; see IsFileName.
  std::string file;
  int64_t size_bytes = 0;
  uint32_t crc32 = 0;
  // Logical steps that the shard had applied.
  int64_t step = 0;
};

// Whether `name` can be that of a file directly in a folder, and what errors
// say that they expect otherwise.
bool IsFileName(absl::string_view name);
inline constexpr char kExpectedFileName[] = "the name of a file in the folder";

// The size of the pieces in which a shard's file is read from its server; the
// last piece may be smaller.
inline constexpr uint64_t kCheckpointPieceBytes = 2 << 20;

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
  // The phase of the job; "": it has none.
  std::string phase;
  // What the variables are those of: the job's model, loss, optimizer, metrics
  // and initial_iterations, and no other field. Without a model if an earlier
  // release wrote the checkpoint.
  v1::Job trained;
  // Logical steps in the leader's count.
  int64_t step = 0;
  // float32 or float64.
  DataType type = DataType::kFloat32;
  // The optimizer's slots, in its order.
  std::vector<std::string> slot_names;
  std::vector<ShardFile> shards;
  std::vector<StoredVariable> variables;
  // The name of the checkpoint's folder, beside this one's or this one itself,
  // whose variables a callback has kept; "": none.
  std::string kept;
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

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_MANIFEST_CONTENT_H_
