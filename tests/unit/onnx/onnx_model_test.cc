#include "common/onnx/onnx_model.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "onnx/checker.h"
#include "onnx/shape_inference/implementation.h"
#include "tests/interop/expected_models.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

OnnxModel ModelOf(const std::string& layers) {
  absl::StatusOr<Graph> graph =
      GraphOfLayers(nlohmann::ordered_json::parse(layers));
  CHECK(graph.ok()) << graph.status();
  absl::StatusOr<OnnxModel> model = MakeOnnxModel(*graph);
  CHECK(model.ok()) << model.status();
  return *std::move(model);
}

std::vector<std::string> NodesOf(const OnnxModel& model) {
  std::vector<std::string> types;
  for (const onnx::NodeProto& node : model.proto.graph().node()) {
    types.push_back(node.op_type());
  }
  return types;
}

std::vector<std::string> NamesOf(
    const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values) {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& value : values) {
    names.push_back(value.name());
  }
  return names;
}

// The sizes of a value; its symbols, where it has no size.
std::vector<std::string> SizesOf(const onnx::ValueInfoProto& value) {
  std::vector<std::string> sizes;
  for (const auto& size : value.type().tensor_type().shape().dim()) {
    sizes.push_back(size.has_dim_param() ? size.dim_param()
                                         : std::to_string(size.dim_value()));
  }
  return sizes;
}

// Adds the variables as inputs without values, so that the graph is whole.
void AddVariables(OnnxModel& model) {
  for (const auto& [name, variable] : model.variables) {
    onnx::ValueInfoProto& input = *model.proto.mutable_graph()->add_input();
    input.set_name(name);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape();
    for (const int64_t size : variable.permuted_shape()) {
      type.mutable_shape()->add_dim()->set_dim_value(size);
    }
  }
}

TEST(OnnxModelTest, CheckerAndShapeInferenceOfOnnxAcceptEveryExpectedModel) {
  for (const auto& expected : ReadExpectedModels(PACELINE_SOURCE_DIR)) {
    SCOPED_TRACE(expected["name"].get<std::string>());
    const absl::StatusOr<Graph> graph = GraphOfLayers(expected["layers"]);
    ASSERT_TRUE(graph.ok()) << graph.status();
    absl::StatusOr<OnnxModel> model = MakeOnnxModel(*graph);
    ASSERT_TRUE(model.ok()) << model.status();
    AddVariables(*model);
    EXPECT_NO_THROW(onnx::checker::check_model(model->proto));
    onnx::ShapeInferenceOptions options;
    options.check_type = true;
    options.error_mode = 1;
    EXPECT_NO_THROW(onnx::shape_inference::InferShapes(
        model->proto, onnx::OpSchemaRegistry::Instance(), options));
  }
}

TEST(OnnxModelTest, InputsAndOutputsHaveTheModelsNamesAndAnyBatch) {
  const OnnxModel model = ModelOf(R"([
      {"Input": {"shape": [4, 3], "name": "grid"}},
      {"Input": {"shape": [12], "name": "row"}},
      {"Flatten": {}, "inputs": ["grid"]},
      {"Add": {}, "inputs": ["flatten", "row"]},
      {"Dense": {"units": 5, "name": "digit"}}])");
  const onnx::GraphProto& graph = model.proto.graph();
  EXPECT_THAT(NamesOf(graph.input()), ElementsAre("grid", "row"));
  EXPECT_THAT(NamesOf(graph.output()), ElementsAre("digit"));
  EXPECT_THAT(SizesOf(graph.input(0)), ElementsAre("batch", "4", "3"));
  EXPECT_THAT(SizesOf(graph.output(0)), ElementsAre("batch", "5"));
  EXPECT_THAT(NodesOf(model),
              ElementsAre("Reshape", "Add", "MatMul", "Add", "Identity"));
  EXPECT_EQ(graph.node(2).name(), "digit/MatMul");
}

TEST(OnnxModelTest, LeavesOutWhatOnlyTrainingReads) {
  const OnnxModel model = ModelOf(R"([
      {"Input": {"shape": [4]}},
      {"Dropout": {"rate": 0.5}},
      {"Dense": {"units": 5, "kernel_regularizer": "l2"}}])");
  EXPECT_THAT(NodesOf(model), ElementsAre("MatMul", "Add", "Identity"));
  ASSERT_EQ(model.variables.size(), 2u);
  EXPECT_TRUE(model.variables.contains("dense/kernel"));
}

TEST(OnnxModelTest, StoresKernelsInTheOrderOfOnnx) {
  const OnnxModel model = ModelOf(R"([
      {"Input": {"shape": [8, 9, 2]}},
      {"DepthwiseConv2D": {"kernel_size": [3, 4], "depth_multiplier": 5,
                           "use_bias": false, "name": "conv"}}])");
  EXPECT_THAT(NodesOf(model),
              ElementsAre("Transpose", "Conv", "Transpose", "Identity"));
  ASSERT_EQ(model.variables.size(), 1u);
  const OnnxVariable& kernel = model.variables.begin()->second;
  EXPECT_THAT(kernel.permuted_shape(), ElementsAre(10, 1, 3, 4));
}

TEST(OnnxModelTest, SaysWhoMadeItAndWhatItNeeds) {
  const OnnxModel model = ModelOf(R"([
      {"Input": {"shape": [4]}}, {"Dense": {"units": 5}}])");
  EXPECT_EQ(model.proto.producer_name(), "paceline");
  EXPECT_FALSE(model.proto.producer_version().empty());
  EXPECT_EQ(model.proto.ir_version(), kOnnxIrVersion);
  ASSERT_EQ(model.proto.opset_import_size(), 1);
  EXPECT_EQ(model.proto.opset_import(0).version(), kOnnxOpset);
}

}  // namespace
}  // namespace paceline
