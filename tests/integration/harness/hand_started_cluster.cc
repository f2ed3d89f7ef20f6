#include "tests/integration/harness/hand_started_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"

namespace paceline {

namespace {

// Programs of tests run beside each other, and a task may bind its port seconds
// after the test chose it. So each program has ports of its own, below those
// that the kernel gives to whoever asks for any.
constexpr int kFirstPort = 10240;
constexpr int kPortsEach = 256;
constexpr int kPrograms = 80;

// The first port of this program, which holds a lock for it until it ends.
int OwnPorts() {
  for (int i = 0; i < kPrograms; ++i) {
    const std::string path = absl::StrCat("/tmp/paceline-test-ports-", i);
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    PCHECK(fd >= 0) << path;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return kFirstPort + i * kPortsEach;
    close(fd);
  }
  LOG(FATAL) << "more than " << kPrograms << " programs of tests at a time";
}

bool IsFree(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  PCHECK(fd >= 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool is_free =
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return is_free;
}

}  // namespace

std::vector<std::string> FreeAddresses(int count) {
  static const int first = OwnPorts();
  // Those of the last call may be bound yet.
  static int next = 0;
  std::vector<std::string> addresses;
  for (int tried = 0; std::ssize(addresses) < count; ++tried) {
    CHECK_LT(tried, kPortsEach) << "too few ports are free";
    const int port = first + next;
    next = (next + 1) % kPortsEach;
    if (IsFree(port)) addresses.push_back(absl::StrCat("127.0.0.1:", port));
  }
  return addresses;
}

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
