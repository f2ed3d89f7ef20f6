// Counts of ids.
#ifndef PACELINE_COMMON_MODEL_METRICS_HISTOGRAM_H_
#define PACELINE_COMMON_MODEL_METRICS_HISTOGRAM_H_

#include <cstdint>
#include <optional>

#include "common/operations/function.h"

namespace paceline {

// How often each of the numbers 0, 1, …, size - 1 occurs among ids of shape
// (count), which are reals; of shape (size). Others count nowhere. With weights
// of the same shape, the sum of the weights instead.
//
// It is a product of matrices: of one-hot rows for the higher and the lower
// digit of each id, in base √size. So it takes 2 √size elements of memory an
// id, and counts exactly below 2^24.
op::Tensor Histogram(const op::Tensor& ids, int64_t size,
                     const std::optional<op::Tensor>& weights);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_HISTOGRAM_H_
