// A parameter server without a leader, for clients in other languages to test:
// prints its port, says that it is ready after the first line of its standard
// input, and ends with that.
//   shard_server INCARNATION SECRET
#include <glog/logging.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "common/rpc/health_service.h"
#include "common/rpc/rpc_server.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/test_identity.h"

int main(int argc, char** argv) {
  CHECK_EQ(argc, 3);
  paceline::Shard shard(std::strtoull(argv[1], nullptr, 10));
  paceline::PsService service(shard);
  paceline::HealthService health;
  const auto server =
      paceline::StartTestServer("127.0.0.1:0", {&service, &health},
                                *paceline::JobSecret::FromText(argv[2]));
  CHECK(server.ok()) << server.status();
  std::cout << (*server)->port() << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) health.Beat(/*is_ready=*/true);
  return 0;
}
