#include "common/onnx/onnx_writer.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "onnx/checker.h"
#include "tests/interop/expected_models.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph DenseOf(int64_t inputs, int64_t units) {
  absl::StatusOr<Graph> graph = GraphOfLayers(
      {{{"Input", {{"shape", {inputs}}}}}, {{"Dense", {{"units", units}}}}});
  CHECK(graph.ok()) << graph.status();
  return *std::move(graph);
}

class OnnxWriterTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = ::testing::TempDir() + "onnx_writer_test." +
                            std::to_string(getpid()) + ".onnx";
};

TEST_F(OnnxWriterTest, WritesEveryElementOfTheVariables) {
  // The kernel takes more than one read.
  const Graph graph = DenseOf(700, 600);
  const auto read = [&](absl::string_view variable, int64_t begin,
                        absl::Span<float> out) {
    return ReadExpectedVariable(graph, 1, variable, begin, out);
  };
  ASSERT_TRUE(WriteOnnx(path_, graph, read).ok());
  onnx::ModelProto model;
  std::ifstream file(path_, std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&file));
  EXPECT_NO_THROW(onnx::checker::check_model(model));
  ASSERT_EQ(model.graph().initializer_size(), 2);
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    std::vector<float> expected(tensor.raw_data().size() / sizeof(float));
    ASSERT_TRUE(read(tensor.name(), 0, absl::MakeSpan(expected)).ok());
    const std::string bytes(reinterpret_cast<const char*>(expected.data()),
                            tensor.raw_data().size());
    EXPECT_TRUE(tensor.raw_data() == bytes) << tensor.name();
  }
  EXPECT_EQ(model.graph().initializer(1).raw_data().size(), 700u * 600 * 4);
}

TEST_F(OnnxWriterTest, PermutesKernels) {
  const absl::StatusOr<Graph> graph = GraphOfLayers(
      {{{"Input", {{"shape", {4, 5, 2}}}}},
       {{"Conv2D",
         {{"filters", 3}, {"kernel_size", {2, 1}}, {"use_bias", false}}}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto counted = [](absl::string_view, int64_t begin,
                          absl::Span<float> out) {
    for (float& value : out) value = static_cast<float>(begin++);
    return absl::OkStatus();
  };
  ASSERT_TRUE(WriteOnnx(path_, *graph, counted).ok());
  onnx::ModelProto model;
  std::ifstream file(path_, std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&file));
  const onnx::TensorProto& kernel = model.graph().initializer(0);
  EXPECT_THAT(kernel.dims(), ElementsAre(3, 2, 2, 1));
  std::vector<float> values(12);
  ASSERT_EQ(kernel.raw_data().size(), values.size() * sizeof(float));
  std::memcpy(values.data(), kernel.raw_data().data(),
              kernel.raw_data().size());
  // By filter, channel, row.
  EXPECT_THAT(values, ElementsAre(0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11));
}

TEST_F(OnnxWriterTest, RefusesWhatAMessageOfProtobufCannotHave) {
  const absl::Status status =
      WriteOnnx(path_, DenseOf(30000, 20000), /*read=*/nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a file of ONNX has at most 2147483647"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(OnnxWriterTest, AnErrorOfAReadLeavesNoFile) {
  const absl::Status status = WriteOnnx(
      path_, DenseOf(2, 3), [](absl::string_view, int64_t, absl::Span<float>) {
        return absl::DataLossError("shard 1");
      });
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace paceline
