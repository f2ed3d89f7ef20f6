// A cluster under TF_CONFIG, each task of which is started by itself.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_HAND_STARTED_CLUSTER_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_HAND_STARTED_CLUSTER_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/harness/process.h"
#include "tests/integration/harness/small_job.h"

namespace paceline {

class HandStartedCluster {
 public:
  // Addresses by task type, such as {"ps", {"10.0.0.1:2222"}}.
  using Addresses = std::map<std::string, std::vector<std::string>>;

  // `job` outlives the cluster. `prefix` gives the words that precede a task's
  // command, such as those that start it on another host.
  HandStartedCluster(
      const SmallJob& job, Addresses addresses,
      std::function<std::vector<std::string>(const std::string& task)> prefix =
          nullptr)
      : job_(job),
        addresses_(std::move(addresses)),
        prefix_(std::move(prefix)) {}

  // A cluster on the loopback interface with as many tasks as given.
  static HandStartedCluster OnLoopback(const SmallJob& job, int chief, int ps,
                                       int workers);

  const std::string& AddressOf(const std::string& type, int index) const {
    return addresses_.at(type).at(index);
  }

  // What the task finds in its environment.
  std::string TfConfig(const std::string& type, int index) const;

  // The text of PACELINE_JOB_SECRET from now on; "": unset.
  void SetSecret(std::string secret) { secret_ = std::move(secret); }

  // Starts the ps_server or worker of the cluster, with more arguments. Its
  // output is in <job folder>/<type>-<index>.{out,err}.
  Process Start(const std::string& type, int index,
                const std::vector<std::string>& arguments = {}) const;
  // Starts the coordinator as the chief, into the job's output folder.
  Process StartChief(const std::vector<std::string>& arguments = {}) const;

 private:
  Process StartProgram(const std::string& program, const std::string& type,
                       int index,
                       const std::vector<std::string>& arguments) const;

  const SmallJob& job_;
  const Addresses addresses_;
  const std::function<std::vector<std::string>(const std::string&)> prefix_;
  std::string secret_ = kTestSecret;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_HAND_STARTED_CLUSTER_H_
