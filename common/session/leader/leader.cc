#include "common/session/leader/leader.h"

#include <glog/logging.h>

#include <algorithm>
#include <iostream>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/callback/make_callbacks.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/manifest_content.h"
#include "common/checkpoint/variables_order.h"
#include "common/cluster/blame.h"
#include "common/cluster/task_proto.h"
#include "common/config/json_value.h"
#include "common/job/job_fingerprint.h"
#include "common/job/job_model.h"
#include "common/job/job_plan.h"
#include "common/keras/serialize_model.h"
#include "common/limits.h"
#include "common/model/graph.h"
#include "common/process/find_program.h"
#include "common/rpc/incarnation.h"
#include "common/session/leader/resume_checks.h"
#include "common/session/machine/saved_session.h"
#include "common/sharding/shard_plan.h"

namespace paceline {
namespace {

// How long the loop waits for actions before it polls.
constexpr absl::Duration kLoopInterval = absl::Milliseconds(20);

int CountPs(const std::vector<ExpectedTask>& tasks) {
  int count = 0;
  for (const ExpectedTask& task : tasks) {
    if (task.id.type == TaskType::kPs) ++count;
  }
  return count;
}

// How the variables are placed on parameter servers. Variables that workers
// hold are one shard.
absl::StatusOr<ShardPlan> MakePlan(const LeaderOptions& options,
                                   const JobModel& model) {
  return MakeJobPlan(options.job, model.graph,
                     std::max(1, CountPs(options.tasks)), sizeof(float));
}

// The fields that all checkpoints of the job have in common, and what the first
// ones have of the one to resume from; null: it starts anew.
Manifest MakeManifest(const LeaderOptions& options, const JobModel& model,
                      const Optimizer& optimizer, const ShardPlan& plan,
                      const Manifest* restored) {
  Manifest manifest;
  manifest.job_name = options.job.name();
  manifest.phase = options.phase;
  manifest.job_fingerprint = JobFingerprint(options.job);
  manifest.trained = TrainedPart(options.job);
  manifest.slot_names = optimizer.slot_names();
  if (restored != nullptr) manifest.kept = restored->kept;
  manifest.variables = StoredVariables(model.graph.variables, plan);
  return manifest;
}

std::string CheckpointFolder(const LeaderOptions& options) {
  return absl::StrCat(options.output_dir, "/checkpoint");
}

// The socket to listen on.
absl::StatusOr<Listener> OpenListener(const LeaderOptions& options) {
  return options.listener != nullptr ? options.listener->Duplicate()
                                     : Listener::Open(options.listen_address);
}

// The tasks whose step counts the leader compares with its own.
std::vector<StepCounter> CountersOf(const LeaderOptions& options,
                                    const ShardPlan& plan,
                                    const Manifest* restored) {
  std::vector<StepCounter> counters(plan.shard_count());
  for (int shard = 0; shard < plan.shard_count(); ++shard) {
    StepCounter& counter = counters[shard];
    if (CountPs(options.tasks) == 0) {
      // A worker counts the updates of its copy.
      if (restored != nullptr) counter.first_step = restored->step;
      continue;
    }
    if (restored != nullptr) {
      counter.first_step = RestoredStep(*restored, shard, plan.shard_count());
    }
    counter.updated_chunks = static_cast<int>(std::count_if(
        plan.chunks(shard).begin(), plan.chunks(shard).end(),
        [](const ShardPlan::Chunk& chunk) { return !chunk.is_frozen; }));
  }
  return counters;
}

// The checkpoint to resume from; nullopt if the job starts anew.
absl::StatusOr<std::optional<Manifest>> ReadRestored(
    const LeaderOptions& options, const Optimizer& optimizer) {
  if (options.restore_path.empty() || options.variables_only) {
    return std::nullopt;
  }
  return ReadResumable(options.restore_path, options.phase, optimizer);
}

// The job's model, as Keras' to_json gives it.
absl::StatusOr<std::string> ModelJson(const v1::Job& job,
                                      const JobModel& model) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeJobOptimizer(job, model.graph));
  ASSIGN_OR_RETURN(const Value value,
                   SerializeModel(job, model.graph, *optimizer));
  return ToJson(value).dump();
}

