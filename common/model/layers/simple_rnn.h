// Fully connected recurrent layer.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SIMPLE_RNN_H_
#define PACELINE_COMMON_MODEL_LAYERS_SIMPLE_RNN_H_

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/layers/recurrent_layer.h"

namespace paceline {

// h' = activation(x · kernel + bias + h · recurrent_kernel), which is the
// output.
class SimpleRNN : public RecurrentLayer {
 public:
  static constexpr char kClassName[] = "SimpleRNN";
  static const FieldTable<SimpleRNN>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  std::shared_ptr<RecurrentLayer> Copy() const override {
    return std::make_shared<SimpleRNN>(*this);
  }

 protected:
  int gate_count() const override { return 1; }
  std::vector<op::Tensor> NextStates(const Step& step) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SIMPLE_RNN_H_
