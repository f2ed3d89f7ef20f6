#include "coordinator/cli/service/follow_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "coordinator/cli/service/job_calls.h"
#include "coordinator/queue/job_queue.h"

namespace paceline {
namespace {

// Of a log's end, in which --tail looks for its lines: at first, and at most.
constexpr int64_t kMinTailBytes = 64 << 10;
constexpr int64_t kMaxTailBytes = 64 << 20;
// Who follows a job waits for a coordinator that is away.
constexpr absl::Duration kForever = absl::InfiniteDuration();

v1::ReadLogRequest RequestFor(const LogPlace& place, bool should_wait) {
  v1::ReadLogRequest request;
  request.set_id(place.job);
  *request.mutable_task() = place.task;
  request.set_generation(place.generation);
  request.set_offset(static_cast<int64_t>(place.offset));
  request.set_should_wait(should_wait);
  return request;
}

absl::StatusOr<v1::ReadLogResponse> ReadPiece(
    const VerbContext& context, absl::Duration patience,
    const v1::ReadLogRequest& request) {
  return PatientlyGet<v1::ReadLogResponse>(
      context, patience, [&] { return context.client.ReadLog(request); });
}

// The place in `text` where its last `lines` lines begin; npos: it has fewer.
size_t FindTail(absl::string_view text, uint64_t lines) {
  if (lines == 0) return text.size();
  // A line break at the end ends the last line, and begins none.
  size_t end = text.size() - (!text.empty() && text.back() == '\n' ? 1 : 0);
  while (end > 0) {
    const size_t line_break = text.rfind('\n', end - 1);
    if (line_break == text.npos) break;
    if (--lines == 0) return line_break + 1;
    end = line_break;
  }
  return text.npos;
}

}  // namespace

absl::StatusOr<v1::JobView> FollowLog(const VerbContext& context,
                                      LogPlace place, bool all_starts) {
  ASSIGN_OR_RETURN(v1::JobView job, GetJob(context, place.job));
  v1::JobState told = v1::JOB_STATE_UNSPECIFIED;
  for (;;) {
    const v1::JobRecord& record = job.record();
    const bool has_ended = HasEnded(record.state());
    if (record.generation() < place.generation) {
      if (has_ended) return job;
      if (record.state() != told) TellState(context, job);
      told = record.state();
      ASSIGN_OR_RETURN(job, AwaitChange(context, job, kForever));
      continue;
    }
    const bool is_last_start = record.generation() == place.generation;
    const bool is_over = has_ended || !is_last_start;
    ASSIGN_OR_RETURN(const v1::ReadLogResponse piece,
                     ReadPiece(context, kForever, RequestFor(place, true)));
    context.out << piece.text() << std::flush;
    place.offset = piece.next_offset();
    // A daemon may send the end of a log after the end of its task, but one
    // that is gone never does.
    if (piece.is_last() || (is_over && piece.text().empty())) {
      if ((has_ended && is_last_start) || !all_starts) return job;
      ++place.generation;
      place.offset = 0;
    }
    if (!is_over) {
      ASSIGN_OR_RETURN(job, PatientlyGet<v1::JobView>(context, kForever, [&] {
                         return GetJob(context, place.job);
                       }));
    }
  }
}

absl::StatusOr<uint64_t> ReadWholeLog(
    const VerbContext& context, const LogPlace& place,
    absl::FunctionRef<absl::Status(absl::string_view)> take) {
  LogPlace at = place;
  for (;;) {
    ASSIGN_OR_RETURN(
        const v1::ReadLogResponse piece,
        ReadPiece(context, context.patience, RequestFor(at, false)));
    RETURN_IF_ERROR(take(piece.text()));
    at.offset = piece.next_offset();
    if (piece.text().empty() || piece.is_last()) return at.offset;
  }
}

absl::StatusOr<std::string> ReadLogTail(const VerbContext& context,
                                        const LogPlace& place, uint64_t lines,
                                        uint64_t* end) {
  for (int64_t bytes = kMinTailBytes;; bytes *= 4) {
    v1::ReadLogRequest request = RequestFor(place, false);
    request.set_offset(-bytes);
    ASSIGN_OR_RETURN(v1::ReadLogResponse piece,
                     ReadPiece(context, context.patience, request));
    const uint64_t begin = piece.next_offset() - piece.text().size();
    std::string text = std::move(*piece.mutable_text());
    LogPlace rest = place;
    rest.offset = piece.next_offset();
    *end = rest.offset;
    if (!text.empty() && !piece.is_last()) {
      ASSIGN_OR_RETURN(
          *end, ReadWholeLog(context, rest, [&text](absl::string_view more) {
            absl::StrAppend(&text, more);
            return absl::OkStatus();
          }));
    }
    const size_t tail = FindTail(text, lines);
    if (tail != text.npos) return text.substr(tail);
    if (begin == 0 || bytes >= kMaxTailBytes) return text;
  }
}

}  // namespace paceline
