// A model as a graph of ONNX, without the values of its variables.
#ifndef PACELINE_COMMON_ONNX_ONNX_MODEL_H_
#define PACELINE_COMMON_ONNX_ONNX_MODEL_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/model/graph.h"
#include "common/onnx/onnx_graph.h"
#include "onnx/onnx_pb.h"

namespace paceline {

// What runtimes of the last years read.
inline constexpr int kOnnxIrVersion = 7;
inline constexpr int kOnnxOpset = 13;

struct OnnxModel {
  onnx::ModelProto proto;
  // The variables that the graph reads, by the names of their initializers,
  // which the proto lacks.
  std::map<std::string, OnnxVariable> variables;
};

// The model as it predicts, for any size of the batch. Its inputs and outputs
// are float32 and have the names of the layers that they belong to, with a
// suffix if the name is taken. Unimplemented if a layer needs an operation that
// has no form in ONNX; names both.
absl::StatusOr<OnnxModel> MakeOnnxModel(const Graph& graph);

}  // namespace paceline

#endif  // PACELINE_COMMON_ONNX_ONNX_MODEL_H_
