#include "worker/device/program/example_function.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/model/class_weights.h"
#include "common/model/masked_mean.h"
#include "common/operations/binary_map.h"
#include "common/operations/gradient.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "glog/logging.h"

namespace paceline {
namespace {

struct ExampleParameters {
  op::Tensor input;
  op::Tensor labels;
  std::optional<op::Tensor> mask;
};

ExampleParameters AddParameters(const ExampleShapes& shapes,
                                bool has_sparse_labels,
                                op::Function& function) {
  const auto add = [&function](DataType type, const Shape& shape) {
    return function.AddParameter({type, shape});
  };
  // Braces evaluate in order.
  return {add(DataType::kFloat32, shapes.input),
          add(has_sparse_labels ? DataType::kInt32 : DataType::kFloat32,
              shapes.labels),
          shapes.mask ? std::optional(add(DataType::kFloat32, *shapes.mask))
                      : std::nullopt};
}

}  // namespace

ExampleFunction MakeLossFunction(const Loss& loss, bool from_logits,
                                 absl::Span<const double> class_weights,
                                 const ExampleShapes& shapes,
                                 bool has_gradient) {
  op::Function function;
  const auto [input, labels, mask] =
      AddParameters(shapes, loss.has_sparse_labels(), function);
  op::Tensor values =
      LossesOfExamples(loss.Lower(input, labels, from_logits), mask);
  if (!class_weights.empty()) {
    values =
        values * WeightsOfExamples(labels, class_weights, values.data_type());
  }
  function.AddResult(values);
  if (has_gradient) {
    const op::Tensor scale = function.AddParameter(values.type());
    const std::optional<op::Tensor> gradient =
        op::AddGradients({values}, {scale}, {input})[0];
    CHECK(gradient.has_value()) << loss.class_name();
    function.AddResult(*gradient);
  }
  return op::FuseMaps(function);
}

ExampleFunction MakeMetricFunction(const Metric& metric, bool from_logits,
                                   const ExampleShapes& shapes) {
  op::Function function;
  const auto [input, labels, mask] =
      AddParameters(shapes, metric.has_sparse_labels(), function);
  const Loss* const loss = metric.mean_of();
  function.AddResult(ReduceMetric(metric,
                                  loss != nullptr
                                      ? loss->Lower(input, labels, from_logits)
                                      : metric.Lower(input, labels),
                                  mask));
  return op::FuseMaps(function);
}

std::string OwnerName(const Loss& loss) {
  return absl::StrCat("loss ", loss.class_name());
}

std::string OwnerName(const Metric& metric) {
  return absl::StrCat("metric ", metric.name, " (", metric.class_name(), ")");
}

}  // namespace paceline
