#include "common/operations/scan_gradient.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/gradient.h"

namespace paceline::op {
namespace {

class Differentiator {
 public:
  explicit Differentiator(const ScanBody& body) : body_(body) {
    AddForward();
    AddBackward();
    FindResiduals();
  }

  ScanBody MakeForward() const {
    auto function = std::make_shared<Function>();
    CallCopier copier(joint_, *function);
    for (const Tensor& parameter : parameters_) {
      copier.Map(parameter.id(), function->AddParameter(parameter.type()));
    }
    for (size_t i = 0; i < forward_call_count_; ++i) {
      copier.Copy(joint_.calls()[i]);
    }
    for (const Tensor& result : results_) {
      function->AddResult(copier.CopyOf(result.id()));
    }
    for (const int residual : residuals_) {
      function->AddResult(copier.CopyOf(residual));
    }
    return {std::move(function), body_.carry_count, body_.sequence_count};
  }

  ScanBody MakeBackward() const {
    auto function = std::make_shared<Function>();
    CallCopier copier(joint_, *function);
    const auto add_parameters = [&](absl::Span<const Tensor> tensors) {
      for (const Tensor& tensor : tensors) {
        copier.Map(tensor.id(), function->AddParameter(tensor.type()));
      }
    };
    const absl::Span<const Tensor> result_gradients = result_gradients_;
    add_parameters(result_gradients.subspan(0, body_.carry_count));
    std::vector<Tensor> sums;
    for (const Tensor& constant : constants()) {
      if (!IsReal(constant.data_type())) continue;
      sums.push_back(function->AddParameter(constant.type()));
    }
    for (const int residual : residuals_) {
      copier.Map(residual, function->AddParameter(joint_.type(residual)));
    }
    add_parameters(sequences());
    add_parameters(result_gradients.subspan(body_.carry_count));
    add_parameters(constants());
    CopyBackward(copier);

    size_t next = 0;
    const auto take_gradient = [&](const Tensor& of) {
      const std::optional<Tensor>& gradient = gradients_[next++];
      return gradient ? copier.CopyOf(gradient->id())
                      : Full(*function, of.type(), 0);
    };
    for (const Tensor& carry : carries()) {
      function->AddResult(take_gradient(carry));
    }
    std::vector<Tensor> sequence_gradients;
    for (const Tensor& sequence : sequences()) {
      if (!IsReal(sequence.data_type())) continue;
      sequence_gradients.push_back(take_gradient(sequence));
    }
    size_t sum = 0;
    for (const Tensor& constant : constants()) {
      if (!IsReal(constant.data_type())) continue;
      function->AddResult(sums[sum++] + take_gradient(constant));
    }
    for (const Tensor& each : sequence_gradients) function->AddResult(each);
    return {std::move(function),
            body_.carry_count + static_cast<int>(sums.size()),
            static_cast<int>(residuals_.size()) + body_.sequence_count +
                static_cast<int>(result_gradients_.size()) - body_.carry_count};
  }

 private:
  absl::Span<const Tensor> carries() const {
    return absl::MakeConstSpan(parameters_).subspan(0, body_.carry_count);
  }
  absl::Span<const Tensor> sequences() const {
    return absl::MakeConstSpan(parameters_)
        .subspan(body_.carry_count, body_.sequence_count);
  }
  absl::Span<const Tensor> constants() const {
    return absl::MakeConstSpan(parameters_)
        .subspan(body_.carry_count + body_.sequence_count);
  }

  void AddForward() {
    const Function& body = *body_.function;
    for (const int parameter : body.parameters()) {
      parameters_.push_back(joint_.AddParameter(body.type(parameter)));
    }
    results_ = joint_.Inline(body, parameters_);
    forward_call_count_ = joint_.calls().size();
    forward_tensor_count_ = joint_.tensor_count();
  }

  void AddBackward() {
    std::vector<Tensor> real_results;
    for (const Tensor& result : results_) {
      if (!IsReal(result.data_type())) continue;
      real_results.push_back(result);
      result_gradients_.push_back(joint_.AddParameter(result.type()));
    }
    std::vector<Tensor> by;
    for (const Tensor& parameter : parameters_) {
      if (IsReal(parameter.data_type())) by.push_back(parameter);
    }
    gradients_ = AddGradients(real_results, result_gradients_, by);
  }

  // Whether the backward computes a call of the forward again: one without
  // inputs, or a condition, which devices do not store.
  static bool IsRepeated(const Call& call) {
    return call.inputs.empty() ||
           call.operation->name() == CompareOperation::kName;
  }

  // Finds what the backward reads of the forward. Elements of sequences and
  // constants are its inputs anyway.
  void FindResiduals() {
    std::vector<bool> is_read(joint_.tensor_count(), false);
    for (size_t i = forward_call_count_; i < joint_.calls().size(); ++i) {
      for (const int input : joint_.calls()[i].inputs) is_read[input] = true;
    }
    for (const std::optional<Tensor>& gradient : gradients_) {
      if (gradient) is_read[gradient->id()] = true;
    }
    is_repeated_.resize(forward_call_count_);
    for (size_t i = forward_call_count_; i-- > 0;) {
      const Call& call = joint_.calls()[i];
      is_repeated_[i] = IsRepeated(call) && is_read[call.outputs[0]];
      if (!is_repeated_[i]) continue;
      is_read[call.outputs[0]] = false;
      for (const int input : call.inputs) is_read[input] = true;
    }
    for (const Tensor& each : sequences()) is_read[each.id()] = false;
    for (const Tensor& each : constants()) is_read[each.id()] = false;
    for (int tensor = 0; tensor < forward_tensor_count_; ++tensor) {
      if (is_read[tensor]) residuals_.push_back(tensor);
    }
  }

  void CopyBackward(CallCopier& copier) const {
    for (size_t i = 0; i < joint_.calls().size(); ++i) {
      if (i >= forward_call_count_ || is_repeated_[i]) {
        copier.Copy(joint_.calls()[i]);
      }
    }
  }

  const ScanBody& body_;
  // The body, followed by its backward.
  Function joint_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> results_;
  size_t forward_call_count_ = 0;
  int forward_tensor_count_ = 0;
  // By floating-point result: a parameter of the backward.
  std::vector<Tensor> result_gradients_;
  // By floating-point parameter.
  Gradients gradients_;
  std::vector<int> residuals_;
  // By call of the forward: whether the backward has it, too.
  std::vector<bool> is_repeated_;
};

}  // namespace

DifferentiableScan Differentiate(const ScanBody& body) {
  const Differentiator differentiator(body);
  return {differentiator.MakeForward(), differentiator.MakeBackward()};
}

}  // namespace paceline::op
