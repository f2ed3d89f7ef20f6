#include "common/model/layers/simple_rnn.h"

#include "common/model/activation_operations.h"

namespace paceline {

const FieldTable<SimpleRNN>& SimpleRNN::Fields() {
  static const auto& table = *new FieldTable<SimpleRNN>(
      kClassName, "Recurrent layer that reads its own output.",
      RecurrentFields<SimpleRNN>(
          // Keras forgets to write the seed, and the activity_regularizer as
          // soon as it has it.
          {.behind_dropout = {NotWritten(SeedField<SimpleRNN>())},
           .has_activity_regularizer = false}));
  return table;
}

std::vector<op::Tensor> SimpleRNN::NextStates(const Step& step) const {
  return {Activate(activation, SumOfGate(step, 0))};
}

}  // namespace paceline
