// The mask of Dropout. For each block of four elements of each example; a block
// takes one call of Philox.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_DROPOUT_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_DROPOUT_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "common/model/dropout_mask.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {

struct DrawDropoutMask {
  DropoutMask mask;
  int64_t example_size = 0;
  const StepValues* step = nullptr;
  bool* is_kept = nullptr;

  PACELINE_HOST_DEVICE static int64_t BlocksOf(int64_t example_size) {
    return (example_size + DropoutMask::kBlock - 1) / DropoutMask::kBlock;
  }

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t blocks = BlocksOf(example_size);
    const int64_t example = i / blocks;
    const int64_t block = i % blocks;
    const unsigned kept =
        mask.InEpoch(step->epoch)
            .KeptOfBlock(step->first_example + example, block);
    for (int64_t k = 0; k < DropoutMask::kBlock; ++k) {
      const int64_t element = DropoutMask::kBlock * block + k;
      if (element == example_size) return;
      is_kept[example * example_size + element] = (kept >> k & 1) != 0;
    }
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_DROPOUT_H_
