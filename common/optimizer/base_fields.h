// The config keys that Keras' optimizers have in common.
#ifndef PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_
#define PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_

#include <utility>
#include <vector>

#include "common/config/field_table.h"

namespace paceline {

// The fields of optimizer T: the common ones and `own`. T has the members
// `name` and `learning_rate`.
template <typename T>
std::vector<Field<T>> WithBaseFields(std::vector<Field<T>> own) {
  std::vector<Field<T>> fields = {
      Optional("name", &T::name, "Name of the optimizer."),
      Optional("learning_rate", &T::learning_rate,
               "Size of the updates, at least 0."),
      Only("weight_decay", nullptr, "Decoupled weight decay."),
      Only("clipnorm", nullptr, "Bound of each gradient's norm."),
      Only("global_clipnorm", nullptr, "Bound of all gradients' norm."),
      Only("clipvalue", nullptr, "Bound of each element of the gradients."),
      Only("use_ema", false, "Whether variables are averaged."),
      Ignored("ema_momentum", "Momentum of the averages; unused without them."),
      Only("ema_overwrite_frequency", nullptr,
           "Steps after which averages overwrite the variables."),
      Only("loss_scale_factor", nullptr, "Factor of the loss."),
      Only("gradient_accumulation_steps", nullptr,
           "Gradients averaged into one update."),
  };
  for (Field<T>& field : own) fields.push_back(std::move(field));
  return fields;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_BASE_FIELDS_H_
