#include "coordinator/service/service_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/cluster/task_proto.h"
#include "common/identity/sha256.h"
#include "common/rpc/service_client.h"
#include "tests/queue_records.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kSecret[] = "the secret of this service";

// A server, with a client that may be a person or a daemon.
class ServiceServerTest : public testing::Test {
 protected:
  ServiceServerTest()
      : folder_(testing::TempDir() + "service_server_test." +
                std::to_string(getpid())) {
    std::filesystem::remove_all(folder_);
    Start();
    daemon_.set_daemon("host-worker");
    daemon_.set_incarnation(1);
    daemon_.set_type(v1::TASK_TYPE_WORKER);
    daemon_.set_version("1.0");
    daemon_.mutable_total()->set_millicores(4000);
  }
  ~ServiceServerTest() override { std::filesystem::remove_all(folder_); }

  // Starts a server in place of the one that runs, and connects to it.
  void Start(bool has_secret = true) {
    client_.reset();
    server_.reset();
    ServiceServerOptions options;
    options.listen_address = "127.0.0.1:0";
    options.store_folder = folder_;
    options.version = "1.0";
    options.max_upload_rate = max_upload_rate_;
    if (has_secret) options.secret = *JobSecret::FromText(kSecret);
    auto server = ServiceServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    client_ = Connect(kSecret);
  }

  std::unique_ptr<ServiceClient> Connect(const std::string& secret) const {
    return std::make_unique<ServiceClient>(
        "127.0.0.1:" + std::to_string(server_->port()),
        std::make_shared<Caller>(TaskToProto({TaskType::kWorker, 0}), 1,
                                 *JobSecret::FromText(secret)));
  }

  // A person, who does not know the secret.
  std::unique_ptr<ServiceClient> ConnectWith(const std::string& token) const {
    return std::make_unique<ServiceClient>(
        "127.0.0.1:" + std::to_string(server_->port()),
        std::make_shared<Caller>(TaskToProto({TaskType::kWorker, 0}), 1,
                                 std::nullopt, nullptr, token));
  }
  v1::CreateTokenResponse CreateToken(
      const std::string& user, v1::Role role,
      absl::Duration lifetime = absl::ZeroDuration()) {
    v1::CreateTokenRequest request;
    request.set_user(user);
    request.set_role(role);
    request.set_lifetime_micros(absl::ToInt64Microseconds(lifetime));
    const auto response = client_->CreateToken(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *response : v1::CreateTokenResponse();
  }

  std::string Put(const std::string& content) {
    v1::PutFileRequest request;
    request.set_sha256(Sha256Hex(content));
    request.set_size_bytes(content.size());
    request.set_content(content);
    const auto response = client_->PutFile(request);
    EXPECT_TRUE(response.ok() && response->progress().is_complete());
    return request.sha256();
  }

  // A job of one worker, whose file the server has.
  v1::SubmitJobRequest SmallSubmission() {
    v1::SubmitJobRequest request;
    v1::Submission& submission = *request.mutable_submission();
    submission.set_name("small");
    v1::TaskGroup& workers = *submission.add_groups();
    workers.set_type(v1::TASK_TYPE_WORKER);
    workers.set_count(1);
    workers.mutable_each()->set_millicores(1500);
    v1::JobFile& file = *submission.add_files();
    file.set_path("job.yaml");
    file.set_sha256(Put("name: small"));
    file.set_size_bytes(11);
    submission.add_overrides("epochs=2");
    return request;
  }

  using Answer = std::future<absl::StatusOr<v1::SyncResponse>>;
  // Sends the daemon's next message.
  Answer StartSync() {
    daemon_.set_sequence(daemon_.sequence() + 1);
    auto answer =
        std::make_shared<std::promise<absl::StatusOr<v1::SyncResponse>>>();
    client_->StartSync(
        daemon_, [answer](auto response) { answer->set_value(response); });
    return answer->get_future();
  }
  // Follows the answer.
  v1::SyncResponse Follow(Answer answer) {
    const auto response = answer.get();
    if (!response.ok()) {
      ADD_FAILURE() << response.status();
      return {};
    }
    if (response->coordinator() != daemon_.coordinator()) {
      daemon_.set_coordinator(response->coordinator());
      return Follow(StartSync());
    }
    daemon_.set_last_answer(daemon_.sequence());
    FollowOrders(*response, daemon_);
    return *response;
  }
  v1::SyncResponse Sync() { return Follow(StartSync()); }

  const std::string folder_;
  uint64_t max_upload_rate_ = kAnyUploadRate;
  std::unique_ptr<ServiceServer> server_;
  std::unique_ptr<ServiceClient> client_;
  v1::SyncRequest daemon_;
};

TEST_F(ServiceServerTest, WhoDoesNotKnowTheSecretCanDoNothing) {
  const auto stranger = Connect("another secret, as long");
  EXPECT_TRUE(absl::IsUnauthenticated(stranger->ListJobs({}).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(stranger->FindFiles({}).status()));
  EXPECT_TRUE(client_->ListJobs({}).ok());
}

TEST_F(ServiceServerTest, WhoSaysNothingLearnsTheRemedies) {
  const auto nobody = ConnectWith("");
  const absl::Status status = nobody->ListJobs({}).status();
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("--secret-file"), HasSubstr("--token-file")));
}

