// F-beta score: (1 + beta²) precision recall / (beta² precision + recall) of
// each class, and the mean over classes; F1 with beta = 1. As
// keras.metrics.FBetaScore computes it, with 1e-7 in each divisor.
#ifndef PACELINE_COMMON_MODEL_METRICS_FBETA_SCORE_H_
#define PACELINE_COMMON_MODEL_METRICS_FBETA_SCORE_H_

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

// How the scores of classes become one: by the counts of all classes together,
// or as a mean, which may weigh each class by its labels.
enum class ScoreAverage { kMicro, kMacro, kWeighted };
absl::Span<const EnumName<ScoreAverage>> EnumNames(ScoreAverage);

// Output (classes). A class is predicted if it is above the threshold; without
// one, if no other class is larger, and it is not 0. Labels may be between 0
// and 1.
class FBetaScore : public Metric {
 public:
  static constexpr char kClassName[] = "FBetaScore";
  static const FieldTable<FBetaScore>& Fields();

  FBetaScore() { name = "fbeta_score"; }

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  void SetOutput(const Shape& output) override { classes_ = output[0]; }

  // The state is true positives, false positives and false negatives, each by
  // class.
  bool is_mean() const override { return false; }
  int64_t state_size() const override { return 3 * classes_; }
  op::Tensor LowerState(
      const op::Tensor& output, const op::Tensor& labels,
      const std::optional<op::Tensor>& weights) const override;
  double Result(absl::Span<const double> state) const override;

  // nullopt: a score for each class, which is not supported.
  std::optional<ScoreAverage> average;
  double beta = 1;
  std::optional<double> threshold;

 private:
  int64_t classes_ = 0;
};

class F1Score : public FBetaScore {
 public:
  static constexpr char kClassName[] = "F1Score";
  static const FieldTable<F1Score>& Fields();

  F1Score() { name = "f1_score"; }

  absl::string_view class_name() const override { return kClassName; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_FBETA_SCORE_H_
