// Optimizers by Keras' formulas, applied to contiguous ranges of variables.
#ifndef PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_
#define PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/optimizer/clipping.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct ClassReference;

// Elements of variables with their gradients and slots; all of one size.
template <typename T>
struct UpdateRange {
  absl::Span<T> values;
  absl::Span<const T> gradients;
  // One span a slot, in the order of slot_names().
  absl::Span<const absl::Span<T>> slots;
};

// Immutable once made, and thread-safe: all state is in the ranges.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Keras' class name, such as "Adam".
  virtual absl::string_view class_name() const = 0;

  // Names of the slots beside each variable, such as {"momentum", "velocity"}.
  // Slots start as zeros unless slot_initial_value says otherwise.
  virtual std::vector<std::string> slot_names() const = 0;
  virtual double slot_initial_value(int /*slot*/) const { return 0; }

  // The learning rate of the update that follows `iterations` updates.
  virtual double LearningRate(int64_t iterations) const = 0;

  // What whoever applies an update does to its gradients before. With norms,
  // the gradients of all variables are needed for it, not those of a range.
  Clipping clipping;

  // Applies the update that follows `iterations` updates. Does not allocate.
  virtual void Apply(int64_t iterations, UpdateRange<float> range) const = 0;
  virtual void Apply(int64_t iterations, UpdateRange<double> range) const = 0;
};

// Updates variables that are not trained: adds the differences that stand in
// the place of their gradients.
template <typename T>
void AddDifferences(absl::Span<const T> differences, absl::Span<T> values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] += differences[i];
}

// The optimizer a job names, checked by its field table. Errors name the class,
// the key and what is expected.
absl::StatusOr<std::unique_ptr<const Optimizer>> MakeOptimizer(
    const v1::KerasObject& object);

// Every optimizer, by class name.
std::vector<ClassReference> OptimizerReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_OPTIMIZER_H_
