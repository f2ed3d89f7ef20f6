// A service of made-up answers.
#ifndef PACELINE_TESTS_UNIT_SERVICE_CLI_FAKE_SERVICE_H_
#define PACELINE_TESTS_UNIT_SERVICE_CLI_FAKE_SERVICE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/identity/sha256.h"
#include "common/rpc/rpc_service.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Of a message.
inline constexpr size_t kFakeServiceLimit = 8 << 20;

// Keeps files in memory.
class FakeFiles : public RpcService {
 public:
  FakeFiles() : RpcService("paceline.v1.FileService") {
    AddMessages<v1::FindFilesRequest, v1::FindFilesResponse>(
        "FindFiles", kFakeServiceLimit,
        [this](const auto& request, auto& response, const Done& done) {
          for (const std::string& each : request.sha256()) {
            *response.add_files() = ProgressOf(each);
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::PutFileRequest, v1::PutFileResponse>(
        "PutFile", kFakeServiceLimit,
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
        "GetFile", kFakeServiceLimit,
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
        "SubmitJob", kFakeServiceLimit,
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
        "GetJob", kFakeServiceLimit,
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
        "ReadLog", kFakeServiceLimit,
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
        "CreateToken", kFakeServiceLimit,
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
        "ListTokens", kFakeServiceLimit,
        [this](const auto& /*request*/, auto& response, const Done& done) {
          response.mutable_tokens()->Assign(records.begin(), records.end());
          done(absl::OkStatus());
        },
        Access::kPeople);
    AddMessages<v1::RevokeTokenRequest, v1::RevokeTokenResponse>(
        "RevokeToken", kFakeServiceLimit,
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

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_SERVICE_CLI_FAKE_SERVICE_H_
