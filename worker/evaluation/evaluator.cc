#include "worker/evaluation/evaluator.h"

#include <glog/logging.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/simd.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/manifest.h"
#include "common/job/job_checks.h"
#include "common/job/job_fingerprint.h"
#include "common/job/job_model.h"
#include "common/session/machine/logged_metric.h"
#include "common/session/machine/saved_session.h"
#include "worker/evaluation/checkpoint_strategy.h"
#include "worker/evaluation/evaluation_log.h"
#include "worker/evaluation/whole_pass.h"
#include "worker/setup/datasets.h"
#include "worker/setup/replica.h"

namespace paceline {
namespace {

// Interval at which the checkpoint folder is polled.
constexpr absl::Duration kPollInterval = absl::Milliseconds(200);

// Keeps the states of the last report.
class LastReport : public ProgressSink {
 public:
  void Worked() override {}
  void Report(const v1::LeaseReport& report, bool /*complete*/) override {
    states_.assign(report.sums().states().begin(),
                   report.sums().states().end());
  }
  void ReportStep(int64_t /*step*/, double /*total*/,
                  double /*weight*/) override {}

  const std::vector<double>& states() const { return states_; }

 private:
  std::vector<double> states_;
};

// Detects whether a file was replaced by another one.
struct FileIdentity {
  ino_t inode = 0;
  absl::Time written;

  bool operator==(const FileIdentity&) const = default;
};

// nullopt: the file does not exist.
std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat information = {};
  if (stat(path.c_str(), &information) != 0) return std::nullopt;
  return FileIdentity{information.st_ino,
                      absl::TimeFromTimespec(information.st_mtim)};
}

class Evaluator {
 public:
  static absl::StatusOr<std::unique_ptr<Evaluator>> Create(
      const EvaluatorOptions& options) {
    RETURN_IF_ERROR(CheckEvaluator(options.job));
    ASSIGN_OR_RETURN(std::unique_ptr<Replica> replica,
                     MakeReplica(options.job, {.threads = options.threads}));
    CompileOptions compile_options;
    compile_options.fence = options.fence;
    compile_options.mode = Mode::kEvaluate;
    compile_options.batch_size = WorkerBatchSize(options.job, /*workers=*/1);
    RETURN_IF_ERROR(CompileReplica(options.job, compile_options, *replica));
    const v1::Data& data = options.job.data();
    const bool validates = data.has_validation() || data.validation_split() > 0;
    const v1::Phase phase = validates ? v1::PHASE_VALIDATION : v1::PHASE_TEST;
    ASSIGN_OR_RETURN(
        Datasets datasets,
        OpenDatasets(options.job, replica->model, /*workers=*/1, {phase},
                     RemoteFiles(options.data), options.fence));
    if (!datasets.phases.contains(phase)) {
      return absl::InvalidArgumentError(
          "data.validation_split leaves no example to evaluate");
    }
    return std::unique_ptr<Evaluator>(
        new Evaluator(options, std::move(replica), std::move(datasets), phase));
  }

  absl::Status Run() {
    RETURN_IF_ERROR(NoteWhatIsThere());
    absl::Time last_new = MonotonicNow();
    while (true) {
      // Check for the result before listing the checkpoints: then no checkpoint
      // written before the result is missed.
      const bool has_ended = IsOfThisRun(ResultPath());
      ASSIGN_OR_RETURN(const std::vector<std::string> checkpoints,
                       ListCheckpoints(folder_));
      for (const std::string& checkpoint : checkpoints) {
        ASSIGN_OR_RETURN(const bool is_new, Visit(checkpoint));
        if (is_new) last_new = MonotonicNow();
      }
      if (is_done_ || has_ended) return absl::OkStatus();
      if (MonotonicNow() - last_new > options_.checkpoint_timeout) {
        return absl::DeadlineExceededError(
            absl::StrCat("no new checkpoint in ", folder_, " within ",
                         absl::FormatDuration(options_.checkpoint_timeout)));
      }
      absl::SleepFor(kPollInterval);
    }
  }

 private:
  Evaluator(EvaluatorOptions options, std::unique_ptr<Replica> replica,
            Datasets datasets, v1::Phase phase)
      : options_(std::move(options)),
        folder_(options_.output_dir + "/checkpoint"),
        replica_(std::move(replica)),
        datasets_(std::move(datasets)),
        phase_(phase),
        metrics_(MakeLoggedMetrics(replica_->spec.outputs)),
        log_(options_.output_dir + "/evaluator.csv", metrics_),
        fingerprint_(JobFingerprint(options_.job)) {}

  std::string ResultPath() const {
    return options_.output_dir + "/result.json";
  }
  static std::string ManifestPath(const std::string& checkpoint) {
    return checkpoint + "/manifest.json";
  }

