// Calls over TLS, from both sides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/rpc/call_group.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/rpc_server.h"
#include "common/rpc/tls.h"
#include "tests/certificates/test_authority.h"
#include "tests/connect_to.h"
#include "tests/test_identity.h"
#include "tests/unit/rpc/chosen_answers.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kSecret[] = "the secret of the job under test";

std::shared_ptr<const Tls> Load(const TlsFiles& files) {
  const auto tls = Tls::Load(files);
  EXPECT_TRUE(tls.ok()) << tls.status();
  return *tls;
}

JobSecret SecretOf(const std::string& text) {
  return *JobSecret::FromText(text);
}

// A server over TLS, of a job with a secret.
class TlsChannelTest : public testing::Test {
 protected:
  void SetUp() override { Serve(Load(server_files_)); }

  void Serve(std::shared_ptr<const Tls> tls) {
    auto server = StartTestServer("127.0.0.1:0", service_, SecretOf(kSecret),
                                  /*thread_count=*/0, std::move(tls));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string At(const std::string& host) const {
    return absl::StrCat(host, ":", server_->port());
  }

  static std::unique_ptr<PsClient> Connect(const std::string& address,
                                           std::shared_ptr<const Tls> tls,
                                           const char* secret = kSecret) {
    return std::make_unique<PsClient>(
        0, address, TestCaller(SecretOf(secret), std::move(tls)),
        PsClientOptions{.fail_fast = true, .use_shared_memory = false});
  }

  static absl::Status Pull(PsClient& client,
                           absl::Duration timeout = absl::Seconds(20)) {
    v1::PullRequest request;
    request.set_ps_incarnation(100'000);
    v1::PullResponse response;
    std::string values(100'000, ' ');
    DenseBuffer buffer = {BufferIn(values)};
    CallGroup calls(1);
    client.Pull(request, &response, {&buffer, 1}, timeout, calls.Open(0));
    calls.Wait();
    return calls.status(0);
  }

  // Expects the call to end without an answer, with an error that names the
  // server's address.
  void ExpectNoConnection(const std::string& host,
                          std::shared_ptr<const Tls> tls,
                          const std::string& why = "") const {
    const absl::Status status = Pull(*Connect(At(host), std::move(tls)));
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(At(host)), HasSubstr(why)));
  }

  const TestAuthority authority_{testing::TempDir(), "channel_ca"};
  const TlsFiles server_files_ = authority_.Issue("channel_server");
  const TlsFiles client_files_ = authority_.Issue("channel_client");
  ChosenAnswers service_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(TlsChannelTest, MembersProveThemselvesAndCall) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const auto client = Connect(At(host), Load(client_files_));
    for (int i = 0; i < 3; ++i) {
      const absl::Status status = Pull(*client);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

// A certificate is no secret of the job.
TEST_F(TlsChannelTest, AStrangerWithACertificateIsRefused) {
  const auto client = Connect(At("127.0.0.1"), Load(client_files_),
                              "the secret of some other job");
  EXPECT_TRUE(absl::IsUnauthenticated(Pull(*client)));
}

TEST_F(TlsChannelTest, APlainClientGetsNoConnection) {
  ExpectNoConnection("127.0.0.1", nullptr);
  PsClient patient(0, At("127.0.0.1"), TestCaller(SecretOf(kSecret)));
  const absl::Status status = Pull(patient, absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(At("127.0.0.1")));
}

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(open), end(open)));
}

TEST_F(TlsChannelTest, StrangersLeaveNoDescriptors) {
  ASSERT_TRUE(Pull(*Connect(At("127.0.0.1"), Load(client_files_))).ok());
  const size_t before = OpenDescriptors();
  for (int i = 0; i < 50; ++i) {
    const FileDescriptor stranger = ConnectTo(At("127.0.0.1"));
    const std::string nonsense(200, 'x');
    send(stranger.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL);
    // It may first say what was wrong.
    std::string answer(1000, ' ');
    while (recv(stranger.get(), answer.data(), answer.size(), 0) > 0) continue;
  }
  const absl::Time deadline = MonotonicNow() + absl::Seconds(20);
  while (OpenDescriptors() > before + 5 && MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_LE(OpenDescriptors(), before + 5);
}

TEST_F(TlsChannelTest, APlainServerGetsNoConnection) {
  Serve(nullptr);
  ExpectNoConnection("127.0.0.1", Load(client_files_), "handshake");
}

TEST_F(TlsChannelTest, EachEndRefusesAnotherAuthority) {
  const TestAuthority other(testing::TempDir(), "channel_other_ca");
  TlsFiles others = other.Issue("channel_other");
  // The client trusts only the other authority, or both: then the server
  // refuses.
  ExpectNoConnection("127.0.0.1", Load(others), "certificate verify failed");
  Serve(Load(others));
  ExpectNoConnection("127.0.0.1", Load(client_files_),
                     "certificate verify failed");
}

TEST_F(TlsChannelTest, TheCertificateMustBeForTheDialledName) {
  Serve(Load(authority_.Issue("channel_elsewhere", "DNS:elsewhere.example")));
  const auto tls = Load(client_files_);
  ExpectNoConnection("localhost", tls);
  const absl::Status status = Pull(*Connect(At("127.0.0.1"), tls));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(TlsChannelTest, ChangedFilesAreUsedByNewConnections) {
  const auto tls = Load(client_files_);
  const auto old_client = Connect(At("127.0.0.1"), tls);
  ASSERT_TRUE(Pull(*old_client).ok());
  // All processes get new files, under the same names.
  const TestAuthority renewed(testing::TempDir(), "channel_ca");
  renewed.Issue("channel_server");
  renewed.Issue("channel_client");
  const TlsFiles newcomer = renewed.Issue("channel_newcomer");
  const absl::Time deadline = MonotonicNow() + 10 * kTlsReloadInterval;
  absl::Status status;
  do {
    absl::SleepFor(absl::Milliseconds(50));
    status = Pull(*Connect(At("127.0.0.1"), Load(newcomer)));
  } while (!status.ok() && MonotonicNow() < deadline);
  EXPECT_TRUE(status.ok()) << status;
  // So does a client that was there before; its old connection goes on.
  do {
    absl::SleepFor(absl::Milliseconds(50));
    status = Pull(*Connect(At("127.0.0.1"), tls));
  } while (!status.ok() && MonotonicNow() < deadline);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Pull(*old_client).ok());
}

}  // namespace
}  // namespace paceline
