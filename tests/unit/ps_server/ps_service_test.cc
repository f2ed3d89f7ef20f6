// How a client and a server agree to share memory, over real sockets.
#include "ps_server/ps_service.h"

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/file_descriptor.h"
#include "common/cluster/blame.h"
#include "common/identity/call_header.h"
#include "common/rpc/call_mailbox.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/rpc_server.h"
#include "gmock/gmock.h"
#include "paceline/v1/ps.grpc.pb.h"
#include "tests/test_identity.h"
#include "tests/unit/ps_server/shard_fixture.h"
#include "tests/unit/ps_server/worker_messages.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// A worker's end.
class Client : public WorkerMessages {
 public:
  explicit Client(const std::string& address, uint32_t rank = 0,
                  bool use_shared_memory = true)
      : WorkerMessages(rank, kIncarnation),
        client_(std::make_unique<PsClient>(
            0, address, TestCaller(),
            PsClientOptions{.use_shared_memory = use_shared_memory})) {}

  PsClient& client() { return *client_; }

  void StartPush(absl::Duration timeout = absl::Seconds(60)) {
    AdvancePush();
    client_->Push(push_, gradient_blocks_, &pushed_,
                  absl::MakeSpan(variable_blocks_), timeout, calls_.Open(0));
  }
  absl::Status Push() {
    StartPush();
    return Wait();
  }
  // Without values.
  absl::Status PushNothing() {
    AdvancePush();
    v1::PushRequest request = push_;
    request.set_pull(false);
    client_->Push(request, {}, &pushed_, {}, absl::Seconds(60), calls_.Open(0));
    return Wait();
  }
  absl::Status Pull() {
    client_->Pull(pull_, &pulled_, absl::MakeSpan(variable_blocks_),
                  absl::Seconds(60), calls_.Open(0));
    return Wait();
  }
  void AwaitSharedMemory() {
    const absl::Time deadline = MonotonicNow() + absl::Seconds(30);
    while (!client_->shares_memory() && MonotonicNow() < deadline) {
      ASSERT_TRUE(Pull().ok());
    }
    EXPECT_TRUE(client_->shares_memory());
  }

 private:
  std::unique_ptr<PsClient> client_;
};

