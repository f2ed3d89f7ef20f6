// The layers that the CUDA device computes its own way. Each function is in a
// file of its name.
#ifndef PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_
#define PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_

#include "worker/device/cuda/node_computation.h"

namespace paceline::cuda {

using NodeFactory = ::paceline::NodeFactory<ProgramBuilder>;

NodeFactory MakeAveragePooling2D;
NodeFactory MakeBatchNormalization;
NodeFactory MakeConv2D;
// In conv2d.cc.
NodeFactory MakeDepthwiseConv2D;
NodeFactory MakeDense;
NodeFactory MakeDropout;
NodeFactory MakeEmbedding;
NodeFactory MakeGlobalAveragePooling2D;
NodeFactory MakeLayerNormalization;
NodeFactory MakeMaxPooling2D;
NodeFactory MakeReLU;
NodeFactory MakeRescaling;
NodeFactory MakeSeparableConv2D;
NodeFactory MakeUpSampling2D;
NodeFactory MakeZeroPadding2D;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_
