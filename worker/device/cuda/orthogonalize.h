// The orthogonal factor of a matrix (common/optimizer/newton_schulz.h) on a
// GPU: three products a step and sums of matrices, all in float32; the products
// are in TF32 where the job's `precision` is.
#ifndef PACELINE_WORKER_DEVICE_CUDA_ORTHOGONALIZE_H_
#define PACELINE_WORKER_DEVICE_CUDA_ORTHOGONALIZE_H_

#include "common/optimizer/newton_schulz.h"
#include "worker/device/cuda/program_builder.h"

namespace paceline::cuda {

// Adds the operations. `matrix` (rows, columns) holds float32 and is written
// over. Returns the result, which is a tensor of the same shape.
const Tensor* AddOrthogonalize(ProgramBuilder& builder,
                               const NewtonSchulz& iteration,
                               const Tensor* matrix);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_ORTHOGONALIZE_H_
