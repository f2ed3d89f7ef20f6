// Rewrites the bodies of scans, which are functions of their own.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_REWRITE_BODIES_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_REWRITE_BODIES_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "common/operations/function.h"

namespace paceline::op {

// A copy of `function` in which `rewrite` has rewritten the body of each scan.
// It must keep parameters and results. The scans have no gradient any more.
// Returns `function` itself if it has no scan.
std::unique_ptr<Function> RewriteBodies(
    std::unique_ptr<Function> function,
    absl::FunctionRef<std::unique_ptr<Function>(const Function& body)> rewrite);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_REWRITE_BODIES_H_