TEST_F(ServiceServerTest, TheFirstStartWritesTheTokenOfAnAdmin) {
  EXPECT_EQ(server_->first_token_path(), folder_ + "/admin.token");
  std::ifstream file(server_->first_token_path());
  std::string token;
  ASSERT_TRUE(std::getline(file, token));
  EXPECT_TRUE(ConnectWith(token)->ListTokens({}).ok());
  Start();
  EXPECT_EQ(server_->first_token_path(), "");
  EXPECT_TRUE(ConnectWith(token)->ListTokens({}).ok());
}

TEST_F(ServiceServerTest, PeopleDoWhatTheirRoleAllows) {
  Sync();
  const std::string view_token = CreateToken("vic", v1::ROLE_VIEW).token();
  const auto viewer = ConnectWith(view_token);
  const auto ann = ConnectWith(CreateToken("ann", v1::ROLE_SUBMIT).token());
  const auto bob = ConnectWith(CreateToken("bob", v1::ROLE_SUBMIT).token());
  const auto admin = ConnectWith(CreateToken("eve", v1::ROLE_ADMIN).token());

  const v1::SubmitJobRequest submission = SmallSubmission();
  const absl::Status refused = viewer->SubmitJob(submission).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("needs the role submit; the token of vic has "
                              "view"),
                    Not(HasSubstr(view_token))));
  const auto submitted = ann->SubmitJob(submission);
  ASSERT_TRUE(submitted.ok()) << submitted.status();

  v1::GetJobRequest get;
  get.set_id(submitted->id());
  const auto seen = viewer->GetJob(get);
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->job().record().submission().user(), "ann");

  v1::StopJobRequest stop;
  stop.set_id(submitted->id());
  v1::DeleteJobRequest remove;
  remove.set_id(submitted->id());
  const absl::Status others = bob->StopJob(stop).status();
  EXPECT_TRUE(absl::IsPermissionDenied(others)) << others;
  EXPECT_THAT(std::string(others.message()),
              AllOf(HasSubstr("is of ann"), HasSubstr("role admin"),
                    HasSubstr("bob has submit")));
  EXPECT_TRUE(absl::IsPermissionDenied(bob->DeleteJob(remove).status()));
  EXPECT_TRUE(ann->StopJob(stop).ok());
  EXPECT_TRUE(admin->StopJob(stop).ok());

  v1::DrainMemberRequest drain;
  drain.set_name("host-worker");
  EXPECT_TRUE(absl::IsPermissionDenied(ann->DrainMember(drain).status()));
  EXPECT_TRUE(admin->DrainMember(drain).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(ann->ListTokens({}).status()));
  // A token is no proof for the calls of daemons.
  EXPECT_TRUE(absl::IsUnauthenticated(
      admin->AppendLog(v1::AppendLogRequest()).status()));
}

