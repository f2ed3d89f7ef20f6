// Which pushes a shard applies, as a state machine without I/O.
//
// The shard tells what happens (a push came, a worker is fenced) and carries
// out the decisions that come back. A push without a decision is held: a later
// event releases it. Asynchronous training holds none; bounded staleness and
// synchronous training do.
//
//              sequence > last, not fenced
//   push ──┬────────────────────────────────> kApply      step + 1
//          ├─ sequence <= last ─────────────> kDuplicate
//          └─ worker fenced ────────────────> kRefuse
//
// A worker's incarnation numbers its pushes from 1. The last one applied is
// remembered, also in checkpoints, so that a repeat is recognised whatever
// happened in between.
#ifndef PACELINE_PS_SERVER_AGGREGATOR_H_
#define PACELINE_PS_SERVER_AGGREGATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

enum class Verdict {
  // The optimizer is to apply the push.
  kApply,
  // It was applied before; it is answered, and not applied again.
  kDuplicate,
  // It is answered with an error.
  kRefuse,
};

struct Decision {
  // Which push, as HandlePush was told.
  uint64_t ticket = 0;
  Verdict verdict = Verdict::kRefuse;
  // Logical steps before the push, if it is applied; else those applied so far.
  int64_t iterations = 0;
  // With kRefuse: the error.
  absl::Status error;
};

// Not thread-safe; a value.
class Aggregator {
 public:
  // After `step` logical steps, and nothing known of any worker.
  explicit Aggregator(int64_t step = 0) : step_(step) {}

  // A push came. `ticket` is unique. InvalidArgument as kRefuse if worker or
  // sequence number are missing; FailedPrecondition if the worker is fenced.
  std::vector<Decision> HandlePush(uint64_t ticket, const v1::WorkerId& worker,
                                   const v1::Progress& progress);

  struct Fenced {
    // Of the last push applied, if there was one.
    v1::FenceResponse response;
    std::vector<Decision> decisions;
  };
  // No push of this incarnation is applied from now on. Idempotent.
  Fenced Fence(const v1::WorkerId& worker);

  // Logical steps applied.
  int64_t step() const { return step_; }

  // The state but for `step`, as common/checkpoint/FORMAT.md has it.
  std::map<std::string, std::string> Save() const;
  // DataLoss names the entry that cannot be read. Other entries are ignored.
  static absl::StatusOr<Aggregator> Restore(
      int64_t step, const std::map<std::string, std::string>& saved);

 private:
  struct Worker {
    // Of the last push applied; sequence 0 if there was none.
    v1::Progress last;
    bool is_fenced = false;
  };
  // Rank and incarnation.
  using Key = std::pair<uint32_t, uint64_t>;

  int64_t step_;
  std::map<Key, Worker> workers_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_AGGREGATOR_H_
