#include "coordinator/cli/service/upload.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/transfer/pieces.h"
#include "common/transfer/send_file.h"
#include "coordinator/cli/service/job_calls.h"

namespace paceline {
namespace {

// The coordinator did not take a piece, since another one came before it.
constexpr absl::Duration kMinRefusedPause = absl::Milliseconds(100);
// Pauses that a user notices, together.
constexpr absl::Duration kLongPauses = absl::Seconds(2);

absl::StatusOr<std::unique_ptr<RandomAccess>> Open(const BundledFile& bundled,
                                                   const JobBundle& bundle) {
  return bundled.path.empty() ? RandomAccessTo(bundle.text)
                              : OpenRandomAccess(bundled.path);
}

// Keeps to the rate of uploads that the coordinator allows.
class Pacer {
 public:
  explicit Pacer(const VerbContext& context) : context_(context) {}

  // Before a piece.
  void Wait() {
    const absl::Duration pause = std::exchange(pause_, absl::ZeroDuration());
    paused_ += pause;
    if (paused_ > kLongPauses && !std::exchange(has_told_, true)) {
      context_.messages << context_.client.description()
                        << " limits the rate of uploads; this one waits for it"
                        << std::endl;
    }
    Pause(context_, pause);
  }
  // After a piece, which may have been refused for coming too early.
  void TakeAnswer(const v1::PutFileResponse& response, uint64_t offset) {
    const absl::Duration pause =
        absl::Microseconds(static_cast<double>(response.pause_micros()));
    const bool is_refused = pause > absl::ZeroDuration() &&
                            !response.progress().is_complete() &&
                            response.progress().received_bytes() <= offset;
    pause_ = std::min(is_refused ? std::max(pause, kMinRefusedPause) : pause,
                      limits::kMaxToldDuration);
  }

 private:
  const VerbContext& context_;
  absl::Duration pause_;
  absl::Duration paused_;
  bool has_told_ = false;
};

absl::Status Upload(const VerbContext& context, const JobBundle& bundle,
                    const BundledFile& bundled,
                    const v1::FileProgress& progress, Pacer& pacer) {
  if (progress.is_complete()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> content,
                   Open(bundled, bundle));
  return SendFile(bundled.file.path(), *content, bundled.file, progress,
                  [&](const v1::PutFileRequest& piece) {
                    pacer.Wait();
                    absl::StatusOr<v1::PutFileResponse> response =
                        PatientlyGet<v1::PutFileResponse>(
                            context, context.patience,
                            [&] { return context.client.PutFile(piece); });
                    if (response.ok()) {
                      pacer.TakeAnswer(*response, piece.offset());
                    }
                    return response;
                  });
}

}  // namespace

absl::Status UploadFiles(const VerbContext& context, const JobBundle& bundle) {
  // Files of the same content are one.
  std::set<std::string> known;
  std::vector<const BundledFile*> files;
  for (const BundledFile& each : bundle.files) {
    if (known.insert(each.file.sha256()).second) files.push_back(&each);
  }
  Pacer pacer(context);
  for (size_t begin = 0; begin < files.size(); begin += kToldFilesInCall) {
    const size_t end = std::min(files.size(), begin + kToldFilesInCall);
    v1::FindFilesRequest request;
    for (size_t i = begin; i < end; ++i) {
      request.add_sha256(files[i]->file.sha256());
    }
    absl::StatusOr<v1::FindFilesResponse> answer;
    RETURN_IF_ERROR(Patiently(context, context.patience, [&] {
      answer = context.client.FindFiles(request);
      return answer.status();
    }));
    const v1::FindFilesResponse& found = *answer;
    if (found.files_size() != request.sha256_size()) {
      return absl::InternalError(absl::StrCat(
          context.client.description(), " told of ", found.files_size(),
          " files, expected ", request.sha256_size()));
    }
    for (size_t i = begin; i < end; ++i) {
      RETURN_IF_ERROR(Upload(context, bundle, *files[i],
                             found.files(static_cast<int>(i - begin)), pacer));
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
