// How losses and metrics of elements become those of examples, with or without
// a mask (graph_masks.h).
#ifndef PACELINE_COMMON_MODEL_MASKED_MEAN_H_
#define PACELINE_COMMON_MODEL_MASKED_MEAN_H_

#include <optional>

#include "common/operations/function.h"

namespace paceline {

// The mean over all axes but the batch, of shape (batch).
op::Tensor MeanOfExamples(const op::Tensor& x);

// In what follows, a mask has the first axes of the values, of which the mean
// over the other axes is taken. Values that do not have these axes, such as a
// loss of the whole batch, are taken as without a mask.

// The losses of examples, of shape (batch), from those of their elements. With
// a mask, their mean over the batch is that over all elements of the batch that
// count; 0 if none does. Source: keras/src/losses/loss.py, apply_mask.
op::Tensor LossesOfExamples(const op::Tensor& losses,
                            const std::optional<op::Tensor>& mask);

// The total and the count of a mean over the elements that count, of shape (2).
// `weights`: how much each example counts in both, of shape (batch); nullopt: 1
// each. Source: keras/src/metrics/reduction_metrics.py.
op::Tensor MeanState(const op::Tensor& values,
                     const std::optional<op::Tensor>& mask,
                     const std::optional<op::Tensor>& weights);

// Values of examples, of shape (batch, ...), times the weights of these, of
// shape (batch).
op::Tensor Weighted(const op::Tensor& values,
                    const std::optional<op::Tensor>& weights);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_MASKED_MEAN_H_
