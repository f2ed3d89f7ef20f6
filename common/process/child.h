// Child processes that write to a log file and never outlive this process.
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
  // The program, which must be a path, and its arguments. The option
  // `--lifetime_fd=N` is appended.
  std::vector<std::string> command;
  // Added to the environment of this process.
  std::vector<std::pair<std::string, std::string>> environment;
  // The file for standard output and error: a new file that replaces an
  // existing one. A link is replaced, never followed.
  std::string log_path;
  // The folder in which the child works; "": that of this process.
  std::string working_folder;
  // A line that only the child can read, through the pipe of `--lifetime_fd`.
  // Must fit into the pipe's buffer.
  std::string line;
};

// The exit code of a child for which other code has waited.
inline constexpr int kUnknownExitCode = 255;

// Spawn children from the main thread only: the kernel kills a child when the
// thread that spawned it ends. Not thread-safe. The destructor kills and reaps
// the child.
class Child {
 public:
  static absl::StatusOr<Child> Spawn(const ChildOptions& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }

  // The exit code, or 128 + the signal's number; nullopt while the process
  // runs. Does not block.
  std::optional<int> Poll();

  void Kill(int signal);

 private:
  Child(pid_t pid, int lifetime_fd) : pid_(pid), lifetime_fd_(lifetime_fd) {}

  pid_t pid_;
  // The parent's end of the pipe.
  int lifetime_fd_;
  std::optional<int> exit_code_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_CHILD_H_
