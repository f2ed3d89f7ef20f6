#include "tests/integration/harness/test_network.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr char kNamePrefix[] = "paceline-test-";
// What `ip netns exec` mounts over files of /etc.
constexpr char kEtcFolder[] = "/etc/netns/";

bool Succeeds(const std::string& command) {
  return system(absl::StrCat(command, " 2>/dev/null").c_str()) == 0;
}

void Ip(const std::string& arguments) {
  const std::string command = absl::StrCat("ip ", arguments);
  CHECK_EQ(system(command.c_str()), 0) << command;
}

void RemoveNamespaces(const std::string& prefix) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/run/netns", error)) {
    const std::string name = entry.path().filename();
    if (!absl::StartsWith(name, prefix)) continue;
    Succeeds("ip netns delete " + name);
    fs::remove_all(kEtcFolder + name, error);
  }
}

// Of tests that were killed: the process that names them is no more.
void RemoveStaleNamespaces() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/run/netns", error)) {
    const std::string name = entry.path().filename();
    if (!absl::StartsWith(name, kNamePrefix)) continue;
    const int pid = atoi(name.c_str() + sizeof(kNamePrefix) - 1);
    if (pid > 0 && kill(pid, 0) != 0) {
      RemoveNamespaces(absl::StrCat(kNamePrefix, pid, "-"));
    }
  }
}

}  // namespace

std::string TestNetwork::Obstacle() {
  if (geteuid() != 0) return "network namespaces need root";
  const std::string name = absl::StrCat(kNamePrefix, getpid(), "-probe");
  const bool works =
      Succeeds("ip netns add " + name) &&
      Succeeds("ip -n " + name + " link add name hub0 type bridge") &&
      Succeeds("ip netns exec " + name + " true");
  RemoveNamespaces(name);
  return works ? "" : "`ip netns` cannot make namespaces here";
}

TestNetwork::TestNetwork(int host_count)
    : prefix_(absl::StrCat(kNamePrefix, getpid(), "-")) {
  RemoveStaleNamespaces();
  const std::string hub = prefix_ + "hub";
  Ip("netns add " + hub);
  // A new port of a bridge forwards after a delay, by default 15 s.
  Ip(absl::StrCat("-n ", hub,
                  " link add name hub0 type bridge forward_delay 0"));
  Ip(absl::StrCat("-n ", hub, " link set hub0 up"));
  for (int host = 0; host < host_count; ++host) {
    const std::string name = NamespaceOf(host);
    Ip("netns add " + name);
    Ip(absl::StrCat("-n ", hub, " link add name port", host,
                    " type veth peer name eth0 netns ", name));
    Ip(absl::StrCat("-n ", hub, " link set port", host, " master hub0 up"));
    Ip(absl::StrCat("-n ", name, " address add ", AddressOf(host),
                    "/24 dev eth0"));
    Ip(absl::StrCat("-n ", name, " link set lo up"));
    Ip(absl::StrCat("-n ", name, " link set eth0 up"));
    fs::create_directories(kEtcFolder + name);
    std::ofstream(kEtcFolder + name + "/hosts") << "127.0.0.1 localhost\n";
    // Names that the file lacks are unknown at once.
    std::ofstream(kEtcFolder + name + "/resolv.conf")
        << "nameserver 127.0.0.1\n";
  }
}

TestNetwork::~TestNetwork() { RemoveNamespaces(prefix_); }

std::string TestNetwork::NamespaceOf(int host) const {
  return absl::StrCat(prefix_, host);
}

std::string TestNetwork::AddressOf(int host) const {
  return absl::StrCat("10.77.0.", host + 1);
}

std::vector<std::string> TestNetwork::On(int host) const {
  return {"ip", "netns", "exec", NamespaceOf(host)};
}

void TestNetwork::Cut(int host) const {
  Ip(absl::StrCat("-n ", prefix_, "hub link set port", host, " down"));
}

void TestNetwork::AddName(int host, const std::string& name, int target) const {
  // Appends, since the file itself is mounted.
  std::ofstream(kEtcFolder + NamespaceOf(host) + "/hosts", std::ios::app)
      << AddressOf(target) << " " << name << "\n";
}

}  // namespace paceline
