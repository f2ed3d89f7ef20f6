// The layers that the CPU device computes. Each function is in a file of its
// name, and makes the computation of a node of that layer; nodes outlive it.
#ifndef PACELINE_WORKER_DEVICE_CPU_LAYERS_LAYERS_H_
#define PACELINE_WORKER_DEVICE_CPU_LAYERS_LAYERS_H_

#include <memory>

#include "common/model/graph.h"
#include "worker/device/cpu/node_computation.h"

namespace paceline::cpu {

using NodeFactory = std::unique_ptr<NodeComputation>(const Graph& graph,
                                                     const Node& node);

NodeFactory MakeActivation;
NodeFactory MakeAdd;
NodeFactory MakeAveragePooling2D;
// In average_pooling2d.cc.
NodeFactory MakeGlobalAveragePooling2D;
NodeFactory MakeBatchNormalization;
NodeFactory MakeConcatenate;
NodeFactory MakeConv2D;
// In conv2d.cc.
NodeFactory MakeDepthwiseConv2D;
NodeFactory MakeDense;
NodeFactory MakeDropout;
NodeFactory MakeEmbedding;
NodeFactory MakeLayerNormalization;
NodeFactory MakeMaxPooling2D;
NodeFactory MakeMultiply;
NodeFactory MakeReLU;
NodeFactory MakeRescaling;
// Flatten, Reshape, and what the layer before has done.
NodeFactory MakeReshape;
NodeFactory MakeSeparableConv2D;
NodeFactory MakeSoftmax;
NodeFactory MakeUpSampling2D;
NodeFactory MakeZeroPadding2D;

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_LAYERS_LAYERS_H_
