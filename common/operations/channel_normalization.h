// Normalization of channels by given statistics, and its gradients.
#ifndef PACELINE_COMMON_OPERATIONS_CHANNEL_NORMALIZATION_H_
#define PACELINE_COMMON_OPERATIONS_CHANNEL_NORMALIZATION_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/batch_moments.h"
#include "common/operations/clamp.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Where the mean and variance of x come from.
enum class ChannelStatistics {
  // Constants, which get no gradient.
  kGiven,
  // BatchMoments of x, over the replica's batch or over the batches of all
  // replicas, in float64. The gradient with respect to x also goes through
  // them.
  kOfBatch,
  kOfAllBatches,
};

struct ChannelNormalizationOptions {
  ChannelStatistics statistics = ChannelStatistics::kGiven;
  bool has_gamma = false;
  bool has_beta = false;
  double epsilon = 0;
  // Applied to the output.
  Clamp clamp;

  bool is_of_batch() const { return statistics != ChannelStatistics::kGiven; }

  // The first inputs are x (..., channels) and, of shape (channels), mean,
  // variance, [gamma] and [beta]. kGiven statistics, gamma and beta have the
  // type of x.
  static constexpr int kX = 0;
  static constexpr int kMean = 1;
  static constexpr int kVariance = 2;
  static constexpr int kGamma = 3;
  int beta_input() const { return kGamma + (has_gamma ? 1 : 0); }
  // The index of the first input after these.
  int next_input() const { return beta_input() + (has_beta ? 1 : 0); }
};

// The base of the three operations. Below, x̂ is (x − mean) / √(variance +
// epsilon), where a negative variance counts as 0, and g is the gradient with
// respect to the value before the clamp.
class ChannelOperation : public Operation {
 public:
  explicit ChannelOperation(const ChannelNormalizationOptions& options)
      : options_(options) {}

  const ChannelNormalizationOptions& options() const { return options_; }

 protected:
  // CHECK-fails unless the inputs start as described, followed by `more`
  // further ones.
  void CheckInputs(absl::Span<const TensorType> inputs, int more) const;

 private:
  const ChannelNormalizationOptions options_;
};

// y = gamma · x̂ + beta, clamped. With statistics of a batch, the last input is
// the number of rows (), which the gradient needs.
class ChannelNormalizationOperation final : public ChannelOperation {
 public:
  static constexpr char kName[] = "ChannelNormalization";

  using ChannelOperation::ChannelOperation;
  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  // If the statistics are over replicas, these all-reduce Σ g and Σ g · x̂.
  Gradients AddGradient(const CallGradient& call) const override;
};

// From the gradient with respect to y, the last input, to Σ g and Σ g · x̂ per
// channel, the gradients of beta and gamma, in float64.
class ChannelGradientSumsOperation final : public ChannelOperation {
 public:
  static constexpr char kName[] = "ChannelGradientSums";

  using ChannelOperation::ChannelOperation;
  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
};

// From the gradient with respect to y to that with respect to x,
//
//   gamma / √(variance + epsilon) · (g − Σ g / N − x̂ · Σ g · x̂ / N)
//
// where N, Σ g and Σ g · x̂, the last inputs, are over all rows of the
// statistics. With given statistics, these inputs and terms are absent. Source:
// Ioffe and Szegedy, "Batch Normalization" (2015).
class ChannelNormalizationGradientOperation final : public ChannelOperation {
 public:
  static constexpr char kName[] = "ChannelNormalizationGradient";

  using ChannelOperation::ChannelOperation;
  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
};

// Scale and offset of x̂, of shape (channels); nullopt: absent.
struct GammaAndBeta {
  std::optional<Tensor> gamma;
  std::optional<Tensor> beta;
};

// Normalizes by constant statistics of shape (channels).
Tensor NormalizeChannels(const Tensor& x, const Tensor& mean,
                         const Tensor& variance, const GammaAndBeta& variables,
                         double epsilon);

// Normalizes by the moments of x, which must be the result of BatchMoments(x,
// over_replicas).
Tensor NormalizeByBatch(const Tensor& x, const Moments& moments,
                        bool over_replicas, const GammaAndBeta& variables,
                        double epsilon);

// Applies a clamp to the result of a ChannelNormalization, by a call of that
// operation that includes the clamp.
Tensor ClampNormalization(const Tensor& normalized, const Clamp& clamp);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CHANNEL_NORMALIZATION_H_
