// What a program of Exec prints.
#include <glog/logging.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "common/callback/exec.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  Exec exec;
  exec.command = {"program"};
  Decision decision;
  const absl::Status status =
      exec.Answered(RunCommand(), std::string(input.rest()), decision);
  if (!status.ok()) {
    CHECK(absl::StrContains(status.message(), "; its last line: {") ||
          absl::StrContains(status.message(), "; its last lines: {"));
    CHECK(decision.outputs.empty() && !decision.stops_training);
  }
  if (decision.learning_rate) CHECK_GE(*decision.learning_rate, 0);
}

}  // namespace paceline