TEST_F(ServiceServerTest, KeysOfSubmissionsAreTheUsers) {
  Sync();
  const auto ann = ConnectWith(CreateToken("ann", v1::ROLE_SUBMIT).token());
  const auto bob = ConnectWith(CreateToken("bob", v1::ROLE_SUBMIT).token());
  v1::SubmitJobRequest request = SmallSubmission();
  request.mutable_submission()->set_idempotency_key("nightly");
  // Who submits cannot say that it is for somebody else.
  request.mutable_submission()->set_user("bob");
  const auto first = ann->SubmitJob(request);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(ann->SubmitJob(request)->id(), first->id());
  EXPECT_NE(bob->SubmitJob(request)->id(), first->id());
}

TEST_F(ServiceServerTest, TokensEndAtOnce) {
  const v1::CreateTokenResponse revoked = CreateToken("ann", v1::ROLE_VIEW);
  const auto ann = ConnectWith(revoked.token());
  EXPECT_TRUE(ann->ListJobs({}).ok());
  v1::RevokeTokenRequest revoke;
  revoke.set_id(revoked.record().id());
  EXPECT_TRUE(client_->RevokeToken(revoke).ok());
  const absl::Status status = ann->ListJobs({}).status();
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr(revoked.token())));

  const auto brief = ConnectWith(
      CreateToken("ann", v1::ROLE_VIEW, absl::Milliseconds(300)).token());
  absl::SleepFor(absl::Milliseconds(310));
  EXPECT_TRUE(absl::IsUnauthenticated(brief->ListJobs({}).status()));
}

TEST_F(ServiceServerTest, WithoutASecretTokensKeepNobodyOut) {
  const std::string token = CreateToken("ann", v1::ROLE_VIEW).token();
  Start(/*has_secret=*/false);
  const auto anybody = ConnectWith("");
  EXPECT_TRUE(anybody->ListTokens({}).ok());
  v1::CreateTokenRequest create;
  create.set_user("bob");
  create.set_role(v1::ROLE_VIEW);
  const absl::Status refused = anybody->CreateToken(create).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--secret-file"));
  // One that is shown counts.
  EXPECT_TRUE(
      absl::IsPermissionDenied(ConnectWith(token)->ListTokens({}).status()));
}

// What a user sends too early is not taken. Others are not concerned.
TEST_F(ServiceServerTest, EachUserUploadsAtTheRateThatIsAllowed) {
  max_upload_rate_ = 1 << 20;
  Start();
  const auto ann = ConnectWith(CreateToken("ann", v1::ROLE_SUBMIT).token());
  const auto bob = ConnectWith(CreateToken("bob", v1::ROLE_SUBMIT).token());
  v1::PutFileRequest request;
  const std::string content(3 << 20, 'x');
  request.set_sha256(Sha256Hex(content));
  request.set_size_bytes(content.size());
  request.set_content(content.substr(0, 2 << 20));
  auto put = ann->PutFile(request);
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(put->progress().received_bytes(), 2 << 20);
  // A second's were there.
  const absl::Time start = MonotonicNow();
  const absl::Duration pause = absl::Microseconds(put->pause_micros());
  EXPECT_GT(pause, absl::Milliseconds(900));
  EXPECT_LT(pause, absl::Milliseconds(1100));

  request.set_offset(2 << 20);
  request.set_content(content.substr(2 << 20));
  put = ann->PutFile(request);
  ASSERT_TRUE(put.ok()) << put.status();
  if (MonotonicNow() < start + pause / 2) {
    EXPECT_EQ(put->progress().received_bytes(), 2 << 20);
    EXPECT_GT(put->pause_micros(), 0);
  }
  // Those who prove the secret have no limit.
  for (int i = 0; i < 3; ++i) {
    const std::string other(2 << 20, static_cast<char>('a' + i));
    Put(other);
  }
  v1::PutFileRequest small;
  small.set_sha256(Sha256Hex("small"));
  small.set_size_bytes(5);
  small.set_content("small");
  const auto other = bob->PutFile(small);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_TRUE(other->progress().is_complete());
  EXPECT_EQ(other->pause_micros(), 0);

  absl::SleepFor(start + pause - MonotonicNow());
  put = ann->PutFile(request);
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_TRUE(put->progress().is_complete());
}

