#include "worker/lifecycle/worker.h"

#include <glog/logging.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/simd.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/job/job_model.h"
#include "common/limits.h"
#include "common/rpc/tls.h"
#include "common/strategy/strategy_traits.h"
#include "worker/collective/connect_group.h"
#include "worker/collective/memory_transport.h"
#include "worker/collective/shared_memory_transport.h"
#include "worker/evaluation/checkpoint_strategy.h"
#include "worker/lifecycle/callback_reports.h"
#include "worker/lifecycle/local_checkpoints.h"
#include "worker/lifecycle/replica_gate.h"
#include "worker/lifecycle/replica_hub.h"
#include "worker/lifecycle/variable_orders.h"
#include "worker/setup/datasets.h"
#include "worker/setup/device_groups.h"
#include "worker/setup/peers.h"
#include "worker/setup/replica.h"
#include "worker/strategy/strategies.h"

namespace paceline {
namespace {

// A worker's part in a job, after its registration.
class WorkerTask {
 public:
  WorkerTask(Member& member, const WorkerOptions& options)
      : member_(member), options_(options), gate_(device_count()) {}

  absl::Status Run() {
    const absl::Status status = Work();
    Leave(status);
    return status;
  }

  // The worker was asked to leave. Runs on another thread.
  void AskToLeave() {
    // The trainer asks after each step.
    if (may_leave_between_steps_) return;
    // The leader ends the job.
    if (has_started_) return member_.AskToLeave();
    member_.Leave(absl::OkStatus());
    EndNow(kRestart);
  }
  // Whether the leader has said that the job is over.
  bool knows_end() const { return knows_end_; }

 private:
  absl::Status Work() {
    RETURN_IF_ERROR(Prepare());
    if (!offers_gpu()) RETURN_IF_ERROR(CompileReplicas());
    ASSIGN_OR_RETURN(const std::string address, ListenToPeers());
    LOG(INFO) << "rank " << rank() << " of " << world_size() << " on "
              << replicas_.front()->device->name() << ", ready";
    ASSIGN_OR_RETURN(start_, member_.AwaitStart(request_, address));
    has_started_ = true;
    if (offers_gpu()) {
      member_.SetWaitingFor("the GPUs of the other workers");
      RETURN_IF_ERROR(JoinPeers(start_, rank(), replicas_));
      member_.SetWaitingFor("");
      RETURN_IF_ERROR(CompileReplicas());
    }
    RETURN_IF_ERROR(ConnectReplicas());
    may_leave_between_steps_ = others_can_go_on() && device_count() == 1;
    return RunReplicas();
  }

  const v1::RegisterResponse& registration() const {
    return member_.registration();
  }
  const v1::Job& job() const { return registration().job(); }
  const StrategyTraits& strategy() const { return StrategyOf(job()); }
  // Whether the job goes on if this worker is lost.
  bool others_can_go_on() const {
    return evaluates_checkpoint() ||
           (!IsSynchronous(job()) && !registration().connects_only());
  }
  bool leaves() const {
    return may_leave_between_steps_ && options_.leave != nullptr &&
           options_.leave->is_given();
  }
  int rank() const { return static_cast<int>(registration().rank()); }
  int world_size() const {
    return static_cast<int>(registration().world_size());
  }
  int device_count() const { return ReplicaCount(job(), 1); }
  int replica_threads() const {
    return std::max(1, options_.threads / device_count());
  }
  // Whether this worker's GPU can join a group with those of other workers.
  bool offers_gpu() const { return !request_.gpu_uuid().empty(); }
  bool evaluates_checkpoint() const {
    return !registration().evaluate_checkpoint().empty();
  }
  bool holds_variables() const {
    return !strategy().has_parameter_servers() && !evaluates_checkpoint();
  }
  // Whether each replica holds the variables (mirrored), not the first one for
  // all (central storage).
  bool has_copies() const {
    return holds_variables() &&
           strategy().variables == VariablePlacement::kEachReplica;
  }

