// Runs the programs that callbacks ask for, one after the other.
#ifndef PACELINE_COMMON_SESSION_LEADER_COMMAND_RUNNER_H_
#define PACELINE_COMMON_SESSION_LEADER_COMMAND_RUNNER_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/callback/callback.h"
#include "common/process/user_program.h"

namespace paceline {

// Call it from the main thread only; see UserProgram. Does not block. The
// destructor kills a program that runs.
class CommandRunner {
 public:
  // What a program printed to its standard output, or why it failed.
  using Done = std::function<void(const RunCommand&,
                                  const absl::StatusOr<std::string>&)>;
  // Programs have this environment, each "NAME=value". `done` is called by Poll
  // when a program has ended.
  CommandRunner(std::vector<std::string> environment, Done done)
      : environment_(std::move(environment)), done_(std::move(done)) {}

  void Add(RunCommand run) { waiting_.push_back(std::move(run)); }
  // Call it often. What a program printed to its standard error goes to that of
  // this process, without control characters.
  void Poll();
  // Kills the program that runs, and forgets the others.
  void Cancel();

 private:
  const std::vector<std::string> environment_;
  const Done done_;
  // The first one runs if there is a program_.
  std::deque<RunCommand> waiting_;
  std::unique_ptr<UserProgram> program_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_COMMAND_RUNNER_H_
