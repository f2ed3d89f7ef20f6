#include "ps_server/shard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "google/protobuf/util/message_differencer.h"

namespace paceline {
namespace {

// What a shard starts with.
struct InitialState {
  std::unique_ptr<ShardVariables> variables;
  AggregatorOptions options;
  Aggregator aggregator;
};

// Logical steps a shard goes on from. With another number of shards than wrote
// the checkpoint, no file is the shard's own: it follows the one furthest on.
int64_t RestoredStep(const Manifest& manifest, int shard, int shard_count) {
  if (static_cast<int>(manifest.shards.size()) == shard_count) {
    return manifest.shards[shard].step;
  }
  int64_t step = 0;
  for (const ShardFile& file : manifest.shards) {
    step = std::max(step, file.step);
  }
  return step;
}

absl::Status Restore(const std::string& path, int shard, int shard_count,
                     InitialState& state) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> checkpoint,
                   CheckpointReader::Open(path));
  const Manifest& manifest = checkpoint->manifest();
  const int64_t step = RestoredStep(manifest, shard, shard_count);
  RETURN_IF_ERROR(state.variables->Restore(*checkpoint, step));
  SafetensorsMetadata workers;
  if (static_cast<int>(manifest.shards.size()) == shard_count) {
    ASSIGN_OR_RETURN(workers, checkpoint->ShardMetadata(shard));
  }
  ASSIGN_OR_RETURN(state.aggregator,
                   Aggregator::Restore(step, workers, state.options));
  return absl::OkStatus();
}

absl::StatusOr<InitialState> MakeInitialState(
    const v1::InitializeRequest& request, DataType type) {
  const int shard = static_cast<int>(request.shard());
  const int shard_count = static_cast<int>(request.shard_count());
  InitialState state;
  ASSIGN_OR_RETURN(state.variables, ShardVariables::Create(request.job(), shard,
                                                           shard_count, type));
  const v1::Consistency consistency = request.job().consistency();
  if (consistency != v1::CONSISTENCY_UNSPECIFIED) {
    state.options.consistency = consistency;
  }
  state.options.workers = std::max(1u, request.workers());
  state.options.max_staleness = request.job().max_staleness();
  state.options.applies_apart =
      consistency == v1::CONSISTENCY_SYNC && state.variables->needs_norms();
  state.aggregator = Aggregator(0, state.options);
  if (request.restore_path().empty()) {
    state.variables->InitializeFromSeed();
  } else {
    RETURN_IF_ERROR(Restore(request.restore_path(), shard, shard_count, state));
  }
  return state;
}

}  // namespace

Shard::Shard(uint64_t incarnation, DataType type)
    : incarnation_(incarnation), type_(type) {}

Shard::~Shard() {
  MutexLock lock(mutex_);
  CHECK(open_pushes_.empty());
  LogStaleness();
}

absl::StatusOr<ShardVariables*> Shard::Ready() const {
  MutexLock lock(mutex_);
  if (variables_ == nullptr) {
    return absl::FailedPreconditionError(
        "the parameter server is not initialised");
  }
  return variables_.get();
}

absl::StatusOr<ShardVariables*> Shard::ReadyFor(uint64_t ps_incarnation) const {
  if (ps_incarnation != incarnation_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the call is meant for incarnation ", absl::Hex(ps_incarnation),
        " of the parameter server; this is ", absl::Hex(incarnation_)));
  }
  return Ready();
}

absl::Status Shard::Initialize(const v1::InitializeRequest& request,
                               v1::InitializeResponse& response) {
  MutexLock initialize_lock(initialize_mutex_);
  if (Ready().ok()) {
    if (!google::protobuf::util::MessageDifferencer::Equals(
            request, initialize_request_)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the parameter server is initialised as shard ",
                       initialize_request_.shard(), " of ",
                       initialize_request_.shard_count(), " of job ",
                       initialize_request_.job().name(), " already"));
    }
    response = initialize_response_;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(InitialState state, MakeInitialState(request, type_));
  response.set_step(static_cast<uint64_t>(state.aggregator.step()));
  response.set_size_bytes(static_cast<uint64_t>(state.variables->size_bytes()));
  initialize_request_ = request;
  initialize_response_ = response;
  LOG(INFO) << "shard " << request.shard() << " of " << request.shard_count()
            << ": " << response.size_bytes()
            << " bytes of variables and slots at step " << response.step()
            << (request.restore_path().empty() ? "" : " from ")
            << request.restore_path();
  MutexLock lock(mutex_);
  file_name_ = ShardFileName(static_cast<int>(request.shard()),
                             static_cast<int>(request.shard_count()));
  options_ = state.options;
  aggregator_ = std::move(state.aggregator);
  variables_ = std::move(state.variables);
  return absl::OkStatus();
}

