// The kernels for the formulas of optimizers.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_KERNELS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_KERNELS_H_

#include <variant>

#include "common/base/joined_variant.h"
#include "common/optimizer/formula.h"
#include "worker/device/cuda/kernels/update_by_norms.h"
#include "worker/device/cuda/kernels/update_matrix.h"
#include "worker/device/cuda/kernels/update_variables.h"

namespace paceline::cuda {

// The kernels of one formula.
template <typename Formula>
struct KernelsOfFormula {
  using Type = std::variant<UpdateVariables<Formula>>;
};
template <HasNorms Formula>
struct KernelsOfFormula<Formula> {
  using Type = std::variant<UpdateSlots<Formula>, WriteUpdateRate<Formula>,
                            MoveByDirection<Formula>>;
};
template <UpdatesMatrices Formula>
struct KernelsOfFormula<Formula> {
  using Type = std::variant<FindDirection<Formula>, MoveByFactor<Formula>>;
};

// The kernels of all formulas in a variant.
template <typename Formulas>
struct UpdateKernels;
template <typename... Formulas>
struct UpdateKernels<std::variant<Formulas...>> {
  using Type = JoinedVariant<typename KernelsOfFormula<Formulas>::Type...>;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_KERNELS_H_
