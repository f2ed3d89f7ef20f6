// The Elementwise operation on the CPU.
//
// Elements are computed in tiles. All intermediate values of a tile fit into
// the L1 cache, unless the chain of instructions is very long. Each instruction
// is one loop over a tile. An input that is broadcast, or is not float32, is
// first expanded for the tile; if the expansion is the same for every tile (a
// scalar, a vector of channels), only once.
#ifndef PACELINE_WORKER_DEVICE_CPU_OPERATIONS_ELEMENTWISE_H_
#define PACELINE_WORKER_DEVICE_CPU_OPERATIONS_ELEMENTWISE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/elementwise.h"
#include "worker/device/broadcast_axes.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

// Thread-safe. Inputs are float32, int32 or bool, the output is float32.
class ElementProgram {
 public:
  // The output may be one of the inputs, if it has the same shape.
  ElementProgram(std::vector<op::ElementInstruction> instructions,
                 absl::Span<Tensor* const> inputs, const Tensor* output);

  // Computes elements [begin, end) of the output.
  void Run(int64_t begin, int64_t end) const;

 private:
  enum class Reading {
    kInPlace,
    // Expanded for the first tile, and reused by the others.
    kOnce,
    kEachTile,
  };
  struct Input {
    const Tensor* tensor;
    BroadcastAxes axes;
    Reading reading = Reading::kInPlace;
  };
  // The values of a tile, by number.
  struct Tile;

  // Tiles are a multiple of this size, so that inputs with this period are the
  // same in each tile. 1: there is no such input.
  int64_t PeriodOfTiles() const;
  // If the elements [begin, begin + count) of the broadcast input are
  // contiguous in memory, their address; else null.
  static const float* RunOf(const Input& input, int64_t begin, int64_t count);
  // Expands these elements of the input.
  static void Write(const Input& input, int64_t begin, int64_t count,
                    float* to);
  void RunTile(int64_t begin, int64_t count, Tile& tile) const;

  std::vector<op::ElementInstruction> instructions_;
  std::vector<Input> inputs_;
  const Tensor* output_;
  // Elements of a tile, at most.
  int64_t tile_size_;
  // Whether there is one instruction and no input to expand.
  bool is_one_loop_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_OPERATIONS_ELEMENTWISE_H_
