// Coefficient of determination R²: 1 - Σ (label - output)² / Σ (label - mean
// label)² of each output, and the mean over outputs, as keras.metrics.R2Score
// computes it.
#ifndef PACELINE_COMMON_MODEL_METRICS_R2_SCORE_H_
#define PACELINE_COMMON_MODEL_METRICS_R2_SCORE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename E>
struct EnumName;
template <typename T>
class FieldTable;

// How the scores of several outputs become one.
enum class ScoreAggregation { kUniformAverage, kVarianceWeightedAverage };
absl::Span<const EnumName<ScoreAggregation>> EnumNames(ScoreAggregation);

// Output (outputs).
class R2Score : public Metric {
 public:
  static constexpr char kClassName[] = "R2Score";
  static const FieldTable<R2Score>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  void SetOutput(const Shape& output) override { outputs_ = output[0]; }

  // The state is Σ y, Σ y² and Σ (y - p)² of each output, then the number of
  // examples.
  bool is_mean() const override { return false; }
  int64_t state_size() const override { return 3 * outputs_ + 1; }
  op::Tensor LowerState(
      const op::Tensor& output, const op::Tensor& labels,
      const std::optional<op::Tensor>& weights) const override;
  double Result(absl::Span<const double> state) const override;

  // nullopt: a score for each output, which is not supported.
  std::optional<ScoreAggregation> class_aggregation =
      ScoreAggregation::kUniformAverage;

 private:
  int64_t outputs_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_R2_SCORE_H_
