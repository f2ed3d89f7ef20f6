// Outputs that lie in memory as convolutions multiply them.
//
// Where convolutions multiply bfloat16, what goes from one to the next through
// normalizations, with their rectifiers, and paddings is bfloat16 in memory,
// and so are the gradients by it: half the bytes, and nothing to convert.
// Everything else is float32.
#ifndef PACELINE_WORKER_DEVICE_CPU_FACTOR_OUTPUTS_H_
#define PACELINE_WORKER_DEVICE_CPU_FACTOR_OUTPUTS_H_

#include "common/model/graph.h"

namespace paceline::cpu {

// Whether what reads the output of a node takes it as factors. If so, the node
// has one reader, and the gradient by its output is of the same type.
bool IsReadAsFactors(const Graph& graph, const Node& node);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_FACTOR_OUTPUTS_H_
