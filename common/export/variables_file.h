// A model's variables as a `.safetensors` file, by their names.
#ifndef PACELINE_COMMON_EXPORT_VARIABLES_FILE_H_
#define PACELINE_COMMON_EXPORT_VARIABLES_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/model/graph.h"
#include "common/onnx/onnx_writer.h"

namespace paceline {

// Writes them to `path`, atomically, and as `step` the updates that the
// optimizer has made. Errors are those of WriteSafetensors and `read`. Blocks
// on the disk.
absl::Status WriteVariablesFile(const std::string& path, const Graph& graph,
                                int64_t iterations, const VariableReader& read);

}  // namespace paceline

#endif  // PACELINE_COMMON_EXPORT_VARIABLES_FILE_H_
