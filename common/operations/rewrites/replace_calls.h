// Helpers for rewrites of a few calls.
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

// Whether a device has the operation for inputs of these types. Rewrites check
// this before they create an operation that some devices lack.
using HasOperation = absl::FunctionRef<bool(
    const Operation& operation, absl::Span<const TensorType> inputs)>;

// The call's operation if it is a T, else null. Also null if `call` is.
template <typename T>
const T* As(const Call* call) {
  return call != nullptr && call->operation->name() == T::kName
             ? static_cast<const T*>(call->operation.get())
             : nullptr;
}

// Replacements of calls: another call, whose inputs and outputs are tensors of
// the same function, or nullopt to remove the call.
using Replacements = std::map<const Call*, std::optional<Call>>;

// A copy of `from` with these calls replaced. Keeps parameters and results, in
// their order. Each tensor that a call or a result reads must be computed by an
// earlier call after the replacement.
std::unique_ptr<Function> ReplaceCalls(const Function& from,
                                       const Replacements& replacements);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_REPLACE_CALLS_H_
