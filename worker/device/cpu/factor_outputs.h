// Outputs that lie in memory as convolutions multiply them.
//
// Where convolutions multiply bfloat16, what one gives to a normalization or to
// another, and what a normalization with its rectifier gives to one, is
// bfloat16 in memory, also behind a padding; and so are the gradients by it:
// half the bytes, and nothing to convert. Everything else is float32.
#ifndef PACELINE_WORKER_DEVICE_CPU_FACTOR_OUTPUTS_H_
#define PACELINE_WORKER_DEVICE_CPU_FACTOR_OUTPUTS_H_

#include "common/model/graph.h"

namespace paceline::cpu {

// Whether the output of the node, a convolution or a normalization, is such. It
// has one reader then, and the gradient by it is of the same type.
bool IsReadAsFactors(const Graph& graph, const Node& node);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_FACTOR_OUTPUTS_H_
