// Group normalization, as defined in common/operations/group_normalization.h. A
// sum over a group is computed in parts first; part p of n has the elements p,
// p + n, p + 2n, …
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_GROUP_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_GROUP_NORMALIZATION_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Values of shape (examples, positions, groups · size), and their statistics.
struct NormalizedGroups {
  int64_t positions = 1;
  int64_t groups = 1;
  // Columns per group.
  int64_t size = 0;
  ConstValues inputs{};
  // Per group and example: the mean, and 1 / √(variance + epsilon).
  float* means = nullptr;
  float* factors = nullptr;

  PACELINE_HOST_DEVICE int64_t columns() const { return groups * size; }
  // Elements of a group of one example.
  PACELINE_HOST_DEVICE int64_t element_count() const {
    return positions * size;
  }
  // The index of element i of a group. Groups are numbered as in the
  // statistics.
  PACELINE_HOST_DEVICE int64_t Index(int64_t group, int64_t i) const {
    const int64_t row = group / groups * positions + i / size;
    return row * columns() + group % groups * size + i % size;
  }
  // The group of a column in a row; a row is a position of an example.
  PACELINE_HOST_DEVICE int64_t GroupOf(int64_t row, int64_t column) const {
    return row / positions * groups + column / size;
  }
  // x̂ of element i, which must be in `group`.
  PACELINE_HOST_DEVICE float Normalized(int64_t i, int64_t group) const {
    return (inputs[i] - means[group]) * factors[group];
  }
};

// Mean and Σ (x − mean)² of some elements.
struct PartMoments {
  double mean;
  double squares;
};

// moments[group, part]. For each of groups · parts.
struct GroupPartMoments {
  NormalizedGroups groups;
  int64_t parts = 1;
  PartMoments* moments = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t group = i / parts;
    const int64_t end = groups.element_count();
    double sum = 0;
    int64_t count = 0;
    for (int64_t e = i % parts; e < end; e += parts, ++count) {
      sum += groups.inputs[groups.Index(group, e)];
    }
    const double mean = sum / static_cast<double>(count);
    double squares = 0;
    for (int64_t e = i % parts; e < end; e += parts) {
      const double difference = groups.inputs[groups.Index(group, e)] - mean;
      squares += difference * difference;
    }
    moments[i] = {mean, squares};
  }
};

// Merges the moments of the parts (Chan, Golub and LeVeque, 1979). For each
// group.
struct GroupMoments {
  NormalizedGroups groups;
  int64_t parts = 1;
  double epsilon = 0;
  const PartMoments* moments = nullptr;

  PACELINE_HOST_DEVICE double CountOf(int64_t part) const {
    return static_cast<double>((groups.element_count() - part + parts - 1) /
                               parts);
  }
  PACELINE_HOST_DEVICE void operator()(int64_t group) const {
    const auto count = static_cast<double>(groups.element_count());
    const PartMoments* const of_parts = moments + group * parts;
    double mean = 0;
    for (int64_t p = 0; p < parts; ++p) {
      mean += of_parts[p].mean * (CountOf(p) / count);
    }
    double squares = 0;
    for (int64_t p = 0; p < parts; ++p) {
      const double difference = of_parts[p].mean - mean;
      squares += of_parts[p].squares + CountOf(p) * difference * difference;
    }
    groups.means[group] = static_cast<float>(mean);
    groups.factors[group] =
        static_cast<float>(1 / std::sqrt(squares / count + epsilon));
  }
};

// For each element.
struct NormalizeGroups {
  NormalizedGroups groups;
  // Without data: gamma is 1, beta is 0.
  ConstValues gamma{};
  ConstValues beta{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / groups.columns();
    const int64_t column = i - row * groups.columns();
    const int64_t group = groups.GroupOf(row, column);
    float y = groups.Normalized(i, group);
    if (gamma.data != nullptr) y *= gamma[column];
    if (beta.data != nullptr) y += beta[column];
    outputs.Set(i, y);
  }
};

// products[part, column] = Σ dy·x̂ and sums[part, column] = Σ dy, over the rows
// part, part + parts, … of all examples. For each of parts · columns.
struct GroupColumnSums {
  NormalizedGroups groups;
  // Of all examples together.
  int64_t rows = 0;
  int64_t parts = 1;
  ConstValues gradients{};
  double* products = nullptr;
  // May be null.
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t columns = groups.columns();
    const int64_t column = i % columns;
    double product_sum = 0;
    double sum = 0;
    for (int64_t row = i / columns; row < rows; row += parts) {
      const int64_t at = row * columns + column;
      const int64_t group = groups.GroupOf(row, column);
      product_sum += gradients[at] * groups.Normalized(at, group);
      sum += gradients[at];
    }
    products[i] = product_sum;
    if (sums != nullptr) sums[i] = sum;
  }
};

// With g = gamma · dy, over some elements: Σ g and Σ g · (x − mean).
struct PartSlopes {
  double sum;
  double products;
};

// slopes[group, part]. For each of groups · parts.
struct GroupPartSlopes {
  NormalizedGroups groups;
  int64_t parts = 1;
  ConstValues gamma{};
  ConstValues gradients{};
  PartSlopes* slopes = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t group = i / parts;
    const float mean = groups.means[group];
    double sum = 0;
    double products = 0;
    for (int64_t e = i % parts; e < groups.element_count(); e += parts) {
      const int64_t at = groups.Index(group, e);
      float g = gradients[at];
      if (gamma.data != nullptr) g *= gamma[at % groups.columns()];
      sum += g;
      products += g * (groups.inputs[at] - mean);
    }
    slopes[i] = {sum, products};
  }
};

// Per group: Σ g / N, and Σ g·x̂ / N · factor.
struct GroupSlope {
  float share;
  float slope;
};

// For each group.
struct GroupSlopes {
  NormalizedGroups groups;
  int64_t parts = 1;
  const PartSlopes* of_parts = nullptr;
  GroupSlope* slopes = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t group) const {
    double sum = 0;
    double products = 0;
    for (int64_t p = group * parts; p < (group + 1) * parts; ++p) {
      sum += of_parts[p].sum;
      products += of_parts[p].products;
    }
    const auto count = static_cast<double>(groups.element_count());
    const double factor = groups.factors[group];
    slopes[group] = {static_cast<float>(sum / count),
                     static_cast<float>(products * factor * factor / count)};
  }
};

// For each element. The inputs' gradients may overwrite the inputs or the
// outputs' gradients.
struct NormalizeGroupsBackward {
  NormalizedGroups groups;
  const GroupSlope* slopes = nullptr;
  ConstValues gamma{};
  ConstValues gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / groups.columns();
    const int64_t column = i - row * groups.columns();
    const int64_t group = groups.GroupOf(row, column);
    const auto [share, slope] = slopes[group];
    float g = gradients[i];
    if (gamma.data != nullptr) g *= gamma[column];
    const float deviation = groups.inputs[i] - groups.means[group];
    input_gradients.Set(
        i, groups.factors[group] * (g - share - deviation * slope));
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_GROUP_NORMALIZATION_H_
