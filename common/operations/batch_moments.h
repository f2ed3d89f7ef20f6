// Mean and variance of a batch, optionally over all replicas.
#ifndef PACELINE_COMMON_OPERATIONS_BATCH_MOMENTS_H_
#define PACELINE_COMMON_OPERATIONS_BATCH_MOMENTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// From (..., channels) to three outputs in float64: the number of rows, of
// shape (), and the rows' mean and biased variance per channel, of shape
// (channels). Without rows, mean and variance are 0; only the reference device
// computes that case, since on other devices a replica without rows runs no
// program.
//
// `over_replicas`: over the rows of all replicas of the step. They all-reduce
// once, merging row count, mean and Σ (x − mean)² of their own rows in double
// (merge_moments.h); a replica without rows contributes zeros. The formula
// E[x²] − E[x]² would lose a variance that is small compared to the mean.
class BatchMomentsOperation final : public Operation {
 public:
  static constexpr char kName[] = "BatchMoments";

  explicit BatchMomentsOperation(bool over_replicas)
      : over_replicas_(over_replicas) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  // With N rows: dx = (dmean + 2 · dvariance · (x − mean)) / N. Moments over
  // replicas depend on the rows of all replicas, and the loss of each replica
  // depends on the moments. So dmean and dvariance are summed over the replicas
  // first.
  Gradients AddGradient(const CallGradient& call) const override;

  bool over_replicas() const { return over_replicas_; }

 private:
  bool over_replicas_;
};

struct Moments {
  Tensor count;
  Tensor mean;
  Tensor variance;
};
Moments BatchMoments(const Tensor& x, bool over_replicas);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_BATCH_MOMENTS_H_
