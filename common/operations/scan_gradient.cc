#include "common/operations/scan_gradient.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/gradient.h"
#include "common/operations/matrix_product.h"

namespace paceline::op {
namespace {

class Differentiator {
 public:
  explicit Differentiator(const ScanBody& body) : body_(body) {
    AddForward();
    AddBackward();
    FindProducts();
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

  ScanBackward MakeBackward() const {
    auto function = std::make_shared<Function>();
    CallCopier copier(joint_, *function);
    const std::vector<Tensor> sums = AddParameters(*function, copier);
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
    // The tensors of joint_ that sequences and outputs are; -1 is none.
    std::vector<int> elements = ElementsOfSequences();
    const int sequence_count = static_cast<int>(elements.size());
    std::vector<Tensor> outputs;
    for (const Tensor& sequence : sequences()) {
      if (!IsReal(sequence.data_type())) continue;
      const std::optional<Tensor>& gradient = gradients_[next];
      elements.push_back(gradient ? gradient->id() : -1);
      outputs.push_back(take_gradient(sequence));
    }
    const auto number_of = [&](int operand) {
      const auto found = std::find(elements.begin(), elements.end(), operand);
      const int number = static_cast<int>(found - elements.begin());
      if (found == elements.end()) {
        elements.push_back(operand);
        outputs.push_back(copier.CopyOf(operand));
      }
      return number;
    };
    std::vector<std::optional<ProductOverSteps>> products;
    size_t sum = 0;
    for (const Tensor& constant : constants()) {
      if (!IsReal(constant.data_type())) continue;
      if (const auto& product = products_[products.size()]) {
        const int left = number_of(product->left);
        const int right = number_of(product->right);
        products.push_back(ProductOverSteps{left, right});
        ++next;
      } else {
        products.emplace_back();
        function->AddResult(sums[sum++] + take_gradient(constant));
      }
    }
    for (const Tensor& each : outputs) function->AddResult(each);
    return {{std::move(function), body_.carry_count + static_cast<int>(sum),
             sequence_count},
            std::move(products)};
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

  // Finds the gradients of constants that are products over all steps: Lᵀ · R
  // of matrices, which the backward needs for nothing else.
  void FindProducts() {
    std::vector<int> read_count(joint_.tensor_count(), 0);
    std::vector<const Call*> maker(joint_.tensor_count(), nullptr);
    for (size_t i = forward_call_count_; i < joint_.calls().size(); ++i) {
      const Call& call = joint_.calls()[i];
      for (const int input : call.inputs) ++read_count[input];
      for (const int output : call.outputs) maker[output] = &call;
    }
    for (const std::optional<Tensor>& gradient : gradients_) {
      if (gradient) ++read_count[gradient->id()];
    }
    size_t next = carries().size();
    for (const Tensor& sequence : sequences()) {
      if (IsReal(sequence.data_type())) ++next;
    }
    for (; next < gradients_.size(); ++next) {
      products_.emplace_back();
      if (!gradients_[next]) continue;
      const int gradient = gradients_[next]->id();
      const Call* call = maker[gradient];
      if (call == nullptr || read_count[gradient] > 1) continue;
      if (!IsProductOfRows(*call)) continue;
      products_.back() = ProductOverSteps{call->inputs[0], call->inputs[1]};
      is_product_.insert(gradient);
    }
  }

  // Whether the call is Lᵀ · R of two matrices, neither of which is one of the
  // scan's constants: each step would write a copy of that.
  bool IsProductOfRows(const Call& call) const {
    if (call.operation->name() != MatrixProductOperation::kName) return false;
    const MatrixProductOptions& options =
        static_cast<const MatrixProductOperation&>(*call.operation).options();
    if (!options.left_is_transposed || options.right_is_transposed ||
        joint_.type(call.outputs[0]).shape.size() != 2) {
      return false;
    }
    return absl::c_none_of(constants(), [&](const Tensor& constant) {
      return absl::c_linear_search(call.inputs, constant.id());
    });
  }

  // The tensors whose elements the backward reads as sequences.
  std::vector<int> ElementsOfSequences() const {
    std::vector<int> elements = residuals_;
    for (const Tensor& each : sequences()) elements.push_back(each.id());
    for (size_t i = body_.carry_count; i < result_gradients_.size(); ++i) {
      elements.push_back(result_gradients_[i].id());
    }
    return elements;
  }

  // Adds the parameters of the backward; returns the sums.
  std::vector<Tensor> AddParameters(Function& function,
                                    CallCopier& copier) const {
    const auto add = [&](const Tensor& tensor) {
      copier.Map(tensor.id(), function.AddParameter(tensor.type()));
    };
    for (int i = 0; i < body_.carry_count; ++i) add(result_gradients_[i]);
    std::vector<Tensor> sums;
    size_t real_constant = 0;
    for (const Tensor& constant : constants()) {
      if (!IsReal(constant.data_type())) continue;
      if (products_[real_constant++]) continue;
      sums.push_back(function.AddParameter(constant.type()));
    }
    for (const int id : ElementsOfSequences()) {
      copier.Map(id, function.AddParameter(joint_.type(id)));
    }
    for (const Tensor& constant : constants()) add(constant);
    return sums;
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
      const Call& call = joint_.calls()[i];
      const bool is_backward =
          i >= forward_call_count_ && !is_product_.contains(call.outputs[0]);
      if (is_backward || (i < forward_call_count_ && is_repeated_[i])) {
        copier.Copy(call);
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
  // By floating-point constant: the operands in joint_, if its gradient is a
  // product over all steps.
  std::vector<std::optional<ProductOverSteps>> products_;
  // Those gradients, which the backward does not compute.
  absl::flat_hash_set<int> is_product_;
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
