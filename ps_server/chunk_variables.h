// The variables and slots of one chunk of a shard, as blocks.
#ifndef PACELINE_PS_SERVER_CHUNK_VARIABLES_H_
#define PACELINE_PS_SERVER_CHUNK_VARIABLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/checkpointer.h"
#include "common/keras/initial_weights.h"
#include "common/model/seeded_values.h"
#include "common/rpc/dense_values.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Thread-safe. Each block is read and updated atomically; a call on several
// blocks is not atomic.
class ChunkVariables {
 public:
  // The chunks of shard `shard` of `shard_count`, in float32 or float64;
  // zeroed. Errors name what is wrong with the job.
  static absl::StatusOr<std::vector<std::unique_ptr<ChunkVariables>>> Create(
      const v1::Job& job, int shard, int shard_count, DataType type);
  virtual ~ChunkVariables() = default;

  // Sets the variables to those of `weights`, if it is not null, and those that
  // it does not have to their initial values by the job's seed, those of
  // `seeded`. Errors are those of ModelWeights.
  virtual absl::Status Initialize(SeededValues& seeded,
                                  InitialWeights* weights) = 0;

  // Restores variables and slots from a checkpoint, which may have been written
  // with another number of shards. Blocks get `step` as their version. Errors
  // are those of CheckpointReader.
  virtual absl::Status Restore(CheckpointReader& checkpoint, int64_t step) = 0;
  // Restores the variables alone, from a checkpoint of any optimizer; slots and
  // versions stay.
  virtual absl::Status RestoreVariables(CheckpointReader& checkpoint) = 0;

  // All variables of the job, as checkpoints of its shards have them.
  virtual const std::vector<StoredVariable>& stored_variables() const = 0;

  // Whether the optimizer averages the variables.
  virtual bool has_averages() const = 0;
  // The variables and their averages change places; see BlockState. The
  // optimizer must have averages.
  virtual void SwapAverages() = 0;

  // InvalidArgument, naming the block, unless Apply can apply these gradients.
  // The gradients must be aligned.
  virtual absl::Status Check(absl::Span<const DenseValues> gradients) const = 0;
  // The same for Add, which needs all blocks, and each as a whole.
  virtual absl::Status CheckWhole(
      absl::Span<const DenseValues> gradients) const = 0;

  // A call of the optimizer.
  struct Call {
    // Number of earlier calls. Calls may come in another order than that of
    // their numbers.
    int64_t iterations = 0;
    // nullopt: that of call number `iterations` + 1 of the job.
    std::optional<double> learning_rate = std::nullopt;
  };

  // Applies gradients, which passed Check. Returns the largest number of
  // updates that a block had since the version of its gradients.
  virtual uint64_t Apply(const Call& call,
                         absl::Span<const DenseValues> gradients) = 0;

  // Adds gradients, which passed CheckWhole, to the sum that ApplySum applies.
  virtual void Add(absl::Span<const DenseValues> gradients) = 0;
  // Σ g² of the summed gradients for the chunk's part of each variable of the
  // model.
  virtual std::vector<double> SquaredNorms() const = 0;
  // Applies the sum. `squared_norms` are those of whole variables; used only if
  // the optimizer clips by norms.
  virtual void ApplySum(const Call& call,
                        std::vector<double> squared_norms) = 0;
  // Whether ApplySum uses `squared_norms`.
  virtual bool needs_norms() const = 0;
  // InvalidArgument unless there is a valid norm for each variable.
  virtual absl::Status CheckNorms(
      absl::Span<const double> squared_norms) const = 0;

  // Whether the variables are frozen; pushes to them are refused.
  virtual bool is_frozen() const = 0;

  // Bytes of each block's variables.
  virtual absl::Span<const size_t> block_sizes() const = 0;
  // InvalidArgument unless `buffers` have the sizes of these blocks.
  virtual absl::Status CheckBuffers(
      absl::Span<const DenseBuffer> buffers) const = 0;
  // Copies all blocks into buffers, which passed CheckBuffers.
  virtual void Read(absl::Span<DenseBuffer> buffers) const = 0;

  // Appends copies of all variables and slots.
  virtual void CopyTo(std::vector<SnapshotTensor>& tensors) = 0;

  // Bytes of variables and slots.
  virtual int64_t size_bytes() const = 0;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_CHUNK_VARIABLES_H_
