// The orthogonal factor of a matrix on a GPU
// (common/optimizer/newton_schulz.h): three matrix products per iteration and
// sums of matrices, in float32; the products use TF32 if the job's `precision`
// does.
#ifndef PACELINE_WORKER_DEVICE_CUDA_ORTHOGONALIZE_H_
#define PACELINE_WORKER_DEVICE_CUDA_ORTHOGONALIZE_H_

#include "common/optimizer/newton_schulz.h"
#include "worker/device/cuda/program_builder.h"

namespace paceline::cuda {

// Adds the operations. `matrix` (rows, columns) is float32 and is overwritten.
// Returns the result, a tensor of the same shape.
const Tensor* AddOrthogonalize(ProgramBuilder& builder,
                               const NewtonSchulz& iteration,
                               const Tensor* matrix);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_ORTHOGONALIZE_H_
