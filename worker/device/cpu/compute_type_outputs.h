// Which operations' outputs are stored in the compute type.
//
// Where that is bfloat16, what a convolution gives to a normalization or to
// another convolution, and what a normalization with its rectifier gives to a
// convolution, is bfloat16 in memory, also behind a padding; and so are the
// gradients by it: half the bytes, and nothing to convert. Everything else is
// float32.
#ifndef PACELINE_WORKER_DEVICE_CPU_COMPUTE_TYPE_OUTPUTS_H_
#define PACELINE_WORKER_DEVICE_CPU_COMPUTE_TYPE_OUTPUTS_H_

#include "common/model/graph.h"

namespace paceline::cpu {

// Whether the output of the node, a convolution or a normalization, is of the
// compute type. The node has one reader then, and the gradient by its output is
// of that type, too.
bool OutputsComputeType(const Graph& graph, const Node& node);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_COMPUTE_TYPE_OUTPUTS_H_
