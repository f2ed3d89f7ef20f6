// The leader of the simulated job: a session, and its calls to the shards.
#ifndef PACELINE_TESTS_SIMULATION_LEADER_PROCESS_H_
#define PACELINE_TESTS_SIMULATION_LEADER_PROCESS_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/session/machine/session.h"
#include "tests/simulation/ledger.h"
#include "tests/simulation/shard_process.h"
#include "tests/simulation/simulator.h"

namespace paceline {

class LeaderProcess : public Process,
                      public std::enable_shared_from_this<LeaderProcess> {
 public:
  LeaderProcess(Simulator& simulator, Ledger& ledger,
                std::unique_ptr<Session> session)
      : simulator_(simulator), ledger_(ledger), session_(std::move(session)) {}

  void Start(std::vector<std::shared_ptr<ShardProcess>> shards);

  absl::Status CheckInvariants() const override {
    return session_->CheckInvariants();
  }

  // Feeds an event into the session, and carries out the actions.
  template <typename Event>
  auto Handle(const Event& event) {
    auto answer = event(*session_, simulator_.now());
    CarryOutActions();
    return answer;
  }

  const Session& session() const { return *session_; }
  // How the job ended, if it did.
  const std::optional<Ended>& ended() const { return ended_; }
  absl::Time ended_at() const { return ended_at_; }
  int fence_count() const { return fence_count_; }
  int checkpoint_count() const { return checkpoint_count_; }

 private:
  void Tick();
  void CarryOutActions();
  void CarryOut(const InitializeShards& action);
  void CarryOut(const AdmitWorkers& action);
  void CarryOut(const FenceWorker& action);
  void CarryOut(const TakeCheckpoint& action);
  void CarryOut(const Ended& action);
  template <typename Other>
  void CarryOut(const Other&) {}

  // Calls all shards; `done` gets the answers by shard.
  template <typename Response>
  void CallShards(const std::function<Response(ShardProcess&)>& handle,
                  const std::function<void(std::vector<Response>)>& done);

  Simulator& simulator_;
  Ledger& ledger_;
  const std::unique_ptr<Session> session_;
  std::vector<std::shared_ptr<ShardProcess>> shards_;
  std::optional<Ended> ended_;
  absl::Time ended_at_;
  int fence_count_ = 0;
  int checkpoint_count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_LEADER_PROCESS_H_
