// The layers that the CUDA device computes. Each function is in a file of its
// name, and makes the computation of a node of that layer; nodes outlive it.
#ifndef PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_
#define PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_

#include <memory>

#include "common/model/graph.h"
#include "worker/device/cuda/node_computation.h"

namespace paceline::cuda {

// Null: not with these settings.
using NodeFactory = std::unique_ptr<NodeComputation>(const Graph& graph,
                                                     const Node& node);

NodeFactory MakeActivation;
NodeFactory MakeAveragePooling2D;
// In average_pooling2d.cc.
NodeFactory MakeGlobalAveragePooling2D;
NodeFactory MakeBatchNormalization;
NodeFactory MakeConv2D;
NodeFactory MakeDense;
NodeFactory MakeDropout;
NodeFactory MakeMaxPooling2D;
NodeFactory MakeReLU;
// Flatten and Reshape.
NodeFactory MakeReshape;
NodeFactory MakeSoftmax;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_LAYERS_LAYERS_H_
