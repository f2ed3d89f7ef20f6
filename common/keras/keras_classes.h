// Whether the classes that a Keras file names are Keras' own.
#ifndef PACELINE_COMMON_KERAS_KERAS_CLASSES_H_
#define PACELINE_COMMON_KERAS_KERAS_CLASSES_H_

#include "absl/status/status.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Unimplemented if a class that is not Keras' own is anywhere in `value`: a
// class of the same name may compute something else. Layers of class Lambda are
// refused by name later.
absl::Status CheckIsOfKeras(const Value& value, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_KERAS_CLASSES_H_
