// `coordinator wait`, `stop` and `delete`: the end of a job.

#include <string>

#include "CLI/CLI.hpp"
#include "common/base/exit_code.h"
#include "common/base/option_text.h"
#include "common/base/status_macros.h"
#include "coordinator/cli/service/job_calls.h"

namespace paceline {
namespace {

class WaitVerb : public ServiceVerb {
 public:
  const char* name() const override { return "wait"; }
  const char* help() const override {
    return "Waits until a job has ended. Exit codes: 0 it succeeded, 1 it "
           "failed, 130 it was stopped. Ctrl-C leaves it running.";
  }
  void AddTo(CLI::App& app) override {
    AddJob(app, job_);
    app.add_option("--timeout", timeout_,
                   "Fails after this time: 90s, 1h30m; default never.");
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    absl::Duration timeout = absl::InfiniteDuration();
    if (!timeout_.empty()) {
      ASSIGN_OR_RETURN(timeout, ParseDuration("--timeout", timeout_));
    }
    const absl::StatusOr<v1::JobView> job = AwaitEnd(context, job_, timeout);
    if (!job.ok()) return LeaveJob(context, job_, job.status());
    return FinishJob(context, *job);
  }

 private:
  std::string job_;
  std::string timeout_;
};

class StopVerb : public ServiceVerb {
 public:
  const char* name() const override { return "stop"; }
  const char* help() const override {
    return "Ends a job, after a last checkpoint.";
  }
  void AddTo(CLI::App& app) override {
    AddJob(app, job_);
    app.add_flag("--wait", waits_, "Waits until the job has ended.");
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    v1::StopJobRequest request;
    request.set_id(job_);
    RETURN_IF_ERROR(
        AboutJob(context, job_, context.client.StopJob(request).status()));
    if (!waits_) return kSuccess;
    const absl::StatusOr<v1::JobView> job = AwaitEnd(context, job_);
    if (job.ok()) return kSuccess;
    return LeaveJob(context, job_, job.status());
  }

 private:
  std::string job_;
  bool waits_ = false;
};

class DeleteVerb : public ServiceVerb {
 public:
  const char* name() const override { return "delete"; }
  const char* help() const override {
    return "Deletes a job that has ended, with its logs and outputs.";
  }
  void AddTo(CLI::App& app) override { AddJob(app, job_); }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    v1::DeleteJobRequest request;
    request.set_id(job_);
    RETURN_IF_ERROR(
        AboutJob(context, job_, context.client.DeleteJob(request).status()));
    return kSuccess;
  }

 private:
  std::string job_;
};

}  // namespace

std::unique_ptr<ServiceVerb> MakeWaitVerb() {
  return std::make_unique<WaitVerb>();
}

std::unique_ptr<ServiceVerb> MakeStopVerb() {
  return std::make_unique<StopVerb>();
}

std::unique_ptr<ServiceVerb> MakeDeleteVerb() {
  return std::make_unique<DeleteVerb>();
}

}  // namespace paceline
