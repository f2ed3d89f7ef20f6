// Writes trained models as files of ONNX.
#ifndef PACELINE_COMMON_ONNX_ONNX_WRITER_H_
#define PACELINE_COMMON_ONNX_ONNX_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/graph.h"

namespace paceline {

// Reads elements of a variable, from element `begin` on.
using VariableReader = std::function<absl::Status(
    absl::string_view variable, int64_t begin, absl::Span<float> out)>;

// Writes the model of MakeOnnxModel to `path`, atomically. Values are read as
// they are written, at most 1 MiB or a kernel of a convolution at a time, so
// memory does not grow with the model. ResourceExhausted if the file would be
// larger than the 2 GB that a message of protobuf may have; else errors are
// those of MakeOnnxModel and of `read`, or name the path. Blocks on the disk.
absl::Status WriteOnnx(const std::string& path, const Graph& graph,
                       const VariableReader& read);

}  // namespace paceline

#endif  // PACELINE_COMMON_ONNX_ONNX_WRITER_H_
