// Hosts made of network namespaces, joined by a bridge.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_TEST_NETWORK_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_TEST_NETWORK_H_

#include <string>
#include <vector>

namespace paceline {

// Host number i has the address 10.77.0.<i + 1> and an /etc/hosts of its own.
// All is removed when the network is destroyed; what killed tests have left is
// removed by the next. Needs root.
class TestNetwork {
 public:
  // Why this machine cannot make namespaces; "" if it can.
  static std::string Obstacle();

  explicit TestNetwork(int host_count);
  TestNetwork(const TestNetwork&) = delete;
  ~TestNetwork();

  std::string AddressOf(int host) const;
  // The words that precede a command to run it on the host.
  std::vector<std::string> On(int host) const;

  // Takes the cable of the host out.
  void Cut(int host) const;
  // Lets the host know that `name` is the host number `target`.
  void AddName(int host, const std::string& name, int target) const;

 private:
  std::string NamespaceOf(int host) const;

  const int host_count_;
  // Of all its namespaces' names.
  const std::string prefix_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_TEST_NETWORK_H_
