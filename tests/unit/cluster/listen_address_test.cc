#include "common/cluster/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace paceline {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddressTest, AnAddressToListenOnHasAPort) {
  for (const auto& [text, port] :
       {std::pair<std::string, int>("127.0.0.1:0", 0),
        {"[::1]:2222", 2222},
        {"localhost:65535", 65535}}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->port, port);
    EXPECT_TRUE(IsLoopback(*address));
  }
  for (const auto& [text, error] :
       {std::pair<std::string, std::string>("nonsense", "it has no port"),
        {"[::1]", "it has no port"},
        {"", "it is empty"},
        {"127.0.0.1:x", "the port must be from 1 to 65535"},
        {"127.0.0.1:65536", "the port must be from 1 to 65535"},
        {"300.0.0.1:1", "not an IPv4 address"}}) {
    const absl::Status status = ParseListenAddress(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(error)) << text;
  }
}

}  // namespace
}  // namespace paceline
