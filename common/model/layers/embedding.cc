#include "common/model/layers/embedding.h"

#include "common/config/field_table.h"
#include "common/limits.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/mask_layers.h"
#include "common/model/layers/variable_fields.h"
#include "common/operations/cast.h"
#include "common/operations/gather_rows.h"

namespace paceline {

const FieldTable<Embedding>& Embedding::Fields() {
  using Self = Embedding;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "A row of numbers for each id.",
      LayerFields<Self>(Joined<Self>(
          {{Required("input_dim", &Self::input_dim,
                     Between(1, limits::kMaxEmbeddingIds),
                     "Number of ids; they count from 0."),
            Required("output_dim", &Self::output_dim, AtLeast(1),
                     "Numbers in a row.")},
           VariableFields<Self>(
               {{"embeddings", "the rows", &Self::embeddings_initializer,
                 &Self::embeddings_regularizer, &Self::embeddings_constraint}},
               NullActivityRegularizerField()),
           {Optional("mask_zero", &Self::mask_zero,
                     "Whether id 0 is padding, which the mask excludes."),
            NotWritten(Only("quantization_config", nullptr,
                            "Rows of small integers."))}})));
  return table;
}

absl::StatusOr<Shape> Embedding::OutputShape(
    absl::Span<const Shape> inputs) const {
  Shape output = inputs[0];
  output.push_back(output_dim);
  return output;
}

std::vector<VariableSpec> Embedding::Variables(
    absl::Span<const Shape> /*inputs*/) const {
  return {{"embeddings",
           {input_dim, output_dim},
           embeddings_initializer,
           embeddings_regularizer,
           embeddings_constraint}};
}

absl::StatusOr<OutputMask> Embedding::ComputeMask(
    const MaskedCall& /*call*/) const {
  if (!mask_zero) return OutputMask();
  return OutputMask{
      .kind = OutputMask::Kind::kFromInput,
      .layer = std::make_unique<DiffersMask>(0, /*over_last_axis=*/false),
      .operation_count = 1};
}

LoweredLayer Embedding::Lower(const LayerCall& call) const {
  return op::GatherRows(call.variables[0],
                        op::Cast(call.inputs[0], DataType::kInt32));
}

}  // namespace paceline