void Shard::Push(const v1::PushRequest& request,
                 absl::Span<const DenseValues> gradients,
                 v1::PushResponse& response, absl::Span<DensePlace> places,
                 Done done) {
  const absl::StatusOr<ShardVariables*> ready =
      ReadyFor(request.ps_incarnation());
  if (!ready.ok()) return done(ready.status());
  ShardVariables& variables = **ready;
  absl::Status checked = consistency() == v1::CONSISTENCY_SYNC
                             ? variables.CheckWhole(gradients)
                             : variables.Check(gradients);
  if (request.pull()) checked.Update(variables.CheckPlaces(places));
  if (!checked.ok()) {
    return done(
        Annotate(checked, absl::StrCat("worker-", request.worker().rank())));
  }
  uint64_t ticket = 0;
  {
    MutexLock lock(mutex_);
    ticket = next_ticket_++;
    open_pushes_[ticket] = {&request, gradients, &response, places,
                            std::move(done)};
  }
  Handle(
      [&](Aggregator& aggregator) {
        return aggregator.HandlePush(ticket, request.worker(),
                                     request.progress(), request.pace());
      },
      variables);
}

v1::Consistency Shard::consistency() const {
  MutexLock lock(mutex_);
  return options_.consistency;
}

void Shard::Handle(Event event, ShardVariables& variables,
                   absl::Span<const double> squared_norms) {
  std::vector<Step> steps;
  if (consistency() == v1::CONSISTENCY_ASYNC) {
    steps = Decide(event);
    Update(steps, squared_norms, variables);
  } else {
    MutexLock order(order_mutex_);
    steps = Decide(event);
    Update(steps, squared_norms, variables);
    AnswerNorms(steps, variables);
  }
  Answer(steps, variables);
}

std::vector<Shard::Step> Shard::Decide(Event event) {
  MutexLock lock(mutex_);
  std::vector<Step> steps;
  for (Decision& decision : event(aggregator_)) {
    Step& step = steps.emplace_back();
    step.decision = std::move(decision);
    const Verdict verdict = step.decision.verdict;
    if (verdict == Verdict::kApply || verdict == Verdict::kApplySum) {
      ++applying_count_;
    }
    if (verdict == Verdict::kApplySum) continue;
    const auto open = open_pushes_.find(step.decision.ticket);
    CHECK(open != open_pushes_.end()) << step.decision.ticket;
    OpenPush& push = open->second;
    if (verdict == Verdict::kApply || verdict == Verdict::kAdd) {
      step.push = {push.request, push.gradients, push.response, push.variables,
                   nullptr};
      continue;
    }
    step.push = std::move(push);
    open_pushes_.erase(open);
  }
  return steps;
}

void Shard::Update(const std::vector<Step>& steps,
                   absl::Span<const double> squared_norms,
                   ShardVariables& variables) {
  for (const Step& step : steps) {
    switch (step.decision.verdict) {
      case Verdict::kApply: {
        const uint64_t staleness =
            variables.Apply(step.decision.step, step.push.gradients);
        step.push.response->set_applied(true);
        step.push.response->set_staleness(staleness);
        EndUpdate(staleness);
        break;
      }
      case Verdict::kAdd:
        variables.Add(step.push.gradients);
        step.push.response->set_applied(true);
        break;
      case Verdict::kApplySum:
        variables.ApplySum(step.decision.step,
                           {squared_norms.begin(), squared_norms.end()});
        EndUpdate(/*staleness=*/0);
        break;
      case Verdict::kAnswer:
      case Verdict::kRefuse:
        break;
    }
  }
}

void Shard::EndUpdate(uint64_t staleness) {
  MutexLock lock(mutex_);
  staleness_.pushes += 1;
  staleness_.sum += staleness;
  staleness_.max = std::max(staleness_.max, staleness);
  --applying_count_;
  applied_.NotifyAll();
}

void Shard::Answer(const std::vector<Step>& steps, ShardVariables& variables) {
  for (const Step& step : steps) {
    const OpenPush& push = step.push;
    if (push.done == nullptr) continue;
    if (step.decision.verdict == Verdict::kRefuse) {
      push.done(step.decision.error);
      continue;
    }
    push.response->set_step(static_cast<uint64_t>(step.decision.step));
    // The answer to one whose gradients are not applied yet has norms.
    if (push.request->pull() && push.response->squared_norms().empty()) {
      variables.Read(push.variables);
    }
    push.done(absl::OkStatus());
  }
}

void Shard::AnswerNorms(const std::vector<Step>& steps,
                        const ShardVariables& variables) {
  {
    MutexLock lock(mutex_);
    if (!options_.applies_apart) return;
  }
  const bool is_new = std::any_of(
      steps.begin(), steps.end(),
      [](const Step& step) { return step.decision.verdict == Verdict::kAdd; });
  if (is_new) squared_norms_ = variables.SquaredNorms();
  for (const Step& step : steps) {
    if (step.decision.verdict != Verdict::kAnswer) continue;
    step.push.response->mutable_squared_norms()->Assign(squared_norms_.begin(),
                                                        squared_norms_.end());
  }
}

