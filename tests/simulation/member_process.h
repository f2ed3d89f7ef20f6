// A member of the simulated job: registers, sends heartbeats, and leaves.
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
  // `leader` must outlive the members.
  MemberProcess(Simulator& simulator, LeaderProcess& leader, TaskId task);

  void Start() { Register(); }

  // Whether a signal has asked it to leave; its heartbeats say so.
  bool is_asked_to_leave = false;

 protected:
  // Called when the leader has given the member its place.
  virtual void Registered() {}
  // AddProgress adds progress to a heartbeat; ProgressArrived is called when
  // the heartbeat was answered.
  virtual void AddProgress(v1::HeartbeatRequest& /*request*/) {}
  virtual void ProgressArrived(const v1::HeartbeatRequest& /*request*/) {}

  void Beat();
  // Sends Leave, which may get lost, and ends.
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
