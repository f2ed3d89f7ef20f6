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
  Call call;
  std::vector<TensorType> input_types;
  for (const Tensor& input : inputs) {
    CHECK_EQ(&input.function(), this) << operation->name();
    call.inputs.push_back(input.id());
    input_types.push_back(input.type());
  }
  std::vector<Tensor> outputs;
  for (TensorType& type : operation->OutputTypes(input_types)) {
    call.outputs.push_back(AddTensor(std::move(type)));
    outputs.push_back(tensor(call.outputs.back()));
  }
  call.operation = std::move(operation);
  call.owner = owner_;
  calls_.push_back(std::move(call));
  return outputs;
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
    : to_(to), copies_(from.tensor_count(), -1) {}

void CallCopier::Map(int from, Tensor to) {
  CHECK_EQ(&to.function(), &to_);
  copies_[from] = to.id();
}

Tensor CallCopier::CopyOf(int from) const {
  CHECK(IsMapped(from)) << from;
  return to_.tensor(copies_[from]);
}

void CallCopier::Copy(const Call& call) {
  std::vector<Tensor> inputs;
  for (const int input : call.inputs) inputs.push_back(CopyOf(input));
  const std::string owner = to_.owner();
  to_.SetOwner(call.owner);
  const std::vector<Tensor> outputs = to_.AddCall(call.operation, inputs);
  to_.SetOwner(owner);
  for (size_t i = 0; i < outputs.size(); ++i) {
    Map(call.outputs[i], outputs[i]);
  }
}

}  // namespace paceline::op
