#include "coordinator/service/file_service.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/transfer/job_paths.h"
#include "common/transfer/pieces.h"
#include "paceline/v1/service.grpc.pb.h"

namespace paceline {
namespace {

constexpr size_t kMaxFindRequestBytes = 1 << 20;
// The piece, and what is said about it.
constexpr size_t kMaxPutRequestBytes = kMaxFilePieceBytes + (1 << 10);

absl::Status Find(FileStore& files, const v1::FindFilesRequest& request,
                  v1::FindFilesResponse& response) {
  RETURN_IF_ERROR(CheckFileCount("sha256", request.sha256_size()));
  for (const std::string& sha256 : request.sha256()) {
    ASSIGN_OR_RETURN(*response.add_files(), files.Find(sha256));
  }
  return absl::OkStatus();
}

// Nobody waits here: the sender does, as the answer says, or its next piece is
// not taken.
absl::Status Put(FileStore& files, UploadLimit& limit, const Person& person,
                 const v1::PutFileRequest& request,
                 v1::PutFileResponse& response) {
  UploadLimit::Answer answer;
  // Daemons have no user.
  if (!person.user.empty()) {
    answer = limit.Ask(person.user, request.content().size(), MonotonicNow());
  }
  absl::StatusOr<v1::FileProgress> progress =
      answer.is_granted ? files.Append(request.sha256(), request.size_bytes(),
                                       request.offset(), request.content())
                        : files.Find(request.sha256());
  // A gap: the sender learns where to go on.
  if (absl::IsOutOfRange(progress.status())) {
    progress = files.Find(request.sha256());
  }
  RETURN_IF_ERROR(progress.status());
  *response.mutable_progress() = *std::move(progress);
  response.set_pause_micros(absl::ToInt64Microseconds(
      absl::Ceil(answer.pause, absl::Microseconds(1))));
  return absl::OkStatus();
}

absl::Status Get(FileStore& files, const v1::GetFileRequest& request,
                 v1::GetFileResponse& response) {
  ASSIGN_OR_RETURN(
      *response.mutable_content(),
      files.Read(request.sha256(), request.offset(), kMaxFilePieceBytes));
  return absl::OkStatus();
}

}  // namespace

FileService::FileService(FileStore& files, uint64_t max_upload_rate)
    : RpcService(v1::FileService::service_full_name()),
      upload_limit_(max_upload_rate) {
  AddMessages<v1::FindFilesRequest, v1::FindFilesResponse>(
      "FindFiles", kMaxFindRequestBytes,
      [&files](const auto& request, auto& response, const Done& done) {
        done(Find(files, request, response));
      },
      Access::kPeople);
  AddMessages<v1::PutFileRequest, v1::PutFileResponse>(
      "PutFile", kMaxPutRequestBytes,
      [this, &files](const auto& request, auto& response, const Done& done,
                     const Person& person) {
        done(Put(files, upload_limit_, person, request, response));
      },
      Access::kPeople);
  AddMessages<v1::GetFileRequest, v1::GetFileResponse>(
      "GetFile", kMaxFindRequestBytes,
      [&files](const auto& request, auto& response, const Done& done) {
        done(Get(files, request, response));
      },
      Access::kPeople);
}

}  // namespace paceline
