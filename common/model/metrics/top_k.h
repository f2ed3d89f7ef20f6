// The top k of an output.
#ifndef PACELINE_COMMON_MODEL_METRICS_TOP_K_H_
#define PACELINE_COMMON_MODEL_METRICS_TOP_K_H_

#include <cstdint>

#include "common/operations/function.h"

namespace paceline {

// 1 if all outputs of a row are finite and fewer than `k` are larger than that
// of its class, else 0, also if it is no class. From outputs (..., classes) and
// int32 classes (...) to (...).
op::Tensor IsInTopK(const op::Tensor& output, const op::Tensor& classes,
                    int64_t k);

// The most rounds of AreTopK.
inline constexpr int64_t kMaxTopK = 100;

// Whether an element is one of the k largest along the last axis, the first of
// equal ones, or -infinity; bool. Finds one after the other, in k rounds.
op::Tensor AreTopK(const op::Tensor& output, int64_t k);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_TOP_K_H_
