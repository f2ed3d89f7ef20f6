// Carries connections over a link of a given speed, until it is killed:
//
//   relay LISTENS_ON CALLEE MEGABITS_PER_SECOND LATENCY_MS [CALLEE_NETNS]
//
// With the last, a link out of the network namespace in which it is started.
#include <glog/logging.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/net/socket_address.h"
#include "tests/relay/relay.h"

namespace paceline {
namespace {

int Fail(const std::string& error) {
  std::cerr << "relay: " << error << "\n";
  return kBadInput;
}

bool IsAddress(const std::string& text) {
  return Resolve(text, AI_NUMERICHOST | AI_NUMERICSERV).ok();
}

int Run(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    return Fail(
        "usage: relay LISTENS_ON CALLEE MEGABITS_PER_SECOND LATENCY_MS "
        "[CALLEE_NETNS]");
  }
  const std::string listens_on = argv[1];
  const std::string callee = argv[2];
  const std::string callee_netns = argc == 6 ? argv[5] : "";
  for (const auto& [name, address] :
       {std::pair("LISTENS_ON", listens_on), std::pair("CALLEE", callee)}) {
    if (!IsAddress(address)) {
      return Fail(absl::StrCat(name, ": got \"", address,
                               "\"; expected an address such as "
                               "127.0.0.1:2222"));
    }
  }
  const absl::StatusOr<LinkSpeed> speed = ReadLinkSpeed(argv[3], argv[4]);
  if (!speed.ok()) return Fail(std::string(speed.status().message()));
  if (!callee_netns.empty() && access(callee_netns.c_str(), R_OK) != 0) {
    return Fail(absl::StrCat("CALLEE_NETNS: got \"", callee_netns,
                             "\"; expected the file of a network namespace"));
  }
  const Relay relay(listens_on, callee, *speed, callee_netns);
  while (true) pause();
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  return paceline::Run(argc, argv);
}
