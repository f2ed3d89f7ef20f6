// Drops elements so that mean and variance stay (Klambauer et al.).
#ifndef PACELINE_COMMON_MODEL_LAYERS_ALPHA_DROPOUT_H_
#define PACELINE_COMMON_MODEL_LAYERS_ALPHA_DROPOUT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/model/layers/dropout_layer.h"
#include "common/operations/function.h"

namespace paceline {

template <typename T>
class FieldTable;

// For layers behind a SELU. A dropped element becomes its limit at −∞; then an
// affine function gives all elements the mean and variance that they had, if
// these were 0 and 1.
class AlphaDropout : public DropoutLayer {
 public:
  static constexpr char kClassName[] = "AlphaDropout";
  static const FieldTable<AlphaDropout>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  op::Tensor Noised(const op::Tensor& x, uint64_t key) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_ALPHA_DROPOUT_H_
