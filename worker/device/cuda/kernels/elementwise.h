// Elementwise. For each element of the output.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ELEMENTWISE_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ELEMENTWISE_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "common/operations/elementwise.h"
#include "worker/device/broadcast_axes.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/element_formulas.h"

namespace paceline::cuda {

// All threads of a launch run the same instructions. The output may overwrite
// an input of the same shape.
struct ComputeElementwise {
  static constexpr int kMaxInputs = op::ElementwiseOperation::kMaxInputs;
  static constexpr int kMaxInstructions =
      op::ElementwiseOperation::kMaxInstructions;

  struct Input {
    // float32, int32 or bool.
    ConstValues values{};
    BroadcastAxes axes;

    PACELINE_HOST_DEVICE float At(int64_t i) const {
      const int64_t at = axes.Offset(i);
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
  };
  struct Instruction {
    op::ElementFunction function = op::ElementFunction::kConstant;
    uint8_t a = 0;
    uint8_t b = 0;
    uint8_t c = 0;
    float constant = 0;
  };

  int input_count = 0;
  int instruction_count = 0;
  Input inputs[kMaxInputs];
  Instruction instructions[kMaxInstructions];
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    float values[kMaxInputs + kMaxInstructions];
    int count = 0;
    for (; count < input_count; ++count) {
      values[count] = inputs[count].At(i);
    }
    for (int k = 0; k < instruction_count; ++k, ++count) {
      const Instruction& each = instructions[k];
      values[count] = each.function == op::ElementFunction::kConstant
                          ? each.constant
                          : ComputeElement(each.function, values[each.a],
                                           values[each.b], values[each.c]);
    }
    outputs.Set(i, values[count - 1]);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ELEMENTWISE_H_
