#include "common/keras/slot_paths.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/keras/weight_paths.h"

namespace paceline {
namespace {

// A variable that the optimizer updates, and how many of the formulas' slots it
// has.
struct Trained {
  int variable = 0;
  int slot_count = 0;
};

// In the order of Keras' model.trainable_variables.
std::vector<Trained> TrainedVariables(const Graph& graph,
                                      const Optimizer& optimizer) {
  std::vector<Trained> trained;
  for (const WeightPath& each : WeightPaths(graph.tree)) {
    const VariableSpec& variable = graph.variables[each.variable];
    if (!variable.is_trained()) continue;
    trained.push_back({each.variable,
                       optimizer.SlotCountOf({variable.name, variable.shape})});
  }
  return trained;
}

}  // namespace

size_t FirstSlotNumber(const Optimizer& optimizer) {
  return optimizer.learning_rate.schedule != nullptr ? 1 : 2;
}

std::vector<SlotPath> SlotPaths(const Graph& graph, const Optimizer& optimizer,
                                size_t first) {
  const std::vector<Trained> trained = TrainedVariables(graph, optimizer);
  std::vector<SlotPath> paths;
  size_t next = first;
  const auto add = [&](int variable, int slot) {
    paths.push_back({variable, slot, absl::StrCat(kOptimizerGroup, next++)});
  };
  // Slots [begin, end) of formulas, variable by variable.
  const auto add_slots = [&](int begin, int end) {
    for (const Trained& each : trained) {
      for (int slot = begin; slot < std::min(end, each.slot_count); ++slot) {
        add(each.variable, slot);
      }
    }
  };
  // A slot behind those of formulas, of all variables.
  const auto add_last = [&](size_t slot) {
    for (const Trained& each : trained) {
      add(each.variable, static_cast<int>(slot));
    }
  };
  const size_t all = optimizer.slot_names().size();
  if (optimizer.use_ema) add_last(all - 1);
  if (optimizer.accumulates()) add_last(optimizer.AccumulatorSlotOf(all));
  const int slot_count =
      static_cast<int>(optimizer.formula_slot_names().size());
  const int paired = optimizer.paired_slot_count();
  add_slots(0, paired);
  for (int slot = paired; slot < slot_count; ++slot) add_slots(slot, slot + 1);
  return paths;
}

}  // namespace paceline