class PsServiceTest : public ShardTest {
 protected:
  void Serve(v1::Consistency consistency = v1::CONSISTENCY_ASYNC) {
    v1::Job job = SmallJob();
    job.set_consistency(consistency);
    shard_ = MakeShardOf(job, 2);
    service_ = std::make_unique<PsService>(*shard_);
    Start("127.0.0.1:0");
    address_ = absl::StrCat("127.0.0.1:", server_->port());
  }
  void Start(const std::string& address) {
    auto server = StartTestServer(address, *service_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  void Fence(const v1::WorkerId& worker) {
    v1::FenceRequest fence;
    *fence.mutable_worker() = worker;
    v1::FenceResponse fenced;
    EXPECT_TRUE(shard_->Fence(fence, fenced).ok());
  }

  // What a caller is told that offers this memory.
  grpc::Status Attach(const RegionReference& memory, uint64_t token) {
    const auto stub = v1::ParameterServerService::NewStub(
        grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
    v1::AttachRequest request;
    request.set_process(memory.process);
    request.set_fd(memory.fd);
    request.set_device(memory.device);
    request.set_inode(memory.inode);
    request.set_token(token);
    v1::AttachResponse response;
    grpc::ClientContext context;
    context.AddMetadata(
        kHeaderKey,
        TestCaller()->Header("/paceline.v1.ParameterServerService/Attach",
                             /*sequence=*/1, /*challenge=*/""));
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
    return stub->Attach(&context, request, &response);
  }

  std::unique_ptr<Shard> shard_;
  std::unique_ptr<PsService> service_;
  std::unique_ptr<RpcServer> server_;
  std::string address_;
};

TEST_F(PsServiceTest, BothWaysDoTheSame) {
  std::vector<std::vector<float>> results;
  for (const bool use_shared_memory : {true, false}) {
    Serve();
    Client client(address_, 0, use_shared_memory);
    if (use_shared_memory) client.AwaitSharedMemory();
    for (int step = 0; step < 10; ++step) ASSERT_TRUE(client.Push().ok());
    EXPECT_EQ(client.client().shares_memory(), use_shared_memory);
    EXPECT_EQ(client.variables(), Values(*shard_));
    results.push_back(client.variables());
    server_.reset();
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(PsServiceTest, MemoryGrowsWithTheCalls) {
  Serve();
  Client client(address_);
  const absl::Time deadline = MonotonicNow() + absl::Seconds(30);
  while (!client.client().shares_memory() && MonotonicNow() < deadline) {
    ASSERT_TRUE(client.PushNothing().ok());
  }
  ASSERT_TRUE(client.client().shares_memory());
  ASSERT_TRUE(client.Push().ok());
  EXPECT_FALSE(client.client().shares_memory()) << "it was too small";
  client.AwaitSharedMemory();
  EXPECT_TRUE(client.Push().ok());
}

TEST_F(PsServiceTest, CancelEndsOpenCallsAndLaterOnes) {
  Serve(v1::CONSISTENCY_SYNC);
  Client client(address_);
  client.AwaitSharedMemory();
  client.StartPush();
  client.client().Cancel();
  absl::Status status = client.Wait();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("Push to ps-0 at ", address_)));
  EXPECT_EQ(client.Pull().code(), absl::StatusCode::kCancelled);
  Fence(client.id());
}

TEST_F(PsServiceTest, ErrorsNameTheCallTheTaskAndItsAddress) {
  Serve(v1::CONSISTENCY_SYNC);
  Client client(address_);
  client.AwaitSharedMemory();
  client.StartPush(absl::Milliseconds(50));
  EXPECT_EQ(client.Wait().message(), absl::StrCat("Push to ps-0 at ", address_,
                                                  ": no answer within 50ms"));
  // What is held keeps the memory; calls go on without.
  EXPECT_TRUE(client.Pull().ok());
  Fence(client.id());
  const absl::Status status = client.Push();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("Push to ps-0 at ", address_, ": ")));
  EXPECT_EQ(BlameOf(status), (Blame{{TaskType::kPs, 0}, address_, "Push"}));
}

TEST_F(PsServiceTest, TheEndOfTheServerEndsCallsAndItsReturnBringsMemoryBack) {
  Serve(v1::CONSISTENCY_SYNC);
  Client client(address_);
  client.AwaitSharedMemory();
  client.StartPush();
  absl::SleepFor(absl::Milliseconds(100));
  server_.reset();
  EXPECT_EQ(client.Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(client.client().shares_memory());
  Start(address_);
  client.AwaitSharedMemory();
  Fence(client.id());
}

TEST_F(PsServiceTest, RefusesMemoryThatIsNotTheCallers) {
  Serve();
  const auto mailbox = CallMailbox::Create(100, 5);
  ASSERT_TRUE(mailbox.ok());
  const RegionReference right = *mailbox->reference();
  const auto refuse = [&](const RegionReference& memory, uint64_t token) {
    const grpc::Status status = Attach(memory, token);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION)
        << status.error_message();
    return status.error_message();
  };
  EXPECT_THAT(refuse(right, 6), HasSubstr("not the caller's"));
  EXPECT_THAT(refuse(RegionReference(), 5), HasSubstr("shares no memory"));
  RegionReference wrong = right;
  wrong.inode += 1;
  EXPECT_THAT(refuse(wrong, 5), HasSubstr("shares no memory"));
  // Not sealed: it could shrink under the server's hands.
  const FileDescriptor unsealed(
      memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), 1 << 20), 0);
  struct stat file {};
  ASSERT_EQ(fstat(unsealed.get(), &file), 0);
  wrong = {right.process, static_cast<uint64_t>(unsealed.get()), file.st_dev,
           file.st_ino};
  EXPECT_THAT(refuse(wrong, 5), HasSubstr("no sealed region"));
  if (geteuid() != 0) return;
  ASSERT_EQ(fchown(static_cast<int>(right.fd), 12345, 12345), 0);
  EXPECT_THAT(refuse(right, 5), HasSubstr("user 12345"));
}

}  // namespace
}  // namespace paceline
