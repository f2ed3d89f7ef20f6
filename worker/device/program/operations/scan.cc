#include "common/operations/scan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "worker/device/program/add_calls.h"
#include "worker/device/program/operations/operations.h"

namespace paceline {
namespace {

// A scan as a loop over its body. Elements of sequences and outputs are not
// copied: the body reads and writes them where they are. A carry has two
// places, which take turns: a step reads one and writes the other.
class ScanLoop {
 public:
  ScanLoop(const PlacedCall& call, LayoutBuilder& builder)
      : call_(call),
        scan_(static_cast<const op::ScanOperation&>(call.operation)),
        carry_count_(scan_.body().carry_count),
        steps_(call.inputs[carry_count_]->shape[0]),
        builder_(builder),
        outputs_({OutputOf(call, builder)}) {
    outputs_.insert(outputs_.end(), call.more_outputs.begin(),
                    call.more_outputs.end());
  }

  Tensor* Add() {
    for (int i = 0; i < carry_count_; ++i) {
      const Shape& shape = call_.inputs[i]->shape;
      // Gradients add up in carries, so these are float32 in any precision.
      even_.push_back(builder_.NewTensor<float>(shape));
      odd_.push_back(builder_.NewTensor<float>(shape));
      builder_.AddCopy(call_.inputs[i], even_[i]);
    }
    builder_.AddLoop(Used(), steps_, [this] { AddBody(); });
    for (int i = 0; i < carry_count_; ++i) {
      builder_.AddCopy(steps_ % 2 == 0 ? even_[i] : odd_[i], outputs_[i]);
    }
    return outputs_[0];
  }

 private:
  void AddBody() {
    std::vector<Tensor*> parameters;
    for (int i = 0; i < carry_count_; ++i) {
      parameters.push_back(CarryAfter(0, i));
    }
    for (size_t i = carry_count_; i < call_.inputs.size(); ++i) {
      parameters.push_back(IsSequence(i) ? ElementOf(call_.inputs[i])
                                         : call_.inputs[i]);
    }
    std::vector<Tensor*> places;
    for (int i = 0; i < carry_count_; ++i) places.push_back(CarryAfter(1, i));
    for (size_t i = carry_count_; i < outputs_.size(); ++i) {
      places.push_back(ElementOf(outputs_[i]));
    }
    const std::vector<Tensor*> results =
        AddCalls(*scan_.body().function, parameters, builder_, places);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] != places[i]) builder_.AddCopy(results[i], places[i]);
    }
  }

  bool IsSequence(size_t input) const {
    return input <
           static_cast<size_t>(carry_count_ + scan_.body().sequence_count);
  }

  // The element of a sequence or an output that belongs to the step.
  Tensor* ElementOf(const Tensor* sequence) {
    const Shape shape(sequence->shape.begin() + 1, sequence->shape.end());
    const int64_t size =
        NumElements(shape) * static_cast<int64_t>(SizeOf(sequence->type));
    return builder_.NewMoving(
        shape, sequence->type,
        [sequence, size, is_reversed = scan_.is_reversed(),
         last = steps_ - 1](int64_t step) {
          return sequence->data() + (is_reversed ? last - step : step) * size;
        });
  }

  // A carry before the step, or after it (`steps` is 1).
  Tensor* CarryAfter(int64_t steps, int carry) {
    return builder_.NewMoving(
        even_[carry]->shape, even_[carry]->type,
        [steps, even = even_[carry], odd = odd_[carry]](int64_t step) {
          return ((step + steps) % 2 == 0 ? even : odd)->data();
        });
  }

  // All tensors that the loop reads or writes.
  std::vector<const Tensor*> Used() const {
    std::vector<const Tensor*> used(call_.inputs.begin(), call_.inputs.end());
    for (const std::vector<Tensor*>* more : {&outputs_, &even_, &odd_}) {
      used.insert(used.end(), more->begin(), more->end());
    }
    return used;
  }

  const PlacedCall& call_;
  const op::ScanOperation& scan_;
  const int carry_count_;
  const int64_t steps_;
  LayoutBuilder& builder_;
  std::vector<Tensor*> outputs_;
  // The two places of each carry: before steps 0, 2, …, and before the others.
  std::vector<Tensor*> even_;
  std::vector<Tensor*> odd_;
};

}  // namespace

Tensor* AddScan(const PlacedCall& call, LayoutBuilder& builder) {
  return ScanLoop(call, builder).Add();
}

}  // namespace paceline