  // Records the files that exist at the start, since an earlier run may have
  // left them.
  absl::Status NoteWhatIsThere() {
    ASSIGN_OR_RETURN(const std::vector<std::string> checkpoints,
                     ListCheckpoints(folder_));
    std::vector<std::string> paths = {ResultPath()};
    for (const std::string& each : checkpoints) {
      paths.push_back(ManifestPath(each));
    }
    for (const std::string& path : paths) {
      if (const auto identity = IdentityOf(path)) found_[path] = *identity;
    }
    return absl::OkStatus();
  }

  // Whether the file exists and belongs to the current run.
  bool IsOfThisRun(const std::string& path) const {
    const std::optional<FileIdentity> identity = IdentityOf(path);
    if (!identity) return false;
    const auto found = found_.find(path);
    return found == found_.end() || found->second != *identity ||
           MonotonicNow() - started_ > options_.start_timeout;
  }

  // Evaluates a checkpoint, unless it was evaluated before or is deleted.
  // Returns whether it was evaluated.
  absl::StatusOr<bool> Visit(const std::string& checkpoint) {
    const std::string path = ManifestPath(checkpoint);
    const bool is_of_this_run = IsOfThisRun(path);
    const std::optional<FileIdentity> identity = IdentityOf(path);
    if (!identity) return false;
    bool is_new = false;
    State& state = states_[path];
    if (state.identity != identity) {
      const absl::StatusOr<Manifest> manifest = ReadManifest(checkpoint);
      if (absl::IsNotFound(manifest.status())) return false;
      RETURN_IF_ERROR(manifest.status());
      if (manifest->job_fingerprint != fingerprint_) {
        // A checkpoint of an earlier run; the new run's leader will move it
        // aside.
        if (!is_of_this_run) return false;
        return absl::InvalidArgumentError(
            absl::StrCat(checkpoint, " is of a job with fingerprint ",
                         manifest->job_fingerprint,
                         ", the evaluator was given one with ", fingerprint_));
      }
      ASSIGN_OR_RETURN(const SavedSession session,
                       SavedSessionFromJson(*manifest->session));
      ASSIGN_OR_RETURN(const bool is_known, log_.Has(manifest->step));
      // A checkpoint with restored variables may follow one of the same step.
      if (!is_known || session.has_kept) {
        RETURN_IF_ERROR(Evaluate(checkpoint, manifest->step, *identity));
        is_new = true;
      }
      state.identity = identity;
      // Of a resumed job, the final checkpoint of a run with fewer epochs is
      // not its last.
      state.is_last =
          session.is_final &&
          (session.stopped ||
           session.epoch >= static_cast<int>(options_.job.epochs()));
    }
    is_done_ = is_done_ || (state.is_last && is_of_this_run);
    return is_new;
  }

  // Sets the row of a checkpoint, unless the checkpoint is deleted meanwhile.
  absl::Status Evaluate(const std::string& checkpoint, int64_t step,
                        const FileIdentity& identity) {
    const absl::StatusOr<Logs> logs = Evaluate(checkpoint);
    // Deletion of a checkpoint begins with its manifest; a new run's leader
    // moves it aside. In both cases the values are useless.
    if (IdentityOf(ManifestPath(checkpoint)) != identity) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(logs.status());
    LOG(INFO) << checkpoint << ": loss " << logs->front().second;
    return log_.Set(step, *logs);
  }

  absl::StatusOr<Logs> Evaluate(const std::string& checkpoint) {
    ASSIGN_OR_RETURN(
        const std::unique_ptr<Strategy> strategy,
        CheckpointStrategy::Open(checkpoint, replica_->model.graph,
                                 replica_->plan.layout(), *replica_->state,
                                 *replica_->stream));
    LastReport report;
    ReplicaWork work;
    work.phases = datasets_.phases;
    work.leases =
        WholePass(phase_, datasets_.phases.at(phase_).order.ExamplesInEpoch());
    work.readers = options_.threads;
    work.fence = options_.fence;
    work.progress = &report;
    RETURN_IF_ERROR(RunReplica(*replica_, *strategy, work,
                               [](const absl::Status& /*status*/) {}));
    return ResultsOf(metrics_, report.states());
  }

  const EvaluatorOptions options_;
  const std::string folder_;
  const std::unique_ptr<Replica> replica_;
  const Datasets datasets_;
  const v1::Phase phase_;
  const std::vector<LoggedMetric> metrics_;
  const EvaluationLog log_;
  const std::string fingerprint_;
  const absl::Time started_ = MonotonicNow();
  // The files that existed at the start, by path.
  std::map<std::string, FileIdentity> found_;
  // What is known about a checkpoint, by the path of its manifest.
  struct State {
    std::optional<FileIdentity> identity;
    // Whether it has the variables that the job ends with.
    bool is_last = false;
  };
  std::map<std::string, State> states_;
  bool is_done_ = false;
};

}  // namespace

absl::Status RunEvaluator(const EvaluatorOptions& options) {
  FlushDenormals();
  ASSIGN_OR_RETURN(const std::unique_ptr<Evaluator> evaluator,
                   Evaluator::Create(options));
  return evaluator->Run();
}

}  // namespace paceline
