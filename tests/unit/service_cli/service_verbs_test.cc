// The verbs, with a service of made-up answers behind real sockets.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/identity/sha256.h"
#include "coordinator/cli/service/service_verb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/screen_lines.h"
#include "tests/test_identity.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kLimit = 8 << 20;

// Keeps files in memory.
class FakeFiles : public RpcService {
 public:
  FakeFiles() : RpcService("paceline.v1.FileService") {
    AddMessages<v1::FindFilesRequest, v1::FindFilesResponse>(
        "FindFiles", kLimit,
        [this](const auto& request, auto& response, const Done& done) {
          for (const std::string& each : request.sha256()) {
            *response.add_files() = ProgressOf(each);
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::PutFileRequest, v1::PutFileResponse>(
        "PutFile", kLimit,
        [this](const auto& request, auto& response, const Done& done) {
          pieces.push_back(request.content().size());
          response.set_pause_micros(absl::ToInt64Microseconds(pause));
          if (refused_pieces > 0) {
            --refused_pieces;
            *response.mutable_progress() = ProgressOf(request.sha256());
            return done(absl::OkStatus());
          }
          std::string& content = contents[request.sha256()];
          if (request.offset() == content.size()) content += request.content();
          *response.mutable_progress() = ProgressOf(request.sha256());
          if (content.size() == request.size_bytes() &&
              !response.progress().is_complete()) {
            content.clear();
            return done(absl::DataLossError("another hash"));
          }
          // The answer is lost, but not what was asked.
          if (lost_answers > 0) {
            --lost_answers;
            return done(absl::UnavailableError("lost"));
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::GetFileRequest, v1::GetFileResponse>(
        "GetFile", kLimit,
        [this](const auto& request, auto& response, const Done& done) {
          offsets.push_back(request.offset());
          response.set_content(
              contents[request.sha256()].substr(request.offset(), 5));
          done(absl::OkStatus());
        },
        Access::kNewcomers);
  }

  v1::FileProgress ProgressOf(const std::string& sha256) {
    v1::FileProgress progress;
    const std::string& content = contents[sha256];
    progress.set_received_bytes(content.size());
    progress.set_is_complete(Sha256Hex(content) == sha256);
    return progress;
  }

  std::map<std::string, std::string> contents;
  // Sizes of what was put, and offsets of what was got.
  std::vector<size_t> pieces;
  std::vector<uint64_t> offsets;
  int lost_answers = 0;
  // What answers say, and how many of the next pieces come too early.
  absl::Duration pause;
  int refused_pieces = 0;
};

// Has one job, which goes through the states that are given.
class FakeJobs : public RpcService {
 public:
  FakeJobs() : RpcService("paceline.v1.JobService") {
    AddMessages<v1::SubmitJobRequest, v1::SubmitJobResponse>(
        "SubmitJob", kLimit,
        [this](const auto& request, auto& response, const Done& done) {
          submissions.push_back(request.submission());
          response.set_id("mnist-17");
          if (submissions.size() == 1 && loses_first) {
            return done(absl::UnavailableError("lost"));
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::GetJobRequest, v1::GetJobResponse>(
        "GetJob", kLimit,
        [this](const auto& request, auto& response, const Done& done) {
          if (request.id() != "mnist-17") {
            return done(absl::NotFoundError("no such job"));
          }
          if (request.unlike() != v1::JOB_STATE_UNSPECIFIED && Loses()) {
            return done(absl::UnavailableError("lost"));
          }
          if (request.unlike() == job.record().state()) Step();
          *response.mutable_job() = job;
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::ReadLogRequest, v1::ReadLogResponse>(
        "ReadLog", kLimit,
        [this](const auto& request, auto& response, const Done& done) {
          if (request.should_wait() && Loses()) {
            return done(absl::UnavailableError("lost"));
          }
          const std::string& log = logs[request.generation()];
          const int64_t size = static_cast<int64_t>(log.size());
          const int64_t begin =
              request.offset() < 0
                  ? std::max<int64_t>(0, size + request.offset())
                  : std::min(size, request.offset());
          response.set_text(log.substr(begin, 7));
          response.set_next_offset(begin + response.text().size());
          response.set_is_last(begin == size);
          response.set_generation(request.generation());
          if (request.has_progress_number() && !response.is_last() &&
              request.progress_number() != kProgressNumber) {
            *response.mutable_progress() = progress;
            response.set_progress_number(kProgressNumber);
          }
          if (response.is_last()) Step();
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    job.mutable_record()->set_id("mnist-17");
    job.mutable_record()->set_state(v1::JOB_STATE_QUEUED);
  }

  bool Loses() { return lost_answers > 0 && lost_answers-- > 0; }

  // Takes the next of the states, with the start that it is of.
  void Step() {
    if (next == states.size()) return;
    job.mutable_record()->set_state(states[next].first);
    job.mutable_record()->set_generation(states[next].second);
    ++next;
  }

  v1::JobView job;
  std::vector<std::pair<v1::JobState, uint32_t>> states;
  size_t next = 0;
  // By start.
  std::map<uint32_t, std::string> logs;
  // For who wants it.
  static constexpr uint64_t kProgressNumber = 7;
  v1::JobProgress progress;
  std::vector<v1::Submission> submissions;
  bool loses_first = false;
  // Of calls that wait for news.
  int lost_answers = 0;
};

// Makes tokens of one text, and keeps their records.
class FakeTokens : public RpcService {
 public:
  FakeTokens() : RpcService("paceline.v1.TokenService") {
    AddMessages<v1::CreateTokenRequest, v1::CreateTokenResponse>(
        "CreateToken", kLimit,
        [this](const auto& request, auto& response, const Done& done) {
          asked = request;
          v1::TokenRecord& token = *response.mutable_record();
          token.set_id(records.size() + 1);
          token.set_user(request.user());
          token.set_role(request.role());
          response.set_token("paceline_0123");
          records.push_back(token);
          done(absl::OkStatus());
        },
        Access::kPeople);
    AddMessages<v1::ListTokensRequest, v1::ListTokensResponse>(
        "ListTokens", kLimit,
        [this](const auto& /*request*/, auto& response, const Done& done) {
          response.mutable_tokens()->Assign(records.begin(), records.end());
          done(absl::OkStatus());
        },
        Access::kPeople);
    AddMessages<v1::RevokeTokenRequest, v1::RevokeTokenResponse>(
        "RevokeToken", kLimit,
        [this](const auto& request, auto& /*response*/, const Done& done) {
          revoked.push_back(request.id());
          done(request.id() <= records.size() ? absl::OkStatus()
                                              : absl::NotFoundError("none"));
        },
        Access::kPeople);
  }

  v1::CreateTokenRequest asked;
  std::vector<v1::TokenRecord> records;
  std::vector<uint64_t> revoked;
};

class ServiceVerbsTest : public ::testing::Test {
 protected:
  ServiceVerbsTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    // One thread, so that the fakes need no locks.
    auto server = StartTestServer(
        "127.0.0.1:0", std::vector<RpcService*>{&files_, &jobs_, &tokens_},
        std::nullopt,
        /*thread_count=*/1);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    Connect(absl::StrCat("127.0.0.1:", server_->port()));
  }

  void Connect(const std::string& address) {
    v1::Task self;
    self.set_type(v1::TASK_TYPE_CHIEF);
    client_ = std::make_unique<ServiceClient>(
        address, std::make_shared<Caller>(self, 7, std::nullopt));
  }

  // Returns the exit code; 2 with `error` set for an error.
  int Run(std::unique_ptr<ServiceVerb> verb, std::vector<std::string> args) {
    CLI::App app;
    verb->AddTo(app);
    std::reverse(args.begin(), args.end());
    app.parse(args);
    out_.str("");
    messages_.str("");
    const absl::StatusOr<int> code =
        verb->Run({.client = *client_,
                   .out = out_,
                   .is_terminal = is_terminal_,
                   .messages = messages_,
                   .is_interrupted = [this] { return is_interrupted_.load(); },
                   .patience = patience_});
    error_ = code.status();
    return code.ok() ? *code : 2;
  }

  std::string WriteJob() {
    std::ofstream(folder_ + "/x.idx") << std::string((1 << 20) + 10, 'x');
    std::ofstream(folder_ + "/job.yaml") << R"(name: mnist
strategy: mirrored
model: {layers: [{Input: {shape: [4]}}, {Dense: {units: 2}}]}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: SGD
data: {train: {idx: {features: x.idx, labels: /data/y.idx}}}
batch_size_per_replica: 2
epochs: 1
)";
    return folder_ + "/job.yaml";
  }

  const std::string folder_ = ::testing::TempDir() + "service_verbs_test";
  FakeFiles files_;
  FakeJobs jobs_;
  FakeTokens tokens_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ServiceClient> client_;
  std::atomic<bool> is_interrupted_ = false;
  absl::Duration patience_ = absl::Seconds(2);
  bool is_terminal_ = false;
  std::ostringstream out_;
  std::ostringstream messages_;
  absl::Status error_;
};

TEST_F(ServiceVerbsTest, SubmitSendsWhatIsMissingOnce) {
  const std::string job = WriteJob();
  files_.lost_answers = 1;
  jobs_.loses_first = true;
  EXPECT_EQ(Run(MakeSubmitVerb(), {job, "--retries", "2"}), 0) << error_;
  EXPECT_EQ(out_.str(), "mnist-17\n");
  // The job, which is sent again; the data in two pieces.
  EXPECT_EQ(files_.pieces.size(), 4);
  ASSERT_EQ(jobs_.submissions.size(), 2);
  EXPECT_EQ(jobs_.submissions[0].idempotency_key(),
            jobs_.submissions[1].idempotency_key());
  EXPECT_EQ(jobs_.submissions[0].retries(), 2);
  for (const v1::JobFile& file : jobs_.submissions[0].files()) {
    EXPECT_TRUE(files_.ProgressOf(file.sha256()).is_complete()) << file.path();
  }
  files_.pieces.clear();
  EXPECT_EQ(Run(MakeSubmitVerb(), {job, "-o", "json"}), 0) << error_;
  EXPECT_TRUE(files_.pieces.empty());
  EXPECT_EQ(nlohmann::json::parse(out_.str())["id"], "mnist-17");
}

TEST_F(ServiceVerbsTest, UploadsGoOnWhereTheyHaveStopped) {
  const std::string job = WriteJob();
  const std::string content((1 << 20) + 10, 'x');
  files_.contents[Sha256Hex(content)] = content.substr(0, 1 << 20);
  EXPECT_EQ(Run(MakeSubmitVerb(), {job}), 0) << error_;
  EXPECT_THAT(files_.pieces, ElementsAre(fs::file_size(job), 10));
}

TEST_F(ServiceVerbsTest, UploadsWaitWhereTheirRateIsLimited) {
  const std::string job = WriteJob();
  files_.pause = absl::Milliseconds(500);
  // More than an upload has restarts.
  files_.refused_pieces = 4;
  const absl::Time start = MonotonicNow();
  EXPECT_EQ(Run(MakeSubmitVerb(), {job}), 0) << error_;
  EXPECT_EQ(files_.pieces.size(), 4 + 3);
  // Nobody waits after the last one.
  EXPECT_GE(MonotonicNow() - start, 6 * files_.pause);
  EXPECT_EQ(messages_.str(),
            client_->description() +
                " limits the rate of uploads; this one waits for it\n");
}

TEST_F(ServiceVerbsTest, ABeginningOfAnotherFileIsSentAnew) {
  const std::string job = WriteJob();
  files_.contents[Sha256Hex(std::string((1 << 20) + 10, 'x'))] = "y";
  EXPECT_EQ(Run(MakeSubmitVerb(), {job}), 0) << error_;
  for (const v1::JobFile& file : jobs_.submissions[0].files()) {
    EXPECT_TRUE(files_.ProgressOf(file.sha256()).is_complete()) << file.path();
  }
}

TEST_F(ServiceVerbsTest, FollowPrintsTheLogsOfAllStarts) {
  jobs_.states = {{v1::JOB_STATE_RUNNING, 1},
                  {v1::JOB_STATE_QUEUED, 1},
                  {v1::JOB_STATE_RUNNING, 2},
                  {v1::JOB_STATE_SUCCEEDED, 2}};
  jobs_.logs = {{1, "first start\n"}, {2, "second start\n"}};
  EXPECT_EQ(Run(MakeSubmitVerb(), {WriteJob(), "--follow"}), 0) << error_;
  EXPECT_EQ(out_.str(), "mnist-17\nfirst start\nsecond start\n");
  // The job has ended before the first log was read.
  EXPECT_EQ(Run(MakeSubmitVerb(), {WriteJob(), "--follow"}), 0) << error_;
  EXPECT_EQ(out_.str(), "mnist-17\nfirst start\nsecond start\n");
}

TEST_F(ServiceVerbsTest, FollowDrawsBarsOnATerminal) {
  jobs_.logs = {{1, "Epoch 1/1\n4/4 - 0s - 0s/step - loss: -2.0000e+00\n"}};
  v1::EpochProgress& epoch = *jobs_.progress.add_ended();
  epoch.set_steps_done(4);
  epoch.set_steps_total(4);
  v1::LoggedValue& loss = *epoch.add_logs();
  loss.set_name("loss");
  loss.set_value(-2);
  for (const bool is_terminal : {false, true}) {
    is_terminal_ = is_terminal;
    jobs_.job.mutable_record()->set_state(v1::JOB_STATE_RUNNING);
    jobs_.job.mutable_record()->set_generation(1);
    jobs_.states = {{v1::JOB_STATE_SUCCEEDED, 1}};
    jobs_.next = 0;
    jobs_.lost_answers = 1;
    EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "-f"}), 0) << error_;
    EXPECT_THAT(messages_.str(), HasSubstr("trying again until it answers"));
    EXPECT_THAT(
        ScreenLines(out_.str()),
        ElementsAre("Epoch 1/1", is_terminal ? "4/4 ━━━━━━━━━━━━━━━━━━━━ 0s "
                                               "0s/step - loss: -2.0000"
                                             : "4/4 - 0s - 0s/step - loss: "
                                               "-2.0000e+00"));
  }
}

TEST_F(ServiceVerbsTest, WaitReturnsHowTheJobEnded) {
  for (const auto& [state, code] :
       {std::pair<v1::JobState, int>(v1::JOB_STATE_SUCCEEDED, 0),
        {v1::JOB_STATE_FAILED, 1},
        {v1::JOB_STATE_STOPPED, 130}}) {
    jobs_.job.mutable_record()->set_state(v1::JOB_STATE_QUEUED);
    jobs_.states = {{v1::JOB_STATE_RUNNING, 1}, {state, 1}};
    jobs_.next = 0;
    jobs_.job.mutable_record()->set_error("why");
    EXPECT_EQ(Run(MakeWaitVerb(), {"mnist-17"}), code) << error_;
    EXPECT_THAT(messages_.str(), HasSubstr("job mnist-17 is running\n"));
    EXPECT_THAT(messages_.str(),
                HasSubstr(code == 0 ? "coordinator download mnist-17\n"
                                    : "error: job mnist-17"));
  }
  jobs_.job.mutable_record()->set_state(v1::JOB_STATE_FAILED);
  EXPECT_EQ(Run(MakeWaitVerb(), {"mnist-17"}), 1);
  EXPECT_EQ(messages_.str(), "error: job mnist-17 failed: why\n");
}

TEST_F(ServiceVerbsTest, AWaitMayEndEarly) {
  Run(MakeWaitVerb(), {"mnist-17", "--timeout", "1s"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(error_.message(), "job mnist-17 is still queued after 1s");
  is_interrupted_ = true;
  client_->CancelAll();
  EXPECT_EQ(Run(MakeWaitVerb(), {"mnist-17"}), 130);
  EXPECT_EQ(messages_.str(),
            "job mnist-17 goes on; come back with: coordinator logs -f "
            "mnist-17\n");
}

// For longer than other verbs have patience.
TEST_F(ServiceVerbsTest, AWaitOutlivesACoordinator) {
  for (const char* verb : {"wait", "logs"}) {
    jobs_.job.mutable_record()->set_state(v1::JOB_STATE_RUNNING);
    jobs_.job.mutable_record()->set_generation(1);
    jobs_.states = {{v1::JOB_STATE_SUCCEEDED, 1}};
    jobs_.next = 0;
    jobs_.lost_answers = 2;
    patience_ = absl::ZeroDuration();
    EXPECT_EQ(verb == std::string("wait")
                  ? Run(MakeWaitVerb(), {"mnist-17"})
                  : Run(MakeLogsVerb(), {"mnist-17", "-f"}),
              0)
        << error_;
    EXPECT_EQ(jobs_.lost_answers, 0);
    EXPECT_THAT(messages_.str(), HasSubstr("; trying again until it answers"));
  }
}

TEST_F(ServiceVerbsTest, LogsPrintsTheEnd) {
  jobs_.job.mutable_record()->set_state(v1::JOB_STATE_SUCCEEDED);
  jobs_.job.mutable_record()->set_generation(2);
  jobs_.logs = {{1, "old\n"}, {2, "one\ntwo\n\nfour\n"}};
  EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17"}), 0) << error_;
  EXPECT_EQ(out_.str(), "one\ntwo\n\nfour\n");
  for (const auto& [lines, text] :
       {std::pair<std::string, std::string>("2", "\nfour\n"),
        {"1", "four\n"},
        {"0", ""},
        {"4", "one\ntwo\n\nfour\n"},
        {"9", "one\ntwo\n\nfour\n"}}) {
    EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "--tail", lines}), 0) << error_;
    EXPECT_EQ(out_.str(), text) << lines;
  }
  EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "--generation", "1"}), 0);
  EXPECT_EQ(out_.str(), "old\n");
  EXPECT_EQ(Run(MakeLogsVerb(), {"mnist-17", "--tail", "1", "-f"}), 0);
  EXPECT_EQ(out_.str(), "four\n");
  Run(MakeLogsVerb(), {"mnist-17", "--generation", "3"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ServiceVerbsTest, AJobThatIsNotThereIsNamed) {
  Run(MakeDescribeVerb(), {"mnist-18"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(error_.message(), client_->description() + " has no job mnist-18");
}

TEST_F(ServiceVerbsTest, DownloadGoesOnAndChecks) {
  const std::string content = "0123456789ab";
  v1::JobFile& file = *jobs_.job.add_outputs();
  file.set_path("out/deep/result.json");
  file.set_sha256(Sha256Hex(content));
  file.set_size_bytes(content.size());
  files_.contents[file.sha256()] = content;
  jobs_.job.mutable_record()->set_generation(1);
  jobs_.job.mutable_record()->add_placements()->mutable_task()->set_type(
      v1::TASK_TYPE_CHIEF);
  jobs_.logs = {{1, "a log\n"}};
  const std::string to = folder_ + "/to";
  fs::create_directories(to + "/deep");
  std::ofstream(to + "/deep/result.json.part") << content.substr(0, 6);
  const auto download = [&] {
    return Run(MakeDownloadVerb(), {"mnist-17", "--output", to});
  };
  EXPECT_EQ(download(), 0) << error_;
  EXPECT_THAT(files_.offsets, ElementsAre(6, 11));
  EXPECT_EQ(*ReadFile(to + "/deep/result.json", 100), content);
  EXPECT_EQ(*ReadFile(to + "/logs/leader.log", 100), "a log\n");
  EXPECT_FALSE(fs::exists(to + "/deep/result.json.part"));

  // It is there already.
  files_.offsets.clear();
  EXPECT_EQ(download(), 0) << error_;
  EXPECT_TRUE(files_.offsets.empty());

  // Another file was there, and of it a beginning.
  std::ofstream(to + "/deep/result.json") << "other";
  std::ofstream(to + "/deep/result.json.part") << "wrong";
  EXPECT_EQ(download(), 0) << error_;
  EXPECT_THAT(files_.offsets, ElementsAre(5, 10, 0, 5, 10));
  EXPECT_EQ(*ReadFile(to + "/deep/result.json", 100), content);

  files_.contents[file.sha256()] = "0123456789AB";
  fs::remove(to + "/deep/result.json");
  download();
  EXPECT_EQ(error_.code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(fs::exists(to + "/deep/result.json"));
}

TEST_F(ServiceVerbsTest, ATokenIsPrintedAloneAndOnce) {
  EXPECT_EQ(Run(MakeTokenVerb(), {"create", "--user", "ann", "--role", "submit",
                                  "--expires", "30d"}),
            0)
      << error_;
  EXPECT_EQ(out_.str(), "paceline_0123\n");
  EXPECT_THAT(messages_.str(), AllOf(HasSubstr("token 1 is shown only now"),
                                     Not(HasSubstr("paceline_0123"))));
  EXPECT_EQ(tokens_.asked.user(), "ann");
  EXPECT_EQ(tokens_.asked.role(), v1::ROLE_SUBMIT);
  EXPECT_EQ(tokens_.asked.lifetime_micros(),
            absl::ToInt64Microseconds(absl::Hours(30 * 24)));

  EXPECT_EQ(Run(MakeTokenVerb(),
                {"create", "--user", "eve", "--role", "admin", "-o", "json"}),
            0)
      << error_;
  const nlohmann::json json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["token"], "paceline_0123");
  EXPECT_EQ(json["id"], 2);
  EXPECT_EQ(json["role"], "admin");
  EXPECT_TRUE(json["expires"].is_null());
  EXPECT_EQ(tokens_.asked.lifetime_micros(), 0);

  EXPECT_EQ(Run(MakeTokenVerb(), {"create", "--user", "eve", "--role", "view",
                                  "--expires", "soon"}),
            2);
  EXPECT_THAT(std::string(error_.message()), HasSubstr("--expires"));
}

TEST_F(ServiceVerbsTest, TokensAreListedAndRevoked) {
  v1::TokenRecord token;
  token.set_id(1);
  token.set_user("ann");
  token.set_role(v1::ROLE_VIEW);
  token.set_created_micros(absl::ToUnixMicros(absl::Now() - absl::Hours(50)));
  token.set_expires_micros(absl::ToUnixMicros(absl::Now() - absl::Hours(1)));
  tokens_.records = {token};
  EXPECT_EQ(Run(MakeTokenVerb(), {"list"}), 0) << error_;
  EXPECT_EQ(out_.str(),
            "ID  USER  ROLE  CREATED   USED  EXPIRES\n"
            "1   ann   view  2d2h ago  -     over\n");
  EXPECT_EQ(Run(MakeTokenVerb(), {"list", "-o", "json"}), 0) << error_;
  EXPECT_EQ(nlohmann::json::parse(out_.str())[0]["user"], "ann");
  EXPECT_EQ(Run(MakeTokenVerb(), {"list", "-o", "yaml"}), 0) << error_;
  EXPECT_THAT(out_.str(), HasSubstr("role: view"));

  EXPECT_EQ(Run(MakeTokenVerb(), {"revoke", "1"}), 0) << error_;
  EXPECT_EQ(Run(MakeTokenVerb(), {"revoke", "7"}), 2);
  EXPECT_THAT(std::string(error_.message()), HasSubstr("has no token 7"));
  EXPECT_THAT(tokens_.revoked, ElementsAre(1, 7));
}

TEST_F(ServiceVerbsTest, DownloadsStayInTheirFolder) {
  jobs_.job.add_outputs()->set_path("out/../../x");
  Run(MakeDownloadVerb(), {"mnist-17", "--output", folder_ + "/to"});
  EXPECT_EQ(error_.code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace paceline
