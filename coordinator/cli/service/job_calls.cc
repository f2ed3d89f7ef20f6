#include "coordinator/cli/service/job_calls.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/exit_code.h"
#include "common/base/peer_error_text.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/command_line/command_tree.h"
#include "common/rpc/transient_error.h"
#include "coordinator/cli/service/units.h"
#include "coordinator/cli/service/words.h"
#include "coordinator/queue/job_queue.h"

namespace paceline {
namespace {

constexpr absl::Duration kMinPause = absl::Milliseconds(100);
constexpr absl::Duration kMaxPause = absl::Seconds(2);
constexpr absl::Duration kShortPause = absl::Milliseconds(200);
// Between looks at what the user wants.
constexpr absl::Duration kLook = absl::Milliseconds(50);

absl::StatusOr<v1::JobView> ViewOf(absl::StatusOr<v1::GetJobResponse> got,
                                   const VerbContext& context,
                                   absl::string_view id) {
  if (!got.ok()) return AboutJob(context, id, got.status());
  return std::move(*got->mutable_job());
}

}  // namespace

void AddJob(CLI::App& verb, std::string& id) {
  verb.add_option("JOB", id, "The job's id.")
      ->required()
      ->type_name(kJobIdType);
}

absl::Status Patiently(const VerbContext& context, absl::Duration patience,
                       absl::FunctionRef<absl::Status()> call) {
  const absl::Time end = MonotonicNow() + patience;
  absl::Duration pause = kMinPause;
  bool has_told = false;
  for (;;) {
    absl::Status status = call();
    if (IsTransient(status) && !std::exchange(has_told, true)) {
      context.messages << status.message() << "; trying again"
                       << (patience == absl::InfiniteDuration()
                               ? " until it answers; Ctrl-C ends the wait only"
                               : "")
                       << std::endl;
    }
    if (!IsTransient(status) || context.is_interrupted() ||
        MonotonicNow() + pause > end) {
      return status;
    }
    Pause(context, pause);
    pause = std::min(2 * pause, kMaxPause);
  }
}

void Pause(const VerbContext& context, absl::Duration pause) {
  const absl::Time end = MonotonicNow() + pause;
  while (MonotonicNow() < end && !context.is_interrupted()) {
    absl::SleepFor(std::min(kLook, end - MonotonicNow()));
  }
}

absl::Status AboutJob(const VerbContext& context, absl::string_view id,
                      const absl::Status& status) {
  if (!absl::IsNotFound(status)) return status;
  return absl::NotFoundError(
      absl::StrCat(context.client.description(), " has no job ", PeerText(id)));
}

absl::StatusOr<v1::JobView> GetJob(const VerbContext& context,
                                   const std::string& id) {
  v1::GetJobRequest request;
  request.set_id(id);
  return ViewOf(context.client.GetJob(request), context, id);
}

absl::StatusOr<v1::JobView> AwaitChange(const VerbContext& context,
                                        const v1::JobView& job,
                                        absl::Duration patience) {
  v1::GetJobRequest request;
  request.set_id(job.record().id());
  request.set_unlike(job.record().state());
  return ViewOf(
      PatientlyGet<v1::GetJobResponse>(
          context, patience, [&] { return context.client.GetJob(request); }),
      context, job.record().id());
}

void TellState(const VerbContext& context, const v1::JobView& job) {
  context.messages << "job " << PeerText(job.record().id()) << " is "
                   << JobStateText(job.record().state());
  if (!job.why_queued().empty()) {
    context.messages << ": " << PeerText(job.why_queued());
  }
  context.messages << std::endl;
}

absl::StatusOr<v1::JobView> AwaitEnd(const VerbContext& context,
                                     const std::string& id,
                                     absl::Duration timeout) {
  const absl::Time end = MonotonicNow() + timeout;
  ASSIGN_OR_RETURN(v1::JobView job, GetJob(context, id));
  v1::JobState told = v1::JOB_STATE_UNSPECIFIED;
  while (!HasEnded(job.record().state())) {
    if (job.record().state() != told) TellState(context, job);
    told = job.record().state();
    const absl::Duration left = end - MonotonicNow();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          absl::StrCat("job ", PeerText(id), " is still ",
                       JobStateText(job.record().state()), " after ",
                       ShortDuration(timeout)));
    }
    // Which may take as long as a poll.
    if (left > kServicePoll) {
      ASSIGN_OR_RETURN(job, AwaitChange(context, job, left));
    } else {
      Pause(context, std::min(left, kShortPause));
      ASSIGN_OR_RETURN(job, PatientlyGet<v1::JobView>(context, left, [&] {
                         return GetJob(context, id);
                       }));
    }
  }
  return job;
}

int FinishJob(const VerbContext& context, const v1::JobView& job) {
  const v1::JobRecord& record = job.record();
  if (record.state() == v1::JOB_STATE_SUCCEEDED) {
    context.messages << "get its results with: coordinator download "
                     << PeerText(record.id()) << std::endl;
    return kSuccess;
  }
  context.messages << "error: job " << PeerText(record.id())
                   << (record.state() == v1::JOB_STATE_STOPPED ? " was stopped"
                                                               : " failed");
  if (!record.error().empty()) {
    context.messages << ": " << PeerErrorText(record.error());
  }
  context.messages << std::endl;
  return record.state() == v1::JOB_STATE_STOPPED ? kStopped : kJobFailed;
}

absl::StatusOr<int> LeaveJob(const VerbContext& context, absl::string_view id,
                             const absl::Status& error) {
  if (!context.is_interrupted()) return error;
  context.messages << "job " << PeerText(id)
                   << " goes on; come back with: coordinator logs -f "
                   << PeerText(id) << std::endl;
  return kStopped;
}

}  // namespace paceline
