#include "worker/device/program/example_function.h"

#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/operations/gradient.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "glog/logging.h"
#include "worker/device/program/operations/operation_table.h"
#include "worker/device/program/overwriting.h"

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

std::vector<Tensor*> AddCalls(const op::Function& function,
                              absl::Span<Tensor* const> parameters,
                              LayoutBuilder& builder) {
  std::vector<Tensor*> tensors(function.tensor_count());
  for (size_t i = 0; i < parameters.size(); ++i) {
    tensors[function.parameters()[i]] = parameters[i];
  }
  Overwriting overwriting(function);
  for (const op::Call& call : function.calls()) {
    CHECK_EQ(call.outputs.size(), 1u) << call.operation->name();
    std::vector<Tensor*> inputs;
    for (const int input : call.inputs) inputs.push_back(tensors[input]);
    const int output = call.outputs[0];
    overwriting.Pass(call);
    const int overwritable = overwriting.OverwritableBy(call);
    tensors[output] = builder.AddCall(
        {.operation = *call.operation,
         .inputs = inputs,
         .output_type = function.type(output),
         .overwritable = overwritable < 0 ? nullptr : tensors[overwritable]});
  }
  std::vector<Tensor*> results;
  for (const int result : function.results()) {
    results.push_back(tensors[result]);
  }
  return results;
}

}  // namespace paceline
