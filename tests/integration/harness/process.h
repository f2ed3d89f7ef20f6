// A program under test, as a process of its own.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_PROCESS_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace paceline {

struct ProcessOptions {
  // The program, found on PATH if it has no slash, and its arguments.
  std::vector<std::string> command;
  // Added to the environment of the test.
  std::vector<std::pair<std::string, std::string>> environment;
  // Standard output goes to <output_path>.out, standard error to
  // <output_path>.err.
  std::string output_path;
};

// Leads a session of its own, so whatever it starts can be found. The whole
// session is killed when this object is destroyed, or the test ends.
//
// Start from the main thread only: the process ends with its thread.
class Process {
 public:
  explicit Process(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }

  // The exit code, or 128 + the signal's number; nullopt if it has not ended
  // after `timeout`.
  std::optional<int> Wait(absl::Duration timeout);

  void Signal(int signal) const;

  // What it has written so far.
  std::string Output() const;
  std::string Errors() const;

  // The living processes of its session, itself included.
  std::vector<pid_t> Session() const;

 private:
  pid_t pid_;
  std::string output_path_;
  std::optional<int> exit_code_;
};

// Expects the process to end with `code` as soon as a small job does.
void ExpectExit(Process& process, int code);

// The living process of `session` that runs `program` with `argument` among its
// arguments; -1 if there is none.
pid_t FindProcess(const std::vector<pid_t>& session, const std::string& program,
                  const std::string& argument);

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_PROCESS_H_
