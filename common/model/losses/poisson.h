// Mean of output - label · log(output + 1e-7) over the elements of an output of
// any shape: the negative log-likelihood of counts, without what depends on the
// label alone.
#ifndef PACELINE_COMMON_MODEL_LOSSES_POISSON_H_
#define PACELINE_COMMON_MODEL_LOSSES_POISSON_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class Poisson : public Loss {
 public:
  static constexpr char kClassName[] = "Poisson";
  static const FieldTable<Poisson>& Fields();

  Poisson() : Loss("poisson") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_POISSON_H_
