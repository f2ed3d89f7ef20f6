#include "common/session/leader/command_runner.h"

#include <iostream>
#include <optional>

#include "common/base/printed_text.h"

namespace paceline {

void CommandRunner::Poll() {
  if (waiting_.empty()) return;
  absl::StatusOr<std::string> output;
  if (program_ == nullptr) {
    const RunCommand& run = waiting_.front();
    auto started =
        UserProgram::Start({run.command, environment_, run.input, run.timeout});
    if (started.ok()) {
      program_ = *std::move(started);
      return;
    }
    output = started.status();
  } else {
    std::optional<absl::StatusOr<ProgramOutput>> ended = program_->Poll();
    if (!ended) return;
    program_.reset();
    if (ended->ok()) {
      std::cerr << PrintedText((*ended)->error) << std::flush;
      output = std::move((*ended)->out);
    } else {
      output = ended->status();
    }
  }
  const RunCommand run = std::move(waiting_.front());
  waiting_.pop_front();
  done_(run, output);
}

void CommandRunner::Cancel() {
  program_.reset();
  waiting_.clear();
}

}  // namespace paceline
