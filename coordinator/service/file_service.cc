#include "coordinator/service/file_service.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

absl::Status Put(FileStore& files, const v1::PutFileRequest& request,
                 v1::PutFileResponse& response) {
  absl::StatusOr<v1::FileProgress> progress =
      files.Append(request.sha256(), request.size_bytes(), request.offset(),
                   request.content());
  // A gap: the sender learns where to go on.
  if (absl::IsOutOfRange(progress.status())) {
    progress = files.Find(request.sha256());
  }
  if (progress.ok()) *response.mutable_progress() = *std::move(progress);
  return progress.status();
}

absl::Status Get(FileStore& files, const v1::GetFileRequest& request,
                 v1::GetFileResponse& response) {
  ASSIGN_OR_RETURN(
      *response.mutable_content(),
      files.Read(request.sha256(), request.offset(), kMaxFilePieceBytes));
  return absl::OkStatus();
}

}  // namespace

FileService::FileService(FileStore& files)
    : RpcService(v1::FileService::service_full_name()) {
  AddMessages<v1::FindFilesRequest, v1::FindFilesResponse>(
      "FindFiles", kMaxFindRequestBytes,
      [&files](const auto& request, auto& response, const Done& done) {
        done(Find(files, request, response));
      },
      Access::kPeople);
  AddMessages<v1::PutFileRequest, v1::PutFileResponse>(
      "PutFile", kMaxPutRequestBytes,
      [&files](const auto& request, auto& response, const Done& done) {
        done(Put(files, request, response));
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
