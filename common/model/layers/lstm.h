// Long short-term memory (Hochreiter and Schmidhuber, 1997).
#ifndef PACELINE_COMMON_MODEL_LAYERS_LSTM_H_
#define PACELINE_COMMON_MODEL_LAYERS_LSTM_H_

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/activation.h"
#include "common/model/layers/recurrent_layer.h"

namespace paceline {

// With h and c from the step before, and for gates i, f, g and o, in this
// order, z = x · kernel + bias + h · recurrent_kernel:
//
//   c' = gate(zf) · c + gate(zi) · activation(zg)
//   h' = gate(zo) · activation(c')
//
// h' is the output, and gate the recurrent_activation.
class LSTM : public RecurrentLayer {
 public:
  static constexpr char kClassName[] = "LSTM";
  static const FieldTable<LSTM>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  std::shared_ptr<RecurrentLayer> Copy() const override {
    return std::make_shared<LSTM>(*this);
  }

  ActivationFunction recurrent_activation = ActivationFunction::kSigmoid;
  // The bias of gate f begins with 1, and bias_initializer is for the others.
  bool unit_forget_bias = true;

 protected:
  int gate_count() const override { return 4; }
  int state_count() const override { return 2; }
  std::vector<op::Tensor> NextStates(const Step& step) const override;
  VariableSpec BiasSpec() const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_LSTM_H_
