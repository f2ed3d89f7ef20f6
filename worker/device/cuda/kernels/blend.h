// Images whose pixels are weighted sums of pixels of other images
// (common/operations/resize.h).
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BLEND_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BLEND_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// The inputs and weights of an output along an axis.
struct AxisBlend {
  int64_t lower;
  int64_t upper;
  float upper_share;

  PACELINE_HOST_DEVICE float ShareOf(int64_t input) const {
    return (lower == input ? 1 - upper_share : 0.0f) +
           (upper == input ? upper_share : 0.0f);
  }
};

// A range of outputs along an axis that includes all that use an input.
struct AxisReaders {
  int64_t begin;
  int64_t end;
};

struct BlendGeometry {
  int64_t height = 0;
  int64_t width = 0;
  int64_t output_height = 0;
  int64_t output_width = 0;
  int64_t channels = 0;
  const AxisBlend* rows = nullptr;
  const AxisBlend* columns = nullptr;
};

// For each output. Inputs with weight 0 are not read, since they may be
// infinite.
struct BlendImages {
  BlendGeometry geometry;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const BlendGeometry& g = geometry;
    const ImageElement at =
        ElementAt(i, g.output_height, g.output_width, g.channels);
    const AxisBlend row = g.rows[at.y];
    const AxisBlend column = g.columns[at.x];
    float sum = 0;
    for (int64_t y = row.lower; y <= row.upper; ++y) {
      for (int64_t x = column.lower; x <= column.upper; ++x) {
        const float share = row.ShareOf(y) * column.ShareOf(x);
        if (share == 0) continue;
        const int64_t pixel = (at.example * g.height + y) * g.width + x;
        sum += share * inputs[pixel * g.channels + at.channel];
      }
    }
    outputs.Set(i, sum);
  }
};

// For each input.
struct BlendImagesBackward {
  BlendGeometry geometry;
  // By input along each axis.
  const AxisReaders* row_readers = nullptr;
  const AxisReaders* column_readers = nullptr;
  ConstValues output_gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const BlendGeometry& g = geometry;
    const ImageElement at = ElementAt(i, g.height, g.width, g.channels);
    const AxisReaders rows = row_readers[at.y];
    const AxisReaders columns = column_readers[at.x];
    float sum = 0;
    for (int64_t y = rows.begin; y < rows.end; ++y) {
      for (int64_t x = columns.begin; x < columns.end; ++x) {
        const float share =
            g.rows[y].ShareOf(at.y) * g.columns[x].ShareOf(at.x);
        if (share == 0) continue;
        const int64_t pixel =
            (at.example * g.output_height + y) * g.output_width + x;
        sum += share * output_gradients[pixel * g.channels + at.channel];
      }
    }
    input_gradients.Set(i, sum);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BLEND_H_
