// A parameter server without a leader, for clients in other languages to test:
// prints its port, and ends with its standard input.
//   shard_server INCARNATION SECRET
#include <glog/logging.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "common/rpc/rpc_server.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/test_identity.h"

int main(int argc, char** argv) {
  CHECK_EQ(argc, 3);
  paceline::Shard shard(std::strtoull(argv[1], nullptr, 10));
  paceline::PsService service(shard);
  const auto server = paceline::StartTestServer(
      "127.0.0.1:0", service, *paceline::JobSecret::FromText(argv[2]));
  CHECK(server.ok()) << server.status();
  std::cout << (*server)->port() << std::endl;
  std::string line;
  std::getline(std::cin, line);
  return 0;
}
