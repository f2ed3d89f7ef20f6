#include "worker/device/cuda/losses.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/model/losses/binary_crossentropy.h"
#include "common/model/losses/categorical_crossentropy.h"
#include "common/model/losses/mean_squared_error.h"
#include "common/model/losses/sparse_categorical_crossentropy.h"

namespace paceline::cuda {
namespace {

LossKernel MakeMeanSquaredError(const Loss& /*loss*/, bool /*from_logits*/,
                                const Shape& output) {
  return [size = NumElements(output)](const LossBlocks& blocks) {
    return MeanSquaredErrorLoss{blocks, size};
  };
}

LossKernel MakeBinaryCrossentropy(const Loss& loss, bool from_logits,
                                  const Shape& output) {
  const auto smoothing = static_cast<float>(
      static_cast<const BinaryCrossentropy&>(loss).label_smoothing);
  return [=, size = NumElements(output)](const LossBlocks& blocks) {
    return BinaryCrossentropyLoss{blocks, size, smoothing, from_logits};
  };
}

LossKernel MakeCategoricalCrossentropy(const Loss& loss, bool from_logits,
                                       const Shape& output) {
  const double smoothing =
      static_cast<const CategoricalCrossentropy&>(loss).label_smoothing;
  const int64_t classes = output.back();
  CategoricalCrossentropyLoss kernel;
  kernel.rows = NumElements(output) / classes;
  kernel.classes = classes;
  kernel.kept = static_cast<float>(1 - smoothing);
  kernel.spread = static_cast<float>(smoothing / static_cast<double>(classes));
  kernel.from_logits = from_logits;
  return [kernel](const LossBlocks& blocks) {
    CategoricalCrossentropyLoss placed = kernel;
    placed.blocks = blocks;
    return placed;
  };
}

LossKernel MakeSparseCategoricalCrossentropy(const Loss& /*loss*/,
                                             bool from_logits,
                                             const Shape& output) {
  return [=, classes = output.back()](const LossBlocks& blocks) {
    return SparseCategoricalCrossentropyLoss{blocks, classes, from_logits};
  };
}

struct LossEntry {
  const char* class_name;
  LossKernel (*make)(const Loss& loss, bool from_logits, const Shape& output);
};

constexpr LossEntry kLosses[] = {
    {BinaryCrossentropy::kClassName, MakeBinaryCrossentropy},
    {CategoricalCrossentropy::kClassName, MakeCategoricalCrossentropy},
    {MeanSquaredError::kClassName, MakeMeanSquaredError},
    {SparseCategoricalCrossentropy::kClassName,
     MakeSparseCategoricalCrossentropy},
};

}  // namespace

absl::StatusOr<LossKernel> MakeLossKernel(const Loss& loss, bool from_logits,
                                          const Shape& output) {
  for (const LossEntry& entry : kLosses) {
    if (loss.class_name() == entry.class_name) {
      return entry.make(loss, from_logits, output);
    }
  }
  return absl::UnimplementedError(absl::StrCat(
      "loss ", loss.class_name(), ": the cuda device cannot compute it"));
}

}  // namespace paceline::cuda
