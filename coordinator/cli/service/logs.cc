// `coordinator logs`: prints the log of one of a job's tasks.

#include <algorithm>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "coordinator/cli/service/follow_log.h"
#include "coordinator/cli/service/job_calls.h"
#include "coordinator/cli/service/words.h"

namespace paceline {
namespace {

class LogsVerb : public ServiceVerb {
 public:
  const char* name() const override { return "logs"; }
  const char* help() const override {
    return "Prints what a task of a job has written.";
  }
  void AddTo(CLI::App& app) override {
    AddJob(app, job_);
    app.add_flag("-f,--follow", follows_,
                 "Goes on until the job has ended, also when it is started "
                 "again. Ctrl-C leaves the job running.");
    app.add_option("--task", task_, "leader, worker-1, ps-0.")
        ->capture_default_str();
    app.add_option("--tail", tail_, "Only so many lines at the end.");
    app.add_option("--generation", generation_,
                   "Only of this start of the job, from 1; default the last.")
        ->check(CLI::PositiveNumber);
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    const absl::Status status = Print(context);
    if (status.ok()) return kSuccess;
    if (!follows_) return status;
    return LeaveJob(context, job_, status);
  }

 private:
  absl::Status Print(const VerbContext& context) {
    LogPlace place = {.job = job_};
    ASSIGN_OR_RETURN(place.task, TaskFromText(task_));
    ASSIGN_OR_RETURN(const v1::JobView job, GetJob(context, job_));
    RETURN_IF_ERROR(CheckHasTask(job.record().submission(), place.task));
    const uint32_t last = job.record().generation();
    if (last < generation_.value_or(1) && !follows_) {
      return absl::FailedPreconditionError(
          absl::StrCat("job ", PeerText(job_), " is ",
                       JobStateText(job.record().state()), " and was started ",
                       last == 1 ? "once" : absl::StrCat(last, " times"),
                       "; there is no such log yet"));
    }
    place.generation = generation_.value_or(std::max<uint32_t>(last, 1));
    if (tail_ && last >= place.generation) {
      uint64_t end = 0;
      ASSIGN_OR_RETURN(const std::string text,
                       ReadLogTail(context, place, *tail_, &end));
      // Who follows shows it with what comes.
      place.offset = end - text.size();
      if (!follows_) context.out << text << std::flush;
    } else if (!follows_) {
      return ReadWholeLog(context, place,
                          [&context](absl::string_view text) {
                            context.out << text << std::flush;
                            return absl::OkStatus();
                          })
          .status();
    }
    if (!follows_) return absl::OkStatus();
    return FollowLog(context, place, /*all_starts=*/!generation_).status();
  }

  std::string job_;
  bool follows_ = false;
  std::string task_ = "leader";
  std::optional<uint64_t> tail_;
  std::optional<uint32_t> generation_;
};

}  // namespace

std::unique_ptr<ServiceVerb> MakeLogsVerb() {
  return std::make_unique<LogsVerb>();
}

}  // namespace paceline
