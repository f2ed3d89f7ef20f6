// Creates optimizers from configs.
#ifndef PACELINE_COMMON_OPTIMIZER_MAKE_OPTIMIZER_H_
#define PACELINE_COMMON_OPTIMIZER_MAKE_OPTIMIZER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/optimizer/optimizer.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

class Value;
struct ClassReference;

// The optimizer that a job names, checked by its field table. Errors name the
// class, the key and what is expected.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(
    const v1::KerasObject& object);

// In Keras' serialised form.
Value Serialize(const Optimizer& optimizer);

// The references of all optimizers, by class name.
std::vector<ClassReference> OptimizerReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_MAKE_OPTIMIZER_H_
