// The leader of a job with two workers and a parameter server, whose messages
// are fuzzed.
#ifndef PACELINE_TESTS_FUZZ_FUZZ_SESSION_H_
#define PACELINE_TESTS_FUZZ_FUZZ_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "common/session/machine/logged_metric.h"
#include "common/session/machine/session.h"
#include "paceline/v1/coordinator.pb.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

// Options for a job of three epochs with a checkpoint after each.
SessionOptions FuzzSessionOptions(v1::Consistency consistency);

// The loss and the metrics of that job.
std::vector<LoggedMetric> FuzzMetrics();

// A fuzzed report of a worker.
v1::LeaseReport FuzzReport(FuzzInput& input);

// Does nothing if the session cannot be created.
class FuzzSession {
 public:
  // All members register, and the job starts after `step` steps. It has a
  // validation set if a callback swaps averages.
  FuzzSession(SessionOptions options, int64_t step);

  // Each worker takes a lease and finishes it.
  void Work();
  // Feeds in a fuzzed message from a member or a stranger, or lets time pass.
  void Hear(FuzzInput& input);

 private:
  void HearMember(FuzzInput& input);
  void Answer(FuzzInput& input);
  v1::Member Somebody(FuzzInput& input) const;
  void Report(const v1::Member& worker, const v1::Lease& lease);
  // Carries out the session's orders. What shards report about a worker is
  // fuzzed.
  void Act(FuzzInput& input);

  std::unique_ptr<Session> session_;
  absl::Time now_;
  int64_t step_;
  // By worker.
  std::map<uint32_t, uint64_t> requests_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_FUZZ_FUZZ_SESSION_H_
