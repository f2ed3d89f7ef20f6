// Config keys that Keras' optimizers share.
#ifndef PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_
#define PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/check.h"
#include "common/config/field_table.h"
#include "common/limits.h"
#include "common/optimizer/clipping.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

inline Accessors<Optimizer, std::optional<double>> ClippingBound(
    std::optional<double> Clipping::*bound) {
  return {
      [bound](const Optimizer& optimizer) { return optimizer.clipping.*bound; },
      [bound](Optimizer& optimizer, std::optional<double> value) {
        optimizer.clipping.*bound = value;
      }};
}

// What Keras accepts.
inline Check AccumulationSteps() {
  return {
      absl::StrCat("0, or from 2 to ", limits::kMaxSteps), [](double steps) {
        return steps == 0 ||
               (steps >= 2 && steps <= static_cast<double>(limits::kMaxSteps));
      }};
}

// The fields of optimizer T: the shared ones and `own`, which are those of T or
// of a base class.
template <typename T, typename Owner = T>
std::vector<Field<T>> WithBaseFields(std::vector<Field<Owner>> own) {
  std::vector<Field<T>> fields = {
      Optional("name", &Optimizer::name, "Name of the optimizer."),
      Optional("learning_rate", &Optimizer::learning_rate,
               "Size of the updates, at least 0; a schedule changes it from "
               "step to step."),
      Optional("weight_decay", &Optimizer::weight_decay, AtLeast(0),
               "Decoupled weight decay: each update first subtracts variable · "
               "weight_decay · learning_rate."),
      NotWritten<Optimizer>(Optional(
          "exclude_from_weight_decay", &Optimizer::exclude_from_weight_decay,
          "Variables that have one of these strings in their own name, such as "
          "bias or gamma, do not decay. In Keras a method, and not in its "
          "files. Patterns are not supported yet.")),
      Optional("clipnorm", ClippingBound(&Clipping::norm), Above(0),
               "Bound of the norm of each variable's gradient."),
      Excluding({"clipnorm"},
                Optional("global_clipnorm",
                         ClippingBound(&Clipping::global_norm), Above(0),
                         "Bound of the norm of all gradients together. Under "
                         "asynchronous parameter servers of those of the "
                         "worker that pushes, else of the sum over workers.")),
      Excluding({"clipnorm", "global_clipnorm"},
                Optional("clipvalue", ClippingBound(&Clipping::value), Above(0),
                         "Bound of each element of the gradients.")),
      Optional("use_ema", &Optimizer::use_ema,
               "Whether each update averages the variables: average = "
               "ema_momentum · average + (1 - ema_momentum) · variable. In a "
               "job's model.keras the averages are in the variables' place; "
               "evaluations and other exports are of the variables."),
      Optional("ema_momentum", &Optimizer::ema_momentum, Between(0, 1),
               "Momentum of the averages, which the first update sets to the "
               "variables."),
      Optional("ema_overwrite_frequency", &Optimizer::ema_overwrite_frequency,
               AtLeast(0),
               "Every so many updates the variables take their averages; null "
               "or 0: never in training."),
      Only("loss_scale_factor", nullptr, "Factor of the loss."),
      Optional(
          "gradient_accumulation_steps",
          &Optimizer::gradient_accumulation_steps, AccumulationSteps(),
          "Calls of the optimizer for one update, by the mean of their "
          "gradients; null or 0: each call updates. Schedules count calls, "
          "and averages and constraints follow each. A call is a step; "
          "under asynchronous parameter servers it is a push, whose "
          "gradients are clipped before."),
  };
  std::move(own.begin(), own.end(), std::back_inserter(fields));
  return fields;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_
