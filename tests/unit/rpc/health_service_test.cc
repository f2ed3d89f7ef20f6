// The health of a task, as probes without the job's secret see it.
#include "common/rpc/health_service.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/test_identity.h"

namespace paceline {
namespace {

namespace health_v1 = ::grpc::health::v1;
using Health = health_v1::HealthCheckResponse;

class HealthServiceTest : public ::testing::Test {
 protected:
  static constexpr absl::Duration kTimeout = absl::Seconds(30);

  void SetUp() override {
    auto server = StartTestServer("127.0.0.1:0", service_,
                                  *JobSecret::FromText("nobody's business"));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    address_ = absl::StrCat("127.0.0.1:", server_->port());
    stub_ = health_v1::Health::NewStub(
        grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  }

  static void SetDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoSeconds(kTimeout));
  }
  grpc::Status Check(const std::string& name, Health* health) {
    grpc::ClientContext context;
    SetDeadline(context);
    health_v1::HealthCheckRequest request;
    request.set_service(name);
    return stub_->Check(&context, request, health);
  }
  Health::ServingStatus StatusOf(const std::string& name) {
    Health health;
    const grpc::Status status = Check(name, &health);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return health.status();
  }

  // A call of Watch.
  class Watch {
   public:
    Watch(health_v1::Health::Stub& stub, const std::string& name) {
      SetDeadline(context_);
      health_v1::HealthCheckRequest request;
      request.set_service(name);
      reader_ = stub.Watch(&context_, request);
    }
    ~Watch() {
      if (reader_ != nullptr) End();
    }
    // UNKNOWN: the call has ended.
    Health::ServingStatus Next() {
      Health health;
      return reader_->Read(&health) ? health.status() : Health::UNKNOWN;
    }
    grpc::Status End() {
      context_.TryCancel();
      const grpc::Status status = reader_->Finish();
      reader_.reset();
      return status;
    }
    grpc::Status Finish() {
      const grpc::Status status = reader_->Finish();
      reader_.reset();
      return status;
    }

   private:
    grpc::ClientContext context_;
    std::unique_ptr<grpc::ClientReader<Health>> reader_;
  };

  // Patient: a test on a busy machine may take long between two beats.
  explicit HealthServiceTest(absl::Duration patience = absl::Hours(1))
      : service_(patience) {}

