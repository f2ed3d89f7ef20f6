// The variables and slots of one chunk of a shard, in blocks.
#ifndef PACELINE_PS_SERVER_CHUNK_VARIABLES_H_
#define PACELINE_PS_SERVER_CHUNK_VARIABLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/checkpointer.h"
#include "common/rpc/dense_values.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Thread-safe. Each block is read and updated whole; different blocks of one
// call are not one unit.
class ChunkVariables {
 public:
  // The chunks that shard `shard` of `shard_count` has of a job's variables, in
  // float32 or float64; zeroed. Errors name what of the job is wrong.
  static absl::StatusOr<std::vector<std::unique_ptr<ChunkVariables>>> Create(
      const v1::Job& job, int shard, int shard_count, DataType type);
  virtual ~ChunkVariables() = default;

  // Gives the variables their initial values from the job's seed.
  virtual void InitializeFromSeed() = 0;

  // Takes variables and slots from a checkpoint of any number of shards. Blocks
  // get `step` as their version. Errors are those of CheckpointReader.
  virtual absl::Status Restore(CheckpointReader& checkpoint, int64_t step) = 0;

  // InvalidArgument, naming the block, unless Apply can apply these gradients,
  // which are aligned.
  virtual absl::Status Check(absl::Span<const DenseValues> gradients) const = 0;
  // The same for Add, which takes all blocks, each whole.
  virtual absl::Status CheckWhole(
      absl::Span<const DenseValues> gradients) const = 0;

  // Applies gradients that were checked, as the update after `iterations`
  // updates. Returns the updates that the most changed block had since the
  // gradients' version.
  virtual uint64_t Apply(int64_t iterations,
                         absl::Span<const DenseValues> gradients) = 0;

  // Adds gradients that CheckWhole passed to those that ApplySum will apply.
  virtual void Add(absl::Span<const DenseValues> gradients) = 0;
  // Σ g² of what the chunk holds of each variable of the model, of the sum.
  virtual std::vector<double> SquaredNorms() const = 0;
  // Applies the sum, as the update after `iterations` updates. `squared_norms`
  // are those of whole variables; unused unless the optimizer clips by norms.
  virtual void ApplySum(int64_t iterations,
                        std::vector<double> squared_norms) = 0;
  // Whether ApplySum needs norms.
  virtual bool needs_norms() const = 0;
  // InvalidArgument unless there is a sensible norm for each variable.
  virtual absl::Status CheckNorms(
      absl::Span<const double> squared_norms) const = 0;

  // Whether no step updates them; pushes are refused.
  virtual bool is_frozen() const = 0;

  // Bytes of the variables of each block.
  virtual absl::Span<const size_t> block_sizes() const = 0;
  // InvalidArgument unless `buffers` are for these blocks.
  virtual absl::Status CheckBuffers(
      absl::Span<const DenseBuffer> buffers) const = 0;
  // Writes all blocks to buffers that CheckBuffers passed.
  virtual void Read(absl::Span<DenseBuffer> buffers) const = 0;

  // Appends copies of all variables and slots.
  virtual void CopyTo(std::vector<SnapshotTensor>& tensors) = 0;

  // Of variables and slots.
  virtual int64_t size_bytes() const = 0;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_CHUNK_VARIABLES_H_
