#include "common/image/axis_weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "glog/logging.h"

namespace paceline {
namespace {

using Pixels = std::vector<std::pair<int64_t, float>>;

// TensorFlow computes places in float, too, so that nearest pixels are the
// same.
float CenterOf(int64_t pixel, float scale) {
  return (static_cast<float>(pixel) + 0.5F) * scale;
}

void AddBilinear(int64_t o, float scale, Pixels& pixels) {
  const float place = CenterOf(o, scale) - 0.5F;
  const float lower = std::floor(place);
  pixels.push_back({static_cast<int64_t>(lower), 1 - (place - lower)});
  pixels.push_back({static_cast<int64_t>(lower) + 1, place - lower});
}

// Keys' kernel with a = -0.5, for distances up to 2.
float KeysCubic(float x) {
  x = std::abs(x);
  if (x < 1) return (1.5F * x - 2.5F) * x * x + 1;
  return ((-0.5F * x + 2.5F) * x - 4) * x + 2;
}

// Weights sum to 1 over the pixels that exist.
void Normalize(Pixels& pixels) {
  float total = 0;
  for (const auto& [pixel, weight] : pixels) total += weight;
  if (std::abs(total) < 1e-30F) return;
  for (auto& [pixel, weight] : pixels) weight /= total;
}

void AddBicubic(int64_t o, float scale, int64_t in, Pixels& pixels) {
  // TensorFlow looks the kernel up in a table of this size.
  constexpr float kTableSize = 1024;
  const float place = CenterOf(o, scale) - 0.5F;
  const float lower = std::floor(place);
  const float offset = std::round((place - lower) * kTableSize) / kTableSize;
  for (int64_t t = -1; t <= 2; ++t) {
    const int64_t pixel = static_cast<int64_t>(lower) + t;
    if (pixel < 0 || pixel >= in) continue;
    pixels.push_back({pixel, KeysCubic(static_cast<float>(t) - offset)});
  }
  Normalize(pixels);
}

// Each input pixel counts by its share of the output pixel's area.
void AddArea(int64_t o, float scale, Pixels& pixels) {
  const float begin = static_cast<float>(o) * scale;
  const float end = static_cast<float>(o + 1) * scale;
  for (auto pixel = static_cast<int64_t>(begin);
       static_cast<float>(pixel) < end; ++pixel) {
    const auto at = static_cast<float>(pixel);
    const float covered = std::min(at + 1, end) - std::max(at, begin);
    pixels.push_back({pixel, covered / scale});
  }
}

struct Kernel {
  float radius;
  float (*weight)(float distance, float radius);
};

float Lanczos(float x, float radius) {
  constexpr float kPi = std::numbers::pi_v<float>;
  if (x > radius) return 0;
  if (x <= 1e-3F) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) /
         (kPi * kPi * x * x);
}

float Gaussian(float x, float radius) {
  if (x >= radius) return 0;
  const float sigma = radius / 3;
  return std::exp(-x * x / (2 * sigma * sigma));
}

float MitchellCubic(float x, float /*radius*/) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.F / 18 * x + 2) * x - 10.F / 3) * x + 16.F / 9;
  return (7.F / 6 * x - 2) * x * x + 8.F / 9;
}

Kernel KernelOf(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kLanczos3:
      return {3, Lanczos};
    case Interpolation::kLanczos5:
      return {5, Lanczos};
    case Interpolation::kGaussian:
      return {1.5F, Gaussian};
    default:
      return {2, MitchellCubic};
  }
}

void AddKernel(const Kernel& kernel, int64_t o, float scale, int64_t in,
               Pixels& pixels) {
  const float center = CenterOf(o, scale);
  const auto begin =
      static_cast<int64_t>(std::ceil(center - kernel.radius - 0.5F));
  const auto last =
      static_cast<int64_t>(std::floor(center + kernel.radius - 0.5F));
  for (int64_t pixel = std::max<int64_t>(begin, 0);
       pixel <= std::min(last, in - 1); ++pixel) {
    const float distance = std::abs(static_cast<float>(pixel) + 0.5F - center);
    pixels.push_back({pixel, kernel.weight(distance, kernel.radius)});
  }
  Normalize(pixels);
}

// The input pixels of output pixel `o`, some of which may be beyond the edges.
void FindPixels(Interpolation interpolation, int64_t o, int64_t in, int64_t out,
                Pixels& pixels) {
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  pixels.clear();
  switch (interpolation) {
    case Interpolation::kNearest:
      return pixels.push_back(
          {static_cast<int64_t>(std::floor(CenterOf(o, scale))), 1.F});
    case Interpolation::kBilinear:
      return AddBilinear(o, scale, pixels);
    case Interpolation::kBicubic:
      return AddBicubic(o, scale, in, pixels);
    case Interpolation::kArea:
      return AddArea(o, scale, pixels);
    default:
      return AddKernel(KernelOf(interpolation), o, scale, in, pixels);
  }
}

}  // namespace

void AxisWeights::Compute(Interpolation interpolation, int64_t in,
                          int64_t out) {
  CHECK(in > 0 && out > 0) << in << " " << out;
  taps_ = 1;
  first_.resize(out);
  for (int64_t o = 0; o < out; ++o) {
    FindPixels(interpolation, o, in, out, pixels_);
    first_[o] = std::clamp<int64_t>(pixels_.front().first, 0, in - 1);
    const int64_t last = std::clamp<int64_t>(pixels_.back().first, 0, in - 1);
    taps_ = std::max(taps_, last - first_[o] + 1);
  }
  weights_.assign(out * taps_, 0);
  for (int64_t o = 0; o < out; ++o) {
    FindPixels(interpolation, o, in, out, pixels_);
    // Those of the last pixels begin earlier, so that all exist.
    first_[o] = std::min(first_[o], in - taps_);
    for (const auto& [pixel, weight] : pixels_) {
      const int64_t existing = std::clamp<int64_t>(pixel, 0, in - 1);
      weights_[o * taps_ + existing - first_[o]] += weight;
    }
  }
}

}  // namespace paceline
