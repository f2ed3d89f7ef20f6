// A member of a job that turns against it: it knows the secret, the job and
// every address, and takes a worker's place.
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/cluster/task.h"
#include "common/cluster/task_proto.h"
#include "common/identity/caller.h"
#include "common/identity/job_secret.h"
#include "common/rpc/call_channel.h"
#include "common/rpc/call_group.h"
#include "common/rpc/incarnation.h"
#include "common/rpc/message_bytes.h"
#include "common/session/member/member.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "paceline/v1/ps.pb.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The most memory that the process has had, in MiB.
int64_t PeakMemory(const Process& process) {
  const std::string status =
      ReadText(absl::StrCat("/proc/", process.pid(), "/status"));
  const size_t line = status.find("VmHWM:");
  return std::stoll(status.substr(line + sizeof("VmHWM:"))) / 1024;
}

class HostileMemberTest : public ::testing::Test {
 protected:
  // Takes the place of worker 0. The leader initializes no shard before ps 1
  // comes, and the job does not start before worker 1 does.
  void SetUp() override {
    MemberOptions options;
    options.task = {TaskType::kWorker, 0};
    options.coordinator_address = cluster_.AddressOf("chief", 0);
    options.address = cluster_.AddressOf("worker", 0);
    options.incarnation = incarnation_;
    options.caller = caller_;
    options.version = PACELINE_VERSION;
    options.start_timeout = absl::Seconds(60);
    options.on_stop = [](const absl::Status&) {};
    auto member = Member::Join(std::move(options));
    ASSERT_TRUE(member.ok()) << member.status();
    member_ = *std::move(member);
  }

  // Calls the parameter server as any task of the job can.
  absl::Status Call(const std::string& method, grpc::ByteBuffer request) {
    CallChannel::Options options;
    options.timeout = absl::Seconds(30);
    CallGroup calls(1);
    ps_channel_.Start(
        "/paceline.v1.ParameterServerService/" + method, std::move(request),
        options,
        [done = calls.Open(0)](const absl::Status& ended, grpc::ByteBuffer&) {
          done(ended);
        });
    calls.Wait();
    return calls.status(0);
  }
  template <typename Message>
  absl::Status Call(const std::string& method, const Message& request) {
    return Call(method, WriteMessage(request));
  }

  // Lets the job begin, of which worker 1 does all the work. Returns the
  // incarnation of the parameter server.
  uint64_t StartJob() {
    v1::AwaitStartRequest sizes;
    sizes.set_train_examples(kTrainExamples);
    sizes.set_test_examples(kTestExamples);
    const auto started = member_->AwaitStart(sizes, "");
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? started->ps(0).incarnation() : 0;
  }

  const SmallJob job_;
  const HandStartedCluster cluster_ =
      HandStartedCluster::OnLoopback(job_, 1, 2, 2);
  Process chief_ = cluster_.StartChief({"--set", "epochs=100000"});
  Process ps_ = cluster_.Start("ps", 0);
  const uint64_t incarnation_ = DrawIncarnation();
  const std::shared_ptr<Caller> caller_ =
      std::make_shared<Caller>(TaskToProto({TaskType::kWorker, 0}),
                               incarnation_, *JobSecret::FromText(kTestSecret));
  CallChannel ps_channel_{cluster_.AddressOf("ps", 0), caller_};
  std::unique_ptr<Member> member_;
};

TEST_F(HostileMemberTest, CanNeitherFillTheMemoryNorTheDiskOfAServer) {
  // Before the leader has initialized the shard: one of 2^31 - 1 shards.
  v1::InitializeRequest initialize;
  *initialize.mutable_job() = member_->registration().job();
  initialize.set_shard_count(INT32_MAX);
  initialize.set_workers(2);
  absl::Status refused;
  // The server may still be about to join the job.
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
    refused = Call("Initialize", initialize);
    return !absl::IsUnavailable(refused);
  })) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("shard_count is 2147483647"),
                    HasSubstr("expected 1 to")));

  Process other_ps = cluster_.Start("ps", 1);
  Process worker = cluster_.Start("worker", 1);
  v1::PushRequest push;
  push.set_ps_incarnation(StartJob());
  push.mutable_worker()->set_incarnation(incarnation_);
  push.mutable_progress()->set_sequence(1);
  ASSERT_TRUE(WaitForEpochs(chief_, 1)) << chief_.Errors();
  [[maybe_unused]] const int64_t before = PeakMemory(ps_);

  // A push of 15 million empty blocks, and one of as many as are read.
  for (const auto& [bytes, code] :
       {std::pair(size_t{30} << 20, absl::StatusCode::kResourceExhausted),
        std::pair(size_t{1000} << 10, absl::StatusCode::kInvalidArgument)}) {
    std::string request = push.SerializeAsString();
    for (size_t i = 0; i < bytes; i += 2) request += {'\x22', '\0'};
    const grpc::Slice slice(request);
    const absl::Status status = Call("Push", grpc::ByteBuffer(&slice, 1));
    EXPECT_EQ(status.code(), code) << status;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // The sanitizers own malloc, and keep what is freed.
  EXPECT_LT(PeakMemory(ps_), before + 64);
#endif

  const std::string victim = job_.folder() / "victim";
  WriteText(victim, "here first");
  for (const std::string& name :
       {std::string("../../victim"), victim, std::string("victim\0", 7),
        std::string(".."), std::string("step-000000000010\0/../..", 24)}) {
    v1::SnapshotRequest snapshot;
    snapshot.set_name(name);
    const absl::Status status = Call("Snapshot", snapshot);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  EXPECT_EQ(ReadText(victim), "here first");
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(job_.folder().path())) {
    const std::string path = entry.path().string();
    EXPECT_TRUE(!absl::EndsWith(path, ".safetensors") ||
                absl::StrContains(path, "/checkpoint/"))
        << path;
  }

  const int epochs = EpochLines(chief_);
  EXPECT_TRUE(WaitForEpochs(chief_, epochs + 2)) << chief_.Errors();
}

}  // namespace
}  // namespace paceline
