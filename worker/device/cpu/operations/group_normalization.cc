#include "common/operations/group_normalization.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "worker/device/cpu/kernels/group_normalization.h"
#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {
namespace {

// The tensors of a call.
struct Tensors {
  const Tensor* values = nullptr;
  const Tensor* means = nullptr;
  const Tensor* factors = nullptr;
  // Null if not read.
  const Tensor* gamma = nullptr;

  NormalizedGroups groups() const {
    const int64_t group_count = means->shape[1];
    return {.positions = values->shape[1],
            .groups = group_count,
            .size = values->shape[2] / group_count,
            .values = values->floats(),
            .means = means->floats(),
            .factors = factors->floats(),
            .gamma = FloatsOrNull(gamma)};
  }
};

// Stands for a missing gamma or beta.
const Tensor* EveryColumn(float value, const Tensor* values,
                          ProgramBuilder& builder) {
  const int64_t columns = values->shape[2];
  return builder.NewConstant({columns}, std::vector<float>(columns, value));
}

// Splits the blocks among the threads.
void AddOfBlocks(std::vector<const Tensor*> used, const Tensors& tensors,
                 ProgramBuilder& builder,
                 ProgramBuilder::RangeOperation operation) {
  used.insert(used.end(),
              {tensors.values, tensors.means, tensors.factors, tensors.gamma});
  const Shape& shape = tensors.values->shape;
  const int64_t groups = tensors.means->shape[1];
  const int64_t blocks =
      NormalizedGroups{.groups = groups, .size = shape[2] / groups}
          .blocks_of_example();
  builder.AddParallel(used, shape[0] * blocks, shape[1] * shape[2] / blocks,
                      std::move(operation));
}

}  // namespace

Tensor* AddGroupNormalization(const PlacedCall& call, ProgramBuilder& builder) {
  const op::GroupNormalizationOptions& options =
      static_cast<const op::GroupNormalizationOperation&>(call.operation)
          .options();
  const Tensor* const input = call.inputs[0];
  const Tensors tensors = {.values = input,
                           .means = call.more_outputs[0],
                           .factors = call.more_outputs[1],
                           .gamma = options.has_gamma
                                        ? call.inputs[1]
                                        : EveryColumn(1, input, builder)};
  const Tensor* const beta =
      options.has_beta ? call.inputs.back() : EveryColumn(0, input, builder);
  Tensor* const output = OutputOf(call, builder);
  CHECK(output->type == DataType::kFloat32) << DataTypeName(output->type);
  AddOfBlocks({beta, output}, tensors, builder,
              [=, epsilon = options.epsilon](int64_t begin, int64_t end) {
                GroupNormalizationForward(tensors.groups(), epsilon,
                                          beta->floats(), begin, end,
                                          output->floats());
              });
  return output;
}

Tensor* AddGroupNormalizationGradient(const PlacedCall& call,
                                      ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  const Tensor* const output_gradient = call.inputs[3];
  const Tensors tensors = {.values = input,
                           .means = call.inputs[1],
                           .factors = call.inputs[2],
                           .gamma = call.inputs.size() > 4
                                        ? call.inputs[4]
                                        : EveryColumn(1, input, builder)};
  Tensor* const input_gradient = InPlaceOutputOf(call, builder);
  CHECK(input_gradient->type == DataType::kFloat32)
      << DataTypeName(input_gradient->type);
  AddOfBlocks({output_gradient, input_gradient}, tensors, builder,
              [=](int64_t begin, int64_t end) {
                GroupNormalizationBackward(tensors.groups(), begin, end,
                                           output_gradient->floats(),
                                           input_gradient->floats());
              });
  return input_gradient;
}

Tensor* AddGroupNormalizationGammaGradient(const PlacedCall& call,
                                           ProgramBuilder& builder) {
  const Tensors tensors = {.values = call.inputs[0],
                           .means = call.inputs[1],
                           .factors = call.inputs[2]};
  const Tensor* const output_gradient = call.inputs[3];
  Tensor* const of_gamma = OutputOf(call, builder);
  const Tensor* const of_beta =
      call.more_outputs.empty() ? nullptr : call.more_outputs[0];
  std::vector<const Tensor*> used(call.inputs.begin(), call.inputs.end());
  used.push_back(of_gamma);
  if (of_beta != nullptr) used.push_back(of_beta);
  const int64_t columns = of_gamma->count();
  builder.AddParallel(used, columns, tensors.values->count() / columns,
                      [=](int64_t begin, int64_t end) {
                        GroupNormalizationSums(
                            tensors.groups(), tensors.values->shape[0], begin,
                            end, output_gradient->floats(), of_gamma->floats(),
                            FloatsOrNull(of_beta));
                      });
  return of_gamma;
}

}  // namespace paceline::cpu
