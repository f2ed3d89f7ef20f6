// Affine transformations of images, as TensorFlow's ImageProjectiveTransformV3,
// by which Keras rotates, zooms and translates.
#ifndef PACELINE_COMMON_DATA_STEP_AFFINE_H_
#define PACELINE_COMMON_DATA_STEP_AFFINE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/config/codec.h"
#include "common/data_step/image_layout.h"
#include "common/image/resize_kernels.h"

namespace paceline {

// What lies beyond the edges of an image a b c d.
enum class FillMode {
  // d c b a | a b c d | d c b a
  kReflect,
  // a b c d | a b c d | a b c d
  kWrap,
  // k k k k | a b c d | k k k k
  kConstant,
  // a a a a | a b c d | d d d d
  kNearest
};

enum class AffineInterpolation { kNearest, kBilinear };

absl::Span<const EnumName<FillMode>> EnumNames(FillMode);
absl::Span<const EnumName<AffineInterpolation>> EnumNames(AffineInterpolation);

// Where the pixel at (x, y) of the output lies in the input:
//
//   (x_x · x + x_y · y + x_0,  y_x · x + y_y · y + y_0)
struct AffineMatrix {
  float x_x = 1;
  float x_y = 0;
  float x_0 = 0;
  float y_x = 0;
  float y_y = 1;
  float y_0 = 0;
};

// Not thread-safe. Only the constructor allocates.
class AffineTransform {
 public:
  AffineTransform() = default;
  // `fill`: what lies beyond the edges, if `mode` is kConstant.
  AffineTransform(const ImageLayout& image, FillMode mode,
                  AffineInterpolation interpolation, float fill);

  // `out` has the size of `in`.
  void Apply(const AffineMatrix& matrix, const float* in, float* out);

 private:
  // The two neighbours of a coordinate, and their shares.
  struct Neighbours {
    // Negative: beyond the edge, where there is the fill value.
    int64_t low = 0;
    int64_t high = 0;
    float low_share = 1;
    float high_share = 0;
  };

  Neighbours NeighboursOf(float coordinate, int64_t length) const;
  float MapInside(float coordinate, int64_t length) const;
  // The pixel of a row, or the fill value.
  const float* PixelAt(const float* row, int64_t x) const;
  void Blend(const float* in, const Neighbours& x, const Neighbours& y,
             float* out) const;
  // For a matrix that keeps rows and columns: each row of the input is blended
  // along its columns once, and these rows are blended.
  void ApplyByAxis(const AffineMatrix& matrix, const float* in, float* out);
  void ComputeColumns(const AffineMatrix& matrix);
  void BlendColumnsOf(const float* in, int64_t row, float* out);
  // The row of the input, -1 for fill values, with its columns blended. Does
  // not take the place of row `kept`.
  const float* BlendedRow(const float* in, int64_t row, int64_t kept);

  ImageLayout image_;
  FillMode mode_ = FillMode::kReflect;
  AffineInterpolation interpolation_ = AffineInterpolation::kBilinear;
  // A row of fill values, and one more.
  std::vector<float> fill_;
  // Of each column of the output.
  std::vector<Neighbours> columns_;
  // The same for RGB pixels. Columns of which a neighbour is beyond the edge
  // have another one in its place here, and are listed.
  std::vector<PixelBlend> blends_;
  std::vector<int64_t> beyond_edge_;
  // The last row of the input, and one element more.
  std::vector<float> last_row_;
  // The rows that were blended last.
  static constexpr int64_t kNoRow = -2;
  struct BlendedColumns {
    int64_t row = kNoRow;
    std::vector<float> pixels;
  };
  std::array<BlendedColumns, 2> blended_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_AFFINE_H_
