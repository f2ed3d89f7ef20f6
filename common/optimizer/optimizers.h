// The list of all optimizers.
//
// This is the only such list: the code that reads jobs creates optimizers from
// it, and the code that updates variables gets the formulas from it.
#ifndef PACELINE_COMMON_OPTIMIZER_OPTIMIZERS_H_
#define PACELINE_COMMON_OPTIMIZER_OPTIMIZERS_H_

#include "common/base/joined_variant.h"
#include "common/optimizer/adadelta.h"
#include "common/optimizer/adagrad.h"
#include "common/optimizer/adam.h"
#include "common/optimizer/adamax.h"
#include "common/optimizer/adamw.h"
#include "common/optimizer/ftrl.h"
#include "common/optimizer/lamb.h"
#include "common/optimizer/lion.h"
#include "common/optimizer/muon.h"
#include "common/optimizer/nadam.h"
#include "common/optimizer/rmsprop.h"
#include "common/optimizer/sgd.h"

namespace paceline {

template <typename... Each>
struct OptimizerList {
  // Any formula of any of these optimizers.
  using Formula = JoinedVariant<typename Each::Formula...>;
};

using Optimizers = OptimizerList<Adadelta, Adagrad, Adam, Adamax, AdamW, Ftrl,
                                 Lamb, Lion, Muon, Nadam, RmsProp, Sgd>;

struct AnyFormula : Optimizers::Formula {
  using Optimizers::Formula::variant;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_OPTIMIZERS_H_
