#include "worker/device/cpu/losses/loss_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/model/losses/binary_crossentropy.h"
#include "common/model/losses/categorical_crossentropy.h"
#include "common/model/losses/mean_squared_error.h"
#include "common/model/losses/sparse_categorical_crossentropy.h"

namespace paceline::cpu {
namespace {

struct Entry {
  const char* class_name;
  LossKernelFactory* make;
};

constexpr Entry kLosses[] = {
    {BinaryCrossentropy::kClassName, MakeBinaryCrossentropy},
    {CategoricalCrossentropy::kClassName, MakeCategoricalCrossentropy},
    {MeanSquaredError::kClassName, MakeMeanSquaredError},
    {SparseCategoricalCrossentropy::kClassName,
     MakeSparseCategoricalCrossentropy},
};

}  // namespace

absl::StatusOr<std::unique_ptr<const LossKernel>> MakeLossKernel(
    const Loss& loss, bool from_logits, const Shape& output) {
  for (const Entry& entry : kLosses) {
    if (loss.class_name() == entry.class_name) {
      return entry.make(loss, from_logits, output);
    }
  }
  return absl::UnimplementedError(absl::StrCat(
      "loss ", loss.class_name(), ": the cpu device cannot compute it"));
}

}  // namespace paceline::cpu
