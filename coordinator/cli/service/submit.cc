// `coordinator submit`: gives a coordinator a job.

#include <string>

#include "common/base/exit_code.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "coordinator/cli/service/bundle.h"
#include "coordinator/cli/service/follow_log.h"
#include "coordinator/cli/service/job_calls.h"
#include "coordinator/cli/service/json_views.h"
#include "coordinator/cli/service/output_format.h"
#include "coordinator/cli/service/submission.h"
#include "coordinator/cli/service/upload.h"

namespace paceline {
namespace {

class SubmitVerb : public ServiceVerb {
 public:
  const char* name() const override { return "submit"; }
  const char* help() const override {
    return "Gives a job, with the files beside it, to a coordinator that "
           "serves, and prints its id.";
  }
  void AddTo(CLI::App& app) override {
    app.add_option("JOB", options_.job_path, "The job, YAML or JSON.")
        ->required();
    options_.AddTo(app);
    CLI::Option* const wait = app.add_flag(
        "--wait", waits_,
        "Waits until the job has ended. Exit codes: 0 it succeeded, 1 it "
        "failed, 130 it was stopped. Ctrl-C leaves the job running.");
    app.add_flag("--follow", follows_,
                 "The same, and shows what the job's leader writes; on a "
                 "terminal with a progress bar, as `run` does.")
        ->excludes(wait);
    AddFormat(app, {"name", "json", "yaml"}, format_);
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    ASSIGN_OR_RETURN(const JobBundle bundle,
                     BundleJob(options_.job_path, options_.overrides));
    v1::SubmitJobRequest request;
    ASSIGN_OR_RETURN(*request.mutable_submission(),
                     MakeSubmission(options_, bundle));
    RETURN_IF_ERROR(UploadFiles(context, bundle));
    ASSIGN_OR_RETURN(
        const v1::SubmitJobResponse submitted,
        PatientlyGet<v1::SubmitJobResponse>(context, context.patience, [&] {
          return context.client.SubmitJob(request);
        }));
    const std::string& id = submitted.id();
    if (format_ == "name") context.out << PeerText(id) << std::endl;
    if (!waits_ && !follows_) {
      if (format_ != "name") {
        ASSIGN_OR_RETURN(const v1::JobView job, GetJob(context, id));
        context.out << ObjectText(format_, JobJson(job, absl::Now()));
      }
      return kSuccess;
    }
    const absl::StatusOr<v1::JobView> job = Await(context, id);
    if (!job.ok()) return LeaveJob(context, id, job.status());
    if (format_ != "name") {
      context.out << ObjectText(format_, JobJson(*job, absl::Now()));
    }
    return FinishJob(context, *job);
  }

 private:
  absl::StatusOr<v1::JobView> Await(const VerbContext& context,
                                    const std::string& id) const {
    if (!follows_) return AwaitEnd(context, id);
    LogPlace place = {.job = id};
    place.task.set_type(v1::TASK_TYPE_CHIEF);
    return FollowLog(context, place, /*all_starts=*/true);
  }

  SubmitOptions options_;
  bool waits_ = false;
  bool follows_ = false;
  std::string format_ = "name";
};

}  // namespace

std::unique_ptr<ServiceVerb> MakeSubmitVerb() {
  return std::make_unique<SubmitVerb>();
}

}  // namespace paceline
