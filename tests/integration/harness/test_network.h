// Hosts simulated by network namespaces that are connected by a bridge.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_TEST_NETWORK_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_TEST_NETWORK_H_

#include <string>
#include <vector>

namespace paceline {

// Host i has the address 10.77.0.<i + 1> and its own /etc/hosts. The destructor
// removes everything; a new network also removes what killed tests have left.
// Needs root.
class TestNetwork {
 public:
  // Why this machine cannot create namespaces; "" if it can.
  static std::string Obstacle();

  explicit TestNetwork(int host_count);
  TestNetwork(const TestNetwork&) = delete;
  ~TestNetwork();

  std::string AddressOf(int host) const;
  // Words to put before a command to run it on the host.
  std::vector<std::string> On(int host) const;

  // Disconnects the host.
  void Cut(int host) const;
  // Adds `name` for host number `target` to the host's /etc/hosts.
  void AddName(int host, const std::string& name, int target) const;

 private:
  std::string NamespaceOf(int host) const;

  // Prefix of the names of all its namespaces.
  const std::string prefix_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_TEST_NETWORK_H_