  // Prepares everything that needs no other task. Programs are compiled later,
  // since they depend on whether the device joins a group.
  absl::Status Prepare() {
    for (int index = 0; index < device_count(); ++index) {
      ASSIGN_OR_RETURN(
          replicas_.emplace_back(),
          MakeReplica(job(), {.threads = replica_threads(), .index = index}));
    }
    const Replica& first = *replicas_.front();
    ASSIGN_OR_RETURN(
        reports_,
        CallbackReports::Create(job(), first.model, device_count(), member_));
    std::set<v1::Phase> phases = {v1::PHASE_TEST};
    if (!evaluates_checkpoint()) {
      phases.insert({v1::PHASE_TRAIN, v1::PHASE_VALIDATION});
    }
    // The leader waits for as long as there is activity.
    ASSIGN_OR_RETURN(datasets_,
                     OpenDatasets(job(), first.model, world_size(), phases,
                                  RemoteFiles(options_.data), options_.fence,
                                  [this] { ++member_.activity(); }));
    request_ = datasets_.sizes;
    if (has_copies() && device_count() > 1) return JoinOwnGroup(replicas_);
    // A group of GPUs does not round gradients, so with a 16-bit wire precision
    // the host sums them.
    const bool may_join_peers =
        has_peers() && world_size() > 1 &&
        job().wire_precision() <= v1::WIRE_PRECISION_FLOAT32;
    return may_join_peers ? OfferDevice(first, rank(), request_)
                          : absl::OkStatus();
  }

  absl::Status CompileReplicas() {
    CompileOptions options;
    options.fence = options_.fence;
    options.batch_size = ReplicaBatchSize(job(), world_size());
    options.is_alone = has_copies() && ReplicaCount(job(), world_size()) == 1;
    Replica& first = *replicas_.front();
    if (has_peers() && world_size() > 1 && first.group == nullptr) {
      options.gradient_memory = [this](size_t size) {
        return MakeRegion(size);
      };
    }
    for (int device = 0; device < device_count(); ++device) {
      options.holds_variables =
          has_copies() || (holds_variables() && device == 0);
      options.other_batch_sizes = GroupBatchSizes(device);
      RETURN_IF_ERROR(CompileReplica(job(), options, *replicas_[device]));
    }
    if (!holds_variables()) return absl::OkStatus();
    checkpoints_ = std::make_unique<LocalCheckpoints>(
        first.model.graph.variables, first.plan, first.optimizer->slot_names(),
        *first.variables, *first.stream, member_);
    return absl::OkStatus();
  }

  // If the device is in a group: all batch sizes of an epoch, to be compiled
  // before training. Compiling during training could deadlock: the driver may
  // wait for the GPUs of all replicas in this process, while sums on these GPUs
  // wait for this replica.
  std::vector<int64_t> GroupBatchSizes(int device) const {
    if (replicas_[device]->group == nullptr) return {};
    return PhasesOfReplica(datasets_, job(), rank(), world_size(), device)
        .at(v1::PHASE_TRAIN)
        .BatchSizes();
  }

  // Creates shared memory with `payload_size` bytes of payload. Workers on the
  // same machine read gradients from it without a copy.
  absl::Span<std::byte> MakeRegion(size_t payload_size) {
    const auto region =
        SharedMemoryTransport::MakeRegion(rank(), world_size(), payload_size);
    if (!region.ok()) {
      LOG(WARNING) << region.status().message();
      return {};
    }
    region_ = *region;
    return SharedMemoryTransport::PayloadOf(*region_, world_size());
  }

  // Whether the replicas of the job are in different processes.
  bool has_peers() const {
    return holds_variables() && strategy().workers_are_peers();
  }

  // Returns the address at which other workers reach this one; "" if they need
  // not.
  absl::StatusOr<std::string> ListenToPeers() {
    if (!has_peers() || rank() == 0) return std::string();
    ASSIGN_OR_RETURN(listener_, Listener::Open(options_.listen_address));
    if (!options_.member.address.empty()) return options_.member.address;
    return WithPort(options_.listen_address, listener_->port());
  }

  // Gives each replica its transport in the group, if there is one.
  absl::Status ConnectReplicas() {
    transports_.resize(device_count());
    if (has_peers()) return ConnectToPeers();
    if (!holds_variables()) return absl::OkStatus();
    const auto make_group = [this] {
      return std::make_unique<MemoryGroup>(device_count(),
                                           limits::kCollectiveTimeout);
    };
    group_ = make_group();
    if (shares_statistics()) statistics_group_ = make_group();
    for (int device = 0; device < device_count(); ++device) {
      transports_[device] = group_->MakeTransport(device);
      if (!shares_statistics()) continue;
      replicas_[device]->statistics->Join(
          statistics_group_->MakeTransport(device), OnWaiting());
    }
    return absl::OkStatus();
  }

  bool shares_statistics() const {
    return replicas_.front()->statistics != nullptr;
  }

