// The expression of a LearningRateScheduler.
#include <glog/logging.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/callback/schedule_expression.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const auto expression = ScheduleExpression::Parse(input.rest());
  if (!expression.ok()) {
    CHECK(absl::StrContains(expression.status().message(), "; expected "));
    return;
  }
  const ScheduleVariables variables = {
      .epoch = 3, .step = 300, .lr = 0.25, .num_replicas = 2};
  const double value = expression->Evaluate(variables);
  // NaN is not 1 either.
  const double is_one = value == 1 ? 1 : 0;
  const auto longer =
      ScheduleExpression::Parse(absl::StrCat("(", input.rest(), ") == 1"));
  if (longer.ok()) CHECK_EQ(longer->Evaluate(variables), is_one);
}

}  // namespace paceline
