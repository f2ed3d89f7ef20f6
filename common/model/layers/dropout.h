// Drops elements at random in training.
#ifndef PACELINE_COMMON_MODEL_LAYERS_DROPOUT_H_
#define PACELINE_COMMON_MODEL_LAYERS_DROPOUT_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/dropout_layer.h"

namespace paceline {

template <typename T>
class FieldTable;

// See DropoutLayer.
class Dropout : public DropoutLayer {
 public:
  static constexpr char kClassName[] = "Dropout";
  static const FieldTable<Dropout>& Fields();

  Dropout() = default;
  explicit Dropout(double dropped_share) { rate = dropped_share; }

  absl::string_view class_name() const override { return kClassName; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_DROPOUT_H_
