// What a session needs to go on from a checkpoint, as JSON for its manifest.
#ifndef PACELINE_COMMON_SESSION_SAVED_SESSION_H_
#define PACELINE_COMMON_SESSION_SAVED_SESSION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/session/lease_table.h"
#include "common/session/session.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

// Where a job stands between two leases.
struct SavedSession {
  // The epoch to go on with; the number of epochs when all are done.
  int epoch = 0;
  // Of the whole job.
  int64_t steps = 0;
  uint64_t next_lease_id = 1;
  // Examples of an epoch.
  int64_t epoch_examples = 0;
  // Of this epoch: what is left, what is counted, and the time it took.
  std::vector<ExampleRange> remaining;
  PassTotals counted;
  double seconds = 0;
  std::vector<EpochRecord> history;
};

// Doubles come back bit by bit, but for infinities, which JSON has not: they
// and NaN come back as NaN.
nlohmann::json ToJson(const SavedSession& saved);
// DataLoss, naming the key ("session.steps"), its value and what is expected,
// if it is not what ToJson can have written. `json` is the manifest's
// `session`.
absl::StatusOr<SavedSession> SavedSessionFromJson(const nlohmann::json& json);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_SAVED_SESSION_H_
