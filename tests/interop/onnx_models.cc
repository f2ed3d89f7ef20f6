// Writes the models of keras_expected.json as files of ONNX, for onnx_test.py:
//
//   onnx_models FOLDER
//
// Prints the names of those that ONNX cannot have, and why.
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/onnx/onnx_writer.h"
#include "tests/interop/expected_models.h"

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2) << "usage: onnx_models FOLDER";
  for (const auto& expected :
       paceline::ReadExpectedModels(PACELINE_SOURCE_DIR)) {
    const absl::StatusOr<paceline::Graph> graph =
        paceline::GraphOfLayers(expected["layers"]);
    CHECK(graph.ok()) << graph.status();
    const std::string name = expected["name"];
    const double scale = expected["scale"];
    const absl::Status status = paceline::WriteOnnx(
        absl::StrCat(argv[1], "/", name, ".onnx"), *graph,
        [&](absl::string_view variable, int64_t begin, absl::Span<float> out) {
          return paceline::ReadExpectedVariable(*graph, scale, variable, begin,
                                                out);
        });
    if (!status.ok()) std::cout << name << ": " << status.message() << "\n";
  }
  return 0;
}
