// Elementwise on the CPU.
//
// The elements come in tiles that fit the first cache, with all values between
// them unless the chain is very long. Each instruction is one loop over a tile.
// An input that is broadcast, or no real, is first written out for the tile;
// where its pattern is the same in every tile (a number, a vector of channels),
// once for all.
#ifndef PACELINE_WORKER_DEVICE_CPU_OPERATIONS_ELEMENTWISE_H_
#define PACELINE_WORKER_DEVICE_CPU_OPERATIONS_ELEMENTWISE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/elementwise.h"
#include "worker/device/broadcast_axes.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

// Thread-safe. Inputs are of float32, int32 or bool, the output is of float32.
class ElementProgram {
 public:
  // The output may be an input of its shape.
  ElementProgram(std::vector<op::ElementInstruction> instructions,
                 absl::Span<Tensor* const> inputs, const Tensor* output);

  // Computes elements [begin, end) of the output.
  void Run(int64_t begin, int64_t end) const;

 private:
  enum class Reading {
    kInPlace,
    // Written out for the first tile, which the others repeat.
    kOnce,
    kEachTile,
  };
  struct Input {
    const Tensor* tensor;
    BroadcastAxes axes;
    Reading reading = Reading::kInPlace;
  };
  // Values of a tile, by number.
  struct Tile;

  // Tiles are whole multiples of this, so that inputs which repeat every so
  // many elements are the same in each; 1: there is no such input.
  int64_t PeriodOfTiles() const;
  // Where elements [begin, begin + count) of what the input is broadcast to lie
  // side by side; null: nowhere.
  static const float* RunOf(const Input& input, int64_t begin, int64_t count);
  // Writes these elements out.
  static void Write(const Input& input, int64_t begin, int64_t count,
                    float* to);
  void RunTile(int64_t begin, int64_t count, Tile& tile) const;

  std::vector<op::ElementInstruction> instructions_;
  std::vector<Input> inputs_;
  const Tensor* output_;
  // At most that of a tile.
  int64_t tile_size_;
  // One instruction, and nothing to write out.
  bool is_one_loop_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_OPERATIONS_ELEMENTWISE_H_
