#include "common/transfer/send_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/transfer/pieces.h"

namespace paceline {
namespace {

// How often the coordinator may say that it has less than before. A file that
// it has begun anew, since it was lost there, is rare.
constexpr int kMaxRestarts = 3;

absl::Status Changed(absl::string_view name) {
  return absl::AbortedError(
      absl::StrCat(PeerText(name), " has changed while it was sent"));
}

// Fills in the piece that begins at `offset`.
absl::Status ReadPiece(RandomAccess& content, uint64_t offset,
                       v1::PutFileRequest& request) {
  std::string& piece = *request.mutable_content();
  piece.resize(
      std::min<uint64_t>(kSentFilePieceBytes, request.size_bytes() - offset));
  request.set_offset(offset);
  return content.ReadAt(
      static_cast<int64_t>(offset),
      {reinterpret_cast<std::byte*>(piece.data()), piece.size()});
}

}  // namespace

absl::Status SendFile(absl::string_view name, RandomAccess& content,
                      const v1::JobFile& file, v1::FileProgress progress,
                      PutPiece put) {
  v1::PutFileRequest request;
  request.set_sha256(file.sha256());
  request.set_size_bytes(file.size_bytes());
  if (static_cast<uint64_t>(content.size_bytes()) < file.size_bytes()) {
    return Changed(name);
  }
  for (int restarts = 0; !progress.is_complete();) {
    const uint64_t offset =
        std::min<uint64_t>(progress.received_bytes(), file.size_bytes());
    RETURN_IF_ERROR(ReadPiece(content, offset, request));
    const absl::StatusOr<v1::PutFileResponse> response = put(request);
    if (absl::IsDataLoss(response.status()) ||
        absl::IsOutOfRange(response.status())) {
      if (++restarts > 1) return Changed(name);
      progress.set_received_bytes(0);
      continue;
    }
    RETURN_IF_ERROR(response.status());
    progress = response->progress();
    const bool is_stuck = !progress.is_complete() &&
                          progress.received_bytes() <= offset &&
                          response->pause_micros() == 0;
    if (is_stuck && ++restarts > kMaxRestarts) {
      return absl::InternalError(absl::StrCat("the coordinator does not take ",
                                              PeerText(name), " beyond byte ",
                                              offset));
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
