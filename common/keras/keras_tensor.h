// Tensors in the configs of Functional models: the outputs of calls of layers.
#ifndef PACELINE_COMMON_KERAS_KERAS_TENSOR_H_
#define PACELINE_COMMON_KERAS_KERAS_TENSOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Which output of which call a tensor is: ["name", call, output].
struct KerasHistory {
  std::string layer;
  // From 0; but in `output_layers` the calls of a Functional count from 1.
  int call = 0;
  // 0, but of a model with several outputs.
  int output = 0;
};
absl::StatusOr<KerasHistory> ReadKerasHistory(const Value& value,
                                              const Path& path);

// The name of a call of a layer: that of the layer for call 0.
std::string NameOfCall(absl::string_view layer, int call);
// The name of a tensor in a job (output_name.h).
std::string NameOfTensor(const KerasHistory& history);

// Whether an argument of a call is a tensor.
bool IsTensor(const Value& value);
// What gives a tensor: {config: {keras_history: ["name", 0, 0]}}.
absl::StatusOr<KerasHistory> HistoryOfTensor(const Value& tensor,
                                             const Path& path);

// The keyword arguments of a call, an entry of `inbound_nodes`; empty if it has
// none.
const Value::Map& KeywordsOf(const Value& call);

// Whether an entry of a Functional's layers is an operation such as x + y.
bool IsOperation(const Value& entry);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_KERAS_TENSOR_H_
