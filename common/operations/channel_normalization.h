// Normalization of channels by their statistics, and what goes back.
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

// What x is normalized by.
enum class ChannelStatistics {
  // Given numbers, which have no gradient.
  kGiven,
  // BatchMoments of x, of the replica's batch or of those of all replicas, in
  // float64: the gradient by x goes through them too.
  kOfBatch,
  kOfAllBatches,
};

struct ChannelNormalizationOptions {
  ChannelStatistics statistics = ChannelStatistics::kGiven;
  bool has_gamma = false;
  bool has_beta = false;
  double epsilon = 0;
  // Of the output.
  Clamp clamp;

  bool is_of_batch() const { return statistics != ChannelStatistics::kGiven; }

  // The inputs begin with x (..., channels) and, of shape (channels), mean,
  // variance, [gamma] and [beta]: given numbers, gamma and beta of the type of
  // x.
  static constexpr int kX = 0;
  static constexpr int kMean = 1;
  static constexpr int kVariance = 2;
  static constexpr int kGamma = 3;
  int beta_input() const { return kGamma + (has_gamma ? 1 : 0); }
  // The first one behind these.
  int next_input() const { return beta_input() + (has_beta ? 1 : 0); }
};

// What the three operations share. Below, x̂ is (x − mean) / √(variance +
// epsilon), where a variance below 0 is taken for 0, and g is the gradient by
// what is clamped.
class ChannelOperation : public Operation {
 public:
  explicit ChannelOperation(const ChannelNormalizationOptions& options)
      : options_(options) {}

  const ChannelNormalizationOptions& options() const { return options_; }

 protected:
  // CHECK-fails on inputs that do not begin as they should, or that are not
  // followed by so many `more`.
  void CheckInputs(absl::Span<const TensorType> inputs, int more) const;

 private:
  const ChannelNormalizationOptions options_;
};

// y = gamma · x̂ + beta, within the clamp. Of the batch, the last input is the
// count of its rows (), which the gradient reads.
class ChannelNormalizationOperation final : public ChannelOperation {
 public:
  static constexpr char kName[] = "ChannelNormalization";

  using ChannelOperation::ChannelOperation;
  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  // Replicas that share the statistics meet once, to sum up Σ g and Σ g · x̂.
  Gradients AddGradient(const CallGradient& call) const override;
};

// From the gradient by y, the last input, to Σ g and Σ g · x̂ of each channel,
// the gradients by beta and gamma, in float64.
class ChannelGradientSumsOperation final : public ChannelOperation {
 public:
  static constexpr char kName[] = "ChannelGradientSums";

  using ChannelOperation::ChannelOperation;
  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
};

// From the gradient by y to that by x,
//
//   gamma / √(variance + epsilon) · (g − Σ g / N − x̂ · Σ g · x̂ / N)
//
// where N, Σ g and Σ g · x̂, the last inputs, are of all rows that the
// statistics are of. Of given statistics, there are neither these inputs nor
// these terms. S. Ioffe, C. Szegedy: Batch Normalization.
class ChannelNormalizationGradientOperation final : public ChannelOperation {
 public:
  static constexpr char kName[] = "ChannelNormalizationGradient";

  using ChannelOperation::ChannelOperation;
  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
};

// What scales and moves x̂, of shape (channels); nullopt: nothing.
struct GammaAndBeta {
  std::optional<Tensor> gamma;
  std::optional<Tensor> beta;
};

// By statistics (channels) that have no gradient.
Tensor NormalizeChannels(const Tensor& x, const Tensor& mean,
                         const Tensor& variance, const GammaAndBeta& variables,
                         double epsilon);

// By the moments of x, which BatchMoments(x, over_replicas) gave.
Tensor NormalizeByBatch(const Tensor& x, const Moments& moments,
                        bool over_replicas, const GammaAndBeta& variables,
                        double epsilon);

// What a ChannelNormalization gave, within a clamp: another call of it, in the
// place of the one that made `normalized`.
Tensor ClampNormalization(const Tensor& normalized, const Clamp& clamp);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CHANNEL_NORMALIZATION_H_
