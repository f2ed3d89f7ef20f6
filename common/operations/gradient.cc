#include "common/operations/gradient.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/operations/binary_map.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

class Backward {
 public:
  explicit Backward(Function& function)
      : function_(function),
        call_count_(function.calls().size()),
        gradients_(function.tensor_count()),
        is_wanted_(function.tensor_count()) {}

  // The gradients with respect to `tensor`, and to everything that depends on
  // it, are wanted.
  void Want(Tensor tensor) { is_wanted_[tensor.id()] = true; }

  // Call it after Want. Propagates forward which tensors' gradients are wanted.
  void FindWanted() {
    for (const Call& call : function_.calls()) {
      if (!std::any_of(call.inputs.begin(), call.inputs.end(),
                       [this](int input) { return is_wanted_[input]; })) {
        continue;
      }
      for (const int output : call.outputs) {
        is_wanted_[output] = IsReal(function_.type(output).type);
      }
    }
  }

  void Add(int tensor, Tensor gradient) {
    if (!is_wanted_[tensor]) return;
    CHECK(gradient.type() == function_.type(tensor))
        << ToString(gradient.type()) << " as the gradient of "
        << ToString(function_.type(tensor));
    std::optional<Tensor>& sum = gradients_[tensor];
    sum = sum ? *sum + gradient : gradient;
  }

  void PassAllCalls() {
    const std::string owner = function_.owner();
    // Copies each call, since Pass appends to the list of calls.
    for (size_t i = call_count_; i-- > 0;) Pass(Call(function_.calls()[i]));
    function_.SetOwner(owner);
  }

  const std::optional<Tensor>& gradient(Tensor of) const {
    return gradients_[of.id()];
  }

 private:
  void Pass(const Call& call) {
    Gradients output_gradients;
    for (const int output : call.outputs) {
      output_gradients.push_back(gradients_[output]);
    }
    std::vector<bool> wanted;
    for (const int input : call.inputs) wanted.push_back(is_wanted_[input]);
    const auto has_value = [](const std::optional<Tensor>& gradient) {
      return gradient.has_value();
    };
    if (std::none_of(output_gradients.begin(), output_gradients.end(),
                     has_value) ||
        std::find(wanted.begin(), wanted.end(), true) == wanted.end()) {
      return;
    }
    function_.SetOwner(call.owner);
    const std::vector<Tensor> inputs = TensorsOf(call.inputs);
    const std::vector<Tensor> outputs = TensorsOf(call.outputs);
    const Gradients input_gradients = call.operation->AddGradient(
        {inputs, outputs, output_gradients, wanted});
    CHECK_EQ(input_gradients.size(), inputs.size()) << call.operation->name();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (input_gradients[i]) Add(call.inputs[i], *input_gradients[i]);
    }
  }

  std::vector<Tensor> TensorsOf(const std::vector<int>& ids) const {
    std::vector<Tensor> tensors;
    for (const int id : ids) tensors.push_back(function_.tensor(id));
    return tensors;
  }

  Function& function_;
  // Number of calls before gradients are added.
  const size_t call_count_;
  // By tensor; only tensors that existed before gradients are added.
  Gradients gradients_;
  std::vector<bool> is_wanted_;
};

}  // namespace

Gradients AddGradients(absl::Span<const Tensor> of,
                       absl::Span<const Tensor> output_gradients,
                       absl::Span<const Tensor> by) {
  CHECK_EQ(of.size(), output_gradients.size());
  CHECK(!of.empty());
  Backward backward(of[0].function());
  for (const Tensor& tensor : by) {
    CHECK(IsReal(tensor.data_type())) << ToString(tensor.type());
    backward.Want(tensor);
  }
  backward.FindWanted();
  for (size_t i = 0; i < of.size(); ++i) {
    backward.Add(of[i].id(), output_gradients[i]);
  }
  backward.PassAllCalls();
  Gradients gradients;
  for (const Tensor& tensor : by) {
    gradients.push_back(backward.gradient(tensor));
  }
  return gradients;
}

}  // namespace paceline::op
