// The start of a session: tasks register, the parameter servers initialise
// their shards, and all tasks wait for each other.
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "common/limits.h"
#include "common/session/machine/session.h"
#include "common/session/machine/session_state.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {
namespace {

// Time between two log lines about refused processes, which may retry often.
constexpr absl::Duration kRefusalPause = absl::Seconds(1);
// Time between two attempts to initialise the parameter servers.
constexpr absl::Duration kShardsPause = absl::Milliseconds(500);

void SetDuration(absl::Duration duration, google::protobuf::Duration* proto) {
  proto->set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  proto->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
}

absl::Status CheckTasks(const SessionOptions& options) {
  int workers = 0;
  int ps = 0;
  std::set<TaskId> seen;
  for (const ExpectedTask& task : options.tasks) {
    if (!seen.insert(task.id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(task.id.ToString(), " is in the cluster twice"));
    }
    ++(task.id.type == TaskType::kPs ? ps : workers);
  }
  if (workers == 0) {
    return absl::InvalidArgumentError("the cluster has no worker");
  }
  if (!options.evaluate_checkpoint.empty() && ps > 0) {
    return absl::InvalidArgumentError(
        "the evaluation of a checkpoint takes no ps");
  }
  const StrategyTraits& strategy = StrategyOf(options.job);
  if (options.evaluate_checkpoint.empty() && ps == 0 &&
      strategy.has_parameter_servers()) {
    return absl::InvalidArgumentError(
        absl::StrCat("strategy ", strategy.name, " needs a ps in the cluster"));
  }
  return absl::OkStatus();
}

std::string ToText(const DataSizes& sizes) {
  return absl::StrCat(sizes.train, " training, ", sizes.validation,
                      " validation and ", sizes.test, " test examples");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Create(SessionOptions options,
                                                         absl::Time now) {
  RETURN_IF_ERROR(CheckTasks(options));
  int world_size = 0;
  for (const ExpectedTask& task : options.tasks) {
    world_size += task.id.type == TaskType::kPs ? 0 : 1;
  }
  ASSIGN_OR_RETURN(JobFlow flow, JobFlow::Create(options, world_size));
  std::unique_ptr<Session> session(new Session());
  session->state_ =
      std::make_unique<State>(std::move(options), std::move(flow), now);
  session->state_->shards_ready = !session->state_->HasPs();
  return session;
}

absl::StatusOr<v1::RegisterResponse> Session::Register(
    const v1::RegisterRequest& request, absl::Time now) {
  State& state = *state_;
  if (state.GoesOn()) {
    return absl::UnavailableError("the next phase of the job has not begun");
  }
  if (state.outcome) return absl::CancelledError("the job has ended");
  ASSIGN_OR_RETURN(const IntroducedMember caller, ReadMember(request.member()));
  const absl::StatusOr<Place*> wanted = state.members.PlaceOf(caller.task);
  if (!wanted.ok()) {
    // A process that asks for a place outside the job may belong to anybody, so
    // it must not end the job.
    state.NoticeRefusal(wanted.status(), now);
    return wanted.status();
  }
  const SessionOptions& options = state.options;
  ASSIGN_OR_RETURN(const std::string mismatch, state.Mismatch(request));
  if (!mismatch.empty()) return state.Refuse(**wanted, mismatch, now);

  bool is_new = false;
  const absl::StatusOr<Place*> registered =
      state.members.Register(caller, now, &is_new);
  if (absl::IsAlreadyExists(registered.status()) && !state.flow.started()) {
    state.End(registered.status(), caller.task, now);
  }
  ASSIGN_OR_RETURN(Place * place, registered);
  if (is_new) state.seats[place->id] = State::Seat();
  state.InitializeShardsIfAllThere(now);
  state.AdmitWorkersIfReady();

  v1::RegisterResponse response;
  *response.mutable_job() = options.job;
  response.set_rank(place->rank < 0 ? 0 : place->rank);
  response.set_world_size(state.members.worker_count());
  SetDuration(limits::kHeartbeatInterval,
              response.mutable_heartbeat_interval());
  SetDuration(options.heartbeat_timeout, response.mutable_heartbeat_timeout());
  SetDuration(limits::kPsTimeout, response.mutable_ps_timeout());
  response.set_evaluate_checkpoint(options.evaluate_checkpoint);
  response.set_connects_only(options.connects_only);
  response.set_job_id(options.identity.id);
  response.set_generation(options.identity.generation);
  response.set_checkpoint_folder(options.checkpoint_folder);
  return response;
}

absl::StatusOr<std::string> Session::State::Mismatch(
    const v1::RegisterRequest& request) const {
  if (request.version() != options.version) {
    return absl::StrCat("it is of version ", PeerText(request.version()),
                        ", the leader of version ", options.version);
  }
  if (!request.job_fingerprint().empty() &&
      request.job_fingerprint() != options.job_fingerprint) {
    return absl::StrCat("it was given a job with fingerprint ",
                        PeerText(request.job_fingerprint()),
                        ", the leader one with ", options.job_fingerprint,
                        "; compare what `coordinator validate JOB -o json` "
                        "prints of both");
  }
  ASSIGN_OR_RETURN(const ClusterSpec theirs, ReadCluster(request.cluster()));
  // A process started without TF_CONFIG knows no cluster to compare.
  if (theirs.tasks.empty() || options.cluster.tasks.empty()) {
    return std::string();
  }
  const std::string difference = Difference(theirs, options.cluster);
  if (difference.empty()) return std::string();
  return absl::StrCat("its TF_CONFIG differs from the leader's: ", difference);
}

absl::Status Session::State::Refuse(const Place& place,
                                    const std::string& mismatch,
                                    absl::Time now) {
  absl::Status refusal = absl::InvalidArgumentError(
      absl::StrCat(place.Name(), " is refused: ", mismatch));
  if (!flow.started()) {
    End(refusal, place.id, now);
  } else {
    NoticeRefusal(refusal, now);
  }
  return refusal;
}

void Session::State::NoticeRefusal(const absl::Status& refusal,
                                   absl::Time now) {
  if (now < next_refusal_notice) return;
  next_refusal_notice = now + kRefusalPause;
  actions.push_back(Notice{std::string(refusal.message())});
}

absl::StatusOr<std::optional<v1::AwaitStartResponse>> Session::AwaitStart(
    const v1::AwaitStartRequest& request, absl::Time now) {
  State& state = *state_;
  if (state.outcome) return absl::CancelledError("the job has ended");
  ASSIGN_OR_RETURN(Place * place, state.members.Find(request.member()));
  if (!request.member().address().empty()) {
    place->address = request.member().address();
  }
  state.InitializeShardsIfAllThere(now);
  if (place->rank >= 0) {
    RETURN_IF_ERROR(state.Prepare(*place, request, now));
  }
  if (!state.flow.started()) return std::nullopt;
  if (place->rank >= 0 && !state.IsReady(state.seats[place->id])) {
    return std::nullopt;
  }
  v1::AwaitStartResponse response;
  response.set_started(true);
  for (const auto& [id, other] : state.members.places()) {
    if (id.type != TaskType::kPs && !state.WorkersHoldVariables()) continue;
    v1::Member* member =
        id.type == TaskType::kPs ? response.add_ps() : response.add_workers();
    *member->mutable_task() = TaskToProto(id);
    member->set_address(other.address);
    member->set_incarnation(other.incarnation);
    if (id.type == TaskType::kPs) continue;
    const Preparation known =
        state.seats[id].preparation.value_or(Preparation());
    response.add_gpu_uuids(known.gpu_uuid);
    if (other.rank == 0) response.set_nccl_id(known.nccl_id);
  }
  if (state.WorkersHoldVariables()) {
    response.set_restore_path(state.options.restore_path);
    response.set_variables_only(state.options.variables_only);
  }
  return std::optional<v1::AwaitStartResponse>(std::move(response));
}

absl::Status Session::State::Prepare(Place& place,
                                     const v1::AwaitStartRequest& request,
                                     absl::Time now) {
  ASSIGN_OR_RETURN(Preparation preparation, ReadPreparation(request));
  absl::Status status = CheckSizes(place, preparation.sizes);
  if (!status.ok()) {
    if (flow.started()) return absl::FailedPreconditionError(status.message());
    End(status, place.id, now);
    return status;
  }
  seats[place.id].preparation = std::move(preparation);
  StartIfReady(now);
  return absl::OkStatus();
}

void Session::State::InitializeShardsIfAllThere(absl::Time now) {
  if (shards_requested || !HasPs() || !leader_ready) return;
  for (const auto& [id, place] : members.places()) {
    if (id.type == TaskType::kPs && (!place.taken() || place.address.empty())) {
      return;
    }
  }
  shards_requested = true;
  shards_deadline = now + options.connect_timeout;
  next_shards_attempt = now;
  AttemptShards(now);
}

void Session::State::AttemptShards(absl::Time now) {
  if (!next_shards_attempt || now < *next_shards_attempt) return;
  next_shards_attempt.reset();
  actions.push_back(InitializeShards{
      options.restore_path, members.worker_count(), options.variables_only});
}

absl::Status Session::State::CheckSizes(const Place& place,
                                        const DataSizes& sizes) {
  for (const auto& [id, seat] : seats) {
    if (id == place.id || !seat.preparation) continue;
    const DataSizes& others = seat.preparation->sizes;
    if (others == sizes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(place.Name(), " reads ", ToText(sizes), "; ",
                     members.Get(id)->Name(), " reads ", ToText(others)));
  }
  return absl::OkStatus();
}

void Session::State::StartIfReady(absl::Time now) {
  if (flow.started() || !shards_ready || !leader_ready) return;
  DataSizes sizes;
  for (const auto& [id, place] : members.places()) {
    if (!place.taken()) return;
    if (place.rank < 0) continue;
    if (!IsReady(seats[id])) return;
    sizes = seats[id].preparation->sizes;
  }
  const absl::Status status = flow.Start(sizes, now);
  if (!status.ok()) {
    End(status, std::nullopt, now);
    return;
  }
  FollowFlow(now);
  Wake();
}

void Session::LeaderReady(absl::Time now) {
  State& state = *state_;
  if (state.outcome || std::exchange(state.leader_ready, true)) return;
  state.start_began = now;
  state.InitializeShardsIfAllThere(now);
  state.StartIfReady(now);
}

void Session::ShardsInitialized(const absl::Status& status, int64_t step,
                                absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  // Retry: the name of a ps may not resolve yet, for example.
  if (absl::IsUnavailable(status) && now < state.shards_deadline) {
    state.next_shards_attempt = now + kShardsPause;
    return;
  }
  if (!status.ok()) {
    state.End(status, std::nullopt, now);
    return;
  }
  if (!state.options.restore_path.empty()) {
    state.actions.push_back(
        Notice{absl::StrCat("the parameter servers hold the variables of ",
                            state.options.restore_path, " at step ", step)});
  }
  state.shards_ready = true;
  state.AdmitWorkersIfReady();
}

void Session::State::AdmitWorkersIfReady() {
  if (!HasPs() || !shards_ready) return;
  AdmitWorkers action;
  for (const auto& [id, place] : members.places()) {
    if (place.rank < 0 || !place.taken()) continue;
    Seat& seat = seats[id];
    if (seat.admission != Admission::kNone) continue;
    seat.admission = Admission::kAsked;
    v1::WorkerId& worker = action.workers.emplace_back();
    worker.set_rank(place.rank);
    worker.set_incarnation(place.incarnation);
  }
  if (!action.workers.empty()) actions.push_back(std::move(action));
}

void Session::Admitted(const std::vector<v1::WorkerId>& workers,
                       const absl::Status& status, absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  if (!status.ok()) {
    state.End(Annotate(status, "letting workers in"), std::nullopt, now);
    return;
  }
  for (const v1::WorkerId& worker : workers) {
    for (const auto& [id, place] : state.members.places()) {
      // A worker that was lost in the meantime stays out.
      if (place.rank == static_cast<int>(worker.rank()) && place.taken() &&
          place.incarnation == worker.incarnation()) {
        state.seats[id].admission = State::Admission::kAdmitted;
      }
    }
  }
  state.StartIfReady(now);
  state.Wake();
}

}  // namespace paceline
