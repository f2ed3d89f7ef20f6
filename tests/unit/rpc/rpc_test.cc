// Channels, servers and clients over real sockets of the loopback interface.

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/cluster/blame.h"
#include "common/rpc/call_group.h"
#include "common/rpc/coordinator_client.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/rpc_server.h"
#include "gmock/gmock.h"
#include "paceline/v1/ps.pb.h"
#include "tests/connect_to.h"
#include "tests/test_identity.h"
#include "tests/unit/rpc/chosen_answers.h"
#include "tests/unit/session/resetting_proxy.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RpcTest : public ::testing::Test {
 protected:
  RpcTest() {
    auto server = StartTestServer("127.0.0.1:0", service_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    address_ = absl::StrCat("127.0.0.1:", server_->port());
  }
  ~RpcTest() override { service_.ReleaseFences(); }

  ChosenAnswers service_;
  std::unique_ptr<RpcServer> server_;
  std::string address_;
};

TEST_F(RpcTest, CarriesMessagesFarAboveTheDefaultLimit) {
  PsClient client(0, address_, TestCaller());
  v1::PullRequest request;
  request.set_ps_incarnation(32 << 20);
  v1::PullResponse response;
  std::string values(32 << 20, ' ');
  DenseBuffer buffer = {BufferIn(values)};
  CallGroup calls(1);
  client.Pull(request, &response, {&buffer, 1}, absl::Seconds(60),
              calls.Open(0));
  calls.Wait();
  ASSERT_TRUE(calls.status(0).ok()) << calls.status(0);
  EXPECT_TRUE(buffer.is_filled);
  EXPECT_EQ(values, std::string(32 << 20, 'x'));
}

TEST_F(RpcTest, VariablesThatDoNotFitAreAnError) {
  PsClient client(0, address_, TestCaller());
  v1::PullRequest request;
  request.set_ps_incarnation(9);
  v1::PullResponse response;
  std::string values(8, ' ');
  DenseBuffer buffer = {BufferIn(values)};
  CallGroup calls(1);
  for (const auto& [buffers, message] :
       {std::pair<absl::Span<DenseBuffer>, std::string>(
            {&buffer, 1}, "it has 9 bytes of block 0, expected 8"),
        {{}, "it has 1 blocks, expected at most 0"}}) {
    client.Pull(request, &response, buffers, absl::Seconds(60), calls.Open(0));
    calls.Wait();
    EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kInternal);
    EXPECT_EQ(calls.status(0).message(),
              absl::StrCat("Pull to ps-0 at ", address_, ": ", message));
    EXPECT_EQ(BlameOf(calls.status(0)),
              (Blame{{TaskType::kPs, 0}, address_, "Pull"}));
  }
}

TEST_F(RpcTest, AnErrorNamesTheCallTheTaskAndItsAddress) {
  PsClient client(0, address_, TestCaller());
  v1::PushResponse response;
  const v1::PushRequest request;
  CallGroup calls(1);
  client.Push(request, {}, &response, {}, absl::Seconds(60), calls.Open(0));
  calls.Wait();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(calls.status(0).message(),
            absl::StrCat("Push to ps-0 at ", address_, ": fenced"));
  EXPECT_EQ(BlameOf(calls.status(0)),
            (Blame{{TaskType::kPs, 0}, address_, "Push"}));
}

TEST_F(RpcTest, ASilentServerEndsTheCallAtItsDeadline) {
  PsClient client(3, address_, TestCaller());
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
  EXPECT_EQ(BlameOf(calls.status(0)),
            (Blame{{TaskType::kPs, 3}, address_, "Fence"}));
}

TEST_F(RpcTest, CancelEndsOpenCallsAndLaterOnes) {
  PsClient client(0, address_, TestCaller());
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
  PsClient client(0, address_, TestCaller());
  v1::PullRequest request;
  v1::PullResponse response;
  DenseBuffer nothing;
  CallGroup calls(1);
  client.Pull(request, &response, {&nothing, 1}, absl::Seconds(60),
              calls.Open(0));
  absl::SleepFor(absl::Milliseconds(300));
  auto server = StartTestServer(absl::StrCat("127.0.0.1:", port), service_);
  ASSERT_TRUE(server.ok()) << server.status();
  calls.Wait();
  EXPECT_TRUE(calls.status(0).ok()) << calls.status(0);
}

TEST_F(RpcTest, AnAddressInUseIsRefused) {
  const auto second = StartTestServer(address_, service_);
  ASSERT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address_));
}

// --- Who may call ------------------------------------------------------------

JobSecret SecretOf(const std::string& text) {
  return *JobSecret::FromText(text);
}

class ProofTest : public RpcTest {
 protected:
  ProofTest() { Restart(0); }

