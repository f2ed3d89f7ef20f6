#include "worker/device/program/example_function.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/operations/gradient.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "glog/logging.h"

namespace paceline {
namespace {

op::Tensor AddLabels(bool are_sparse, const Shape& shape,
                     op::Function& function) {
  return function.AddParameter(
      {are_sparse ? DataType::kInt32 : DataType::kFloat32, shape});
}

}  // namespace

ExampleFunction MakeLossFunction(const Loss& loss, bool from_logits,
                                 const Shape& input_shape,
                                 const Shape& labels_shape, bool has_gradient) {
  op::Function function;
  const op::Tensor input =
      function.AddParameter({DataType::kFloat32, input_shape});
  const op::Tensor labels =
      AddLabels(loss.has_sparse_labels(), labels_shape, function);
  const op::Tensor values = loss.Lower(input, labels, from_logits);
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

ExampleFunction MakeMetricFunction(const Metric& metric,
                                   const Shape& output_shape,
                                   const Shape& labels_shape) {
  op::Function function;
  const op::Tensor output =
      function.AddParameter({DataType::kFloat32, output_shape});
  const op::Tensor labels =
      AddLabels(metric.has_sparse_labels(), labels_shape, function);
  function.AddResult(metric.Lower(output, labels));
  return op::FuseMaps(function);
}

std::string OwnerName(const Loss& loss) {
  return absl::StrCat("loss ", loss.class_name());
}

std::string OwnerName(const Metric& metric) {
  return absl::StrCat("metric ", metric.name, " (", metric.class_name(), ")");
}

}  // namespace paceline
