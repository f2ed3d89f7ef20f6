#include "coordinator/service/service_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
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

using ::testing::HasSubstr;
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
  void Start() {
    client_.reset();
    server_.reset();
    ServiceServerOptions options;
    options.listen_address = "127.0.0.1:0";
    options.store_folder = folder_;
    options.version = "1.0";
    options.secret = *JobSecret::FromText(kSecret);
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
