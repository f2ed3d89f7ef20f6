// Config keys that Keras' optimizers share.
#ifndef PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_
#define PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_

#include <optional>
#include <utility>
#include <vector>

#include "common/config/field_table.h"
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

// The fields of optimizer T: the shared ones and `own`.
template <typename T>
std::vector<Field<T>> WithBaseFields(Field<T> weight_decay,
                                     std::vector<Field<T>> own) {
  std::vector<Field<T>> fields = {
      Optional("name", &Optimizer::name, "Name of the optimizer."),
      Optional("learning_rate", &Optimizer::learning_rate,
               "Size of the updates, at least 0; a schedule changes it from "
               "step to step."),
      std::move(weight_decay),
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
      Only("use_ema", false, "Whether variables are averaged."),
      Ignored("ema_momentum", 0.99,
              "Momentum of the averages; unused without them."),
      Only("ema_overwrite_frequency", nullptr,
           "Steps after which averages overwrite the variables."),
      Only("loss_scale_factor", nullptr, "Factor of the loss."),
      Only("gradient_accumulation_steps", nullptr,
           "Gradients averaged into one update."),
  };
  return Joined<T>({std::move(fields), std::move(own)});
}

// The same for an optimizer that does not support weight decay yet.
template <typename T>
std::vector<Field<T>> WithBaseFields(std::vector<Field<T>> own) {
  return WithBaseFields<T>(
      Only("weight_decay", nullptr, "Decoupled weight decay."), std::move(own));
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_
