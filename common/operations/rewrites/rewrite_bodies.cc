#include "common/operations/rewrites/rewrite_bodies.h"

#include "common/operations/rewrites/replace_calls.h"
#include "common/operations/scan.h"

namespace paceline::op {

std::unique_ptr<Function> RewriteBodies(
    std::unique_ptr<Function> function,
    absl::FunctionRef<std::unique_ptr<Function>(const Function& body)>
        rewrite) {
  Replacements replacements;
  for (const Call& call : function->calls()) {
    const auto* scan = As<ScanOperation>(&call);
    if (scan == nullptr) continue;
    ScanBody body = scan->body();
    body.function = rewrite(*body.function);
    Call rewritten = call;
    rewritten.operation = std::make_shared<ScanOperation>(
        body, scan->is_reversed(), /*backward=*/ScanBackward{},
        /*residual_count=*/0);
    replacements[&call] = std::move(rewritten);
  }
  return replacements.empty() ? std::move(function)
                              : ReplaceCalls(*function, replacements);
}

}  // namespace paceline::op