  absl::Status ConnectToPeers() {
    ASSIGN_OR_RETURN(GroupOptions group,
                     PeerOptions(start_, rank(), options_.threads));
    group.job = options_.member.caller->job();
    group.secret = options_.member.caller->secret();
    if (const Tls* const tls = options_.member.caller->tls().get()) {
      group.tls = tls->files();
    }
    group.region = region_;
    Listener* const listener = listener_ ? &*listener_ : nullptr;
    member_.SetWaitingFor("connections to the other workers");
    ASSIGN_OR_RETURN(transports_.front(), ConnectGroup(group, listener));
    if (shares_statistics()) {
      // The barrier ensures that no rank takes a connection of the second group
      // for one of the first.
      RETURN_IF_ERROR(Collectives(*transports_.front()).Barrier());
      group.region = nullptr;
      ASSIGN_OR_RETURN(std::unique_ptr<Transport> statistics,
                       ConnectGroup(group, listener));
      replicas_.front()->statistics->Join(std::move(statistics), OnWaiting());
    }
    member_.SetWaitingFor("");
    return absl::OkStatus();
  }

  // --- On the thread of a replica --------------------------------------------

  absl::StatusOr<std::unique_ptr<Strategy>> MakeReplicaStrategy(int device) {
    Replica& replica = *replicas_[device];
    if (evaluates_checkpoint()) {
      return CheckpointStrategy::Open(
          registration().evaluate_checkpoint(), replica.model.graph,
          replica.plan.layout(), *replica.state, *replica.stream);
    }
    if (device == 0) RETURN_IF_ERROR(RestoreVariables());
    v1::WorkerId worker;
    worker.set_rank(registration().rank());
    worker.set_incarnation(options_.member.incarnation);
    return MakeStrategy({.registration = registration(),
                         .start = start_,
                         .worker = std::move(worker),
                         .caller = options_.member.caller,
                         .plan = replica.plan,
                         .optimizer = *replica.optimizer,
                         .state = *replica.state,
                         .stream = *replica.stream,
                         .group = replica.group.get(),
                         .variables = VariablesOf(replica),
                         .transport = transports_[device].get(),
                         .on_waiting = OnWaiting(),
                         .trace = reports_->trace(device)});
  }

  // Restores the variables from the checkpoint, if there is one, for rank 0.
  absl::Status RestoreVariables() {
    if (!holds_variables() || rank() != 0 || start_.restore_path().empty()) {
      return absl::OkStatus();
    }
    return start_.variables_only()
               ? checkpoints_->RestoreVariables(start_.restore_path())
               : checkpoints_->Restore(start_.restore_path());
  }

  // The variables that the replica's steps update; null if parameter servers
  // hold them.
  LocalVariables* VariablesOf(const Replica& replica) const {
    return replica.variables != nullptr ? replica.variables.get()
                                        : replicas_.front()->variables.get();
  }

  std::function<void(const std::string&)> OnWaiting() {
    return [this](const std::string& what) { member_.SetWaitingFor(what); };
  }

  absl::Status RunOne(int device, ReplicaHub& hub) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Strategy> strategy,
                     MakeReplicaStrategy(device));
    gate_.Arrive();
    if (registration().connects_only()) {
      RETURN_IF_ERROR(strategy->PullVariables());
    }
    ReplicaWork work;
    work.phases =
        PhasesOfReplica(datasets_, job(), rank(), world_size(), device);
    work.leases = [&hub, device] { return hub.NextLease(device); };
    work.readers = replica_threads();
    work.fence = options_.fence;
    work.progress = &hub.sink(device);
    work.log_steps = job().log_steps();
    work.on_waiting = OnWaiting();
    work.leaves = [this] { return leaves(); };
    work.first_epoch = job().initial_epoch();
    work.trace = reports_->trace(device);
    work.on_first_batch = reports_->on_first_batch();
    return RunReplica(*replicas_[device], *strategy, work,
                      [&](const absl::Status& status) {
                        if (!status.ok()) return End(device, status);
                        // The data thread may wait for a lease.
                        if (leaves()) Leave(status);
                      });
  }

  // Leaves the job. The leader knows tasks, not ranks, so a blamed rank is
  // translated.
  void Leave(const absl::Status& status) {
    member_.Leave(BlamePeer(start_, member_.waiting_for(), status));
  }

  // A replica has failed. Leaving the job ends the other replicas' waits for a
  // lease. The leader must also know the reason before other workers see this
  // worker's connections close.
  void End(int device, const absl::Status& status) {
    // is_ending_ needs no lock: a worker with peers has a single replica, so
    // only that replica's thread gets here.
    if (has_peers() && !std::exchange(is_ending_, true)) {
      AwaitLeadersWord(*replicas_[device]);
    }
    Leave(status);
    gate_.Abandon(status);
    for (const std::unique_ptr<Replica>& replica : replicas_) {
      if (replica->group != nullptr) replica->group->Abort(status);
    }
    if (transports_[device] != nullptr) transports_[device]->Abort(status);
    if (shares_statistics()) replicas_[device]->statistics->Abort(status);
  }

