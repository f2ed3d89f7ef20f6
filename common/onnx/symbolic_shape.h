// Shapes for any size of the batch.
//
// A function of operations is made for one batch size, so its shapes are
// numbers. A file of ONNX is for any: two functions of the same model, made for
// two batch sizes, tell which dimensions follow it.
#ifndef PACELINE_COMMON_ONNX_SYMBOLIC_SHAPE_H_
#define PACELINE_COMMON_ONNX_SYMBOLIC_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/operations/function.h"
#include "glog/logging.h"

namespace paceline {

// The batch sizes of the two functions. Primes, so that no other dimension is
// likely to look like them.
inline constexpr int64_t kFirstBatch = 1009;
inline constexpr int64_t kSecondBatch = 1013;

struct SymbolicDimension {
  // If it follows the batch: how many there are of it for each example.
  int64_t size = 0;
  bool is_batch = false;

  friend bool operator==(const SymbolicDimension&,
                         const SymbolicDimension&) = default;
};
using SymbolicShape = std::vector<SymbolicDimension>;

// The same function for kFirstBatch and for kSecondBatch: equal but for sizes.
struct FunctionPair {
  const op::Function& first;
  const op::Function& second;

  SymbolicShape ShapeOf(int tensor) const {
    const Shape& a = first.type(tensor).shape;
    const Shape& b = second.type(tensor).shape;
    CHECK_EQ(a.size(), b.size());
    SymbolicShape shape;
    for (size_t i = 0; i < a.size(); ++i) {
      const bool is_batch = a[i] != b[i];
      shape.push_back({is_batch ? a[i] / kFirstBatch : a[i], is_batch});
      CHECK(!is_batch || (a[i] == shape[i].size * kFirstBatch &&
                          b[i] == shape[i].size * kSecondBatch))
          << a[i] << " and " << b[i];
    }
    return shape;
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_ONNX_SYMBOLIC_SHAPE_H_
