// A service on loopback: its coordinator, daemons, and the commands of people.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_TEST_SERVICE_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_TEST_SERVICE_H_

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/integration/harness/process.h"
#include "tests/integration/harness/text_file.h"

namespace paceline {

class TestService {
 public:
  // Starts the coordinator. All programs get the `options`, and the coordinator
  // `serve_options`, too.
  explicit TestService(std::vector<std::string> options = {},
                       std::vector<std::string> serve_options = {});

  const TestFolder& folder() const { return folder_; }
  const std::string& address() const { return address_; }

  // Kills the coordinator with SIGKILL, and starts another one with its store
  // and address.
  void KillCoordinator();
  void StartCoordinator();

  // Starts `ps_server` or `worker` as a daemon of this name.
  Process StartDaemon(const std::string& program, const std::string& name,
                      int cores = 16,
                      const std::vector<std::string>& more = {}) const;

  // Starts a command that people give; on the Terminal with this path, if any.
  Process Start(const std::vector<std::string>& arguments,
                const std::string& terminal = "");
  // What it prints; expects it to end with `code`.
  std::string Run(const std::vector<std::string>& arguments, int code = 0);

  // `describe JOB -o json`.
  nlohmann::json Describe(const std::string& job);
  // Waits until the job's state is one of these ("RUNNING"); returns whether it
  // is.
  bool WaitForState(const std::string& job,
                    const std::vector<std::string>& states);

 private:
  std::vector<std::string> WithOptions(std::vector<std::string> command) const;

  const std::vector<std::string> options_;
  const std::vector<std::string> serve_options_;
  TestFolder folder_;
  std::string address_;
  std::optional<Process> coordinator_;
  int commands_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_TEST_SERVICE_H_
