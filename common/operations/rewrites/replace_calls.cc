#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

std::unique_ptr<Function> ReplaceCalls(const Function& from,
                                       const Replacements& replacements) {
  auto to = std::make_unique<Function>();
  CallCopier copier(from, *to);
  for (const int parameter : from.parameters()) {
    copier.Map(parameter, to->AddParameter(from.type(parameter)));
  }
  for (const Call& call : from.calls()) {
    const auto it = replacements.find(&call);
    if (it == replacements.end()) {
      copier.Copy(call);
    } else if (it->second) {
      copier.Copy(*it->second);
    }
  }
  for (const int result : from.results()) {
    to->AddResult(copier.CopyOf(result));
  }
  return to;
}

}  // namespace paceline::op
