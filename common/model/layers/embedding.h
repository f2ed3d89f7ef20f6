// Looks up a vector for each id.
#ifndef PACELINE_COMMON_MODEL_LAYERS_EMBEDDING_H_
#define PACELINE_COMMON_MODEL_LAYERS_EMBEDDING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/initializer.h"
#include "common/model/layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (...) of ids to (..., output_dim): row `id` of the variable `embeddings`, of
// shape (input_dim, output_dim). Ids are whole numbers from 0 to input_dim − 1.
// They must be features, so the layer must read the Input.
class Embedding : public Layer {
 public:
  static constexpr char kClassName[] = "Embedding";
  static const FieldTable<Embedding>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  // embeddings.
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  int64_t id_count() const override { return input_dim; }
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;

  int64_t input_dim = 0;
  int64_t output_dim = 0;
  // Whether id 0 is padding: the mask of the output excludes it.
  bool mask_zero = false;
  std::shared_ptr<const Initializer> embeddings_initializer =
      DefaultEmbeddingsInitializer();
  Regularizer embeddings_regularizer;
  Constraint embeddings_constraint;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_EMBEDDING_H_
