// The base of recurrent layers.
//
// A layer has gates, such as the four of an LSTM, and each has columns of its
// own in the kernels. Products of the input are computed for all steps at once,
// so a step has only those of the state. Each gate multiplies by itself: what
// would be slices of one product in each step are slices of the kernels, once.
#ifndef PACELINE_COMMON_MODEL_LAYERS_RECURRENT_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_RECURRENT_LAYER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/config/field_table.h"
#include "common/model/activation.h"
#include "common/model/initializer.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/model/layers/noise_layer.h"
#include "common/model/layers/variable_fields.h"
#include "common/model/variable.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// From (steps, n) to (units), the output of the last step, or to (steps, units)
// with `return_sequences`. The state is 0 before the first step. A step that
// the mask excludes leaves the state as it is, and its output is that of the
// step before, or 0 with `zero_output_for_mask`. Variables: kernel (n, gates ·
// units), recurrent_kernel (units, gates · units), and, with `use_bias`, bias
// (gates · units).
class RecurrentLayer : public Layer {
 public:
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  std::string WeightPath(int variable) const override;
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;
  bool passes_mask() const override { return return_sequences; }
  bool reads_masks() const override { return true; }
  bool has_mask_argument() const override { return true; }

  virtual std::shared_ptr<RecurrentLayer> Copy() const = 0;
  int variable_count() const { return use_bias ? 3 : 2; }

  // The same as Lower, but outputs of all steps are in the order of the input,
  // and not in that of the computation.
  op::Tensor LowerInOrder(const LayerCall& call) const;

  int64_t units = 0;
  ActivationFunction activation = ActivationFunction::kTanh;
  bool use_bias = true;
  std::shared_ptr<const Initializer> kernel_initializer =
      DefaultKernelInitializer();
  std::shared_ptr<const Initializer> recurrent_initializer =
      OrthogonalInitializer();
  std::shared_ptr<const Initializer> bias_initializer = ZerosInitializer();
  Regularizer kernel_regularizer;
  Regularizer recurrent_regularizer;
  Regularizer bias_regularizer;
  Constraint kernel_constraint;
  Constraint recurrent_constraint;
  Constraint bias_constraint;
  bool return_sequences = false;
  // Computes the last step first, and gives outputs in that order.
  bool go_backwards = false;
  // No effect: a hint to Keras.
  bool unroll = false;
  bool zero_output_for_mask = false;
  // Shares of the elements of the input, and of the state before a step, that
  // training drops: the same ones in all steps. In [0, 1).
  double dropout = 0;
  double recurrent_dropout = 0;
  // nullopt: the job's seed.
  std::optional<int64_t> seed;

 protected:
  // What a step reads. All but `states` by gate.
  struct Step {
    // The output of the step before, then what else the layer remembers, each
    // of shape (batch, units).
    std::vector<op::Tensor> states;
    // x · kernel + bias, of shape (batch, units).
    std::vector<op::Tensor> inputs;
    // The mask, a number of shape (batch, 1); empty: none.
    std::vector<op::Tensor> mask;
    // Shape (units, units).
    std::vector<op::Tensor> kernels;
    // Shape (units); empty: none.
    std::vector<op::Tensor> biases;
    // Bools of shape (batch, units): what dropout keeps of the state. Empty:
    // all.
    std::vector<op::Tensor> kept;
  };

  virtual int gate_count() const = 0;
  virtual int state_count() const { return 1; }
  // The states after a step.
  virtual std::vector<op::Tensor> NextStates(const Step& step) const = 0;
  // The bias of layers with one bias; see GRU.
  virtual VariableSpec BiasSpec() const;
  virtual op::Tensor InputBias(const op::Tensor& bias) const { return bias; }
  // The bias behind products of the state; nullopt: none.
  virtual std::optional<op::Tensor> RecurrentBias(
      const op::Tensor& /*bias*/) const {
    return std::nullopt;
  }

  // `state`, as far as it is kept, times a gate's kernel, plus its bias.
  op::Tensor OfState(const Step& step, const op::Tensor& state, int gate) const;
  // A gate's input plus OfState of the output before.
  op::Tensor SumOfGate(const Step& step, int gate) const;

 private:
  op::Tensor Columns(const op::Tensor& tensor, int gate) const;
  std::vector<op::Tensor> ByGate(const op::Tensor& tensor) const;
  // One mask for each gate if the state is dropped, too, as in Keras.
  std::vector<op::Tensor> InputsByGate(const LayerCall& call) const;
  op::Tensor DropoutMaskOf(const LayerCall& call, Shape shape, double rate,
                           int index) const;
  // Adds the results of a step to the body of the scan.
  void AddStep(const Step& step, op::Function& body) const;
  // The tensors that the scan reads.
  Step WholeSequence(const LayerCall& call) const;
};

// Keys that only some classes have, and where they are.
template <typename L>
struct RecurrentExtras {
  std::vector<Field<L>> behind_activation = {};
  std::vector<Field<L>> behind_initializers = {};
  std::vector<Field<L>> behind_dropout = {};
  // Whether there may be a penalty on the output.
  bool has_activity_regularizer = true;
};

template <typename L>
std::vector<Field<L>> RecurrentFields(RecurrentExtras<L> extras) {
  const bool has_penalty = extras.has_activity_regularizer;
  Field<L> activity_regularizer =
      has_penalty ? Field<L>(NullActivityRegularizerField())
                  : Field<L>(Only("activity_regularizer", nullptr,
                                  "Penalty on the output."));
  std::vector<Field<L>> own = Joined<L>(
      {{Optional(
            "return_sequences", &L::return_sequences,
            "Whether the output of each step is given, not only the last."),
        Only("return_state", false, "Whether the state is an output, too."),
        Optional("go_backwards", &L::go_backwards,
                 "Whether the last step comes first."),
        Only("stateful", false, "Whether the state stays for the next batch."),
        Optional("unroll", &L::unroll, "No effect on results."),
        Optional("zero_output_for_mask", &L::zero_output_for_mask,
                 "Whether outputs of masked steps are 0, not those before."),
        Required("units", &L::units, AtLeast(1), "Size of the output."),
        Optional("activation", &L::activation, "Activation of the output.")},
       std::move(extras.behind_activation),
       {Optional("use_bias", &L::use_bias, "Whether a bias is added.")},
       VariableFields<L>(
           {{"kernel", "the kernel", &L::kernel_initializer,
             &L::kernel_regularizer, &L::kernel_constraint},
            {"recurrent", "the kernel of the state", &L::recurrent_initializer,
             &L::recurrent_regularizer, &L::recurrent_constraint},
            {"bias", "the bias", &L::bias_initializer, &L::bias_regularizer,
             &L::bias_constraint}},
           std::move(activity_regularizer),
           std::move(extras.behind_initializers)),
       {Optional("dropout", &L::dropout, Within(0, 1),
                 "Share of the input's elements that are dropped."),
        Optional("recurrent_dropout", &L::recurrent_dropout, Within(0, 1),
                 "Share of the state's elements that are dropped.")},
       std::move(extras.behind_dropout)});
  return has_penalty ? LayerFields<L>(std::move(own))
                     : UnpenalizedLayerFields<L>(std::move(own));
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_RECURRENT_LAYER_H_
