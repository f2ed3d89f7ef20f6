// Child processes that write to a log file and never outlive this process.
#ifndef PACELINE_COMMON_PROCESS_CHILD_H_
#define PACELINE_COMMON_PROCESS_CHILD_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace paceline {

// What a child may use. Its own children inherit it.
struct ChildLimits {
  // The processors, by the kernel's numbers; empty: those of this process.
  std::vector<int> cores;
  // Its data: private writable memory, used or only mapped (RLIMIT_DATA), in
  // bytes. 0: as much as this process.
  uint64_t data_bytes = 0;
  // The file cgroup.procs of the control group that it enters, open for
  // writing; -1: that of this process.
  int cgroup_procs = -1;
};

// What a child took that has ended, with those of its own children for which it
// waited.
struct ChildUsage {
  // In user and in system mode.
  uint64_t cpu_micros = 0;
  // The most that one process had resident. At least what this process had when
  // it spawned the child.
  uint64_t peak_memory_bytes = 0;
};

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
  // Hold before the program runs. If they cannot, it does not run.
  ChildLimits limits;
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

  // Set by the Poll that returns the exit code, unless that is unknown.
  const std::optional<ChildUsage>& usage() const { return usage_; }

  void Kill(int signal);

 private:
  Child(pid_t pid, int lifetime_fd) : pid_(pid), lifetime_fd_(lifetime_fd) {}

  pid_t pid_;
  // The parent's end of the pipe.
  int lifetime_fd_;
  std::optional<int> exit_code_;
  std::optional<ChildUsage> usage_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_CHILD_H_
