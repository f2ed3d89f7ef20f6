// Whether a class is among the top k.
#ifndef PACELINE_COMMON_MODEL_METRICS_TOP_K_H_
#define PACELINE_COMMON_MODEL_METRICS_TOP_K_H_

#include <cstdint>

#include "common/operations/function.h"

namespace paceline {

// 1 if all outputs of the example are finite and fewer than `k` are larger than
// that of its class, else 0. From outputs (batch, classes) and int32 classes
// (batch) to (batch).
op::Tensor IsInTopK(const op::Tensor& output, const op::Tensor& classes,
                    int64_t k);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_TOP_K_H_
