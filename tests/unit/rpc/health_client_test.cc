// A probe of a server: what it answers, over TLS or not, and that nothing makes
// it wait for ever.
#include "common/rpc/health_client.h"

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/net/listener.h"
#include "common/rpc/health_service.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/certificates/test_authority.h"
#include "tests/test_identity.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class HealthClientTest : public testing::Test {
 protected:
  HealthClientTest() { std::filesystem::create_directories(folder_); }

  // Serves on a free port.
  void Serve(RpcService& service, std::shared_ptr<const Tls> tls = nullptr) {
    auto server = StartTestServer("127.0.0.1:0", service,
                                  *JobSecret::FromText("nobody's business"),
                                  /*thread_count=*/0, std::move(tls));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    address_ = absl::StrCat("127.0.0.1:", server_->port());
  }

  std::shared_ptr<const Tls> TlsOf(const TestAuthority& authority,
                                   const std::string& name) {
    const auto tls = Tls::Load(authority.Issue(name));
    EXPECT_TRUE(tls.ok()) << tls.status();
    return tls.ok() ? *tls : nullptr;
  }

  absl::Status Check(const std::string& service, const Tls* tls = nullptr,
                     absl::Duration timeout = absl::Seconds(30)) {
    return CheckHealth(address_, tls, service, timeout,
                       [this] { return is_interrupted_; });
  }

  const std::string folder_ = testing::TempDir() + "health_client_test";
  std::unique_ptr<RpcServer> server_;
  std::string address_;
  bool is_interrupted_ = false;
};

TEST_F(HealthClientTest, SaysWhatDoesNotServe) {
  HealthService service(absl::Hours(1));
  Serve(service);
  EXPECT_TRUE(Check("liveness").ok());
  EXPECT_EQ(Check("readiness"),
            absl::UnavailableError(absl::StrCat(
                address_, ": readiness is NOT_SERVING; expected SERVING")));
  service.Beat(/*is_ready=*/true);
  EXPECT_TRUE(Check("readiness").ok());
  EXPECT_THAT(std::string(Check("another").message()),
              AllOf(HasSubstr(address_), HasSubstr("unknown service")));
}

TEST_F(HealthClientTest, BothEndsMustHaveCertificatesOfOneAuthority) {
  const TestAuthority authority(folder_, "ca");
  HealthService service(absl::Hours(1));
  Serve(service, TlsOf(authority, "server"));
  EXPECT_TRUE(Check("liveness", TlsOf(authority, "client").get()).ok());
  for (const auto& tls : {std::shared_ptr<const Tls>(),
                          TlsOf(TestAuthority(folder_, "other"), "stranger")}) {
    const absl::Status status = Check("liveness", tls.get());
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address_));
  }
}

// A status that the standard does not have.
class OddHealthService : public RpcService {
 public:
  OddHealthService() : RpcService("grpc.health.v1.Health") {
    using ::grpc::health::v1::HealthCheckRequest;
    using ::grpc::health::v1::HealthCheckResponse;
    AddMessages<HealthCheckRequest, HealthCheckResponse>(
        "Check", kMaxHealthRequestBytes,
        [](const HealthCheckRequest& /*request*/, HealthCheckResponse& response,
           const Done& done) {
          response.set_status(
              static_cast<HealthCheckResponse::ServingStatus>(77));
          done(absl::OkStatus());
        },
        Access::kAnybody);
  }
};

TEST_F(HealthClientTest, OnlyServingIsHealth) {
  OddHealthService service;
  Serve(service);
  EXPECT_THAT(std::string(Check("liveness").message()), HasSubstr("is 77;"));
}

TEST_F(HealthClientTest, NobodyThereIsAnErrorAtOnce) {
  HealthService service;
  Serve(service);
  server_.reset();
  const absl::Time begin = MonotonicNow();
  const absl::Status status = Check("liveness");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(address_));
  EXPECT_LT(MonotonicNow() - begin, absl::Seconds(15));
}

// It takes connections, and says nothing.
TEST_F(HealthClientTest, ASilentServerIsGivenUp) {
  const auto listener = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  address_ = absl::StrCat("127.0.0.1:", listener->port());
  const absl::Status late =
      Check("liveness", /*tls=*/nullptr, absl::Milliseconds(300));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(std::string(late.message()),
              AllOf(HasSubstr(address_), HasSubstr("no answer within 300ms")));
  is_interrupted_ = true;
  EXPECT_TRUE(absl::IsCancelled(Check("liveness")));
}

}  // namespace
}  // namespace paceline