  HealthService service_;
  std::unique_ptr<RpcServer> server_;
  std::string address_;
  std::unique_ptr<health_v1::Health::Stub> stub_;
};

TEST_F(HealthServiceTest, LivesBeforeItIsReady) {
  EXPECT_EQ(StatusOf(""), Health::SERVING);
  EXPECT_EQ(StatusOf("liveness"), Health::SERVING);
  EXPECT_EQ(StatusOf("readiness"), Health::NOT_SERVING);
  service_.Beat(/*is_ready=*/true);
  EXPECT_EQ(StatusOf("readiness"), Health::SERVING);
  service_.EndBeats();
  EXPECT_EQ(StatusOf(""), Health::SERVING);
  EXPECT_EQ(StatusOf("readiness"), Health::NOT_SERVING);
}

class StandstillTest : public HealthServiceTest {
 protected:
  StandstillTest() : HealthServiceTest(absl::Milliseconds(500)) {}
};

TEST_F(StandstillTest, AMainLoopThatStandsStillDoesNotLive) {
  Watch watch(*stub_, "liveness");
  EXPECT_EQ(watch.Next(), Health::SERVING) << "no beat is expected yet";
  service_.Beat(/*is_ready=*/true);
  EXPECT_EQ(watch.Next(), Health::NOT_SERVING);
  EXPECT_EQ(StatusOf(""), Health::NOT_SERVING);
  EXPECT_EQ(StatusOf("readiness"), Health::NOT_SERVING);
  std::atomic<bool> goes_on = true;
  std::thread main_loop([&] {
    while (goes_on) {
      service_.Beat(/*is_ready=*/true);
      absl::SleepFor(absl::Milliseconds(10));
    }
  });
  EXPECT_EQ(watch.Next(), Health::SERVING);
  goes_on = false;
  main_loop.join();
}

TEST_F(HealthServiceTest, AWatchSeesEachChange) {
  Watch watch(*stub_, "readiness");
  EXPECT_EQ(watch.Next(), Health::NOT_SERVING);
  service_.Beat(/*is_ready=*/true);
  EXPECT_EQ(watch.Next(), Health::SERVING);
  service_.EndBeats();
  EXPECT_EQ(watch.Next(), Health::NOT_SERVING);
  EXPECT_EQ(watch.End().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(HealthServiceTest, KnowsNoOtherService) {
  Health health;
  EXPECT_EQ(Check("paceline.v1.CoordinatorService", &health).error_code(),
            grpc::StatusCode::NOT_FOUND);
  Watch watch(*stub_, "paceline.v1.CoordinatorService");
  EXPECT_EQ(watch.Next(), Health::SERVICE_UNKNOWN);
}

TEST_F(HealthServiceTest, RefusesLongNames) {
  Health health;
  const std::string name(kMaxHealthRequestBytes, 'x');
  EXPECT_EQ(Check(name, &health).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(HealthServiceTest, RefusesNonsense) {
  grpc::GenericStub stub(
      grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  const std::string nonsense[] = {"\xff", std::string(64, '\x0a'),
                                  "\x0a\x7fshort", "\x0a\x02\xff\xfe"};
  for (const char* method : {"Check", "Watch"}) {
    for (const std::string& bytes : nonsense) {
      const grpc::Slice slice(bytes);
      grpc::CompletionQueue queue;
      grpc::ClientContext context;
      SetDeadline(context);
      const auto call = stub.PrepareUnaryCall(
          &context, absl::StrCat("/grpc.health.v1.Health/", method),
          grpc::ByteBuffer(&slice, 1), &queue);
      call->StartCall();
      grpc::ByteBuffer response;
      grpc::Status status;
      call->Finish(&response, &status, nullptr);
      void* tag = nullptr;
      bool ok = false;
      ASSERT_TRUE(queue.Next(&tag, &ok));
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT)
          << status.error_message();
      queue.Shutdown();
    }
  }
  EXPECT_EQ(StatusOf(""), Health::SERVING);
}

// gRPC would receive all of it before it says how long it is.
TEST_F(HealthServiceTest, ReceivesNoHugeRequest) {
  constexpr int kMegabytes = 2000;
  const grpc::Slice megabyte(std::string(1 << 20, 'x'));
  const std::vector<grpc::Slice> slices(kMegabytes, megabyte);
  grpc::ByteBuffer request(slices.data(), slices.size());
  grpc::GenericStub stub(
      grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  SetDeadline(context);
  const auto call = stub.PrepareUnaryCall(
      &context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  const absl::Time begin = MonotonicNow();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED)
      << status.error_message();
  EXPECT_LT(MonotonicNow() - begin, absl::Seconds(5));
  queue.Shutdown();
  EXPECT_EQ(StatusOf(""), Health::SERVING);
}

TEST_F(HealthServiceTest, OpenWatchesOfAnAddressAreBounded) {
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < kMaxUnprovenCalls; ++i) {
    watches.push_back(std::make_unique<Watch>(*stub_, ""));
    EXPECT_EQ(watches.back()->Next(), Health::SERVING);
  }
  Watch other(*stub_, "");
  EXPECT_EQ(other.Next(), Health::UNKNOWN);
  EXPECT_EQ(other.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(StatusOf(""), Health::SERVING) << "a check has room";
  watches.clear();
  // The server learns of the end a little later.
  const absl::Time deadline = MonotonicNow() + kTimeout;
  while (Watch(*stub_, "").Next() != Health::SERVING) {
    ASSERT_LT(MonotonicNow(), deadline);
    absl::SleepFor(absl::Milliseconds(20));
  }
}

TEST_F(HealthServiceTest, AWatchEndsSoThatItsCallerCallsAgain) {
  HealthService service(kMainLoopTimeout, absl::Milliseconds(10));
  const auto server = StartTestServer("127.0.0.1:0", service);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto stub = health_v1::Health::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", (*server)->port()),
                          grpc::InsecureChannelCredentials()));
  for (int i = 0; i < 2; ++i) {
    Watch watch(*stub, "");
    EXPECT_EQ(watch.Next(), Health::SERVING);
    EXPECT_EQ(watch.Next(), Health::UNKNOWN);
    const grpc::Status status = watch.Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_NE(status.error_message().find("call again"), std::string::npos)
        << status.error_message();
  }
}

TEST_F(HealthServiceTest, TheServerEndsWhileSomeoneWatches) {
  Watch watch(*stub_, "");
  EXPECT_EQ(watch.Next(), Health::SERVING);
  server_.reset();
  EXPECT_EQ(watch.Next(), Health::UNKNOWN);
  EXPECT_FALSE(watch.Finish().ok());
}

// A call whose request never comes would keep its connection.
TEST_F(HealthServiceTest, ARequestMustArriveInTime) {
  grpc::GenericStub stub(
      grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  SetDeadline(context);
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok);
  };
  const auto call =
      stub.PrepareCall(&context, "/grpc.health.v1.Health/Check", &queue);
  call->StartCall(nullptr);
  ASSERT_TRUE(wait());
  const absl::Time begin = MonotonicNow();
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(wait());
  EXPECT_FALSE(status.ok());
  EXPECT_LT(MonotonicNow() - begin, absl::Seconds(5));
  queue.Shutdown();
  EXPECT_FALSE(wait());
}

}  // namespace
}  // namespace paceline