TEST_F(ServiceServerTest, ASubmissionNeedsItsFiles) {
  Sync();
  v1::SubmitJobRequest request = SmallSubmission();
  request.mutable_submission()->mutable_files(0)->set_sha256(
      std::string(64, 'a'));
  EXPECT_THAT(client_->SubmitJob(request).status().message(),
              HasSubstr("does not have the content of \"job.yaml\""));
  request = SmallSubmission();
  request.mutable_submission()->mutable_files(0)->set_path("../job.yaml");
  EXPECT_THAT(client_->SubmitJob(request).status().message(),
              HasSubstr("submission.files[0].path"));
}

TEST_F(ServiceServerTest, ADaemonThatWaitsGetsItsOrdersAtOnce) {
  EXPECT_THAT(Sync().orders(), SizeIs(0));
  Answer waiting = StartSync();
  const absl::Time start = MonotonicNow();
  const auto submitted = client_->SubmitJob(SmallSubmission());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  // The leader comes first: the worker waits for its address.
  const v1::SyncResponse first = Follow(std::move(waiting));
  EXPECT_LT(MonotonicNow() - start, kServicePoll / 2);
  ASSERT_THAT(first.orders(), SizeIs(1));
  EXPECT_EQ(first.orders(0).task().task().type(), v1::TASK_TYPE_CHIEF);
  EXPECT_EQ(first.orders(0).overrides(0), "epochs=2");
  EXPECT_THAT(first.orders(0).secret(), SizeIs(64));

  const v1::SyncResponse all = Sync();
  ASSERT_THAT(all.orders(), SizeIs(2));
  EXPECT_EQ(all.orders(1).resources().millicores(), 1500);
  EXPECT_EQ(all.orders(1).secret(), first.orders(0).secret());

  v1::GetTaskFilesRequest files;
  *files.mutable_task() = all.orders(1).task();
  const auto named = client_->GetTaskFiles(files);
  ASSERT_TRUE(named.ok()) << named.status();
  ASSERT_THAT(named->files(), SizeIs(1));
  v1::GetFileRequest file;
  file.set_sha256(named->files(0).sha256());
  EXPECT_EQ(client_->GetFile(file)->content(), "name: small");

  // Checkpoints without a manifest were cut short.
  const auto add = [&](const std::string& path) {
    v1::AddOutputsRequest outputs;
    *outputs.mutable_task() = all.orders(0).task();
    *outputs.add_files() = named->files(0);
    outputs.mutable_files(0)->set_path(path);
    const auto added = client_->AddOutputs(outputs);
    EXPECT_TRUE(added.ok()) << added.status();
    const auto now = client_->GetTaskFiles(files);
    return now.ok() ? now->files_size() : -1;
  };
  EXPECT_EQ(add("out/phases/head/checkpoint/step-1/shard"), 1);
  EXPECT_EQ(add("out/checkpoint/step-2/shard"), 1);
  EXPECT_EQ(add("out/phases/head/checkpoint/step-1/manifest.json"), 3);
  EXPECT_EQ(add("out/checkpoint/step-2/manifest.json"), 5);
}

