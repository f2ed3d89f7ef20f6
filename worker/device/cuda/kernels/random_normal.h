// Normal random numbers. For each of them.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_RANDOM_NORMAL_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_RANDOM_NORMAL_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "common/model/initializers/sampling.h"
#include "common/model/philox.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

struct DrawNormal {
  uint64_t key = 0;
  int64_t example_size = 0;
  const StepValues* step = nullptr;
  Values numbers{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t example = step->first_example + i / example_size;
    const uint64_t of_example =
        MixKey(MixKey(key, static_cast<uint64_t>(step->epoch)),
               static_cast<uint64_t>(example));
    numbers.Set(i,
                static_cast<float>(NormalSample(of_example, i % example_size)));
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_RANDOM_NORMAL_H_
