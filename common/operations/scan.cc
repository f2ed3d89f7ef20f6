#include "common/operations/scan.h"

#include <utility>

#include "common/operations/constant.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reshape.h"
#include "common/operations/scan_gradient.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

// The type of one element of a sequence.
TensorType ElementType(TensorType sequence) {
  CHECK(!sequence.shape.empty());
  sequence.shape.erase(sequence.shape.begin());
  return sequence;
}

TensorType SequenceType(TensorType element, int64_t length) {
  element.shape.insert(element.shape.begin(), length);
  return element;
}

// A sequence of matrices as one matrix, a row per step and row.
Tensor RowsOfSteps(const Tensor& sequence) {
  return Reshape(sequence, {sequence.dimension(0) * sequence.dimension(1),
                            sequence.dimension(2)});
}

bool IsRealTensor(const Tensor& tensor) { return IsReal(tensor.data_type()); }

}  // namespace

std::vector<TensorType> ScanOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const Function& function = *body_.function;
  CHECK_EQ(inputs.size(), function.parameters().size());
  CHECK_GE(body_.sequence_count, 1);
  const int64_t length = inputs[body_.carry_count].shape.at(0);
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const bool is_sequence =
        i >= body_.carry_count && i < body_.carry_count + body_.sequence_count;
    CHECK(!is_sequence || inputs[i].shape.at(0) == length);
    const TensorType& type = function.type(function.parameters()[i]);
    CHECK((is_sequence ? ElementType(inputs[i]) : inputs[i]) == type)
        << ToString(inputs[i]) << " for " << ToString(type);
  }
  std::vector<TensorType> outputs;
  for (int i = 0; i < static_cast<int>(function.results().size()); ++i) {
    const TensorType& type = function.type(function.results()[i]);
    const bool is_carry = i < body_.carry_count;
    CHECK(!is_carry || (type == inputs[i] && IsReal(type.type)))
        << ToString(inputs[i]) << " becomes " << ToString(type);
    outputs.push_back(is_carry ? type : SequenceType(type, length));
  }
  return outputs;
}

Gradients ScanOperation::AddGradient(const CallGradient& call) const {
  CHECK(backward_.body.function != nullptr)
      << "the scan was made without gradient";
  Function& function = call.inputs[0].function();
  const int result_count =
      static_cast<int>(call.outputs.size()) - residual_count_;

  ScanArguments arguments;
  std::vector<Tensor> output_gradients;
  for (int i = 0; i < result_count; ++i) {
    const Tensor& output = call.outputs[i];
    if (!IsRealTensor(output)) continue;
    const std::optional<Tensor>& given = call.output_gradients[i];
    const Tensor gradient = given ? *given : Full(function, output.type(), 0);
    (i < body_.carry_count ? arguments.carries : output_gradients)
        .push_back(gradient);
  }
  const auto sequences =
      call.inputs.subspan(body_.carry_count, body_.sequence_count);
  const auto constants =
      call.inputs.subspan(body_.carry_count + body_.sequence_count);
  size_t real_constant = 0;
  for (const Tensor& constant : constants) {
    if (!IsRealTensor(constant)) continue;
    if (backward_.products[real_constant++]) continue;
    arguments.carries.push_back(Full(function, constant.type(), 0));
  }
  const auto append = [](absl::Span<const Tensor> from,
                         std::vector<Tensor>& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(call.outputs.subspan(result_count), arguments.sequences);
  append(sequences, arguments.sequences);
  append(output_gradients, arguments.sequences);
  append(constants, arguments.constants);
  arguments.is_reversed = !is_reversed_;
  arguments.has_gradient = false;
  const ScanResults results = Scan(backward_.body.function, arguments);

  std::vector<Tensor> operands = arguments.sequences;
  append(results.outputs, operands);
  Gradients gradients;
  size_t carry = 0;
  size_t output = 0;
  real_constant = 0;
  for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
    const bool is_sequence =
        i >= body_.carry_count && i < body_.carry_count + body_.sequence_count;
    if (!IsRealTensor(call.inputs[i])) {
      gradients.push_back(std::nullopt);
    } else if (is_sequence) {
      gradients.push_back(results.outputs[output++]);
    } else if (i < body_.carry_count) {
      gradients.push_back(results.carries[carry++]);
    } else if (const std::optional<ProductOverSteps>& product =
                   backward_.products[real_constant++]) {
      const Tensor left = RowsOfSteps(operands[product->left]);
      const Tensor right = RowsOfSteps(operands[product->right]);
      gradients.push_back(
          MatrixProduct(left, right, /*left_is_transposed=*/true));
    } else {
      gradients.push_back(results.carries[carry++]);
    }
  }
  return gradients;
}

ScanResults Scan(std::shared_ptr<const Function> function,
                 const ScanArguments& arguments) {
  ScanBody body = {std::move(function),
                   static_cast<int>(arguments.carries.size()),
                   static_cast<int>(arguments.sequences.size())};
  CHECK_EQ(body.constant_count(), static_cast<int>(arguments.constants.size()));
  const int output_count = body.output_count();
  ScanBackward backward;
  int residual_count = 0;
  if (arguments.has_gradient) {
    DifferentiableScan scan = Differentiate(body);
    body = std::move(scan.forward);
    backward = std::move(scan.backward);
    residual_count = body.output_count() - output_count;
  }
  std::vector<Tensor> inputs = arguments.carries;
  inputs.insert(inputs.end(), arguments.sequences.begin(),
                arguments.sequences.end());
  inputs.insert(inputs.end(), arguments.constants.begin(),
                arguments.constants.end());
  const std::vector<Tensor> outputs = inputs[0].function().AddCall(
      std::make_shared<ScanOperation>(std::move(body), arguments.is_reversed,
                                      std::move(backward), residual_count),
      inputs);
  const auto carries_end =
      outputs.begin() + static_cast<int>(arguments.carries.size());
  return {{outputs.begin(), carries_end},
          {carries_end, carries_end + output_count}};
}

}  // namespace paceline::op
