// Max poolings that the layer before them computes.
//
// Where a max pooling alone reads a layer that ends with a rectifier, both are
// one function, so that rewrites see them together: the pooling rectifies, and
// a convolution may give what is pooled without storing what it is pooled from.
// The node of the pooling then passes on what it gets. Only on devices that
// have a max pooling that rectifies; others fuse the rectifier into the layer.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_POOLING_BEHIND_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_POOLING_BEHIND_H_

#include "common/model/graph.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline {

// The max pooling that the node computes on a device that `has` operations;
// null if there is none.
const Node* PoolingBehind(const Graph& graph, const Node& node,
                          op::HasOperation has);

// Whether the node is a max pooling that the node before it computes.
bool IsPooledBefore(const Graph& graph, const Node& node, op::HasOperation has);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_POOLING_BEHIND_H_
