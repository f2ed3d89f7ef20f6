#include "tests/simulation/leader_process.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr absl::Duration kLongestWrite = absl::Seconds(3);

}  // namespace

void LeaderProcess::Start(std::vector<std::shared_ptr<ShardProcess>> shards) {
  shards_ = std::move(shards);
  Tick();
}

void LeaderProcess::Tick() {
  session_->Tick(simulator_.now());
  CarryOutActions();
  simulator_.After(kTick, shared_from_this(), [this] { Tick(); });
}

void LeaderProcess::CarryOutActions() {
  for (const Action& action : session_->TakeActions()) {
    std::visit([this](const auto& each) { CarryOut(each); }, action);
  }
}

template <typename Response>
void LeaderProcess::CallShards(
    const std::function<Response(ShardProcess&)>& handle,
    const std::function<void(std::vector<Response>)>& done) {
  struct Answers {
    std::vector<Response> by_shard;
    size_t missing = 0;
  };
  auto answers = std::make_shared<Answers>();
  answers->by_shard.resize(shards_.size());
  answers->missing = shards_.size();
  for (size_t i = 0; i < shards_.size(); ++i) {
    ShardProcess* shard = shards_[i].get();
    simulator_.Call<Response>(
        shared_from_this(), shards_[i], [=] { return handle(*shard); },
        [=, this](Response response) {
          answers->by_shard[i] = std::move(response);
          if (--answers->missing > 0) return;
          done(std::move(answers->by_shard));
          CarryOutActions();
        });
  }
}

void LeaderProcess::CarryOut(const InitializeShards&) {
  CallShards<bool>([](ShardProcess& shard) { return shard.Initialize(); },
                   [this](const std::vector<bool>&) {
                     session_->ShardsInitialized(absl::OkStatus(), 0,
                                                 simulator_.now());
                   });
}

void LeaderProcess::CarryOut(const AdmitWorkers& action) {
  const std::vector<v1::WorkerId> workers = action.workers;
  CallShards<absl::Status>(
      [workers](ShardProcess& shard) { return shard.Admit(workers); },
      [this, workers](const std::vector<absl::Status>& answers) {
        absl::Status status;
        for (const absl::Status& answer : answers) status.Update(answer);
        session_->Admitted(workers, status, simulator_.now());
      });
}

void LeaderProcess::CarryOut(const FenceWorker& action) {
  ++fence_count_;
  const v1::WorkerId worker = action.worker;
  CallShards<v1::FenceResponse>(
      [worker](ShardProcess& shard) { return shard.Fence(worker); },
      [this, worker](const std::vector<v1::FenceResponse>& answers) {
        session_->Fenced(worker, answers, simulator_.now());
      });
}

void LeaderProcess::CarryOut(const TakeCheckpoint& action) {
  ++checkpoint_count_;
  if (ledger_.push_count() != action.step) {
    ledger_.Violation(absl::StrCat("a checkpoint of ", action.step,
                                   " steps, but the shards applied ",
                                   ledger_.push_count(), " pushes"));
  }
  CallShards<int64_t>(
      [](ShardProcess& shard) { return shard.step(); },
      [this, expected = action.shard_steps](const std::vector<int64_t>& steps) {
        for (size_t shard = 0; shard < steps.size(); ++shard) {
          const auto [least, most] = expected[shard];
          if (steps[shard] < least || steps[shard] > most) {
            ledger_.Violation(absl::StrCat("shard ", shard, " counts ",
                                           steps[shard], " steps; expected ",
                                           least, " to ", most));
          }
        }
        session_->SnapshotTaken(absl::OkStatus(), simulator_.now());
        simulator_.After(
            simulator_.Between({}, kLongestWrite), shared_from_this(), [this] {
              session_->CheckpointWritten(absl::OkStatus(), simulator_.now());
              CarryOutActions();
            });
      });
}

void LeaderProcess::CarryOut(const Ended& action) {
  if (ended_) ledger_.Violation("the job ended twice");
  ended_ = action;
  ended_at_ = simulator_.now();
}

}  // namespace paceline
