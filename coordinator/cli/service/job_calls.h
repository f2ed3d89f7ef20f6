// What verbs about one job have in common.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_JOB_CALLS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_JOB_CALLS_H_

#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "coordinator/cli/service/service_verb.h"

namespace paceline {

// Adds the argument JOB, the id of a job, to a verb.
void AddJob(CLI::App& verb, std::string& id);

// Calls until the answer is neither Unavailable nor DeadlineExceeded, or the
// patience is over, or the user interrupts; says once that it tries again. For
// calls that may be repeated, to a coordinator that has answered before:
// whoever waits for a job does so for as long as the coordinator is away.
absl::Status Patiently(const VerbContext& context, absl::Duration patience,
                       absl::FunctionRef<absl::Status()> call);
template <typename Response, typename Call>
absl::StatusOr<Response> PatientlyGet(const VerbContext& context,
                                      absl::Duration patience, Call call) {
  absl::StatusOr<Response> response;
  const absl::Status status = Patiently(context, patience, [&] {
    response = call();
    return response.status();
  });
  if (!status.ok()) return status;
  return response;
}

// Sleeps so long, or until the user interrupts.
void Pause(const VerbContext& context, absl::Duration pause);

// Errors of a call about the job `id`: NotFound names it.
absl::Status AboutJob(const VerbContext& context, absl::string_view id,
                      const absl::Status& status);

// The job now. An error at once if the coordinator does not answer.
absl::StatusOr<v1::JobView> GetJob(const VerbContext& context,
                                   const std::string& id);
// The job once its state is not that of `job` any more, or after some seconds.
absl::StatusOr<v1::JobView> AwaitChange(const VerbContext& context,
                                        const v1::JobView& job,
                                        absl::Duration patience);

// Says to the context's messages in which state the job is, and why it waits.
void TellState(const VerbContext& context, const v1::JobView& job);

// Waits until the job has ended. Its state's changes go to the context's
// messages. DeadlineExceeded after `timeout`, naming the state; if the
// coordinator does not answer then, that error.
absl::StatusOr<v1::JobView> AwaitEnd(
    const VerbContext& context, const std::string& id,
    absl::Duration timeout = absl::InfiniteDuration());

// The exit code for a job that has ended. Prints to the context's messages how
// to get its results, or an error unless the job has succeeded.
int FinishJob(const VerbContext& context, const v1::JobView& job);

// If the user has interrupted the wait for a job, says how to come back and
// returns the exit code; else the error.
absl::StatusOr<int> LeaveJob(const VerbContext& context, absl::string_view id,
                             const absl::Status& error);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_JOB_CALLS_H_
