#include "common/model/layers/dropout.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<Dropout>& Dropout::Fields() {
  static const auto& table = *new FieldTable<Dropout>(
      kClassName, "Drops elements at random in training.",
      LayerFields<Dropout>(DropoutFields<Dropout>()));
  return table;
}

}  // namespace paceline
