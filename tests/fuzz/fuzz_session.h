// The leader of two workers and a parameter server, which are honest or not.
#ifndef PACELINE_TESTS_FUZZ_FUZZ_SESSION_H_
#define PACELINE_TESTS_FUZZ_FUZZ_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "common/session/logged_metric.h"
#include "common/session/session.h"
#include "paceline/v1/coordinator.pb.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

// Of a job of three epochs with a checkpoint after each.
SessionOptions FuzzSessionOptions(v1::Consistency consistency);

// The loss and the metrics of that job.
std::vector<LoggedMetric> FuzzMetrics();

// How far a worker says it is with a lease.
v1::LeaseReport FuzzReport(FuzzInput& input);

// Does nothing if the session cannot be created.
class FuzzSession {
 public:
  // The members register, and the job starts after `step` steps.
  FuzzSession(SessionOptions options, int64_t step);

  // The workers ask for a lease each, and finish it.
  void Work();
  // Some member, or somebody who is none, says something; or time passes.
  void Hear(FuzzInput& input);

 private:
  void HearMember(FuzzInput& input);
  void Answer(FuzzInput& input);
  v1::Member Somebody(FuzzInput& input) const;
  void Report(const v1::Member& worker, const v1::Lease& lease);
  // Carries out what the session wants; shards tell of a worker what `input`
  // says.
  void Act(FuzzInput& input);

  std::unique_ptr<Session> session_;
  absl::Time now_;
  int64_t step_;
  // By worker.
  std::map<uint32_t, uint64_t> requests_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_FUZZ_FUZZ_SESSION_H_