// The callbacks of the job, which know what files it has.
absl::StatusOr<std::shared_ptr<CallbackList>> MakeLeadersCallbacks(
    const LeaderOptions& options, const JobModel& model) {
  CallbackContext context = ContextOf(options.job, SpecsOf(model.objectives));
  context.allows_exec = options.allows_exec;
  context.find_program = [&](const std::string& program) {
    return FindProgram(program, options.program_environment);
  };
  context.output_size = [&](const std::string& path) {
    return FileSize(absl::StrCat(options.output_dir, "/", path)).value_or(0);
  };
  return MakeCallbacks(options.job, context);
}

// Keras trains such a model without a word.
void WarnIfNothingTrains(const LeaderOptions& options, const Graph& graph) {
  if (options.connects_only || !options.evaluate_checkpoint.empty()) return;
  const bool trains = std::any_of(
      graph.variables.begin(), graph.variables.end(),
      [](const VariableSpec& variable) { return variable.is_trained(); });
  if (trains) return;
  LOG(WARNING) << (options.phase.empty()
                       ? std::string("model")
                       : absl::StrCat("phase \"", options.phase, "\": model"))
               << ": none of its layers has trainable variables, so training "
                  "changes no weights; expected a layer with `trainable: true`";
}

// Null if nobody elsewhere gets a bar.
std::unique_ptr<ProgressRecord> MakeRecord(const LeaderOptions& options) {
  const bool may_be_bar = options.job.verbose() == v1::VERBOSE_UNSPECIFIED ||
                          options.job.verbose() == v1::VERBOSE_BAR;
  if (options.progress_path.empty() || !may_be_bar) return nullptr;
  return std::make_unique<ProgressRecord>(options.progress_path,
                                          options.job.progress_style());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Leader>> Leader::Start(LeaderOptions options) {
  ASSIGN_OR_RETURN(JobModel made_model, MakeJobModel(options.job));
  auto model = std::make_unique<const JobModel>(std::move(made_model));
  ASSIGN_OR_RETURN(std::unique_ptr<const Optimizer> made,
                   MakeJobOptimizer(options.job, model->graph));
  const std::shared_ptr<const Optimizer> optimizer = std::move(made);
  ASSIGN_OR_RETURN(const ShardPlan plan, MakePlan(options, *model));
  ASSIGN_OR_RETURN(const std::optional<Manifest> restored,
                   ReadRestored(options, *optimizer));

  SessionOptions session_options;
  session_options.job = options.job;
  session_options.tasks = options.tasks;
  session_options.metrics = MakeLoggedMetrics(SpecsOf(model->objectives));
  session_options.version = options.version;
  const JobIdentity identity = DrawJobIdentity();
  session_options.identity = identity;
  session_options.job_fingerprint = options.job_fingerprint.empty()
                                        ? JobFingerprint(options.job)
                                        : options.job_fingerprint;
  session_options.cluster = options.cluster;
  session_options.connects_only = options.connects_only;
  // Without TF_CONFIG only this process, or a queue, starts tasks.
  session_options.places_once =
      options.is_placed_by_queue || options.cluster.tasks.empty();
  session_options.evaluate_checkpoint = options.evaluate_checkpoint;
  session_options.learning_rate = [optimizer](int64_t iterations) {
    return optimizer->StepAfter(iterations).learning_rate;
  };
  session_options.calls_per_update = optimizer->calls_per_update();
  if (options.evaluate_checkpoint.empty()) {
    ASSIGN_OR_RETURN(session_options.callbacks,
                     MakeLeadersCallbacks(options, *model));
  }
  session_options.checkpoint_folder = CheckpointFolder(options);
  session_options.counters =
      CountersOf(options, plan, restored ? &*restored : nullptr);
  session_options.restore_path = options.restore_path;
  session_options.variables_only = options.variables_only;
  // A queue starts the tasks anew.
  session_options.has_next_phase =
      options.has_next_phase && !options.is_placed_by_queue;
  std::vector<CheckpointOutput> restored_saves;
  if (restored) {
    session_options.restore = restored->session;
    // Session::Create says what is wrong with it.
    absl::StatusOr<SavedSession> saved =
        SavedSessionFromJson(*restored->session);
    if (saved.ok()) restored_saves = std::move(saved->saves);
    session_options.awaits_leader = !restored_saves.empty();
  }
  session_options.heartbeat_timeout = limits::kHeartbeatTimeout;
  session_options.stall_timeout = limits::kStallTimeout;
  session_options.start_timeout = options.start_timeout;
  session_options.connect_timeout = limits::kConnectTimeout;
  session_options.shutdown_timeout = limits::kShutdownTimeout;
  ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                   Session::Create(std::move(session_options), MonotonicNow()));

  ASSIGN_OR_RETURN(Listener listener, OpenListener(options));
  const auto guard = std::make_shared<CallGuard>(options.secret);
  guard->SetJob(identity);
  Manifest manifest = MakeManifest(options, *model, *optimizer, plan,
                                   restored ? &*restored : nullptr);
  std::unique_ptr<Leader> leader(
      new Leader(std::move(options), std::move(model), std::move(manifest),
                 identity, std::move(session)));
  if (restored) leader->outcome_.resumed_step = restored->step;
  leader->restored_saves_ = std::move(restored_saves);
  ASSIGN_OR_RETURN(
      leader->server_,
      RpcServer::Start(std::move(listener),
                       {.guard = guard,
                        .services = {&leader->service_, &leader->health_},
                        .memory_bytes = limits::kServerMemoryBytes,
                        .tls = leader->options_.tls}));
  return leader;
}