  void Restart(int port) {
    server_.reset();
    auto server = StartTestServer(absl::StrCat("127.0.0.1:", port), service_,
                                  SecretOf("the job's secret"));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    address_ = absl::StrCat("127.0.0.1:", server_->port());
  }
  static absl::Status Pull(PsClient& client) {
    const v1::PullRequest request;
    v1::PullResponse response;
    DenseBuffer nothing;
    CallGroup calls(1);
    client.Pull(request, &response, {&nothing, 1}, absl::Seconds(60),
                calls.Open(0));
    calls.Wait();
    return calls.status(0);
  }
  // Calls as a client does that others wrote.
  grpc::Status Call(const std::string& method, const std::string& request,
                    const std::function<void(grpc::ClientContext&)>& change) {
    grpc::GenericStub stub(
        grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
    change(context);
    const grpc::Slice slice(request);
    const grpc::ByteBuffer bytes(&slice, 1);
    grpc::ByteBuffer answer;
    grpc::Status status;
    CallGroup calls(1);
    stub.UnaryCall(&context, "/paceline.v1.ParameterServerService/" + method,
                   grpc::StubOptions(), &bytes, &answer,
                   [&, done = calls.Open(0)](const grpc::Status& ended) {
                     status = ended;
                     done(absl::OkStatus());
                   });
    calls.Wait();
    return status;
  }
};

TEST_F(ProofTest, ConnectionsThatComeBackProveThemselvesAnew) {
  PsClient client(0, address_, TestCaller(SecretOf("the job's secret")));
  EXPECT_TRUE(Pull(client).ok());
  EXPECT_TRUE(Pull(client).ok());
  Restart(server_->port());
  const absl::Status status = Pull(client);
  EXPECT_TRUE(status.ok()) << status;
}

// It has the name of the earlier connection, and so its challenge.
TEST_F(ProofTest, ANewConnectionFromAnOldPortIsTaken) {
  const int from = Listener::Open("127.0.0.1:0")->port();
  ResettingProxy proxy(server_->port(), from);
  const auto caller = TestCaller(SecretOf("the job's secret"));
  for (int connection = 0; connection < 3; ++connection) {
    PsClient client(0, proxy.address(), caller, {.use_shared_memory = false});
    for (int call = 0; call < 10; ++call) {
      const absl::Status status = Pull(client);
      ASSERT_TRUE(status.ok()) << connection << ": " << status;
    }
    proxy.Reset();
  }
}

TEST_F(ProofTest, StrangersAreRefusedWithARemedy) {
  for (const auto& secret :
       {std::optional<JobSecret>(), {SecretOf("the secret of another job")}}) {
    PsClient client(0, address_, TestCaller(secret));
    const absl::Status status = Pull(client);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(absl::StrCat("Pull to ps-0 at ", address_)),
                      HasSubstr("--job-secret-file")));
  }
  EXPECT_EQ(Call("Pull", "", [](auto&) {}).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ProofTest, AnotherJobsMembersAreRefused) {
  const auto caller = TestCaller(SecretOf("the job's secret"));
  caller->SetJob({"00000000000000bb", 1});
  PsClient client(0, address_, caller);
  EXPECT_EQ(Pull(client).code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(RpcTest, ARequestAboveItsLimitIsRefused) {
  PsClient client(0, address_, TestCaller());
  v1::PushRequest request;
  v1::PushResponse response;
  std::vector<float> values(ChosenAnswers::kLimit);
  const DenseValues gradients = {0,
                                 v1::DATA_TYPE_FLOAT32,
                                 0,
                                 {reinterpret_cast<std::byte*>(values.data()),
                                  values.size() * sizeof(float)}};
  CallGroup calls(1);
  client.Push(request, {&gradients, 1}, &response, {}, absl::Seconds(60),
              calls.Open(0));
  calls.Wait();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kResourceExhausted);
}

// That code is another job's.
TEST_F(RpcTest, AMissingPermissionOfTheServersIsNoOtherJob) {
  PsClient client(0, address_, TestCaller());
  const v1::ApplyRequest request;
  v1::ApplyResponse response;
  CallGroup calls(1);
  client.Apply(request, &response, {}, absl::Seconds(60), calls.Open(0));
  calls.Wait();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kFailedPrecondition);
}

// A kilobyte of which would become a megabyte.
TEST_F(ProofTest, CompressedRequestsAreRefused) {
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    const grpc::Status status = Call(
        "Pull", std::string(1 << 20, '\0'), [&](grpc::ClientContext& context) {
          context.set_compression_algorithm(algorithm);
        });
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED)
        << status.error_message();
  }
}

// No server here: gRPC's thread for callbacks must end with the client.
TEST(PsClientTest, MayGoAsSoonAsItsLastCallHasEnded) {
  struct SlowToGo {
    ~SlowToGo() { absl::SleepFor(absl::Milliseconds(100)); }
  };
  auto client = std::make_unique<PsClient>(0, "127.0.0.1:1", TestCaller());
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

// The name server takes questions and never answers.
TEST(PsClientTest, ANameThatDoesNotResolveEndsACallThatFailsFast) {
  const LoopbackSocket name_server(SOCK_DGRAM);
  PsClient client(
      0,
      absl::StrCat("dns://127.0.0.1:", name_server.port, "/ps-0.example:2222"),
      TestCaller(), {.fail_fast = true});
  v1::PullRequest request;
  v1::PullResponse response;
  CallGroup calls(1);
  client.Pull(request, &response, {}, absl::Seconds(30), calls.Open(0));
  calls.Wait();
  EXPECT_EQ(calls.status(0).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(calls.status(0).message()),
              HasSubstr("DNS resolution failed for ps-0.example:2222"));
}

TEST(CoordinatorClientTest, NobodyThereIsAnErrorWithTheAddressAndTheReason) {
  CoordinatorClient client("127.0.0.1:1", TestCaller());
  const auto response =
      client.Register(v1::RegisterRequest(), absl::Seconds(30));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(response.status().message()),
              AllOf(HasSubstr("Register to the coordinator at 127.0.0.1:1"),
                    HasSubstr("Connection refused")));
}

}  // namespace
}  // namespace paceline
