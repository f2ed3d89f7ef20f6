// Attention with several heads (Vaswani et al., 2017: Attention Is All You
// Need).
#ifndef PACELINE_COMMON_MODEL_LAYERS_MULTI_HEAD_ATTENTION_H_
#define PACELINE_COMMON_MODEL_LAYERS_MULTI_HEAD_ATTENTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/constraint.h"
#include "common/model/initializer.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/model/regularizer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;
template <typename E>
struct EnumName;

// Reads a query (T, d), a value (S, v) and a key (S, k), by default the value.
// With q, k and v from projections of these for each head,
//
//   softmax(q · kᵀ / √key_dim) · v
//
// of all heads together is projected to the output (T, output_shape), by
// default (T, d). In training the softmax is dropped out by `dropout`.
//
// Behind these it reads the masks that `mask_inputs` names. A query attends to
// a key where all masks are other than 0.
class MultiHeadAttention : public Layer {
 public:
  static constexpr char kClassName[] = "MultiHeadAttention";
  static const FieldTable<MultiHeadAttention>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  InputCount input_count() const override {
    return {2 + mask_inputs.size(), 3 + mask_inputs.size()};
  }
  std::vector<std::string> call_keywords() const override {
    return {"use_causal_mask"};
  }
  std::vector<std::string> keyword_inputs() const override;
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  std::string WeightPath(int variable) const override;
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;
  bool passes_mask() const override { return true; }
  bool reads_masks() const override { return true; }
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t num_heads = 0;
  // Size of a head's query and key.
  int64_t key_dim = 0;
  // Size of a head's value; by default key_dim.
  std::optional<int64_t> value_dim;
  double dropout = 0;
  bool use_bias = true;
  // One axis; by default the size of the query.
  std::optional<AxisList> output_shape;
  // The axis of the steps, 1.
  std::optional<AxisList> attention_axes;
  std::shared_ptr<const Initializer> kernel_initializer =
      DefaultKernelInitializer();
  std::shared_ptr<const Initializer> bias_initializer = ZerosInitializer();
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  Constraint kernel_constraint;
  Constraint bias_constraint;
  std::optional<int64_t> seed;
  // Whether step t attends to steps 0 to t only. An argument of the call in
  // Keras.
  bool use_causal_mask = false;
  // What the last inputs are, in the order of the keywords in Keras.
  enum class MaskInput {
    // (T, S), or (num_heads, T, S); axes may be 1.
    kAttentionMask,
    // (S); in place of the mask that the key has.
    kKeyMask,
    // (T); means nothing, as in Keras, which reads the query's own mask.
    kQueryMask,
    // (S); in place of the mask that the value has.
    kValueMask,
  };
  std::vector<MaskInput> mask_inputs;

 private:
  int64_t value_size() const { return value_dim.value_or(key_dim); }
  // A kernel and perhaps a bias.
  int variables_of_projection() const { return use_bias ? 2 : 1; }

  void AddProjection(const std::string& prefix, const Shape& kernel,
                     const Shape& bias,
                     std::vector<VariableSpec>& variables) const;
  // x · kernel + bias along the last axis of x, with the variables of a
  // projection: (batch, steps, columns).
  op::Tensor Project(const LayerCall& call, int projection,
                     const op::Tensor& x) const;
  // The same for a projection to heads: (batch, heads, steps, size).
  op::Tensor ProjectToHeads(const LayerCall& call, int projection,
                            const op::Tensor& x, int64_t size) const;
  // The share of each key in each query's sum: (batch, heads, T, S).
  op::Tensor Weights(const LayerCall& call, const op::Tensor& scores) const;
  // `inputs` without the masks.
  template <typename T>
  absl::Span<const T> SequencesOf(absl::Span<const T> inputs) const {
    return inputs.first(inputs.size() - mask_inputs.size());
  }
  absl::Status CheckMaskInputs(absl::Span<const Shape> inputs) const;
  bool HasMaskOfHeads(absl::Span<const Shape> inputs) const;
  // Whether an input stands in for the mask of query, value or key (0 to 2).
  bool IsMaskedByInput(size_t input) const;
  // Where all masks that are inputs allow a query (batch, heads, T) to attend
  // to a key (S), in shapes that broadcast to these.
  std::vector<op::Tensor> GivenMasks(const LayerCall& call) const;
  // Which keys a query does not attend to: where the masks of query, value and
  // key, the causal mask, or one that is an input, exclude one of the two. `x`
  // there is `value`.
  op::Tensor Masked(const LayerCall& call, op::Tensor x, double value) const;
};

absl::Span<const EnumName<MultiHeadAttention::MaskInput>> EnumNames(
    MultiHeadAttention::MaskInput);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MULTI_HEAD_ATTENTION_H_
