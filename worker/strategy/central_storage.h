// The variables lie once in host memory, with their slots; the replicas of one
// process have copies to compute with.
//
// In a step each replica adds up a part of all gradients, applies the update to
// that part of the central variables, and, when all have done so, copies the
// whole: so the sum and the update are shared out, and happen once. An
// optimizer that updates whole variables needs all of a variable's gradients in
// one place: then each replica adds up all, and updates the variables that are
// its own.
#ifndef PACELINE_WORKER_STRATEGY_CENTRAL_STORAGE_H_
#define PACELINE_WORKER_STRATEGY_CENTRAL_STORAGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/sharding/shard_plan.h"
#include "worker/collective/collectives.h"
#include "worker/strategy/gradient_clipper.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/strategy_parts.h"

namespace paceline {

class CentralStorageStrategy : public Strategy {
 public:
  // `clipping` is of the sums, before the update. `central` belongs to all
  // replicas, and lies in the state of that of rank 0. `state` is this
  // replica's. The references outlive the strategy.
  CentralStorageStrategy(std::function<void(const std::string&)> on_waiting,
                         const Clipping& clipping, Transport& transport,
                         const ShardPlan& plan, LocalVariables& central,
                         ModelState& state, Stream& stream);

  absl::Status PullVariables() override;
  absl::Status GradientsReady(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  // Copies the first buckets from central storage, so many.
  absl::Status Pull(size_t bucket_count);
  // Adds up what this replica needs of a bucket's gradients.
  absl::Status Reduce(int bucket);
  template <typename T>
  absl::Status ReduceTyped(absl::Span<T> gradients);
  // Clips what was added up.
  absl::Status Clip();
  // Exchanges the norms of the parts and clips this replica's.
  absl::Status ClipParts();
  // Applies the update to what this replica updates.
  void Update();
  // The part of a bucket that this replica adds up and updates, unless the
  // optimizer updates whole variables.
  Segment OwnPart(int bucket) const;

  const std::function<void(const std::string&)> on_waiting_;
  const ShardPlan& plan_;
  LocalVariables& central_;
  ModelState& state_;
  Stream& stream_;
  Collectives collectives_;
  GradientClipper clipper_;
  // The variables that this replica updates, where the optimizer updates whole
  // ones.
  const std::vector<Part> own_variables_;
  const std::string waiting_;
};

// Blocks until all replicas have called it: before, that of rank 0 alone
// touches the central variables.
absl::StatusOr<std::unique_ptr<Strategy>> MakeCentralStorage(
    const StrategyParts& parts);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_CENTRAL_STORAGE_H_