Leader::Leader(LeaderOptions options, std::unique_ptr<const JobModel> model,
               Manifest manifest, const JobIdentity& identity,
               std::unique_ptr<Session> session)
    : options_(std::move(options)),
      model_(std::move(model)),
      manifest_(std::move(manifest)),
      caller_(std::make_shared<Caller>(TaskToProto(options_.self),
                                       DrawIncarnation(), options_.secret,
                                       options_.tls)),
      session_(std::move(session)),
      service_(session_),
      progress_bar_(options_.progress, options_.is_terminal, options_.job,
                    MakeRecord(options_)),
      commands_(options_.program_environment,
                [this](const RunCommand& run,
                       const absl::StatusOr<std::string>& output) {
                  session_.Handle([&](Session& session, absl::Time now) {
                    session.CommandEnded(run, output, now);
                  });
                }),
      callback_writer_(
          options_.output_dir, options_.progress,
          [this] { return ModelJson(options_.job, *model_); }, event_files_,
          commands_, posts_),
      output_places_{options_.output_dir, model_->graph, event_files_},
      model_saver_(output_places_, [this](const CheckpointOutput& output,
                                          const absl::Status& status) {
        OutputMade(output, status);
      }) {
  caller_->SetJob(identity);
  outcome_.steps = StepLog(/*adds_up=*/IsSynchronous(options_.job));
  if (CountPs(options_.tasks) > 0) return;
  worker_checkpoints_ = std::make_unique<WorkerCheckpoints>(session_);
  MakeCheckpointTaker(*worker_checkpoints_);
}

void Leader::RepeatNextSave() {
  const bool has_ended = session_.Handle(
      [](Session& session, absl::Time) { return session.ended(); });
  if (has_ended) return;
  if (repeats_begun_ < restored_saves_.size()) {
    // One by one, since the saver makes none after one that has failed.
    return model_saver_.Begin(options_.restore_path,
                              {restored_saves_[repeats_begun_++]},
                              [this] { RepeatNextSave(); });
  }
  has_repeated_ = true;
  session_.Handle(
      [](Session& session, absl::Time now) { session.LeaderReady(now); });
}

void Leader::OutputMade(const CheckpointOutput& output,
                        const absl::Status& status) {
  if (!has_repeated_) {
    if (!status.ok()) std::cerr << "warning: " << status.message() << "\n";
    return;
  }
  CallbackServed(status);
  const auto* const save = std::get_if<SaveModel>(&output);
  if (!status.ok() || save == nullptr || save->message.empty()) return;
  CallbackServed(callback_writer_.Serve(ShowMessage{save->message}));
}

Leader::~Leader() { session_.Close(); }

