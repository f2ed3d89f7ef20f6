// Probes of real programs, as Kubernetes makes them: without the job's secret.
#include <grpcpp/create_channel.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "gtest/gtest.h"
#include "tests/certificates/test_authority.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

namespace health_v1 = ::grpc::health::v1;
using Health = health_v1::HealthCheckResponse;

// What a new connection learns; UNKNOWN: nobody answers.
Health::ServingStatus Probe(const std::string& address,
                            const std::string& service) {
  const auto stub = health_v1::Health::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(1 * kTimeScale));
  health_v1::HealthCheckRequest request;
  request.set_service(service);
  Health health;
  return stub->Check(&context, request, &health).ok() ? health.status()
                                                      : Health::UNKNOWN;
}

bool Becomes(Health::ServingStatus health, const std::string& address,
             const std::string& service) {
  return WaitUntil(kJobLimit,
                   [&] { return Probe(address, service) == health; });
}

TEST(HealthTest, ATaskLivesFirstAndIsReadyWhenItCanWork) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  const std::string& ps_address = cluster.AddressOf("ps", 0);
  const std::string& chief_address = cluster.AddressOf("chief", 0);
  Process ps = cluster.Start("ps", 0);
  ASSERT_TRUE(Becomes(Health::SERVING, ps_address, "liveness")) << ps.Errors();
  EXPECT_EQ(Probe(ps_address, ""), Health::SERVING);
  EXPECT_EQ(Probe(ps_address, "readiness"), Health::NOT_SERVING);

  Process chief = cluster.StartChief({"--set", "epochs=100000"});
  ASSERT_TRUE(Becomes(Health::SERVING, chief_address, "readiness"))
      << chief.Errors();
  EXPECT_EQ(Probe(chief_address, "liveness"), Health::SERVING);
  EXPECT_EQ(Probe(ps_address, "readiness"), Health::NOT_SERVING)
      << "it holds no variables before all tasks are there";

  Process worker_0 = cluster.Start("worker", 0);
  Process worker_1 = cluster.Start("worker", 1);
  EXPECT_TRUE(Becomes(Health::SERVING, ps_address, "readiness")) << ps.Errors();
  chief.Signal(SIGTERM);
  EXPECT_EQ(chief.Wait(kJobLimit), 130) << chief.Errors();
  EXPECT_EQ(ps.Wait(kJobLimit), 0) << ps.Errors();
}

TEST(HealthTest, AWorkerThatLeadsAnswersToo) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 0, 1, 1);
  Process leader = cluster.Start(
      "worker", 0, {"--job", job.path(), "--output", job.output_dir()});
  ASSERT_TRUE(
      Becomes(Health::SERVING, cluster.AddressOf("worker", 0), "readiness"))
      << leader.Errors();
  EXPECT_EQ(Probe(cluster.AddressOf("worker", 0), "liveness"), Health::SERVING);
}

TEST(HealthTest, TheVerbProbesOverTls) {
  SmallJob job;
  const TlsFiles files =
      TestAuthority(job.folder().path(), "ca").Issue("everybody");
  TestService service({"--tls-cert", files.certificate, "--tls-key", files.key,
                       "--tls-ca", files.authority});
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return service.Start({"health", service.address()}).Wait(kJobLimit) == 0;
  }));
  service.Run({"health", service.address(), "--service", "liveness"});
  Process plain = job.Coordinator({"health", service.address()});
  ExpectExit(plain, 1);
  EXPECT_THAT(plain.Errors(), HasSubstr(service.address()));
  service.KillCoordinator();
  service.Run({"health", service.address()}, 1);
  service.Run({"health", "a:b:c"}, 2);
}

}  // namespace
}  // namespace paceline
