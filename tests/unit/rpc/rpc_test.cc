// Channels, servers and clients over real sockets of the loopback interface.

#include <grpcpp/support/server_callback.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/rpc/call_group.h"
#include "common/rpc/coordinator_client.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/rpc_server.h"
#include "gmock/gmock.h"
#include "paceline/v1/ps.grpc.pb.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// Answers pulls with the size it is told, and never answers a fence.
class PsService : public v1::ParameterServerService::CallbackService {
 public:
  ~PsService() override { ReleaseFences(); }

  grpc::ServerUnaryReactor* Pull(grpc::CallbackServerContext* context,
                                 const v1::PullRequest* request,
                                 v1::PullResponse* response) override {
    response->add_variables()->mutable_dense()->set_values(
        std::string(request->ps_incarnation(), 'x'));
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerUnaryReactor* Push(grpc::CallbackServerContext* context,
                                 const v1::PushRequest*,
                                 v1::PushResponse*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish({grpc::StatusCode::FAILED_PRECONDITION, "fenced"});
    return reactor;
  }

  grpc::ServerUnaryReactor* Fence(grpc::CallbackServerContext* context,
                                  const v1::FenceRequest*,
                                  v1::FenceResponse*) override {
    MutexLock lock(mutex_);
    return fences_.emplace_back(context->DefaultReactor());
  }

  void ReleaseFences() {
    MutexLock lock(mutex_);
    for (grpc::ServerUnaryReactor* fence : fences_) {
      fence->Finish(grpc::Status::CANCELLED);
    }
    fences_.clear();
  }

 private:
  Mutex mutex_;
  std::vector<grpc::ServerUnaryReactor*> fences_ ABSL_GUARDED_BY(mutex_);
};

absl::Span<std::byte> PlaceIn(std::string& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size()};
}

class RpcTest : public ::testing::Test {
 protected:
  RpcTest() {
    auto server = RpcServer::Start("127.0.0.1:0", {&service_});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    address_ = absl::StrCat("127.0.0.1:", server_->port());
  }
  ~RpcTest() override { service_.ReleaseFences(); }

  PsService service_;
  std::unique_ptr<RpcServer> server_;
  std::string address_;
};

TEST_F(RpcTest, CarriesMessagesFarAboveTheDefaultLimit) {
  PsClient client("ps-0", address_);
  v1::PullRequest request;
  request.set_ps_incarnation(32 << 20);
  v1::PullResponse response;
  std::string values(32 << 20, ' ');
  DensePlace place = {PlaceIn(values)};
  CallGroup calls(1);
  client.Pull(request, &response, {&place, 1}, absl::Seconds(60),
              calls.Open(0));
  calls.Wait();
  ASSERT_TRUE(calls.status(0).ok()) << calls.status(0);
  EXPECT_TRUE(place.is_filled);
  EXPECT_EQ(values, std::string(32 << 20, 'x'));
}

TEST_F(RpcTest, VariablesThatDoNotFitAreAnError) {
  PsClient client("ps-0", address_);
  v1::PullRequest request;
  request.set_ps_incarnation(9);
  v1::PullResponse response;
  std::string values(8, ' ');
  DensePlace place = {PlaceIn(values)};
  CallGroup calls(1);
  for (const auto& [places, message] :
       {std::pair<absl::Span<DensePlace>, std::string>(
            {&place, 1}, "it has 9 bytes of block 0, expected 8"),
        {{}, "it has a block 0, expected 0 blocks"}}) {
    client.Pull(request, &response, places, absl::Seconds(60), calls.Open(0));
    calls.Wait();
    EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kInternal);
    EXPECT_EQ(calls.status(0).message(),
              absl::StrCat("Pull to ps-0 at ", address_, ": ", message));
  }
}

TEST_F(RpcTest, AnErrorNamesTheCallTheTaskAndItsAddress) {
  PsClient client("ps-0", address_);
  v1::PushResponse response;
  const v1::PushRequest request;
  CallGroup calls(1);
  client.Push(request, {}, &response, {}, absl::Seconds(60), calls.Open(0));
  calls.Wait();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(calls.status(0).message(),
            absl::StrCat("Push to ps-0 at ", address_, ": fenced"));
}

TEST_F(RpcTest, ASilentServerEndsTheCallAtItsDeadline) {
  PsClient client("ps-3", address_);
  const v1::FenceRequest request;
  v1::FenceResponse response;
  CallGroup calls(1);
  const absl::Time start = MonotonicNow();
  client.Fence(request, &response, absl::Milliseconds(300), calls.Open(0));
  calls.Wait();
  EXPECT_LT(MonotonicNow() - start, absl::Seconds(30));
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(calls.status(0).message()),
              HasSubstr(absl::StrCat("Fence to ps-3 at ", address_,
                                     ": no answer within 300ms")));
}

TEST_F(RpcTest, CancelEndsOpenCallsAndLaterOnes) {
  PsClient client("ps-0", address_);
  const v1::FenceRequest request;
  v1::FenceResponse response;
  CallGroup calls(1);
  client.Fence(request, &response, absl::Seconds(60), calls.Open(0));
  client.Cancel();
  calls.Wait();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kCancelled);
  client.Fence(request, &response, absl::Seconds(60), calls.Open(0));
  calls.Wait();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kCancelled);
}

TEST_F(RpcTest, ACallWaitsForAServerThatComesLate) {
  const int port = server_->port();
  server_.reset();
  PsClient client("ps-0", address_);
  v1::PullRequest request;
  v1::PullResponse response;
  DensePlace nothing;
  CallGroup calls(1);
  client.Pull(request, &response, {&nothing, 1}, absl::Seconds(60),
              calls.Open(0));
  absl::SleepFor(absl::Milliseconds(300));
  auto server = RpcServer::Start(absl::StrCat("127.0.0.1:", port), {&service_});
  ASSERT_TRUE(server.ok()) << server.status();
  calls.Wait();
  EXPECT_TRUE(calls.status(0).ok()) << calls.status(0);
}

TEST_F(RpcTest, AnAddressInUseIsRefused) {
  const auto second = RpcServer::Start(address_, {&service_});
  ASSERT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address_));
}

// No server here: gRPC's thread for callbacks must end with the client.
TEST(PsClientTest, MayGoAsSoonAsItsLastCallHasEnded) {
  struct SlowToGo {
    ~SlowToGo() { absl::SleepFor(absl::Milliseconds(100)); }
  };
  auto client = std::make_unique<PsClient>("ps-0", "127.0.0.1:1");
  const v1::PullRequest request;
  v1::PullResponse response;
  CallGroup calls(1);
  client->Pull(request, &response, {}, absl::Milliseconds(1),
               [done = calls.Open(0), slow = std::make_shared<SlowToGo>()](
                   absl::Status status) { done(std::move(status)); });
  calls.Wait();
  client.reset();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(CoordinatorClientTest, NobodyThereIsAnErrorWithTheAddress) {
  CoordinatorClient client("127.0.0.1:1");
  const auto response =
      client.Register(v1::RegisterRequest(), absl::Milliseconds(300));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(response.status().message()),
              HasSubstr("Register to the coordinator at 127.0.0.1:1"));
}

}  // namespace
}  // namespace paceline