Outcome Leader::Run(const std::function<void()>& poll) {
  WarnIfNothingTrains(options_, model_->graph);
  RepeatNextSave();
  bool all_gone = false;
  while (!all_gone) {
    poll();
    // Ask before taking the actions: once all tasks are gone, no new action
    // arrives, so those taken below are the last.
    bool has_ended = false;
    all_gone = session_.Handle([&](Session& session, absl::Time now) {
      has_ended = session.ended();
      return has_ended && session.AllGone(now);
    });
    health_.Beat(/*is_ready=*/!has_ended);
    for (const Action& action : session_.TakeActions(
             all_gone ? absl::ZeroDuration() : kLoopInterval)) {
      std::visit([this](const auto& each) { CarryOut(each); }, action);
    }
    commands_.Poll();
    posts_.Poll();
    if (worker_checkpoints_ != nullptr) worker_checkpoints_->Poll();
    if (checkpoints_ != nullptr) checkpoints_->Poll();
    model_saver_.Poll();
    ShowProgress();
  }
  health_.EndBeats();
  // Traces come after the end, too.
  if (outcome_.status.ok()) outcome_.status = callbacks_status_;
  if (outcome_.status.ok()) posts_.Finish();
  session_.Close();
  model_saver_.Close();
  shards_.reset();
  if (checkpoints_ != nullptr) {
    // A checkpoint that is still being written now is lost.
    checkpoints_->Poll();
    outcome_.lost_checkpoints = checkpoints_->lost();
  }
  session_.Handle([this](Session& session, absl::Time) {
    outcome_.history = session.history();
    outcome_.nonfinite_loss = session.nonfinite_loss();
    outcome_.tasks = session.Tasks();
  });
  return std::move(outcome_);
}

void Leader::TaskExited(TaskId task, int exit_code) {
  session_.Handle([&](Session& session, absl::Time now) {
    session.TaskExited(task, exit_code, now);
  });
}

void Leader::Stop(const absl::Status& reason) {
  session_.Handle(
      [&](Session& session, absl::Time now) { session.Stop(reason, now); });
}

void Leader::StopAfterCheckpoint(const absl::Status& reason) {
  session_.Handle([&](Session& session, absl::Time now) {
    session.StopAfterCheckpoint(reason, now);
  });
}

void Leader::CarryOut(const InitializeShards& action) {
  const std::vector<TaskView> tasks = session_.Handle(
      [](Session& session, absl::Time) { return session.Tasks(); });
  std::vector<std::string> addresses;
  for (const TaskView& task : tasks) {
    if (task.id.type == TaskType::kPs) addresses.push_back(task.address);
  }
  shards_ = std::make_unique<ShardCalls>(options_.job, addresses, caller_);
  MakeCheckpointTaker(*shards_);
  shards_->Initialize(
      action, limits::kCheckpointTimeout,
      [this](
          const absl::StatusOr<std::vector<v1::InitializeResponse>>& answers) {
        int64_t step = 0;
        // A shard whose variables are all frozen stays at step 0.
        for (const v1::InitializeResponse& answer :
             answers.ok() ? *answers : std::vector<v1::InitializeResponse>()) {
          step = std::max(step, static_cast<int64_t>(answer.step()));
        }
        session_.Handle([&](Session& session, absl::Time now) {
          session.ShardsInitialized(answers.status(), step, now);
        });
      });
}

void Leader::CarryOut(const AdmitWorkers& action) {
  shards_->Admit(
      action.workers, limits::kPsTimeout,
      [this, workers = action.workers](
          const absl::StatusOr<std::vector<v1::AdmitResponse>>& answers) {
        session_.Handle([&](Session& session, absl::Time now) {
          session.Admitted(workers, answers.status(), now);
        });
      });
}

void Leader::CarryOut(const FenceWorker& action) {
  shards_->Fence(
      action.worker, limits::kPsTimeout,
      [this, worker = action.worker](
          const absl::StatusOr<std::vector<v1::FenceResponse>>& answers) {
        session_.Handle([&](Session& session, absl::Time now) {
          session.Fenced(worker, answers, now);
        });
      });
}

