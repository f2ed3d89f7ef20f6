// Every optimizer.
//
// This is the only list of them: who reads jobs makes optimizers by it, and
// who updates variables has their formulas by it.
#ifndef PACELINE_COMMON_OPTIMIZER_OPTIMIZERS_H_
#define PACELINE_COMMON_OPTIMIZER_OPTIMIZERS_H_

#include "common/base/joined_variant.h"
#include "common/optimizer/adam.h"
#include "common/optimizer/lamb.h"
#include "common/optimizer/muon.h"
#include "common/optimizer/rmsprop.h"
#include "common/optimizer/sgd.h"

namespace paceline {

template <typename... Each>
struct OptimizerList {
  // Of one of the formulas of each.
  using Formula = JoinedVariant<typename Each::Formula...>;
};

using Optimizers = OptimizerList<Adam, Lamb, Muon, RmsProp, Sgd>;

struct AnyFormula : Optimizers::Formula {
  using Optimizers::Formula::variant;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_OPTIMIZERS_H_
