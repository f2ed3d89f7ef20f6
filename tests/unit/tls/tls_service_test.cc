// The coordinator of a service over TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/cluster/task_proto.h"
#include "common/rpc/service_client.h"
#include "common/rpc/tls.h"
#include "coordinator/service/service_server.h"
#include "tests/certificates/test_authority.h"

namespace paceline {
namespace {

TEST(TlsServiceTest, AClientNeedsACertificate) {
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/tls_service_test");
  std::filesystem::remove_all(folder);
  const TestAuthority authority(testing::TempDir(), "service_ca");
  const auto tls = Tls::Load(authority.Issue("service"));
  ASSERT_TRUE(tls.ok()) << tls.status();
  const JobSecret secret = *JobSecret::FromText("the secret of this service");
  ServiceServerOptions options;
  options.listen_address = "127.0.0.1:0";
  options.store_folder = folder;
  options.version = "1.0";
  options.secret = secret;
  options.tls = *tls;
  const auto server = ServiceServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto list_jobs = [&](std::shared_ptr<const Tls> with) {
    ServiceClient client(
        absl::StrCat("127.0.0.1:", (*server)->port()),
        std::make_shared<Caller>(TaskToProto({TaskType::kWorker, 0}), 1, secret,
                                 std::move(with)));
    return client.ListJobs({}).status();
  };
  const absl::Status listed = list_jobs(*tls);
  EXPECT_TRUE(listed.ok()) << listed;
  EXPECT_TRUE(absl::IsUnavailable(list_jobs(nullptr)));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace paceline
