// A program under test in its own process.
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
  // The path of a Terminal; both go there instead. "": none.
  std::string terminal = "";
};

// The process leads a session of its own, so that tests can find all processes
// that it starts. The whole session is killed when this object is destroyed or
// the test ends.
//
// Start processes from the main thread only, since a process ends with the
// thread that started it.
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

  // The output so far.
  std::string Output() const;
  std::string Errors() const;

  // The living processes of the session, including this one.
  std::vector<pid_t> Session() const;

 private:
  pid_t pid_;
  std::string output_path_;
  std::optional<int> exit_code_;
};

// Expects the process to end with `code` within kJobLimit.
void ExpectExit(Process& process, int code);

// The living process of `session` that runs `program` with `argument` among its
// arguments; -1 if there is none.
pid_t FindProcess(const std::vector<pid_t>& session, const std::string& program,
                  const std::string& argument);

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_PROCESS_H_
