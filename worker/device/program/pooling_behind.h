// Fusion of a max pooling into the layer before it.
//
// If only a max pooling reads a layer that ends with a rectifier, both become
// one function, so that rewrites see them together: the pooling applies the
// rectifier, and a convolution may write only the pooled output. The pooling's
// node then only passes its input on. This needs a device that has a max
// pooling with a rectifier; on other devices the layer fuses its own rectifier.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_POOLING_BEHIND_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_POOLING_BEHIND_H_

#include "common/model/graph.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline {

// The max pooling after the node that the node computes, on a device that `has`
// operations; null if there is none.
const Node* PoolingBehind(const Graph& graph, const Node& node,
                          op::HasOperation has);

// Whether the node is a max pooling that the node before it computes.
bool IsPooledBefore(const Graph& graph, const Node& node, op::HasOperation has);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_POOLING_BEHIND_H_
