// The layers that the CUDA device computes its own way. Each function is in a
// file of its name.
#ifndef PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_
#define PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_

#include "worker/device/cuda/node_computation.h"
#include "worker/device/program/layer_table.h"

namespace paceline::cuda {

using NodeFactory = ::paceline::NodeFactory<ProgramBuilder>;

NodeFactory MakeBatchNormalization;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_
