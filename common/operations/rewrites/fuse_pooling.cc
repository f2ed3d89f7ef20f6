#include "common/operations/rewrites/fuse_pooling.h"

#include <optional>
#include <utility>
#include <vector>

#include "common/operations/convolution.h"
#include "common/operations/pooled_convolution.h"
#include "common/operations/pooling.h"

namespace paceline::op {
namespace {

// The calls that two fused calls replace. Without a backward, the last two are
// null.
struct PooledCalls {
  const Call* convolution = nullptr;
  const Call* pooling = nullptr;
  const Call* pooling_gradient = nullptr;
  const Call* kernel_gradient = nullptr;
};

class PoolingFusion {
 public:
  explicit PoolingFusion(const Function& from)
      : from_(from), readers_(from.tensor_count()) {
    for (const Call& call : from.calls()) {
      for (const int input : call.inputs) readers_[input].push_back(&call);
    }
    for (const int result : from.results()) readers_[result].push_back(nullptr);
  }

  // Null if there is nothing to fuse, or the device lacks the fused operations.
  std::unique_ptr<Function> Run(HasOperation has) && {
    for (const Call& call : from_.calls()) {
      const std::optional<PooledCalls> calls = CallsOf(call);
      if (!calls) continue;
      MakeOperations(*calls);
      if (Has(*calls, has)) return Replaced(*calls);
    }
    return nullptr;
  }

 private:
  // The calls to fuse, if `call` is a convolution whose output is read by a
  // pooling and, at most, the pooling's gradient; else nullopt.
  std::optional<PooledCalls> CallsOf(const Call& call) const {
    const auto* const convolution = As<ConvolutionOperation>(&call);
    if (convolution == nullptr || convolution->options().rectifies) {
      return std::nullopt;
    }
    PooledCalls calls = {.convolution = &call};
    const int convolved = call.outputs[0];
    for (const Call* reader : readers_[convolved]) {
      const Call** found = nullptr;
      if (Rectifies<MaxPoolingOperation>(reader)) found = &calls.pooling;
      if (Rectifies<MaxPoolingGradientOperation>(reader)) {
        found = &calls.pooling_gradient;
      }
      if (found == nullptr || *found != nullptr) return std::nullopt;
      *found = reader;
    }
    if (calls.pooling == nullptr) return std::nullopt;
    if (calls.pooling_gradient == nullptr) return calls;
    calls.kernel_gradient = OnlyReader(calls.pooling_gradient->outputs[0]);
    if (As<ConvolutionKernelGradientOperation>(calls.kernel_gradient) ==
            nullptr ||
        calls.pooling_gradient->inputs[1] != calls.pooling->outputs[0] ||
        calls.kernel_gradient->inputs[0] != call.inputs[0]) {
      return std::nullopt;
    }
    return calls;
  }

  // Whether the call is a T that rectifies.
  template <typename T>
  static bool Rectifies(const Call* call) {
    const T* const operation = As<T>(call);
    return operation != nullptr && operation->rectifies();
  }

  // The only reader of a tensor; null if there are several, or it is a result.
  const Call* OnlyReader(int tensor) const {
    return readers_[tensor].size() == 1 ? readers_[tensor][0] : nullptr;
  }

  void MakeOperations(const PooledCalls& calls) {
    const auto& convolution = *As<ConvolutionOperation>(calls.convolution);
    const PooledConvolutionParameters parameters = {
        convolution.parameters(),
        As<MaxPoolingOperation>(calls.pooling)->window()};
    forward_ = std::make_shared<const PooledConvolutionOperation>(
        parameters, convolution.options().has_bias,
        /*has_positions=*/calls.kernel_gradient != nullptr);
    if (calls.kernel_gradient == nullptr) return;
    backward_ =
        std::make_shared<const PooledConvolutionKernelGradientOperation>(
            parameters,
            As<ConvolutionKernelGradientOperation>(calls.kernel_gradient)
                ->has_row_sum());
  }

  bool Has(const PooledCalls& calls, HasOperation has) const {
    const std::vector<TensorType> inputs =
        from_.TypesOf(calls.convolution->inputs);
    if (!has(*forward_, inputs)) return false;
    if (calls.kernel_gradient == nullptr) return true;
    return has(*backward_, {inputs[0], forward_->OutputTypes(inputs)[1],
                            from_.type(calls.pooling_gradient->inputs[2])});
  }

  std::unique_ptr<Function> Replaced(const PooledCalls& calls) const {
    auto to = std::make_unique<Function>();
    CallCopier copier(from_, *to);
    for (const int parameter : from_.parameters()) {
      copier.Map(parameter, to->AddParameter(from_.type(parameter)));
    }
    Tensor positions;
    for (const Call& call : from_.calls()) {
      to->SetOwner(call.owner);
      if (&call == calls.convolution || &call == calls.pooling_gradient) {
        continue;
      }
      if (&call == calls.pooling) {
        std::vector<Tensor> inputs;
        for (const int input : calls.convolution->inputs) {
          inputs.push_back(copier.CopyOf(input));
        }
        const std::vector<Tensor> outputs = to->AddCall(forward_, inputs);
        copier.Map(call.outputs[0], outputs[0]);
        if (outputs.size() > 1) positions = outputs[1];
      } else if (&call == calls.kernel_gradient) {
        const std::vector<Tensor> outputs = to->AddCall(
            backward_, {copier.CopyOf(call.inputs[0]), positions,
                        copier.CopyOf(calls.pooling_gradient->inputs[2])});
        for (size_t i = 0; i < outputs.size(); ++i) {
          copier.Map(call.outputs[i], outputs[i]);
        }
      } else {
        copier.Copy(call);
      }
    }
    for (const int result : from_.results()) {
      to->AddResult(copier.CopyOf(result));
    }
    return to;
  }

  const Function& from_;
  // By tensor; null stands for the caller, who reads results.
  std::vector<std::vector<const Call*>> readers_;
  std::shared_ptr<const PooledConvolutionOperation> forward_;
  std::shared_ptr<const PooledConvolutionKernelGradientOperation> backward_;
};

}  // namespace

std::unique_ptr<Function> FusePooling(std::unique_ptr<Function> function,
                                      HasOperation has) {
  std::unique_ptr<Function> fused = PoolingFusion(*function).Run(has);
  return fused != nullptr ? std::move(fused) : std::move(function);
}

}  // namespace paceline::op
