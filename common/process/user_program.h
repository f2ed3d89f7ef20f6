// A program of the user's that gets some text, has a deadline, and answers.
#ifndef PACELINE_COMMON_PROCESS_USER_PROGRAM_H_
#define PACELINE_COMMON_PROCESS_USER_PROGRAM_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"

namespace paceline {

struct ProgramOptions {
  // The program, found by this process's PATH, and its arguments; not empty. No
  // shell.
  std::vector<std::string> arguments;
  // Its environment, each "NAME=value".
  std::vector<std::string> environment;
  // Its standard input.
  std::string input;
  absl::Duration timeout;
};

// What it printed.
struct ProgramOutput {
  std::string out;
  std::string error;
};

// A program may print this much to each of its two streams.
inline constexpr size_t kMaxProgramOutput = size_t{1} << 20;

// It works in the folder of this process. It is killed when it ends, when its
// time is over and by the destructor, each time with those of its children that
// stay in its process group. Start it from the main thread only: the kernel
// kills it, but not its children, when the thread that started it ends. Not
// thread-safe.
class UserProgram {
 public:
  // NotFound and others if the program cannot be executed.
  static absl::StatusOr<std::unique_ptr<UserProgram>> Start(
      ProgramOptions options);
  ~UserProgram();
  UserProgram(const UserProgram&) = delete;
  UserProgram& operator=(const UserProgram&) = delete;

  // Goes on with its input and output; does not block. nullopt: it runs. An
  // error says that it exited with another code than 0, that a signal killed
  // it, or that its time is over, and what it printed; DeadlineExceeded,
  // ResourceExhausted if it printed too much, else FailedPrecondition. Call it
  // until it returns a value.
  std::optional<absl::StatusOr<ProgramOutput>> Poll();

 private:
  UserProgram(ProgramOptions options, pid_t pid, FileDescriptor in,
              FileDescriptor out, FileDescriptor error);

  void FeedInput();
  // Kills the process and its group, and reaps it, or gives it up after 2 s.
  // Returns the status of waitpid.
  int End();
  // "exit code 3", and what it said.
  absl::Status Failure(absl::StatusCode code, const std::string& what) const;

  const ProgramOptions options_;
  const absl::Time deadline_;
  // -1 once it is reaped.
  pid_t pid_;
  FileDescriptor in_;
  size_t fed_ = 0;
  FileDescriptor out_fd_;
  FileDescriptor error_fd_;
  ProgramOutput output_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_USER_PROGRAM_H_
