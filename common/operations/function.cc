#include "common/operations/function.h"

#include "glog/logging.h"

namespace paceline::op {

int64_t Tensor::dimension(int axis) const {
  return shape()[axis < 0 ? axis + rank() : axis];
}

int Function::AddTensor(TensorType type) {
  types_.push_back(std::move(type));
  return tensor_count() - 1;
}

Tensor Function::AddParameter(TensorType type) {
  parameters_.push_back(AddTensor(std::move(type)));
  return tensor(parameters_.back());
}

std::vector<Tensor> Function::AddCall(
    std::shared_ptr<const Operation> operation,
    absl::Span<const Tensor> inputs) {
  Call call = {std::move(operation), {}, {}, owner_};
  call.inputs.reserve(inputs.size());
  std::vector<TensorType> input_types;
  input_types.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    CHECK_EQ(&input.function(), this) << call.operation->name();
    call.inputs.push_back(input.id());
    input_types.push_back(input.type());
  }
  std::vector<Tensor> outputs;
  for (TensorType& type : call.operation->OutputTypes(input_types)) {
    call.outputs.push_back(AddTensor(std::move(type)));
    outputs.push_back(tensor(call.outputs.back()));
  }
  calls_.push_back(std::move(call));
  return outputs;
}

std::vector<TensorType> Function::TypesOf(absl::Span<const int> tensors) const {
  std::vector<TensorType> types;
  types.reserve(tensors.size());
  for (const int tensor : tensors) types.push_back(types_[tensor]);
  return types;
}

void Function::AddResult(Tensor result) {
  CHECK_EQ(&result.function(), this);
  results_.push_back(result.id());
}

std::vector<Tensor> Function::Inline(const Function& from,
                                     absl::Span<const Tensor> arguments) {
  CHECK_EQ(arguments.size(), from.parameters().size());
  CallCopier copier(from, *this);
  for (size_t i = 0; i < arguments.size(); ++i) {
    copier.Map(from.parameters()[i], arguments[i]);
  }
  for (const Call& call : from.calls()) copier.Copy(call);
  std::vector<Tensor> results;
  for (const int result : from.results()) {
    results.push_back(copier.CopyOf(result));
  }
  return results;
}

CallCopier::CallCopier(const Function& from, Function& to)
    : from_(from), to_(to), copies_(from.tensor_count(), -1) {}

void CallCopier::Map(int from, Tensor to) {
  CHECK_EQ(&to.function(), &to_);
  CHECK(to.type() == from_.type(from)) << ToString(to.type());
  copies_[from] = to.id();
}

Tensor CallCopier::CopyOf(int from) const {
  CHECK(IsMapped(from)) << from;
  return to_.tensor(copies_[from]);
}

void CallCopier::Copy(const Call& call) {
  Call copy = {call.operation, {}, {}, call.owner};
  copy.inputs.reserve(call.inputs.size());
  copy.outputs.reserve(call.outputs.size());
  for (const int input : call.inputs) {
    copy.inputs.push_back(CopyOf(input).id());
  }
  for (const int output : call.outputs) {
    copies_[output] = to_.AddTensor(from_.type(output));
    copy.outputs.push_back(copies_[output]);
  }
  to_.calls_.push_back(std::move(copy));
}

}  // namespace paceline::op
