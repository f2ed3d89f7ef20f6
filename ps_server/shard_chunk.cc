#include "ps_server/shard_chunk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {

ShardChunk::ShardChunk(std::unique_ptr<ChunkVariables> variables,
                       Aggregator aggregator, AggregatorOptions options)
    : variables_(std::move(variables)),
      options_(options),
      aggregator_(std::move(aggregator)) {}

ShardChunk::~ShardChunk() {
  MutexLock lock(mutex_);
  CHECK(open_pushes_.empty());
}

void ShardChunk::Push(const v1::PushRequest& request,
                      absl::Span<const DenseValues> gradients,
                      v1::PushResponse& response,
                      absl::Span<DenseBuffer> buffers, Done done) {
  absl::Status checked = options_.consistency == v1::CONSISTENCY_SYNC
                             ? variables_->CheckWhole(gradients)
                             : variables_->Check(gradients);
  if (request.pull()) checked.Update(variables_->CheckBuffers(buffers));
  if (!checked.ok()) {
    return done(
        Annotate(checked, absl::StrCat("worker-", request.worker().rank(),
                                       ", chunk ", request.chunk())));
  }
  uint64_t ticket = 0;
  {
    MutexLock lock(mutex_);
    ticket = next_ticket_++;
    open_pushes_[ticket] = {&request, gradients, &response, buffers,
                            std::move(done)};
  }
  Handle([&](Aggregator& aggregator) {
    return aggregator.HandlePush(
        ticket, request.worker(), request.progress(), request.clock(),
        request.has_learning_rate() ? std::optional(request.learning_rate())
                                    : std::nullopt);
  });
}

void ShardChunk::Handle(Event event, absl::Span<const double> squared_norms) {
  std::vector<Step> steps;
  if (options_.consistency == v1::CONSISTENCY_ASYNC) {
    steps = Decide(event);
    Update(steps, squared_norms);
  } else {
    MutexLock order(order_mutex_);
    steps = Decide(event);
    Update(steps, squared_norms);
    AnswerNorms(steps);
  }
  Answer(steps);
}

