#include "worker/worker.h"

#include <glog/logging.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/simd.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/tensor_visits.h"
#include "common/job/job_model.h"
#include "common/limits.h"
#include "common/optimizer/optimizer.h"
#include "common/session/membership.h"
#include "common/sharding/shard_plan.h"
#include "worker/checkpoint_strategy.h"
#include "worker/collective/connect_group.h"
#include "worker/data/batch_pipeline.h"
#include "worker/datasets.h"
#include "worker/local_checkpoints.h"
#include "worker/make_device.h"
#include "worker/program_cache.h"
#include "worker/strategy/all_reduce.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/parameter_server.h"
#include "worker/trainer.h"

namespace paceline {
namespace {

// How long an idle rank looks for its peers' data before it sleeps, where every
// thread has a core: longer than a sleeping peer takes to wake up, or both end
// up waking each other each time.
constexpr absl::Duration kSpin = absl::Microseconds(200);

// What a worker computes with, made ready before the job starts.
struct Workbench {
  JobModel model;
  std::unique_ptr<Device> device;
  ShardPlan plan;
  ProgramSpec spec;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<ModelState> state;
  std::unique_ptr<ProgramCache> programs;
  // Where the workers hold the variables; else null.
  std::unique_ptr<const Optimizer> optimizer;
  std::unique_ptr<LocalVariables> variables;
};

// Gives the bench variables of its own, as the job's seed says.
absl::Status HoldVariables(const v1::Job& job, Workbench& bench) {
  ASSIGN_OR_RETURN(bench.optimizer, MakeOptimizer(job.optimizer()));
  bench.variables = std::make_unique<LocalVariables>(
      bench.plan, *bench.optimizer, *bench.state);
  FillFromSeed(job.seed(), bench.model.graph.variables, *bench.variables);
  return absl::OkStatus();
}

// Compiles the job's model for its usual batch.
absl::StatusOr<std::unique_ptr<Workbench>> MakeWorkbench(const v1::Job& job,
                                                         int threads,
                                                         int64_t batch_size) {
  auto bench = std::make_unique<Workbench>();
  ASSIGN_OR_RETURN(bench->model, MakeJobModel(job));
  const JobModel& model = bench->model;
  ASSIGN_OR_RETURN(bench->device, MakeDevice(job.device(), threads));
  RETURN_IF_ERROR(bench->device->Supports(model.graph));
  ASSIGN_OR_RETURN(
      bench->plan,
      ShardPlan::Make(model.graph.variables,
                      std::max(1, static_cast<int>(job.cluster().ps())),
                      job.partitioner(), sizeof(float)));
  ProgramSpec& spec = bench->spec;
  spec.graph = &model.graph;
  spec.plan = &bench->plan;
  spec.loss = model.loss.get();
  spec.metrics = model.metrics;
  spec.seed = job.seed();
  bench->stream = bench->device->CreateStream();
  ASSIGN_OR_RETURN(bench->state, bench->device->CreateState(spec));
  bench->programs =
      std::make_unique<ProgramCache>(spec, *bench->device, *bench->state);
  RETURN_IF_ERROR(bench->programs->Get(Mode::kTrain, batch_size).status());
  return bench;
}

// A worker's part in a job, from its registration on.
class WorkerTask {
 public:
  WorkerTask(Member& member, const WorkerOptions& options)
      : member_(member), options_(options) {}

  absl::Status Run() {
    RETURN_IF_ERROR(Prepare());
    ASSIGN_OR_RETURN(const std::string address, ListenToPeers());
    LOG(INFO) << "rank " << rank() << " of " << world_size() << " on "
              << bench_->device->name() << ", ready";
    ASSIGN_OR_RETURN(start_, member_.AwaitStart(datasets_.sizes, address));
    ASSIGN_OR_RETURN(strategy_, MakeStrategy());
    return Work();
  }

 private:
  const v1::RegisterResponse& registration() const {
    return member_.registration();
  }
  const v1::Job& job() const { return registration().job(); }
  int rank() const { return static_cast<int>(registration().rank()); }
  int world_size() const {
    return static_cast<int>(registration().world_size());
  }
  bool evaluates_checkpoint() const {
    return !registration().evaluate_checkpoint().empty();
  }
  bool holds_variables() const {
    return IsSynchronous(job()) && !evaluates_checkpoint();
  }

  // Makes ready all that needs no other task.
  absl::Status Prepare() {
    ASSIGN_OR_RETURN(bench_,
                     MakeWorkbench(job(), options_.threads,
                                   ReplicaBatchSize(job(), world_size())));
    if (holds_variables()) {
      RETURN_IF_ERROR(HoldVariables(job(), *bench_));
      checkpoints_ = std::make_unique<LocalCheckpoints>(
          bench_->model.graph.variables, bench_->plan,
          bench_->optimizer->slot_names(), *bench_->variables, member_);
    }
    ASSIGN_OR_RETURN(
        datasets_, OpenDatasets(job(), bench_->model.graph, *bench_->model.loss,
                                rank(), world_size(),
                                /*test_only=*/evaluates_checkpoint()));
    return absl::OkStatus();
  }

  // Returns where peers reach this worker; "" if they need not.
  absl::StatusOr<std::string> ListenToPeers() {
    if (!holds_variables() || rank() == 0) return std::string();
    ASSIGN_OR_RETURN(listener_, GroupListener::Open(options_.listen_address));
    if (!options_.member.address.empty()) return options_.member.address;
    const std::string& listen = options_.listen_address;
    return absl::StrCat(listen.substr(0, listen.rfind(':')), ":",
                        listener_->port());
  }

  absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy() {
    if (evaluates_checkpoint()) {
      return CheckpointStrategy::Open(registration().evaluate_checkpoint(),
                                      bench_->model.graph, bench_->plan,
                                      *bench_->state, *bench_->stream);
    }
    if (holds_variables()) return MakeAllReduce();
    return MakeParameterServer();
  }

  absl::StatusOr<std::unique_ptr<Strategy>> MakeParameterServer() {
    if (start_.ps_size() != bench_->plan.shard_count()) {
      return absl::InternalError(
          absl::StrCat("the leader names ", start_.ps_size(),
                       " parameter servers, where its job has ",
                       bench_->plan.shard_count()));
    }
    ParameterServerOptions ps;
    ps.worker.set_rank(registration().rank());
    ps.worker.set_incarnation(options_.member.incarnation);
    ps.servers.assign(start_.ps().begin(), start_.ps().end());
    ps.timeout = absl::Seconds(registration().ps_timeout().seconds());
    ps.on_waiting = OnWaiting();
    return std::make_unique<ParameterServerStrategy>(
        std::move(ps), bench_->plan, *bench_->state, *bench_->stream);
  }

  absl::StatusOr<std::unique_ptr<Strategy>> MakeAllReduce() {
    RETURN_IF_ERROR(ConnectToPeers());
    AllReduceOptions options;
    options.on_waiting = OnWaiting();
    auto strategy = std::make_unique<AllReduceStrategy>(
        std::move(options), *transport_, bench_->plan, *bench_->variables,
        *bench_->state, *bench_->stream);
    if (!start_.restore_path().empty()) {
      if (rank() == 0) {
        RETURN_IF_ERROR(checkpoints_->Restore(start_.restore_path()));
      }
      RETURN_IF_ERROR(strategy->BroadcastVariables());
    }
    return strategy;
  }

  absl::Status ConnectToPeers() {
    GroupOptions group;
    group.rank = rank();
    for (const v1::Member& peer : start_.workers()) {
      ASSIGN_OR_RETURN(const TaskId task, TaskFromProto(peer.task()));
      std::string name = task.ToString();
      if (!peer.address().empty())
        absl::StrAppend(&name, " at ", peer.address());
      group.peers.push_back(
          {std::move(name), peer.address(), peer.incarnation()});
    }
    group.connect_timeout = limits::kConnectTimeout;
    group.timeout = limits::kCollectiveTimeout;
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    if (world_size() * options_.threads <= cores) group.spin = kSpin;
    member_.SetWaitingFor("connections to the other workers");
    ASSIGN_OR_RETURN(transport_,
                     ConnectGroup(group, listener_ ? &*listener_ : nullptr));
    member_.SetWaitingFor("");
    return absl::OkStatus();
  }

  std::function<void(const std::string&)> OnWaiting() {
    return [this](const std::string& what) { member_.SetWaitingFor(what); };
  }

  // Takes leases and processes them until the job is over.
  absl::Status Work() {
    PipelineOptions pipeline_options;
    pipeline_options.phases = datasets_.phases;
    pipeline_options.type = bench_->state->type();
    const bool sparse_labels = bench_->model.loss->has_sparse_labels();
    if (sparse_labels) {
      pipeline_options.class_count = bench_->model.graph.output_shape().back();
    }
    Member::TakeSnapshot take_snapshot;
    if (checkpoints_ != nullptr) {
      take_snapshot = [this](const std::string& path) {
        return checkpoints_->Take(path);
      };
    }
    ASSIGN_OR_RETURN(
        const std::unique_ptr<BatchPipeline> pipeline,
        BatchPipeline::Create(pipeline_options, [this, take_snapshot] {
          return member_.AcquireLease(take_snapshot);
        }));
    TrainerParts parts;
    parts.pipeline = pipeline.get();
    parts.programs = bench_->programs.get();
    parts.state = bench_->state.get();
    parts.stream = bench_->stream.get();
    parts.strategy = strategy_.get();
    parts.member = &member_;
    parts.bucket_count = static_cast<int>(bench_->plan.buckets().size());
    parts.label_type = sparse_labels ? DataType::kInt32 : bench_->state->type();
    // Where workers step together, one of them tells of the steps.
    const bool log_steps =
        job().log_steps() && (checkpoints_ == nullptr || rank() == 0);
    Trainer trainer(parts, static_cast<int>(bench_->model.metrics.size()),
                    log_steps);
    const absl::Status status = trainer.Run();
    // The pipeline's thread may wait for a lease: saying goodbye ends that. And
    // peers must not see this end of the group close before the leader knows.
    member_.Leave(status);
    return status;
  }

  Member& member_;
  const WorkerOptions& options_;
  // In the order in which they are made; each uses those before.
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<LocalCheckpoints> checkpoints_;
  Datasets datasets_;
  std::optional<GroupListener> listener_;
  v1::AwaitStartResponse start_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Strategy> strategy_;
};

}  // namespace

absl::Status RunWorker(WorkerOptions options) {
  FlushDenormals();
  ASSIGN_OR_RETURN(const std::unique_ptr<Member> member,
                   Member::Join(options.member));
  WorkerTask task(*member, options);
  const absl::Status status = task.Run();
  member->Leave(status);
  // The leader ended the job, and tells why.
  return absl::IsCancelled(status) ? absl::OkStatus() : status;
}

}  // namespace paceline
