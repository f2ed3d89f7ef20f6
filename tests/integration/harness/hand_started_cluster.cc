#include "tests/integration/harness/hand_started_cluster.h"

#include "nlohmann/json.hpp"
#include "tests/integration/harness/free_addresses.h"

namespace paceline {

HandStartedCluster HandStartedCluster::OnLoopback(const SmallJob& job,
                                                  int chief, int ps,
                                                  int workers) {
  const std::vector<std::string> free = FreeAddresses(chief + ps + workers);
  auto next = free.begin();
  Addresses addresses;
  const auto take = [&](const std::string& type, int count) {
    if (count == 0) return;
    addresses[type].assign(next, next + count);
    next += count;
  };
  take("chief", chief);
  take("ps", ps);
  take("worker", workers);
  return HandStartedCluster(job, addresses);
}

std::string HandStartedCluster::TfConfig(const std::string& type,
                                         int index) const {
  return nlohmann::json{{"cluster", addresses_},
                        {"task", {{"type", type}, {"index", index}}}}
      .dump();
}

Process HandStartedCluster::Start(
    const std::string& type, int index,
    const std::vector<std::string>& arguments) const {
  if (type == "ps") return StartProgram("ps_server", type, index, arguments);
  // All tasks share this machine's cores.
  std::vector<std::string> all = {"--threads=1"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return StartProgram("worker", type, index, all);
}

Process HandStartedCluster::StartChief(
    const std::vector<std::string>& arguments) const {
  std::vector<std::string> all = {"run", job_.path(), "--output",
                                  job_.output_dir()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return StartProgram("coordinator", "chief", 0, all);
}

Process HandStartedCluster::StartProgram(
    const std::string& program, const std::string& type, int index,
    const std::vector<std::string>& arguments) const {
  const std::string task = type + "-" + std::to_string(index);
  ProcessOptions options;
  if (prefix_) options.command = prefix_(task);
  options.command.push_back(ProgramPath(program));
  options.command.insert(options.command.end(), arguments.begin(),
                         arguments.end());
  options.environment = {{"TF_CONFIG", TfConfig(type, index)},
                         {"PACELINE_JOB_SECRET", secret_}};
  options.output_path = job_.folder() / task;
  return Process(options);
}

}  // namespace paceline
