// Strangers that reach the tasks of a job: on their ports, with calls that
// prove nothing, with nothing to say.
#include <arpa/inet.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/file_descriptor.h"
#include "common/rpc/call_group.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/free_addresses.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

// Calls as somebody does who knows the address alone.
grpc::StatusCode Call(const std::string& address, const std::string& method) {
  grpc::GenericStub stub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(30));
  const grpc::Slice slice(std::string(1 << 20, '\0'));
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer answer;
  grpc::StatusCode code = grpc::StatusCode::OK;
  CallGroup calls(1);
  stub.UnaryCall(&context, "/paceline.v1." + method, grpc::StubOptions(),
                 &request, &answer,
                 [&, done = calls.Open(0)](const grpc::Status& status) {
                   code = status.error_code();
                   done(absl::OkStatus());
                 });
  calls.Wait();
  return code;
}

FileDescriptor Connect(const std::string& address) {
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  peer.sin_port = htons(
      static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  FileDescriptor connection(
      socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  connect(connection.get(), reinterpret_cast<sockaddr*>(&peer), sizeof(peer));
  return connection;
}

TEST(HostileTest, AStrangerCanNeitherReadNorWriteNorEndAJob) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 1);
  Process chief = cluster.StartChief({"--set", "epochs=100000"});
  Process ps = cluster.Start("ps", 0);
  Process worker = cluster.Start("worker", 0);
  ASSERT_TRUE(WaitForEpochs(chief, 2)) << chief.Errors();
  for (const char* method :
       {"Initialize", "Push", "Apply", "Pull", "Attach", "Fence", "Snapshot",
        "WriteCheckpoint", "ChangeVariables", "ReadCheckpoint",
        "DiscardCheckpoint"}) {
    EXPECT_EQ(Call(cluster.AddressOf("ps", 0),
                   absl::StrCat("ParameterServerService/", method)),
              grpc::StatusCode::UNAUTHENTICATED)
        << method;
  }
  for (const char* method : {"Register", "AwaitStart", "AcquireLease",
                             "Heartbeat", "ReportCheckpoint", "ReportOrder",
                             "ReportTrace", "ReportImages", "Leave"}) {
    EXPECT_EQ(Call(cluster.AddressOf("chief", 0),
                   absl::StrCat("CoordinatorService/", method)),
              grpc::StatusCode::UNAUTHENTICATED)
        << method;
  }
  const int epochs = EpochLines(chief);
  ASSERT_TRUE(WaitForEpochs(chief, epochs + 2)) << chief.Errors();
}

TEST(HostileTest, AMemberWithAnotherSecretIsToldTheRemedyAndTheJobWaitsOn) {
  SmallJob job;
  auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 1);
  Process chief = cluster.StartChief();
  Process ps = cluster.Start("ps", 0);
  for (const std::string secret : {"", "the secret of another job"}) {
    cluster.SetSecret(secret);
    Process stranger = cluster.Start("worker", 0);
    ExpectExit(stranger, 1);
    EXPECT_THAT(stranger.Errors(), HasSubstr("--job-secret-file"));
  }
  cluster.SetSecret(kTestSecret);
  Process worker = cluster.Start("worker", 0);
  for (Process* task : {&chief, &ps, &worker}) ExpectExit(*task, 0);
}

TEST(HostileTest, BeyondLoopbackAJobNeedsASecretOrAWord) {
  SmallJob job;
  HandStartedCluster cluster(job, {{"chief", {"10.0.0.1:2222"}},
                                   {"ps", {"10.0.0.2:2222"}},
                                   {"worker", {"10.0.0.3:2222"}}});
  cluster.SetSecret("");
  Process chief = cluster.StartChief();
  Process ps = cluster.Start("ps", 0);
  Process worker = cluster.Start("worker", 0);
  for (Process* task : {&chief, &ps, &worker}) {
    ExpectExit(*task, 2);
    EXPECT_THAT(task->Errors(),
                AllOf(HasSubstr("10.0.0.1:2222"),
                      HasSubstr("--job-secret-file"), HasSubstr("--insecure")));
  }
  const std::string path = job.folder() / "secret";
  std::ofstream(path) << "tooshort";
  Process bad = cluster.Start("ps", 0, {"--job-secret-file", path});
  ExpectExit(bad, 2);
  EXPECT_THAT(bad.Errors(), AllOf(HasSubstr(path), HasSubstr("expected 16"),
                                  Not(HasSubstr("tooshort"))));
}

// More connections than a process may have descriptors, none of which speaks.
TEST(HostileTest, IdleConnectionsKeepNobodyOut) {
  constexpr int kLimit = 256;
  const rlimit many = {4096, 4096};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &many), 0);
  SmallJob job;
  const auto prefix = [](const std::string&) {
    return std::vector<std::string>{
        "bash", "-c", absl::StrCat("ulimit -n ", kLimit, "; exec \"$@\""), "-"};
  };
  const std::vector<std::string> addresses = FreeAddresses(3);
  const HandStartedCluster cluster(job,
                                   {{"chief", {addresses[0]}},
                                    {"ps", {addresses[1]}},
                                    {"worker", {addresses[2]}}},
                                   prefix);
  Process chief = cluster.StartChief();
  absl::SleepFor(absl::Seconds(1));
  std::vector<FileDescriptor> strangers;
  strangers.reserve(2 * kLimit);
  for (int i = 0; i < 2 * kLimit; ++i) {
    strangers.push_back(Connect(addresses[0]));
  }
  absl::SleepFor(absl::Seconds(1));
  Process ps = cluster.Start("ps", 0);
  Process worker = cluster.Start("worker", 0);
  for (Process* task : {&chief, &ps, &worker}) ExpectExit(*task, 0);
  EXPECT_THAT(chief.Errors(), HasSubstr("connections wait until others close"));
  EXPECT_THAT(Column(job.Result(), "examples"), Each(kTrainExamples));
}

}  // namespace
}  // namespace paceline
