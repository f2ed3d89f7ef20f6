#include "common/callback/terminate_on_nan.h"

#include "common/config/field_table.h"
#include "common/config/path.h"

namespace paceline {

const FieldTable<TerminateOnNan>& TerminateOnNan::Fields() {
  static const auto& table = *new FieldTable<TerminateOnNan>(
      kClassName,
      "Ends the job at the first loss of a step of training that is infinite "
      "or no number: what `terminate_on_nan` of the job says.",
      {});
  return table;
}

absl::Status TerminateOnNan::Prepare(const CallbackContext& context,
                                     const Path& path) {
  if (context.terminates_on_nan) return absl::OkStatus();
  return ConfigError(path,
                     "TerminateOnNaN contradicts `terminate_on_nan: false`; "
                     "expected one of them");
}

}  // namespace paceline
