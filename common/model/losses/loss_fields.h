// Config keys that Keras' losses share, for their field tables.
#ifndef PACELINE_COMMON_MODEL_LOSSES_LOSS_FIELDS_H_
#define PACELINE_COMMON_MODEL_LOSSES_LOSS_FIELDS_H_

#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/loss.h"

namespace paceline {

// "name"; null means the default of the class.
Field<Loss> LossNameField();

// "reduction": the mean over the batch, by any of its names, or the mean that
// weights of examples weigh.
Field<Loss> ReductionField();

// The fields of loss L: those of Keras' base class, then its own. Keras reads a
// dtype, but does not write it.
template <typename L>
std::vector<Field<L>> LossFields(std::vector<Field<L>> own) {
  std::vector<Field<L>> fields = {LossNameField(), ReductionField()};
  return Joined<L>(
      {std::move(fields), std::move(own), {NotWritten(DtypeField())}});
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_LOSS_FIELDS_H_
