// Elementwise, by four adjacent elements of the output: an instruction is
// looked up once for all of them.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ELEMENTWISE_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ELEMENTWISE_H_

#include <cstdint>
#include <type_traits>

#include "common/base/host_device.h"
#include "common/operations/elementwise.h"
#include "worker/device/broadcast_axes.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/element_formulas.h"

namespace paceline::cuda {

// Calls visit with the function as a std::integral_constant.
template <int kFunction = 0, typename Visit>
PACELINE_HOST_DEVICE inline void VisitFunction(op::ElementFunction function,
                                               const Visit& visit) {
  constexpr auto kVisited = op::ElementFunction{kFunction};
  if (function == kVisited) {
    visit(std::integral_constant<op::ElementFunction, kVisited>{});
  } else if constexpr (kVisited != op::ElementFunction::kSelect) {
    VisitFunction<kFunction + 1>(function, visit);
  }
}

PACELINE_HOST_DEVICE inline FourFloats ComputeFour(op::ElementFunction function,
                                                   const FourFloats& a,
                                                   const FourFloats& b,
                                                   const FourFloats& c) {
  FourFloats result = {};
  VisitFunction(function, [&](auto visited) {
    PACELINE_UNROLL
    for (int k = 0; k < 4; ++k) {
      result[k] = ComputeElement<float>(visited, a[k], b[k], c[k]);
    }
  });
  return result;
}

// A single function of reals that are not broadcast; its values stay in
// registers. The output may overwrite an input. For each of FourBlocks(count).
struct ApplyFunction {
  op::ElementFunction function = op::ElementFunction::kRelu;
  int64_t count = 0;
  // As many as the function reads.
  ConstValues inputs[3] = {};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const FourFloats a = LoadFour(inputs[0], 4 * block, count);
    FourFloats b = {};
    FourFloats c = {};
    if (op::OperandCount(function) > 1) {
      b = LoadFour(inputs[1], 4 * block, count);
    }
    if (op::OperandCount(function) > 2) {
      c = LoadFour(inputs[2], 4 * block, count);
    }
    StoreFour(ComputeFour(function, a, b, c), outputs, 4 * block, count);
  }
};

// gradient · (0 < rectified), likewise.
struct RectifyGradients {
  int64_t count = 0;
  ConstValues gradients{};
  ConstValues rectified{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    FourFloats g = LoadFour(gradients, 4 * block, count);
    const FourFloats y = LoadFour(rectified, 4 * block, count);
    PACELINE_UNROLL
    for (int k = 0; k < 4; ++k) g[k] *= y[k] > 0 ? 1.0f : 0.0f;
    StoreFour(g, outputs, 4 * block, count);
  }
};

// All threads of a launch run the same instructions. The output may overwrite
// an input of the same shape. For each of FourBlocks(count).
struct ComputeElementwise {
  static constexpr int kMaxInputs = op::ElementwiseOperation::kMaxInputs;
  static constexpr int kMaxInstructions =
      op::ElementwiseOperation::kMaxInstructions;

  struct Input {
    // float32, int32 or bool.
    ConstValues values{};
    BroadcastAxes axes;

    PACELINE_HOST_DEVICE float At(int64_t at) const {
      switch (values.type) {
        case DataType::kBool:
          return static_cast<float>(static_cast<const bool*>(values.data)[at]);
        case DataType::kInt32:
          return static_cast<float>(
              static_cast<const int32_t*>(values.data)[at]);
        default:
          return values[at];
      }
    }
    PACELINE_HOST_DEVICE bool is_float() const {
      return values.type != DataType::kBool && values.type != DataType::kInt32;
    }
    // The elements for [begin, begin + 4) of an output of `end` elements.
    PACELINE_HOST_DEVICE FourFloats Four(int64_t begin, int64_t end) const {
      FourFloats four = {};
      if (axes.count == 1 || axes.sizes[0] % 4 == 0) {
        // The four are adjacent, or one and the same.
        const int64_t at = axes.Offset(begin);
        const int64_t stride = axes.count == 0 ? 1 : axes.strides[0];
        if (stride == 1 && is_float()) {
          return LoadFour(values, at, at + (end - begin));
        }
        for (int k = 0; k < 4 && begin + k < end; ++k) {
          four[k] = At(at + k * stride);
        }
        return four;
      }
      for (int k = 0; k < 4 && begin + k < end; ++k) {
        four[k] = At(axes.Offset(begin + k));
      }
      return four;
    }
  };
  struct Instruction {
    op::ElementFunction function = op::ElementFunction::kConstant;
    uint8_t a = 0;
    uint8_t b = 0;
    uint8_t c = 0;
    float constant = 0;

    PACELINE_HOST_DEVICE FourFloats operator()(const FourFloats* values) const {
      if (function == op::ElementFunction::kConstant) {
        return {{constant, constant, constant, constant}};
      }
      return ComputeFour(function, values[a], values[b], values[c]);
    }
  };

  int64_t count = 0;
  int input_count = 0;
  int instruction_count = 0;
  Input inputs[kMaxInputs];
  Instruction instructions[kMaxInstructions];
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    FourFloats values[kMaxInputs + kMaxInstructions];
    int last = 0;
    for (; last < input_count; ++last) {
      values[last] = inputs[last].Four(4 * block, count);
    }
    for (int k = 0; k < instruction_count; ++k, ++last) {
      values[last] = instructions[k](values);
    }
    StoreFour(values[last - 1], outputs, 4 * block, count);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ELEMENTWISE_H_
