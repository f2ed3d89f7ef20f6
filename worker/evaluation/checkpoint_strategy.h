// A strategy that reads the variables from a checkpoint, for evaluation only.
#ifndef PACELINE_WORKER_EVALUATION_CHECKPOINT_STRATEGY_H_
#define PACELINE_WORKER_EVALUATION_CHECKPOINT_STRATEGY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/model/graph.h"
#include "common/sharding/bucket_layout.h"
#include "worker/strategy/strategy.h"

namespace paceline {

// Cannot train: refuses gradients.
class CheckpointStrategy : public Strategy {
 public:
  // Reads the checkpoint `folder`, and checks that it fits the graph. All
  // references must outlive the strategy.
  static absl::StatusOr<std::unique_ptr<Strategy>> Open(
      const std::string& folder, const Graph& graph, const BucketLayout& layout,
      ModelState& state, Stream& stream);

  absl::Status PullVariables() override;
  absl::Status BeginLease(std::optional<double> learning_rate) override;
  absl::Status GradientsReady(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  CheckpointStrategy(std::unique_ptr<CheckpointReader> reader,
                     const Graph& graph, const BucketLayout& layout,
                     ModelState& state, Stream& stream);
  template <typename T>
  absl::Status ReadVariables();

  const std::unique_ptr<CheckpointReader> reader_;
  const Graph& graph_;
  const BucketLayout& layout_;
  ModelState& state_;
  Stream& stream_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_CHECKPOINT_STRATEGY_H_
