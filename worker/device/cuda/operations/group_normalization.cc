#include "common/operations/group_normalization.h"

#include <cstdint>
#include <vector>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {
namespace {

// The tensors of a call.
struct Tensors {
  const Tensor* values = nullptr;
  const Tensor* means = nullptr;
  const Tensor* factors = nullptr;

  NormalizedGroups groups() const {
    const int64_t group_count = means->shape[1];
    return {.positions = values->shape[1],
            .groups = group_count,
            .size = values->shape[2] / group_count,
            .inputs = ValuesOf(values),
            .means = means->floats(),
            .factors = factors->floats()};
  }

  // Number of parts per group.
  int64_t part_count() const {
    return PartCount(values->shape[1] * values->shape[2] / means->shape[1]);
  }
};

Tensors StatisticsOf(const PlacedCall& gradient) {
  return {gradient.inputs[0], gradient.inputs[1], gradient.inputs[2]};
}

}  // namespace

Tensor* AddGroupNormalization(const PlacedCall& call, ProgramBuilder& builder) {
  const op::GroupNormalizationOptions& options =
      static_cast<const op::GroupNormalizationOperation&>(call.operation)
          .options();
  const Tensors tensors = {call.inputs[0], call.more_outputs[0],
                           call.more_outputs[1]};
  const auto& [values, means, factors] = tensors;
  const int64_t parts = tensors.part_count();
  const Tensor* const moments =
      builder.NewTensor<PartMoments>({means->count(), parts});
  builder.AddKernel({values, moments}, moments->count(), [=] {
    return GroupPartMoments{tensors.groups(), parts,
                            moments->as<PartMoments>()};
  });
  builder.AddKernel({moments, means, factors}, means->count(),
                    [=, epsilon = options.epsilon] {
                      return GroupMoments{tensors.groups(), parts, epsilon,
                                          moments->as<PartMoments>()};
                    });

  const Tensor* const gamma = options.has_gamma ? call.inputs[1] : nullptr;
  const Tensor* const beta = options.has_beta ? call.inputs.back() : nullptr;
  Tensor* const output = OutputOf(call, builder);
  std::vector<const Tensor*> used(call.inputs.begin(), call.inputs.end());
  used.insert(used.end(), {means, factors, output});
  builder.AddKernel(used, output->count(), [=] {
    return NormalizeGroups{tensors.groups(), ValuesOf(gamma), ValuesOf(beta),
                           ValuesOf(output)};
  });
  return output;
}

Tensor* AddGroupNormalizationGradient(const PlacedCall& call,
                                      ProgramBuilder& builder) {
  const Tensors tensors = StatisticsOf(call);
  const Tensor* const gradient = call.inputs[3];
  const Tensor* const gamma = call.inputs.size() > 4 ? call.inputs[4] : nullptr;
  const int64_t groups = tensors.means->count();
  const int64_t parts = tensors.part_count();
  const Tensor* const of_parts = builder.NewTensor<PartSlopes>({groups, parts});
  std::vector<const Tensor*> used(call.inputs.begin(), call.inputs.end());
  used.push_back(of_parts);
  builder.AddKernel(used, of_parts->count(), [=] {
    return GroupPartSlopes{tensors.groups(), parts, ValuesOf(gamma),
                           ValuesOf(gradient), of_parts->as<PartSlopes>()};
  });
  const Tensor* const slopes = builder.NewTensor<GroupSlope>({groups});
  builder.AddKernel({tensors.factors, of_parts, slopes}, groups, [=] {
    return GroupSlopes{tensors.groups(), parts, of_parts->as<PartSlopes>(),
                       slopes->as<GroupSlope>()};
  });

  Tensor* const input_gradient = InPlaceOutputOf(call, builder);
  used.back() = slopes;
  used.push_back(input_gradient);
  builder.AddKernel(used, input_gradient->count(), [=] {
    return NormalizeGroupsBackward{tensors.groups(), slopes->as<GroupSlope>(),
                                   ValuesOf(gamma), ValuesOf(gradient),
                                   ValuesOf(input_gradient)};
  });
  return input_gradient;
}

// Gradients of variables are float32, whatever the compute type.
Tensor* AddGroupNormalizationGammaGradient(const PlacedCall& call,
                                           ProgramBuilder& builder) {
  const Tensors tensors = StatisticsOf(call);
  const Tensor* const gradient = call.inputs[3];
  Tensor* const of_gamma = FloatOutputOf(call, builder);
  const Tensor* const of_beta =
      call.more_outputs.empty() ? nullptr : call.more_outputs[0];
  const int64_t columns = of_gamma->count();
  const int64_t rows = tensors.values->count() / columns;
  const int64_t parts = FirstPartCount(rows, columns);
  const Tensor* const products = builder.NewTensor<double>({parts, columns});
  const Tensor* const sums = of_beta == nullptr
                                 ? nullptr
                                 : builder.NewTensor<double>({parts, columns});
  std::vector<const Tensor*> used(call.inputs.begin(), call.inputs.end());
  used.push_back(products);
  if (sums != nullptr) used.push_back(sums);
  builder.AddKernel(used, parts * columns, [=] {
    return GroupColumnSums{tensors.groups(),
                           rows,
                           parts,
                           ValuesOf(gradient),
                           products->doubles(),
                           sums == nullptr ? nullptr : sums->doubles()};
  });
  builder.AddLastPass({products}, of_gamma);
  if (sums != nullptr) builder.AddLastPass({sums}, of_beta);
  return of_gamma;
}

}  // namespace paceline::cuda
