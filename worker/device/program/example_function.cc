#include "worker/device/program/example_function.h"

#include <cstddef>
#include <optional>

#include "common/operations/gradient.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "glog/logging.h"
#include "worker/device/program/function_memory.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {
namespace {

op::Tensor AddLabels(bool are_sparse, const Shape& shape,
                     op::Function& function) {
  return function.AddParameter(
      {are_sparse ? DataType::kInt32 : DataType::kFloat32, shape});
}

// Finds what a call may write over: what an earlier call of the function has
// computed, of the output's type, that nobody reads any more.
class Overwriting {
 public:
  explicit Overwriting(const op::Function& function)
      : function_(function),
        memories_(FindMemories(function)),
        is_computed_(function.tensor_count()),
        reads_left_(function.tensor_count()) {
    for (const op::Call& call : function.calls()) {
      // Constants have no inputs.
      is_computed_[call.outputs[0]] = !call.inputs.empty();
      for (const int input : call.inputs) ++reads_left_[memories_[input]];
    }
    for (const int result : function.results())
      ++reads_left_[memories_[result]];
  }

  // To be called for each call, in order. -1: nothing.
  int Next(const op::Call& call) {
    for (const int input : call.inputs) --reads_left_[memories_[input]];
    for (const int input : call.inputs) {
      if (is_computed_[memories_[input]] &&
          reads_left_[memories_[input]] == 0 &&
          function_.type(input) == function_.type(call.outputs[0])) {
        return input;
      }
    }
    return -1;
  }

 private:
  const op::Function& function_;
  const std::vector<int> memories_;
  // By tensor; the others are parameters and constants.
  std::vector<bool> is_computed_;
  // By memory. Results are read by the caller, too.
  std::vector<int> reads_left_;
};

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

std::vector<Tensor*> AddCalls(const op::Function& function,
                              absl::Span<Tensor* const> parameters,
                              LayoutBuilder& builder) {
  std::vector<Tensor*> tensors(function.tensor_count());
  for (size_t i = 0; i < parameters.size(); ++i) {
    tensors[function.parameters()[i]] = parameters[i];
  }
  Overwriting overwriting(function);
  for (const op::Call& call : function.calls()) {
    std::vector<Tensor*> inputs;
    for (const int input : call.inputs) inputs.push_back(tensors[input]);
    const int output = call.outputs[0];
    const int overwritable = overwriting.Next(call);
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
