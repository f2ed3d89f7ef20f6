// Carries connections over a link of a given speed, until it is killed:
//
//   relay LISTENS_ON CALLEE MEGABITS_PER_SECOND LATENCY_MS [CALLEE_NETNS]
//
// With the last, a link out of the network namespace in which it is started.
#include <glog/logging.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/time/time.h"
#include "tests/relay/relay.h"

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  CHECK(argc == 5 || argc == 6) << "usage: relay LISTENS_ON CALLEE "
                                   "MEGABITS_PER_SECOND LATENCY_MS "
                                   "[CALLEE_NETNS]";
  paceline::LinkSpeed speed;
  speed.bytes_per_second = std::atof(argv[3]) * 1e6 / 8;
  speed.latency = absl::Milliseconds(std::atof(argv[4]));
  const paceline::Relay relay(argv[1], argv[2], speed,
                              argc == 6 ? argv[5] : "");
  while (true) pause();
}