  // Runs each replica on a thread of its own; the first one on this thread.
  absl::Status RunReplicas() {
    Member::TakeSnapshot take_snapshot;
    Member::ChangeVariables change_variables;
    VariableOrders orders(member_, replicas_, gate_, checkpoints_.get(),
                          has_peers() ? transports_.front().get() : nullptr);
    if (checkpoints_ != nullptr) {
      change_variables = [&orders](const v1::VariablesOrder& order) {
        return orders.Change(order);
      };
      take_snapshot = [&orders](const std::string& name) {
        return orders.TakeSnapshot(name);
      };
    }
    ReplicaHub hub(
        device_count(), member_,
        [this, take_snapshot,
         change_variables]() -> absl::StatusOr<std::optional<v1::Lease>> {
          if (leaves()) return std::nullopt;
          ASSIGN_OR_RETURN(
              std::optional<v1::Lease> lease,
              member_.AcquireLease(take_snapshot, change_variables));
          if (!lease) knows_end_ = true;
          return lease;
        });
    std::vector<absl::Status> results(device_count());
    const auto run = [&](int device) {
      results[device] = RunOne(device, hub);
      if (!results[device].ok()) End(device, results[device]);
    };
    std::vector<std::thread> threads;
    for (int device = 1; device < device_count(); ++device) {
      threads.emplace_back(run, device);
    }
    run(0);
    for (std::thread& thread : threads) thread.join();
    absl::Status status;
    for (const absl::Status& result : results) status.Update(result);
    return status;
  }

  Member& member_;
  const WorkerOptions& options_;
  // Opens once all replicas have their first variables.
  ReplicaGate gate_;
  // Shared memory with the gradients, if there are other workers.
  SharedMemoryTransport::RegionPtr region_;
  // The group of the replicas in this process; replicas use their transports.
  std::unique_ptr<MemoryGroup> group_;
  std::unique_ptr<MemoryGroup> statistics_group_;
  // In the order of their creation; each may refer to those before it.
  std::vector<std::unique_ptr<Replica>> replicas_;
  // What callbacks want of this worker.
  std::unique_ptr<CallbackReports> reports_;
  std::unique_ptr<LocalCheckpoints> checkpoints_;
  Datasets datasets_;
  std::optional<Listener> listener_;
  // The worker's report before the start, and the leader's answer.
  v1::AwaitStartRequest request_;
  v1::AwaitStartResponse start_;
  bool is_ending_ = false;
  std::atomic<bool> has_started_ = false;
  std::atomic<bool> may_leave_between_steps_ = false;
  std::atomic<bool> knows_end_ = false;
  // By device; null if nothing is reduced.
  std::vector<std::unique_ptr<Transport>> transports_;
};

// Takes part in a phase of the job, or in a job that has none. nullopt: the
// next phase follows.
absl::StatusOr<std::optional<WorkerEnd>> RunPhase(
    const WorkerOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Member> member,
                   Member::Join(options.member));
  WorkerTask task(*member, options);
  LeaveOrder* const leave = options.leave;
  if (leave != nullptr) leave->SetReaction([&task] { task.AskToLeave(); });
  const absl::Status status = task.Run();
  if (leave != nullptr) leave->SetReaction([] {});
  const bool is_asked = leave != nullptr && leave->is_given();
  if (member->is_phase_over() && (status.ok() || absl::IsCancelled(status))) {
    if (is_asked) return WorkerEnd::kLeft;
    return std::nullopt;
  }
  // The leader ended the job, and reports why.
  if (absl::IsCancelled(status)) return WorkerEnd::kJobEnded;
  RETURN_IF_ERROR(status);
  return is_asked && !task.knows_end() ? WorkerEnd::kLeft
                                       : WorkerEnd::kJobEnded;
}

}  // namespace

absl::StatusOr<WorkerEnd> RunWorker(const WorkerOptions& options) {
  FlushDenormals();
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<WorkerEnd> end, RunPhase(options));
    if (end) return *end;
    // Until the next phase has begun, a signal ends the process.
    if (options.leave == nullptr) continue;
    options.leave->SetReaction([] { EndNow(kRestart); });
    if (options.leave->is_given()) return WorkerEnd::kLeft;
  }
}

}  // namespace paceline
