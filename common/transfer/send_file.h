// Sends a file to the coordinator of a service.
#ifndef PACELINE_COMMON_TRANSFER_SEND_FILE_H_
#define PACELINE_COMMON_TRANSFER_SEND_FILE_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/random_access.h"
#include "paceline/v1/queue.pb.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Sends one piece; may pause before, and repeat what may pass.
using PutPiece = absl::FunctionRef<absl::StatusOr<v1::PutFileResponse>(
    const v1::PutFileRequest& request)>;

// Sends, from the beginning of `content`, what the coordinator lacks of `file`
// by its `progress`, piece by piece. What it had may have been of another file,
// or it may have lost it: then it gets all, once. A piece that it refuses for
// coming too early (pause_micros) is sent again.
//
// `name` is the file's in errors: Aborted if the content is not what `file`
// says, Internal if the coordinator does not take what is sent. Other errors
// are those of `content` and `put`. Blocks.
absl::Status SendFile(absl::string_view name, RandomAccess& content,
                      const v1::JobFile& file, v1::FileProgress progress,
                      PutPiece put);

}  // namespace paceline

#endif  // PACELINE_COMMON_TRANSFER_SEND_FILE_H_