absl::Status Shard::Apply(const v1::ApplyRequest& request,
                          v1::ApplyResponse& response,
                          absl::Span<DensePlace> places) {
  ASSIGN_OR_RETURN(ShardVariables * variables,
                   ReadyFor(request.ps_incarnation()));
  RETURN_IF_ERROR(variables->CheckNorms(request.squared_norms()));
  RETURN_IF_ERROR(variables->CheckPlaces(places));
  absl::Status status;
  Handle(
      [&](Aggregator& aggregator) {
        auto decisions =
            aggregator.HandleApply(static_cast<int64_t>(request.step()));
        status = decisions.status();
        return decisions.ok() ? *std::move(decisions) : std::vector<Decision>();
      },
      *variables, request.squared_norms());
  RETURN_IF_ERROR(status);
  response.set_step(static_cast<uint64_t>(StepsApplied()));
  variables->Read(places);
  return absl::OkStatus();
}

int64_t Shard::StepsApplied() const {
  MutexLock lock(mutex_);
  return aggregator_.step();
}

absl::Span<const size_t> Shard::block_sizes() const {
  const absl::StatusOr<ShardVariables*> ready = Ready();
  return ready.ok() ? (*ready)->block_sizes() : absl::Span<const size_t>();
}

absl::Status Shard::Pull(const v1::PullRequest& request,
                         v1::PullResponse& response,
                         absl::Span<DensePlace> places) {
  ASSIGN_OR_RETURN(const ShardVariables* variables,
                   ReadyFor(request.ps_incarnation()));
  RETURN_IF_ERROR(variables->CheckPlaces(places));
  if (request.has_joins()) {
    // What the others' clocks stand for is applied.
    MutexLock order(order_mutex_);
    MutexLock lock(mutex_);
    ASSIGN_OR_RETURN(const uint64_t clock,
                     aggregator_.Join(request.joins(), request.sequence()));
    response.set_clock(clock);
  }
  response.set_step(static_cast<uint64_t>(StepsApplied()));
  variables->Read(places);
  return absl::OkStatus();
}

absl::Status Shard::Fence(const v1::FenceRequest& request,
                          v1::FenceResponse& response) {
  ASSIGN_OR_RETURN(ShardVariables * variables, Ready());
  Handle(
      [&](Aggregator& aggregator) {
        Aggregator::Fenced fenced = aggregator.Fence(request.worker());
        response = std::move(fenced.response);
        return std::move(fenced.decisions);
      },
      *variables);
  LOG(INFO) << "fenced worker-" << request.worker().rank()
            << ", whose last push applied was "
            << response.progress().sequence();
  return absl::OkStatus();
}

absl::Status Shard::Snapshot(const v1::SnapshotRequest& request,
                             v1::SnapshotResponse& response) {
  ASSIGN_OR_RETURN(ShardVariables * variables, Ready());
  const absl::Time deadline = MonotonicNow() + limits::kPsTimeout;
  MutexLock lock(mutex_);
  while (applying_count_ > 0) {
    applied_.WaitFor(mutex_, deadline - MonotonicNow());
    if (applying_count_ > 0 && MonotonicNow() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("waited for ", applying_count_,
                       " pushes to be applied before the "
                       "snapshot for ",
                       request.path()));
    }
  }
  if (request.path() != snapshot_path_) {
    ShardSnapshot snapshot;
    snapshot.file = file_name_;
    snapshot.step = aggregator_.step();
    snapshot.metadata = aggregator_.Save();
    snapshot.metadata["format"] = "paceline";
    snapshot.metadata["step"] = absl::StrCat(aggregator_.step());
    snapshot.tensors = variables->Copy();
    checkpointer_.Start(request.path(), std::move(snapshot));
    snapshot_path_ = request.path();
    snapshot_step_ = aggregator_.step();
    LogStaleness();
  }
  response.set_step(static_cast<uint64_t>(snapshot_step_));
  return absl::OkStatus();
}

void Shard::WriteCheckpoint(const v1::WriteCheckpointRequest& request,
                            Checkpointer::Done done) {
  const absl::Status ready = Ready().status();
  if (!ready.ok()) return done(ready);
  checkpointer_.WhenWritten(request.path(), std::move(done));
}

void Shard::LogStaleness() {
  if (staleness_.pushes == 0) return;
  LOG(INFO) << staleness_.pushes << " pushes applied; staleness "
            << static_cast<double>(staleness_.sum) /
                   static_cast<double>(staleness_.pushes)
            << " on average, " << staleness_.max << " at most";
}

}  // namespace paceline
