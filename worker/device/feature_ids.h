// Checks of features that are ids, for embeddings.
#ifndef PACELINE_WORKER_DEVICE_FEATURE_IDS_H_
#define PACELINE_WORKER_DEVICE_FEATURE_IDS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/graph.h"
#include "worker/device/device.h"

namespace paceline {

// With all significant digits of a float32.
inline std::string FeatureText(double value) {
  // Larger values may not fit into int64.
  constexpr double kMaxWhole = 1e18;
  const bool is_whole =
      std::abs(value) <= kMaxWhole && std::floor(value) == value;
  return is_whole ? absl::StrCat(static_cast<int64_t>(value))
                  : absl::StrFormat("%.9g", value);
}

// InvalidArgument, with the value, unless all features of the batch for an
// input are valid ids, if the model uses that input as ids. The features have
// type `T`.
template <typename T>
absl::Status CheckFeatureIds(const Graph& graph, size_t input,
                             const Batch& batch) {
  const int64_t id_count = FeatureIdCount(graph, input);
  if (id_count == 0) return absl::OkStatus();
  const auto* const features =
      static_cast<const T*>(batch.features[input].data);
  const int64_t size = NumElements(graph.input_shape(input));
  for (int64_t i = 0; i < batch.count * size; ++i) {
    const T id = features[i];
    if (id >= 0 && id < static_cast<T>(id_count) && std::floor(id) == id) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "feature ", i % size, " of example ", batch.first_example + i / size,
        " is no id: got ", FeatureText(double{id}),
        ", expected a whole number from 0 to ", id_count - 1));
  }
  return absl::OkStatus();
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_FEATURE_IDS_H_
