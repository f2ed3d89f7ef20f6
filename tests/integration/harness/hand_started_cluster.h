// A cluster under TF_CONFIG whose tasks are started one by one.
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

  // `job` must outlive the cluster. `prefix` returns words to put before a
  // task's command, such as those that run it on another host.
  HandStartedCluster(
      const SmallJob& job, Addresses addresses,
      std::function<std::vector<std::string>(const std::string& task)> prefix =
          nullptr)
      : job_(job),
        addresses_(std::move(addresses)),
        prefix_(std::move(prefix)) {}

  // A cluster on loopback with these numbers of tasks.
  static HandStartedCluster OnLoopback(const SmallJob& job, int chief, int ps,
                                       int workers);

  const std::string& AddressOf(const std::string& type, int index) const {
    return addresses_.at(type).at(index);
  }

  // The task's environment variable.
  std::string TfConfig(const std::string& type, int index) const;

  // Sets PACELINE_JOB_SECRET for tasks started from now on; "": unset.
  void SetSecret(std::string secret) { secret_ = std::move(secret); }

  // Starts a ps_server or worker of the cluster, with additional arguments. Its
  // output goes to <job folder>/<type>-<index>.{out,err}.
  Process Start(const std::string& type, int index,
                const std::vector<std::string>& arguments = {}) const;
  // Starts the coordinator as the chief, with the job's output folder.
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