void Leader::CarryOut(const TakeCheckpoint& action) {
  // The callbacks' state counts bytes that are not in their files.
  if (!callbacks_status_.ok()) return;
  checkpoints_->Take(action);
}

void Leader::CarryOut(const ChangeVariables& action) {
  v1::VariablesOrder order = action.order;
  if (order.kind() == v1::VariablesOrder::KIND_LOAD) {
    order.set_checkpoint(checkpoints_->kept());
  }
  const absl::Status known = CheckOrder(order);
  if (!known.ok() || shards_ == nullptr) {
    return session_.Handle([&](Session& session, absl::Time now) {
      if (!known.ok()) return session.VariablesChanged(known, now);
      session.OrderVariables(order, now);
    });
  }
  shards_->ChangeVariables(
      order,
      [this](const absl::StatusOr<std::vector<v1::ChangeVariablesResponse>>&
                 answers) {
        session_.Handle([&](Session& session, absl::Time now) {
          session.VariablesChanged(answers.status(), now);
        });
      });
}

void Leader::CarryOut(const CheckpointReported& action) {
  worker_checkpoints_->Reported(action);
}

void Leader::MakeCheckpointTaker(VariableHolders& holders) {
  checkpoints_ = std::make_unique<CheckpointTaker>(
      CheckpointFolder(options_),
      // A job without a policy takes checkpoints for its callbacks alone.
      std::max(1, static_cast<int>(options_.job.checkpoint().keep())),
      manifest_, session_, holders, model_saver_);
}

void Leader::CarryOut(const EpochBegan& action) {
  resumed_steps_ = action.steps_done;
  progress_bar_.BeginEpoch(action.epoch, action.steps_done);
}

void Leader::CarryOut(const EpochEnded& action) {
  // The progress of a short epoch is never looked at.
  NoteFirstStep(action.record.steps);
  progress_bar_.EndEpoch(action.record);
}

void Leader::CarryOut(const ServeCallbacks& action) {
  for (const CallbackOutput& output : action.outputs) {
    CallbackServed(callback_writer_.Serve(output));
  }
}

void Leader::CallbackServed(const absl::Status& status) {
  callbacks_status_.Update(Annotate(status, "a callback failed"));
  if (!callbacks_status_.ok()) Stop(callbacks_status_);
}

void Leader::CarryOut(const TestBegan& /*action*/) {
  progress_bar_.BeginTest();
}

void Leader::CarryOut(const TestEnded& action) {
  progress_bar_.EndTest(action.steps, action.logs);
  outcome_.evaluation = action.logs;
}

void Leader::CarryOut(const Ended& action) {
  commands_.Cancel();
  // The job may have ended well before its last output failed.
  outcome_.status = action.status.ok() ? callbacks_status_ : action.status;
  outcome_.task = action.task;
  outcome_.is_departure = action.is_departure;
  if (const std::optional<Blame> blame = BlameOf(action.status)) {
    // Most errors name it themselves.
    LOG_IF(ERROR,
           !absl::StrContains(action.status.message(), blame->Name()) ||
               !absl::StrContains(action.status.message(), blame->waited_for))
        << blame->Name() << " is to blame"
        << (blame->waited_for.empty() ? "" : "; waited for: ")
        << blame->waited_for;
  }
  outcome_.total_seconds =
      absl::ToDoubleSeconds(MonotonicNow() - options_.process_start);
}

void Leader::CarryOut(const Notice& action) { LOG(WARNING) << action.message; }

void Leader::ShowProgress() {
  const ProgressView view =
      session_.Handle([this](Session& session, absl::Time) {
        for (const StepRow& row : session.TakeStepRows()) {
          outcome_.steps.Add(row);
        }
        return session.Progress();
      });
  if (view.phase == v1::PHASE_UNSPECIFIED) return;
  NoteFirstStep(view.steps_done);
  progress_bar_.Update(view);
}

void Leader::NoteFirstStep(int64_t steps_done) {
  if (outcome_.first_step_seconds > 0 || steps_done <= resumed_steps_) return;
  outcome_.first_step_seconds =
      absl::ToDoubleSeconds(MonotonicNow() - options_.process_start);
}

}  // namespace paceline
