// Kullback-Leibler divergence of probabilities given by the labels: output
// (..., classes); Σ y log(y / p) over the classes, where y and p are label and
// output within [1e-7, 1]; the mean over the leading dimensions.
#ifndef PACELINE_COMMON_MODEL_LOSSES_KL_DIVERGENCE_H_
#define PACELINE_COMMON_MODEL_LOSSES_KL_DIVERGENCE_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class KLDivergence : public Loss {
 public:
  static constexpr char kClassName[] = "KLDivergence";
  static const FieldTable<KLDivergence>& Fields();

  KLDivergence() : Loss("kl_divergence") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_KL_DIVERGENCE_H_
