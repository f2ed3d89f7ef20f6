// Counter-based random numbers. The counter is the example's position in the
// epoch, so an example gets the same numbers on any replica.
#ifndef PACELINE_COMMON_OPERATIONS_RANDOM_H_
#define PACELINE_COMMON_OPERATIONS_RANDOM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "glog/logging.h"

namespace paceline::op {

// The elements that a Dropout keeps, as bools: each with probability 1 − rate
// (common/model/dropout_mask.h). Axis 0 is the batch. Other axes of size 1 are
// for a mask that is broadcast (Keras' noise_shape).
class DropoutMaskOperation final : public Operation {
 public:
  static constexpr char kName[] = "DropoutMask";

  // `key` must be different for each layer.
  DropoutMaskOperation(Shape shape, double rate, uint64_t key)
      : shape_(std::move(shape)), rate_(rate), key_(key) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override {
    CHECK(inputs.empty() && !shape_.empty());
    return {{DataType::kBool, shape_}};
  }

  double rate() const { return rate_; }
  uint64_t key() const { return key_; }

 private:
  Shape shape_;
  double rate_;
  uint64_t key_;
};

// Normal with mean 0 and standard deviation 1. Axis 0 is the batch.
class RandomNormalOperation final : public Operation {
 public:
  static constexpr char kName[] = "RandomNormal";

  RandomNormalOperation(TensorType type, uint64_t key)
      : type_(std::move(type)), key_(key) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override {
    CHECK(inputs.empty() && IsReal(type_.type) && !type_.shape.empty());
    return {type_};
  }

  uint64_t key() const { return key_; }

 private:
  TensorType type_;
  uint64_t key_;
};

inline Tensor DropoutMask(Function& function, Shape shape, double rate,
                          uint64_t key) {
  return AddSource(function, DropoutMaskOperation(std::move(shape), rate, key));
}
inline Tensor RandomNormal(Function& function, TensorType type, uint64_t key) {
  return AddSource(function, RandomNormalOperation(std::move(type), key));
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_RANDOM_H_
