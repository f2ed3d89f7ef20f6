// Where Keras stores the state of an optimizer in a file of weights:
//
//   optimizer/vars/0  number of calls of the optimizer, int64
//   optimizer/vars/1  learning rate, float32; absent with a schedule, and in
//                     files of Keras 2
//   optimizer/vars/2  the slots of trained variables, and so on
//
// There are no slots before the first call.
//
// In a LossScaleOptimizer these are in optimizer/inner_optimizer/vars/. Its own
// group, optimizer/vars/, begins with a number of calls and a learning rate
// that are always 0, then has its state, and then all of that again.
#ifndef PACELINE_COMMON_KERAS_SLOT_PATHS_H_
#define PACELINE_COMMON_KERAS_SLOT_PATHS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/model/graph.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

inline constexpr char kOptimizerGroup[] = "optimizer/vars/";
inline constexpr char kIterationPath[] = "optimizer/vars/0";
inline constexpr char kLearningRatePath[] = "optimizer/vars/1";

// The state of a LossScaleOptimizer: the steps since its scale changed, int64,
// and the scale, float32. Behind them is that of the optimizer in it.
inline constexpr char kStepCounterPath[] = "optimizer/vars/2";
inline constexpr char kDynamicScalePath[] = "optimizer/vars/3";
// Where readers of a WeightsFile find that scale and steps.
inline constexpr char kReadStepCounterPath[] = "optimizer/loss_scale/2";
inline constexpr char kReadDynamicScalePath[] = "optimizer/loss_scale/3";
inline constexpr char kInnerOptimizerGroup[] =
    "optimizer/inner_optimizer/vars/";

struct SlotPath {
  // An index into Graph::variables.
  int variable = 0;
  // An index into Optimizer::slot_names.
  int slot = 0;
  std::string path;
};

// The number of the first slot in a file of Keras 3: 1 with a schedule, else 2.
size_t FirstSlotNumber(const Optimizer& optimizer);

// In the order of their numbers, the first of which is `first`.
std::vector<SlotPath> SlotPaths(const Graph& graph, const Optimizer& optimizer,
                                size_t first);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_SLOT_PATHS_H_
