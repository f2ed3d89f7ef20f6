#include "coordinator/cli/service/follow_log.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "coordinator/cli/service/job_calls.h"
#include "coordinator/cli/service/job_screen.h"
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

// Writes what is flushed to another stream, above a screen's bar.
class AboveBar : public std::stringbuf {
 public:
  AboveBar(JobScreen& screen, std::ostream& out) : screen_(screen), out_(out) {}

 protected:
  int sync() override {
    screen_.WriteAbove([this] { out_ << str() << std::flush; });
    str("");
    return 0;
  }

 private:
  JobScreen& screen_;
  std::ostream& out_;
};

// Follows one task's log.
class LogFollower {
 public:
  LogFollower(const VerbContext& context, LogPlace place)
      : context_(context), place_(std::move(place)) {}

  absl::StatusOr<v1::JobView> Follow(bool all_starts, JobScreen* screen);

 private:
  // Prints the next piece, and returns it. Its text is empty if there was none
  // for some seconds.
  absl::StatusOr<v1::ReadLogResponse> PrintPiece(JobScreen* screen);

  const VerbContext& context_;
  LogPlace place_;
  // Of the progress that the screen has.
  uint64_t progress_number_ = 0;
};

absl::StatusOr<v1::ReadLogResponse> LogFollower::PrintPiece(JobScreen* screen) {
  v1::ReadLogRequest request = RequestFor(place_, /*should_wait=*/true);
  if (screen != nullptr) request.set_progress_number(progress_number_);
  ASSIGN_OR_RETURN(v1::ReadLogResponse piece,
                   ReadPiece(context_, kForever, request));
  place_.offset = piece.next_offset();
  if (screen == nullptr) {
    context_.out << piece.text() << std::flush;
    return piece;
  }
  if (piece.has_progress()) {
    screen->SetProgress(piece.progress());
    progress_number_ = piece.progress_number();
  }
  screen->Show(piece.text());
  return piece;
}

absl::StatusOr<v1::JobView> LogFollower::Follow(bool all_starts,
                                                JobScreen* screen) {
  ASSIGN_OR_RETURN(v1::JobView job, GetJob(context_, place_.job));
  v1::JobState told = v1::JOB_STATE_UNSPECIFIED;
  for (;;) {
    const v1::JobRecord& record = job.record();
    const bool has_ended = HasEnded(record.state());
    if (record.generation() < place_.generation) {
      if (has_ended) return job;
      if (record.state() != told) TellState(context_, job);
      told = record.state();
      ASSIGN_OR_RETURN(job, AwaitChange(context_, job, kForever));
      continue;
    }
    const bool is_last_start = record.generation() == place_.generation;
    const bool is_over = has_ended || !is_last_start;
    ASSIGN_OR_RETURN(const v1::ReadLogResponse piece, PrintPiece(screen));
    // A daemon may send the end of a log after the end of its task, but one
    // that is gone never does.
    if (piece.is_last() ||
        (is_over && piece.text().empty() && !piece.has_progress())) {
      if ((has_ended && is_last_start) || !all_starts) return job;
      ++place_.generation;
      place_.offset = 0;
      if (screen != nullptr) screen->ForgetProgress();
    }
    // A job whose progress has changed goes on.
    if (!is_over && !piece.has_progress()) {
      ASSIGN_OR_RETURN(job, PatientlyGet<v1::JobView>(context_, kForever, [&] {
                         return GetJob(context_, place_.job);
                       }));
    }
  }
}

}  // namespace

absl::StatusOr<v1::JobView> FollowLog(const VerbContext& context,
                                      const LogPlace& place, bool all_starts) {
  if (!context.is_terminal || place.task.type() != v1::TASK_TYPE_CHIEF) {
    return LogFollower(context, place).Follow(all_starts, nullptr);
  }
  JobScreen screen(context.out);
  AboveBar buffer(screen, context.messages);
  std::ostream messages(&buffer);
  const VerbContext above = {.client = context.client,
                             .out = context.out,
                             .is_terminal = true,
                             .messages = messages,
                             .is_interrupted = context.is_interrupted,
                             .patience = context.patience};
  return LogFollower(above, place).Follow(all_starts, &screen);
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
