// What rewrites of a few calls share.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_REPLACE_CALLS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_REPLACE_CALLS_H_

#include <map>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "common/operations/tensor_type.h"

namespace paceline::op {

// Whether a device computes the operation, of inputs of these types. A rewrite
// asks before it makes one that devices may lack.
using HasOperation = absl::FunctionRef<bool(
    const Operation& operation, absl::Span<const TensorType> inputs)>;

// The operation of the call, if it is a T; else null, as for no call.
template <typename T>
const T* As(const Call* call) {
  return call != nullptr && call->operation->name() == T::kName
             ? static_cast<const T*>(call->operation.get())
             : nullptr;
}

// What becomes of calls of a function: another call in their place, whose
// inputs and outputs are tensors of that function, or nothing.
using Replacements = std::map<const Call*, std::optional<Call>>;

// `from` with these calls replaced, and the others as they are; a copy, even if
// there are none. It has the same parameters and results, in the same order.
// Each tensor that a call or a result reads must be made before, by the calls
// that there are then.
std::unique_ptr<Function> ReplaceCalls(const Function& from,
                                       const Replacements& replacements);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_REPLACE_CALLS_H_
