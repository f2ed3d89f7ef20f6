// The state that a session needs to resume from a checkpoint, as JSON in the
// manifest.
#ifndef PACELINE_COMMON_SESSION_MACHINE_SAVED_SESSION_H_
#define PACELINE_COMMON_SESSION_MACHINE_SAVED_SESSION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/callback/callback.h"
#include "common/session/machine/lease_table.h"
#include "common/session/machine/session.h"
#include "nlohmann/json.hpp"

namespace paceline {

// The state of a job between two leases.
struct SavedSession {
  // The epoch with which the job began.
  int first_epoch = 0;
  // The epoch to continue; equals the number of epochs when all are done.
  int epoch = 0;
  // Steps of the whole job.
  int64_t steps = 0;
  uint64_t next_lease_id = 1;
  // Examples in an epoch.
  int64_t epoch_examples = 0;
  // See OrderReplicas.
  int order_replicas = 0;
  // Examples in a round (epoch_order.h), which another number of replicas
  // cannot finish if order_replicas is above 0, and which cannot be shuffled
  // otherwise within it. 0: not known.
  int64_t round_examples = 0;
  // How the training examples are shuffled, such as "by seed 7"; "": not known.
  std::string shuffle;
  // The learning rate that was set; nullopt: the optimizer's schedule counts.
  std::optional<double> learning_rate;
  // This epoch's remaining positions, what is counted, and the time it took.
  std::vector<ExampleRange> remaining;
  PassTotals counted;
  double seconds = 0;
  std::vector<EpochRecord> history;
  // Whether callbacks were told that the epoch has begun.
  bool begun = false;
  // Whether a callback has ended training, and its class; "": not known.
  bool stopped = false;
  std::string stopped_by;
  // Whether training is over and the model has the variables that were kept.
  bool has_kept = false;
  // Whether training is over and the variables are those that the job ends
  // with: none are to be loaded any more.
  bool is_final = false;
  // What callbacks ask to be made of the checkpoint. A run that resumes from it
  // makes it again, since the earlier one may not have done.
  std::vector<CheckpointOutput> saves;
  // See CallbackList::Save.
  nlohmann::json callbacks = nlohmann::json::array();
};

// Whether a job of `epochs`, whose epoch number `saved.epoch` would begin as
// `now`, can go on from `saved` so that its epochs and rounds have all their
// examples. InvalidArgument names both values if it has another order, which
// may follow only where a round has ended, or is shuffled otherwise, of which
// the same is true, or if `saved` is in the middle of an epoch of another
// length.
absl::Status CheckGoesOn(const SavedSession& saved, const SavedSession& now,
                         int epochs);

// Doubles are restored bit by bit, except infinities and NaN, which JSON does
// not have: they become NaN.
nlohmann::json ToJson(const SavedSession& saved);
// `json` is the manifest's `session`. DataLoss if ToJson cannot have written
// it, with the key ("session.steps"), its value and what is expected.
absl::StatusOr<SavedSession> SavedSessionFromJson(const nlohmann::json& json);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_SAVED_SESSION_H_
