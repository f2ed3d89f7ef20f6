// central_storage: the variables and slots exist once in host memory; the
// replicas of one process compute with copies.
//
// In a step each replica sums its part of all gradients and applies the update
// to that part of the central variables. When all have done so, each copies all
// variables. So replicas share the work of summing and updating. If the
// optimizer updates whole variables, it needs all gradients of a variable at
// once: then each replica sums all gradients, and updates the variables
// assigned to it.
#ifndef PACELINE_WORKER_STRATEGY_CENTRAL_STORAGE_H_
#define PACELINE_WORKER_STRATEGY_CENTRAL_STORAGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/sharding/bucket_layout.h"
#include "common/sharding/shard_plan.h"
#include "worker/collective/collectives.h"
#include "worker/strategy/gradient_clipper.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/strategy_parts.h"

namespace paceline {

// Elements of a bucket.
struct BucketRange {
  int bucket = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

class CentralStorageStrategy : public Strategy {
 public:
  // `clipping` applies to the sums, before the update. All replicas share
  // `central`, which refers to the state of rank 0. `state` is this replica's.
  // All references must outlive the strategy.
  CentralStorageStrategy(std::function<void(const std::string&)> on_waiting,
                         const Clipping& clipping, Transport& transport,
                         const ShardPlan& plan, LocalVariables& central,
                         ModelState& state, Stream& stream,
                         TraceLane* lane = nullptr);

  absl::Status PullVariables() override;
  absl::Status BeginLease(std::optional<double> learning_rate) override;
  absl::Status GradientsReady(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  // Copies the first `bucket_count` buckets from central storage.
  absl::Status Pull(size_t bucket_count);
  // Applies the summed gradients to this replica's part.
  absl::Status Update();
  // Sums the gradients of a bucket that this replica needs.
  absl::Status Reduce(int bucket);
  template <typename T>
  absl::Status ReduceTyped(absl::Span<T> gradients);
  // Exchanges the norms of the replicas' parts, and clips this replica's part.
  absl::Status Clip();

  const std::function<void(const std::string&)> on_waiting_;
  const BucketLayout& layout_;
  LocalVariables& central_;
  ModelState& state_;
  Stream& stream_;
  Collectives collectives_;
  GradientClipper clipper_;
  // What this replica updates.
  const std::vector<BucketRange> own_;
  const std::string waiting_;
  // Null: nothing is recorded.
  TraceLane* const lane_;
  // Of the current lease.
  std::optional<double> learning_rate_;
};

// Blocks until all replicas have called it. Before that, only rank 0 may use
// the central variables.
absl::StatusOr<std::unique_ptr<Strategy>> MakeCentralStorage(
    const StrategyParts& parts);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_CENTRAL_STORAGE_H_