std::vector<ShardChunk::Step> ShardChunk::Decide(Event event) {
  MutexLock lock(mutex_);
  std::vector<Step> steps;
  for (PushDecision& decision : event(aggregator_)) {
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

void ShardChunk::Update(const std::vector<Step>& steps,
                        absl::Span<const double> squared_norms) {
  for (const Step& step : steps) {
    const ChunkVariables::Call call = {step.decision.step,
                                       step.decision.learning_rate};
    switch (step.decision.verdict) {
      case Verdict::kApply: {
        const uint64_t staleness = variables_->Apply(call, step.push.gradients);
        step.push.response->set_applied(true);
        step.push.response->set_staleness(staleness);
        EndUpdate(staleness);
        break;
      }
      case Verdict::kAdd:
        variables_->Add(step.push.gradients);
        step.push.response->set_applied(true);
        break;
      case Verdict::kApplySum:
        variables_->ApplySum(call,
                             {squared_norms.begin(), squared_norms.end()});
        EndUpdate(/*staleness=*/0);
        break;
      case Verdict::kAnswer:
      case Verdict::kRefuse:
        break;
    }
  }
}

void ShardChunk::EndUpdate(uint64_t staleness) {
  MutexLock lock(mutex_);
  staleness_.pushes += 1;
  staleness_.sum += staleness;
  staleness_.max = std::max(staleness_.max, staleness);
  --applying_count_;
  applied_.NotifyAll();
}

void ShardChunk::Answer(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const OpenPush& push = step.push;
    if (push.done == nullptr) continue;
    if (step.decision.verdict == Verdict::kRefuse) {
      push.done(step.decision.error);
      continue;
    }
    push.response->set_step(static_cast<uint64_t>(step.decision.step));
    // An answer before the sum is applied has norms instead of variables.
    if (push.request->pull() && push.response->squared_norms().empty()) {
      variables_->Read(push.variables);
    }
    push.done(absl::OkStatus());
  }
}

void ShardChunk::AnswerNorms(const std::vector<Step>& steps) {
  if (!options_.applies_apart) return;
  const bool is_new = std::any_of(
      steps.begin(), steps.end(),
      [](const Step& step) { return step.decision.verdict == Verdict::kAdd; });
  if (is_new) squared_norms_ = variables_->SquaredNorms();
  for (const Step& step : steps) {
    if (step.decision.verdict != Verdict::kAnswer) continue;
    step.push.response->mutable_squared_norms()->Assign(squared_norms_.begin(),
                                                        squared_norms_.end());
  }
}

absl::Status ShardChunk::Apply(const v1::ApplyRequest& request,
                               v1::ApplyResponse& response,
                               absl::Span<DenseBuffer> buffers) {
  RETURN_IF_ERROR(variables_->CheckNorms(request.squared_norms()));
  RETURN_IF_ERROR(variables_->CheckBuffers(buffers));
  absl::Status status;
  Handle(
      [&](Aggregator& aggregator) {
        auto decisions =
            aggregator.HandleApply(static_cast<int64_t>(request.step()));
        status = decisions.status();
        return decisions.ok() ? *std::move(decisions)
                              : std::vector<PushDecision>();
      },
      request.squared_norms());
  RETURN_IF_ERROR(status);
  response.set_step(static_cast<uint64_t>(StepsApplied()));
  variables_->Read(buffers);
  return absl::OkStatus();
}

int64_t ShardChunk::StepsApplied() const {
  MutexLock lock(mutex_);
  return aggregator_.step();
}

absl::Status ShardChunk::Pull(const v1::PullRequest& request,
                              v1::PullResponse& response,
                              absl::Span<DenseBuffer> buffers) {
  RETURN_IF_ERROR(variables_->CheckBuffers(buffers));
  if (request.has_joins()) {
    // Wait until all updates that the other workers' clocks count are applied.
    MutexLock order(order_mutex_);
    MutexLock lock(mutex_);
    ASSIGN_OR_RETURN(const uint64_t clock,
                     aggregator_.Join(request.joins(), request.sequence()));
    response.set_clock(clock);
  }
  response.set_step(static_cast<uint64_t>(StepsApplied()));
  variables_->Read(buffers);
  return absl::OkStatus();
}

absl::Status ShardChunk::Admit(const v1::WorkerId& worker) {
  MutexLock lock(mutex_);
  return aggregator_.Admit(worker);
}

std::vector<uint32_t> ShardChunk::HandleTime(absl::Time now) {
  std::vector<uint32_t> lapsed;
  Handle([&](Aggregator& aggregator) {
    Aggregator::Lapsed handled = aggregator.HandleTime(now);
    lapsed = std::move(handled.workers);
    return std::move(handled.decisions);
  });
  return lapsed;
}

void ShardChunk::Fence(const v1::WorkerId& worker,
                       v1::FenceResponse& response) {
  Handle([&](Aggregator& aggregator) {
    Aggregator::Fenced fenced = aggregator.Fence(worker);
    response = std::move(fenced.response);
    return std::move(fenced.decisions);
  });
}

absl::Status ShardChunk::AwaitApplied(absl::Time deadline) {
  while (applying_count_ > 0) {
    applied_.WaitFor(mutex_, deadline - MonotonicNow());
    if (applying_count_ > 0 && MonotonicNow() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(
          "waited for ", applying_count_, " pushes to be applied"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ShardChunk::Saved> ShardChunk::Save(
    absl::Time deadline, std::vector<SnapshotTensor>& tensors) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(AwaitApplied(deadline));
  variables_->CopyTo(tensors);
  return Saved{aggregator_.step(), aggregator_.Save()};
}

absl::Status ShardChunk::Load(absl::Time deadline,
                              CheckpointReader& checkpoint) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(AwaitApplied(deadline));
  return variables_->RestoreVariables(checkpoint);
}

absl::Status ShardChunk::SwapAverages(absl::Time deadline) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(AwaitApplied(deadline));
  variables_->SwapAverages();
  return absl::OkStatus();
}

Staleness ShardChunk::staleness() const {
  MutexLock lock(mutex_);
  return staleness_;
}

}  // namespace paceline
