// Weights of examples by their classes: Keras' class_weight.
#ifndef PACELINE_COMMON_MODEL_CLASS_WEIGHTS_H_
#define PACELINE_COMMON_MODEL_CLASS_WEIGHTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The job's weights by class for a model's only output, of shape `output`
// without the batch axis: 1 where the job has none, empty if it has none at
// all. Errors name the class.
absl::StatusOr<std::vector<double>> ReadClassWeights(const v1::Job& job,
                                                     const Shape& output);

// The weight of each example, of shape (batch) and `type`. `labels`: as Loss
// takes them; ids, rows of classes whose largest element is that of the class,
// or a number each, which is the class. Classes without a weight have 1,
// and so have ids of no class.
// Source: keras/src/trainers/data_adapters/data_adapter_utils.py.
op::Tensor WeightsOfExamples(const op::Tensor& labels,
                             absl::Span<const double> class_weights,
                             DataType type);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_CLASS_WEIGHTS_H_
