// Which outputs are stored in the compute type (bfloat16) instead of float32.
//
// If convolutions compute in bfloat16, then these are stored as bfloat16: the
// output of a convolution that a normalization or another convolution reads,
// and the output of a normalization (with its rectifier) that a convolution
// reads; a zero padding may be in between. The gradients with respect to these
// outputs are stored as bfloat16, too. This halves the memory traffic, and
// oneDNN need not convert. Everything else is float32.
#ifndef PACELINE_WORKER_DEVICE_CPU_COMPUTE_TYPE_OUTPUTS_H_
#define PACELINE_WORKER_DEVICE_CPU_COMPUTE_TYPE_OUTPUTS_H_

#include "common/model/graph.h"

namespace paceline::cpu {

// Whether the output of the node, a convolution or a normalization, is stored
// in the compute type. Such an output has exactly one reader, and its gradient
// has the same type.
bool OutputsComputeType(const Graph& graph, const Node& node);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_COMPUTE_TYPE_OUTPUTS_H_