TEST_F(ServiceServerTest, ALaterMessageEndsTheWaitOfAnEarlierOne) {
  Sync();
  Answer earlier = StartSync();
  absl::SleepFor(absl::Milliseconds(50));
  Answer later = StartSync();
  EXPECT_TRUE(absl::IsAborted(earlier.get().status()));
  ASSERT_TRUE(client_->SubmitJob(SmallSubmission()).ok());
  EXPECT_THAT(Follow(std::move(later)).orders(), SizeIs(1));
}

TEST_F(ServiceServerTest, AnotherServerGoesOnFromTheStore) {
  Sync();
  const auto submitted = client_->SubmitJob(SmallSubmission());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const v1::SyncResponse before = Sync();
  Start();
  const v1::SyncResponse after = Sync();
  ASSERT_THAT(after.orders(), SizeIs(2));
  EXPECT_EQ(after.orders(0).secret(), before.orders(0).secret());
  v1::GetJobRequest request;
  request.set_id(submitted->id());
  EXPECT_EQ(client_->GetJob(request)->job().record().generation(), 1);
}

TEST_F(ServiceServerTest, LogsAndOutputsComeFromTasksOfTheJob) {
  Sync();
  const auto submitted = client_->SubmitJob(SmallSubmission());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const v1::JobTask leader = Sync().orders(0).task();

  v1::AppendLogRequest log;
  *log.mutable_task() = leader;
  log.set_text("Epoch 1/2\n");
  v1::ReadLogRequest read;
  read.set_id(submitted->id());
  read.mutable_task()->set_type(v1::TASK_TYPE_CHIEF);
  read.set_should_wait(true);
  auto waiting =
      std::async(std::launch::async, [&] { return client_->ReadLog(read); });
  ASSERT_TRUE(client_->AppendLog(log).ok());
  EXPECT_EQ(waiting.get()->text(), "Epoch 1/2\n");

  // Who wants no progress is not woken by it.
  log.set_offset(10);
  log.set_text("");
  log.mutable_progress()->mutable_current()->set_steps_done(3);
  EXPECT_FALSE(client_->AppendLog(log)->wants_progress());
  read.set_offset(10);
  read.set_should_wait(false);
  EXPECT_FALSE(client_->ReadLog(read)->has_progress());
  read.set_progress_number(0);
  const auto progress = client_->ReadLog(read);
  EXPECT_EQ(progress->progress().current().steps_done(), 3);
  read.set_progress_number(progress->progress_number());
  EXPECT_FALSE(client_->ReadLog(read)->has_progress());
  read.set_should_wait(true);
  waiting =
      std::async(std::launch::async, [&] { return client_->ReadLog(read); });
  log.mutable_progress()->mutable_current()->set_steps_done(4);
  EXPECT_TRUE(client_->AppendLog(log)->wants_progress());
  EXPECT_EQ(waiting.get()->progress().current().steps_done(), 4);
  // Of other tasks, and impossible.
  log.mutable_progress()->mutable_current()->set_seconds(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(client_->AppendLog(log).status()));
  log.mutable_progress()->mutable_current()->set_seconds(1);
  log.mutable_task()->mutable_task()->set_type(v1::TASK_TYPE_WORKER);
  EXPECT_TRUE(absl::IsInvalidArgument(client_->AppendLog(log).status()));
  log.clear_progress();

  v1::AddOutputsRequest outputs;
  *outputs.mutable_task() = leader;
  v1::JobFile& file = *outputs.add_files();
  file.set_path("out/result.json");
  file.set_sha256(Put("{}"));
  file.set_size_bytes(2);
  ASSERT_TRUE(client_->AddOutputs(outputs).ok());
  v1::GetJobRequest request;
  request.set_id(submitted->id());
  EXPECT_EQ(client_->GetJob(request)->job().result_json(), "{}");

  outputs.mutable_files(0)->set_path("job.yaml");
  EXPECT_TRUE(absl::IsInvalidArgument(client_->AddOutputs(outputs).status()));
  log.mutable_task()->set_generation(2);
  EXPECT_TRUE(absl::IsNotFound(client_->AppendLog(log).status()));
}

}  // namespace
}  // namespace paceline
