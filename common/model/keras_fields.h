// Config keys that many Keras classes share, for their field tables.
#ifndef PACELINE_COMMON_MODEL_KERAS_FIELDS_H_
#define PACELINE_COMMON_MODEL_KERAS_FIELDS_H_

#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/axis_list.h"
#include "common/model/layer.h"
#include "common/model/regularizer.h"

namespace paceline {

// "dtype": float32, as a name or a DTypePolicy; written as a name, which all
// releases of Keras read.
FixedField DtypeField();

// "activity_regularizer", where Keras' base class writes it: unless it is null.
Field<Layer> ActivityRegularizerField();
// The same key where other classes write it: if it is null.
Field<Layer> NullActivityRegularizerField();

// The fields of a layer without a penalty on its output: those of Keras' base
// class, then its own. A class of Keras without a get_config() has its own
// `behind_name`.
template <typename L>
std::vector<Field<L>> UnpenalizedLayerFields(
    std::vector<Field<L>> own, std::vector<Field<L>> behind_name = {}) {
  std::vector<Field<L>> name = {
      Optional("name", &Layer::name, "Unique in the model.")};
  std::vector<Field<L>> rest = {
      Optional("trainable", &Layer::trainable,
               "Whether training changes its variables."),
      DtypeField()};
  return Joined<L>({std::move(name), std::move(behind_name), std::move(rest),
                    std::move(own)});
}

// The fields of a layer that may have one.
template <typename L>
std::vector<Field<L>> LayerFields(std::vector<Field<L>> own,
                                  std::vector<Field<L>> behind_name = {}) {
  own.insert(own.begin(), ActivityRegularizerField());
  return UnpenalizedLayerFields<L>(std::move(own), std::move(behind_name));
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_KERAS_FIELDS_H_
