// Keras' L1, L2 and L1L2.
#ifndef PACELINE_COMMON_MODEL_REGULARIZER_H_
#define PACELINE_COMMON_MODEL_REGULARIZER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace paceline {

class Path;
class Value;
struct ClassReference;

// Adds l1·Σ|w| + l2·Σw² to the loss. Zeros: no regularizer.
struct Regularizer {
  double l1 = 0;
  double l2 = 0;
  // Keras' class name in configs; empty: null.
  std::string class_name = "";

  bool is_zero() const { return l1 == 0 && l2 == 0; }
};

// Reads null, a name ("l2") or a Keras object; writes Keras' serialised form.
// See codec.h.
absl::Status ReadConfig(const Value& value, const Path& path, Regularizer& out);
Value WriteConfig(const Regularizer& regularizer);
std::string ConfigType(const Regularizer*);

// The references of all regularizers, by class name.
std::vector<ClassReference> RegularizerReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_REGULARIZER_H_
