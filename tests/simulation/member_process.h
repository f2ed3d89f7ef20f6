// A member of the simulated job: it registers, shows life, and leaves.
#ifndef PACELINE_TESTS_SIMULATION_MEMBER_PROCESS_H_
#define PACELINE_TESTS_SIMULATION_MEMBER_PROCESS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/cluster/task.h"
#include "paceline/v1/coordinator.pb.h"
#include "tests/simulation/simulator.h"

namespace paceline {

class LeaderProcess;

class MemberProcess : public Process,
                      public std::enable_shared_from_this<MemberProcess> {
 public:
  // `leader` outlives the members.
  MemberProcess(Simulator& simulator, LeaderProcess& leader, TaskId task);

  void Start() { Register(); }

 protected:
  // The leader gave it its place.
  virtual void Registered() {}
  // Adds its progress to a heartbeat, and learns that it arrived.
  virtual void AddProgress(v1::HeartbeatRequest& /*request*/) {}
  virtual void ProgressArrived(const v1::HeartbeatRequest& /*request*/) {}

  void Beat();
  // Says goodbye, which may get lost, and ends.
  void Exit(const absl::Status& reason);

  Simulator& simulator_;
  LeaderProcess& leader_;
  v1::Member self_;

 private:
  void Register();
  void BeatRegularly();

  absl::Time last_answer_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_MEMBER_PROCESS_H_
