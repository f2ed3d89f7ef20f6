// The loops of resizing, over the elements of one row.
#ifndef PACELINE_COMMON_IMAGE_RESIZE_KERNELS_H_
#define PACELINE_COMMON_IMAGE_RESIZE_KERNELS_H_

#include <cstdint>

namespace paceline {

// out[i] = w0 * in0[i] + w1 * in1[i]
void BlendRows(const uint8_t* in0, const uint8_t* in1, float w0, float w1,
               int64_t count, float* out);
void BlendRows(const float* in0, const float* in1, float w0, float w1,
               int64_t count, float* out);

// out[i] = w * in[i]
void ScaleRow(const uint8_t* in, float w, int64_t count, float* out);
void ScaleRow(const float* in, float w, int64_t count, float* out);

// out[i] += w * in[i]
void AddRow(const uint8_t* in, float w, int64_t count, float* out);
void AddRow(const float* in, float w, int64_t count, float* out);

// out[i] = w0[i] * in[offsets[i]] + w1[i] * in[offsets[i] + step]
void BlendColumns(const float* in, const int32_t* offsets, int64_t step,
                  const float* w0, const float* w1, int64_t count, float* out);

// An output pixel as a sum of two pixels of a row, which begin at these
// elements.
struct PixelBlend {
  int32_t low = 0;
  int32_t high = 0;
  float low_share = 1;
  float high_share = 0;
};

// The same as BlendColumns for pixels of three channels: for pixel i,
//   out[3i + c] = low_share * in[low + c] + high_share * in[high + c]
// Reads four elements of each input pixel, also of the last one.
void BlendRgb(const float* in, const PixelBlend* blends, int64_t count,
              float* out);

// out[i] = w[i] * in[offsets[i]]
void ScaleColumns(const float* in, const int32_t* offsets, const float* w,
                  int64_t count, float* out);

// out[i] += w[i] * in[offsets[i]]
void AddColumns(const float* in, const int32_t* offsets, const float* w,
                int64_t count, float* out);

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_RESIZE_KERNELS_H_
