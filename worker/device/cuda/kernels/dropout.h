// Dropout. For each block of four elements of each example, which share a call
// of Philox.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_DROPOUT_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_DROPOUT_H_

#include <cstdint>

#include "common/model/dropout_mask.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

// Forward on values, backward on gradients: the mask is drawn again rather than
// kept. May work in place.
struct DropElements {
  DropoutMask mask;
  int64_t example_size = 0;
  const StepValues* step = nullptr;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE static int64_t BlocksOf(int64_t example_size) {
    return (example_size + 3) / 4;
  }

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t blocks = BlocksOf(example_size);
    const int64_t example = i / blocks;
    const int64_t block = i % blocks;
    const unsigned kept =
        mask.InEpoch(step->epoch)
            .KeptOfBlock(step->first_example + example, block);
    const auto factor = static_cast<float>(mask.scale());
    for (int64_t e = 4 * block; e < 4 * block + 4 && e < example_size; ++e) {
      const int64_t at = example * example_size + e;
      outputs.Set(at, (kept >> (e % 4) & 1) != 0 ? factor * inputs[at] : 0.0f);
    }
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_DROPOUT_H_
