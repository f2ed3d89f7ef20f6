// The memory of a chunk whose push is under way while the next step computes.
#ifndef PACELINE_WORKER_STRATEGY_STAGED_CHUNK_H_
#define PACELINE_WORKER_STRATEGY_STAGED_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/rpc/dense_values.h"

namespace paceline {

// Copies of a chunk's gradients and variables. Calls use the copies, and the
// device uses the originals in host memory. Not thread-safe.
class StagedChunk {
 public:
  struct Copies {
    absl::Span<std::byte> gradients;
    absl::Span<std::byte> variables;
  };
  // Adds the next block, whose gradients and variables have the same size.
  // Their memory must outlive this object. The copies stay where they are.
  Copies AddBlock(absl::Span<std::byte> host_gradients,
                  absl::Span<std::byte> host_variables);

  // Copies the gradients of a step from host memory, and sets the versions of
  // the variables with which they were computed. By block. Call it before
  // TakeVariables replaces these.
  void StageGradients(absl::Span<DenseValues> gradients);
  // Copies variables that a server has sent to host memory. By block.
  void TakeVariables(absl::Span<const DenseBuffer> variables);

 private:
  struct StagedBlock {
    absl::Span<std::byte> host_gradients;
    absl::Span<std::byte> host_variables;
    // Of the variables in host memory.
    uint64_t version = 0;
    std::vector<std::byte> gradients;
    std::vector<std::byte> variables;
  };

  std::vector<StagedBlock> blocks_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_STAGED_CHUNK_H_
