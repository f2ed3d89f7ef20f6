// The calls of a server from their arrival to their end.
#include "common/rpc/call_door.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/identity/call_header.h"
#include "common/rpc/call_group.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/rpc_server.h"
#include "tests/test_identity.h"
#include "tests/unit/rpc/chosen_answers.h"

namespace paceline {
namespace {

// Answers a fence when so many of them are being handled at once.
class BarrierService : public RpcService {
 public:
  explicit BarrierService(int count)
      : RpcService("paceline.v1.ParameterServerService"), count_(count) {
    AddMessages<v1::FenceRequest, v1::FenceResponse>(
        "Fence", 1000, [this](const auto&, auto&, const Done& done) {
          done(Barrier()
                   ? absl::OkStatus()
                   : absl::DeadlineExceededError("the others do not come"));
        });
  }

 private:
  bool Barrier() {
    MutexLock lock(mutex_);
    ++there_;
    changed_.NotifyAll();
    const absl::Time deadline = MonotonicNow() + absl::Seconds(20);
    while (there_ < count_ && MonotonicNow() < deadline) {
      changed_.WaitFor(mutex_, deadline - MonotonicNow());
    }
    return there_ >= count_;
  }

  const int count_;
  Mutex mutex_;
  CondVar changed_;
  int there_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(CallDoorTest, EachThreadHandlesACall) {
  constexpr int kThreads = 4;
  BarrierService service(kThreads);
  const auto server =
      StartTestServer("127.0.0.1:0", service, std::nullopt, kThreads);
  ASSERT_TRUE(server.ok()) << server.status();
  PsClient client(0, absl::StrCat("127.0.0.1:", (*server)->port()),
                  TestCaller());
  const v1::FenceRequest request;
  std::vector<v1::FenceResponse> responses(kThreads);
  CallGroup calls(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    client.Fence(request, &responses[i], absl::Seconds(60), calls.Open(i));
  }
  calls.Wait();
  for (int i = 0; i < kThreads; ++i) EXPECT_TRUE(calls.status(i).ok());
}

// Calls come from all sides while the server ends.
TEST(CallDoorTest, EndsWhileCallsArrive) {
  for (int round = 0; round < 20; ++round) {
    ChosenAnswers service;
    auto server = StartTestServer("127.0.0.1:0", service, std::nullopt,
                                  /*thread_count=*/2);
    ASSERT_TRUE(server.ok()) << server.status();
    PsClient client(0, absl::StrCat("127.0.0.1:", (*server)->port()),
                    TestCaller(), {.fail_fast = true});
    std::thread caller([&client] {
      v1::PullRequest request;
      request.set_ps_incarnation(100);
      std::string values(100, ' ');
      DenseBuffer buffer = {BufferIn(values)};
      CallGroup calls(1);
      do {
        v1::PullResponse response;
        client.Pull(request, &response, {&buffer, 1}, absl::Seconds(60),
                    calls.Open(0));
        calls.Wait();
      } while (calls.status(0).ok());
    });
    absl::SleepFor(absl::Milliseconds(round));
    server->reset();
    caller.join();
  }
}

TEST(CallDoorTest, SeveralThreadsServeManyCallers) {
  constexpr int kCallers = 4;
  constexpr int kCalls = 50;
  ChosenAnswers service;
  const auto server = StartTestServer("127.0.0.1:0", service, std::nullopt,
                                      /*thread_count=*/kCallers);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string address = absl::StrCat("127.0.0.1:", (*server)->port());
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&address] {
      PsClient client(0, address, TestCaller());
      v1::PullRequest request;
      request.set_ps_incarnation(10'000);
      std::vector<v1::PullResponse> responses(kCalls);
      std::vector<std::string> values(kCalls, std::string(10'000, ' '));
      std::vector<DenseBuffer> buffers;
      for (std::string& each : values) buffers.push_back({BufferIn(each)});
      CallGroup calls(kCalls);
      for (int c = 0; c < kCalls; ++c) {
        client.Pull(request, &responses[c], {&buffers[c], 1}, absl::Seconds(60),
                    calls.Open(c));
      }
      calls.Wait();
      for (int c = 0; c < kCalls; ++c) {
        EXPECT_TRUE(calls.status(c).ok()) << calls.status(c);
        EXPECT_EQ(values[c], std::string(10'000, 'x'));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// Calls whose requests never come, as a stranger who can read the protocol
// makes them.
TEST(CallDoorTest, CallsWithoutARequestEnd) {
  ChosenAnswers service;
  const auto server = StartTestServer("127.0.0.1:0", service);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string address = absl::StrCat("127.0.0.1:", (*server)->port());
  constexpr char kMethod[] = "/paceline.v1.ParameterServerService/Pull";
  grpc::GenericStub stub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  for (const bool gives_up : {true, false}) {
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    context.AddMetadata(kHeaderKey, TestCaller()->Header(kMethod, 1, ""));
    const auto wait = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.AsyncNext(
                 &tag, &ok,
                 std::chrono::system_clock::now() + std::chrono::seconds(60)) ==
             grpc::CompletionQueue::GOT_EVENT;
    };
    const auto call = stub.PrepareCall(&context, kMethod, &queue);
    call->StartCall(nullptr);
    ASSERT_TRUE(wait());
    if (gives_up) {
      context.TryCancel();
    } else {
      call->WritesDone(nullptr);
      ASSERT_TRUE(wait());
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    ASSERT_TRUE(wait());
    EXPECT_EQ(status.error_code(), gives_up
                                       ? grpc::StatusCode::CANCELLED
                                       : grpc::StatusCode::INVALID_ARGUMENT);
    queue.Shutdown();
    EXPECT_FALSE(wait());
  }
}

// Anybody may call it. One method holds its thread for a while; the other is
// answered later.
class BusyService : public RpcService {
 public:
  BusyService() : RpcService("test.Busy") {
    Add("Ask", {[this](ServerCall& call) { asked_.set_value(&call); }, 1000,
                Access::kAnybody});
    Add("Hold", {[this](ServerCall& call) {
                   held_.set_value();
                   absl::SleepFor(3 * kUnprovenTimeout);
                   call.Finish(call.request());
                 },
                 1000, Access::kAnybody});
  }
  void WaitUntilHeld() { held_.get_future().wait(); }
  // Answers the call of Ask, if it comes.
  void Answer() {
    auto asked = asked_.get_future();
    if (asked.wait_for(std::chrono::seconds(5)) != std::future_status::ready) {
      return;
    }
    absl::SleepFor(kUnprovenTimeout / 2);
    ServerCall& call = *asked.get();
    call.Finish(call.request());
  }

 private:
  std::promise<void> held_;
  std::promise<ServerCall*> asked_;
};

class BusyDoorTest : public ::testing::TestWithParam<absl::Duration> {
 protected:
  static bool Ends(grpc::CompletionQueue& queue) {
    void* tag = nullptr;
    bool ok = false;
    return queue.AsyncNext(
               &tag, &ok,
               std::chrono::system_clock::now() + std::chrono::seconds(60)) ==
           grpc::CompletionQueue::GOT_EVENT;
  }
};

TEST_P(BusyDoorTest, ARequestThatArrivesWhileThreadsAreBusyIsInTime) {
  BusyService service;
  const auto server = StartTestServer("127.0.0.1:0", service, std::nullopt,
                                      /*thread_count=*/1);
  ASSERT_TRUE(server.ok()) << server.status();
  grpc::GenericStub stub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", (*server)->port()),
                          grpc::InsecureChannelCredentials()));
  const std::string text = "the request";
  const grpc::Slice slice(text);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto call = stub.PrepareCall(&context, "/test.Busy/Ask", &queue);
  call->StartCall(nullptr);
  ASSERT_TRUE(Ends(queue));
  grpc::CompletionQueue hold_queue;
  grpc::ClientContext hold_context;
  const auto hold = stub.PrepareUnaryCall(&hold_context, "/test.Busy/Hold",
                                          request, &hold_queue);
  grpc::ByteBuffer hold_response;
  grpc::Status hold_status;
  hold->StartCall();
  hold->Finish(&hold_response, &hold_status, nullptr);
  service.WaitUntilHeld();
  absl::SleepFor(GetParam());
  call->WriteLast(request, grpc::WriteOptions(), nullptr);
  ASSERT_TRUE(Ends(queue));
  service.Answer();
  grpc::ByteBuffer response;
  call->Read(&response, nullptr);
  ASSERT_TRUE(Ends(queue));
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(Ends(queue));
  EXPECT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(Ends(hold_queue));
  EXPECT_TRUE(hold_status.ok()) << hold_status.error_message();
  for (grpc::CompletionQueue* each : {&queue, &hold_queue}) each->Shutdown();
}

// The thread sees the request first, or the alarm.
INSTANTIATE_TEST_SUITE_P(Delays, BusyDoorTest,
                         ::testing::Values(absl::ZeroDuration(),
                                           1.5 * kUnprovenTimeout));

}  // namespace
}  // namespace paceline
