// Gated recurrent unit (Cho et al., 2014).
#ifndef PACELINE_COMMON_MODEL_LAYERS_GRU_H_
#define PACELINE_COMMON_MODEL_LAYERS_GRU_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/activation.h"
#include "common/model/layers/recurrent_layer.h"

namespace paceline {

// With h from the step before, and for gates z, r and g, in this order, x· for
// x · kernel + bias and h· for h · recurrent_kernel, both with the columns of
// the gate:
//
//   z = recurrent_activation(x· + h·)
//   r = recurrent_activation(x· + h·)
//   g = activation(x· + r · h·), or, without reset_after, with (r · h)· for
//       r · h·
//   h' = z · h + (1 − z) · g
//
// h' is the output. With `reset_after`, h· has a bias of its own, too: bias has
// the shape (2, 3 · units), and its second row is that of h·.
class GRU : public RecurrentLayer {
 public:
  static constexpr char kClassName[] = "GRU";
  static const FieldTable<GRU>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  std::shared_ptr<RecurrentLayer> Copy() const override {
    return std::make_shared<GRU>(*this);
  }

  ActivationFunction recurrent_activation = ActivationFunction::kSigmoid;
  bool reset_after = true;

 protected:
  int gate_count() const override { return 3; }
  std::vector<op::Tensor> NextStates(const Step& step) const override;
  VariableSpec BiasSpec() const override;
  op::Tensor InputBias(const op::Tensor& bias) const override;
  std::optional<op::Tensor> RecurrentBias(
      const op::Tensor& bias) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GRU_H_
