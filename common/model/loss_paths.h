// Which parts of a model its losses depend on.
#ifndef PACELINE_COMMON_MODEL_LOSS_PATHS_H_
#define PACELINE_COMMON_MODEL_LOSS_PATHS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/model/graph.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// By node: whether a loss of the job, or an activity penalty, depends on its
// output other than through masks.
std::vector<bool> NodesWithLoss(const v1::Job& job, const Graph& graph);

// The names of the trained variables on which nothing depends that a job
// minimizes: those of layers that only lead to outputs without a loss. Their
// gradients are 0, and as in Keras no update changes them.
std::set<std::string, std::less<>> VariablesWithoutLoss(const v1::Job& job,
                                                        const Graph& graph);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSS_PATHS_H_
