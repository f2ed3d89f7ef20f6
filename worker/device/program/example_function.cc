#include "worker/device/program/example_function.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/model/lower_output.h"
#include "common/operations/gradient.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "glog/logging.h"

namespace paceline {
namespace {

OutputTensors AddParameters(const ExampleShapes& shapes, bool has_sparse_labels,
                            bool from_logits, op::Function& function) {
  const auto add = [&function](DataType type, const Shape& shape) {
    return function.AddParameter({type, shape});
  };
  const auto add_optional = [&add](const std::optional<Shape>& shape) {
    return shape ? std::optional(add(DataType::kFloat32, *shape))
                 : std::nullopt;
  };
  // Braces evaluate in order.
  return {add(DataType::kFloat32, shapes.input),
          add(has_sparse_labels ? DataType::kInt32 : DataType::kFloat32,
              shapes.labels),
          add_optional(shapes.mask), add_optional(shapes.weights), from_logits};
}

}  // namespace

ExampleFunction MakeLossFunction(const OutputSpec& output, bool is_training,
                                 bool from_logits, const ExampleShapes& shapes,
                                 bool has_gradient) {
  op::Function function;
  const OutputTensors tensors = AddParameters(
      shapes, output.loss->has_sparse_labels(), from_logits, function);
  const op::Tensor values = LowerLoss(output, is_training, tensors);
  function.AddResult(values);
  if (has_gradient) {
    const op::Tensor scale = function.AddParameter(values.type());
    const std::optional<op::Tensor> gradient =
        op::AddGradients({values}, {scale}, {tensors.input})[0];
    CHECK(gradient.has_value()) << output.loss->class_name();
    function.AddResult(*gradient);
  }
  return op::FuseMaps(function);
}

ExampleFunction MakeMetricFunction(const OutputSpec& output,
                                   const Metric& metric, bool is_training,
                                   bool from_logits,
                                   const ExampleShapes& shapes) {
  op::Function function;
  function.AddResult(
      LowerMetric(output, metric, is_training,
                  AddParameters(shapes, metric.has_sparse_labels(), from_logits,
                                function)));
  return op::FuseMaps(function);
}

std::string OwnerName(const Loss& loss) {
  return absl::StrCat("loss ", loss.class_name());
}

std::string OwnerName(const Metric& metric) {
  return absl::StrCat("metric ", metric.name, " (", metric.class_name(), ")");
}

}  // namespace paceline
