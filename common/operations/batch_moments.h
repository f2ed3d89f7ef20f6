// Mean and variance of a batch, which replicas may share.
#ifndef PACELINE_COMMON_OPERATIONS_BATCH_MOMENTS_H_
#define PACELINE_COMMON_OPERATIONS_BATCH_MOMENTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// From (..., channels) to three outputs in float64: the number of rows, of
// shape (), and their mean and biased variance for each channel, of shape
// (channels). Without a row, mean and variance are 0; only the reference device
// computes that, for on others a replica without a row runs no program.
//
// `over_replicas`: of the rows of all replicas of the step, which meet once,
// and merge the count, the mean and Σ (x − mean)² that each has of its rows in
// double (merge_moments.h); one without a row contributes zeros. With E[x²] −
// E[x]² nothing would be left of a variance that is small beside the mean.
class BatchMomentsOperation final : public Operation {
 public:
  static constexpr char kName[] = "BatchMoments";

  explicit BatchMomentsOperation(bool over_replicas)
      : over_replicas_(over_replicas) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  // With N rows: dx = (dmean + 2 · dvariance · (x − mean)) / N. The moments
  // that replicas share depend on the rows of all, and the loss of each on the
  // moments: so dmean and dvariance are summed over the replicas first.
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
