// Rectifiers at the end of a layer that the max pooling behind it applies.
//
// Where nobody else reads the layer, the pooling reads what goes into its
// rectifier, and its gradient goes back through both: a pass over the layer's
// output less forward, and two less back. Only on devices that have a max
// pooling that rectifies: all of their layers that end with a rectifier leave
// it so.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_POOLED_RECTIFIER_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_POOLED_RECTIFIER_H_

#include "common/model/graph.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline {

// Whether the node is a max pooling that applies the rectifier of the node
// before it, on a device that `has` operations.
bool RectifiesInput(const Graph& graph, const Node& node, op::HasOperation has);

// Whether the node leaves its rectifier to the pooling behind it: its output is
// what goes into the rectifier, and so is the gradient that it gets.
bool LeavesRectifier(const Graph& graph, const Node& node,
                     op::HasOperation has);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_POOLED_RECTIFIER_H_
