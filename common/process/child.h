// Child processes that write to a log and never outlive this process.
#ifndef PACELINE_COMMON_PROCESS_CHILD_H_
#define PACELINE_COMMON_PROCESS_CHILD_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace paceline {

struct ChildOptions {
  // The program and its arguments; the program is a path. The option
  // `--lifetime_fd=N` is appended.
  std::vector<std::string> command;
  // Added to the environment of this process.
  std::vector<std::pair<std::string, std::string>> environment;
  // Gets standard output and error: a new file in place of what is there. A
  // link is replaced, never followed.
  std::string log_path;
  // A line for the child alone, which comes to it through the pipe of
  // `--lifetime_fd`: no other process sees it. Short enough to fit in there.
  std::string line;
};

// Of a child that somebody else has waited for.
inline constexpr int kUnknownExitCode = 255;

// Spawn from the main thread only: the kernel kills the child when the thread
// that spawned it ends. Not thread-safe. Killed and reaped when destroyed.
class Child {
 public:
  static absl::StatusOr<Child> Spawn(const ChildOptions& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }

  // The exit code, or 128 + the signal's number, once the process has ended.
  // Does not block.
  std::optional<int> Poll();

  void Kill(int signal);

 private:
  Child(pid_t pid, int lifetime_fd) : pid_(pid), lifetime_fd_(lifetime_fd) {}

  pid_t pid_;
  // Our end of the pipe.
  int lifetime_fd_;
  std::optional<int> exit_code_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_CHILD_H_
