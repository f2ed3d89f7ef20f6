#include "worker/device/program/lowered_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/operations/reshape.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Notes what is added, instead of making a program of it.
class RecordingBuilder final : public LayoutBuilder {
 public:
  // Its products multiply bfloat16.
  explicit RecordingBuilder(const ProgramSpec& spec)
      : LayoutBuilder(
            spec, DataType::kFloat32, [](int) { return nullptr; },
            [](int) { return nullptr; }) {}

  // Names of operations, and "bucket" where one is ready.
  std::vector<std::string> TakeAdded() { return std::exchange(added_, {}); }
  std::vector<Section> TakeSections() {
    std::vector<Section> sections;
    for (const ProgramLayout::SectionEnd& each : TakeLayout({}).sections) {
      sections.push_back(each.section);
    }
    return sections;
  }
  void AddOperation() { NoteOperation({}); }
  DataType compute_type() const override { return DataType::kBFloat16; }
  // Blocks that operations have written.
  size_t written_count() const { return written_.size(); }

  Tensor* AddCall(const PlacedCall& call) override {
    added_.emplace_back(call.operation.name());
    NoteOperation({});
    if (call.operation.name() == op::ReshapeOperation::kName) {
      return Reshaped(call.inputs[0], call.output_type.shape);
    }
    Tensor* const output = InPlaceOutputOf(call, *this);
    written_.insert(output->memory);
    return output;
  }
  void AddCopy(const Tensor* /*from*/, const Tensor* /*to*/) override {
    added_.push_back("copy");
  }

  void AddDoublesCopy(const Tensor* /*from*/, int64_t /*from_begin*/,
                      const Tensor* /*to*/, int64_t /*to_begin*/,
                      int64_t /*count*/) override {}
  void AddSumAllReduce(const Tensor* /*sums*/) override {}
  Tensor* AddRegularizationScale() override { return NewTensor<float>({}); }

  Tensor* NewMoved(const Tensor* from, Shape shape) override {
    return NewTensor(std::move(shape), from->type);
  }
  Tensor* NewConstant(Shape shape, std::vector<float> /*values*/) override {
    return NewOutsideArena(std::move(shape));
  }
  void NoteOverwriting(const Tensor* /*tensor*/) override {}
  void AddBoxRead(const Tensor* /*from*/, const BoxAxes& /*box*/,
                  const Tensor* /*to*/) override {}
  void AddBoxWrite(const Tensor* /*from*/, const BoxAxes& /*box*/,
                   const Tensor* /*to*/) override {}
  void AddPadding(const Tensor* /*from*/, const BoxAxes& /*box*/,
                  double /*value*/, const Tensor* /*to*/) override {}
  void AddPermutation(const Tensor* /*from*/, const PermutedAxes& /*axes*/,
                      const Tensor* /*to*/) override {}
  void AddLoop(const std::vector<const Tensor*>& /*used*/, int64_t /*steps*/,
               absl::FunctionRef<void()> add_body) override {
    AddLoopBody(add_body);
    NoteOperation({});
  }
  void AddSum(const Tensor* /*a*/, const Tensor* /*b*/,
              const Tensor* /*sum*/) override {
    added_.push_back("sum");
    NoteOperation({});
  }
  void AddRowSums(const Tensor* /*from*/, const RowGeometry& /*rows*/,
                  const Tensor* /*sums*/) override {}
  void AddRowMaxima(const Tensor* /*from*/, const RowGeometry& /*rows*/,
                    const Tensor* /*maxima*/) override {}

 private:
  void AddBucketEnd(int /*bucket*/, bool /*is_last*/) override {
    added_.push_back("bucket");
  }
  void AddPenaltyGradient(const Regularizer& /*regularizer*/,
                          const Tensor* /*values*/,
                          const Tensor* /*gradients*/) override {
    added_.push_back("penalty");
  }

  std::vector<std::string> added_;
  std::set<const Memory*> written_;
};

// The last of these layers, in a program that trains them.
class TrainedLayer {
 public:
  explicit TrainedLayer(const std::string& layers,
                        bool stores_compute_type = false)
      : model_({.layers = *ReadYaml(
                    absl::StrCat("[Input: {shape: [5]}, ", layers, "]"),
                    "model", limits::kMaxJobBytes)}),
        spec_(model_.Spec(Mode::kTrain, /*batch_size=*/4)),
        builder_(spec_),
        node_(node(),
              MakeNodeFunction(
                  model_.graph(), node(),
                  {.batch_size = 4, .stores_compute_type = stores_compute_type},
                  [](const op::Operation&, absl::Span<const op::TensorType>) {
                    return true;
                  })) {}

  std::vector<std::string> AddForward(
      DataType input_type = DataType::kFloat32) {
    Tensor* const input = builder_.NewTensor(
        builder_.BatchShape(
            model_.graph().nodes[node().inputs[0]].output_shape),
        input_type);
    output_ = node_.AddForward({input}, builder_);
    return builder_.TakeAdded();
  }
  std::vector<std::string> AddBackward(bool wants_input,
                                       bool is_shared = false) {
    gradient_ = builder_.NewTensor(output_->shape, output_->type);
    input_gradient_ =
        node_
            .AddBackward({.tensor = gradient_, .is_shared = is_shared},
                         /*before_activation=*/{}, {wants_input}, builder_)[0]
            .tensor;
    return builder_.TakeAdded();
  }

  // Of the layer before it in the model.
  void AddLaterOperation() { builder_.AddOperation(); }
  std::vector<Section> TakeSections() { return builder_.TakeSections(); }
  size_t written_count() const { return builder_.written_count(); }
  const Tensor* output() const { return output_; }
  // By the output, and by the input.
  const Tensor* gradient() const { return gradient_; }
  const Tensor* input_gradient() const { return input_gradient_; }

 private:
  const Node& node() const { return model_.graph().nodes.back(); }

  const ModelUnderTest model_;
  const ProgramSpec spec_;
  RecordingBuilder builder_;
  LoweredNode node_;
  const Tensor* output_ = nullptr;
  Tensor* gradient_ = nullptr;
  const Tensor* input_gradient_ = nullptr;
};

// The gradient of the kernel is known before the last product reads the
// kernel, and lies where it must without a copy.
TEST(LoweredNodeTest, ABucketIsFinalAfterTheLastReaderOfItsVariables) {
  TrainedLayer layer("Dense: {units: 3}");
  EXPECT_THAT(layer.AddForward(), ElementsAre("MatrixProduct"));
  EXPECT_THAT(
      layer.AddBackward(/*wants_input=*/true),
      ElementsAre("MatrixProduct", "Reshape", "bucket", "MatrixProduct"));
  EXPECT_NE(layer.input_gradient(), nullptr);
  const std::vector<Section> sections = layer.TakeSections();
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_THAT(sections[0].ready_buckets, ElementsAre(0));
  EXPECT_THAT(sections[0].final_buckets, IsEmpty());
  EXPECT_THAT(sections[1].ready_buckets, IsEmpty());
  EXPECT_THAT(sections[1].final_buckets, ElementsAre(0));
}

// Each call of a layer writes a part of the gradient. The bucket is ready after
// the last part, and final after the last read.
TEST(LayoutBuilderTest, SumsThePartsOfGradientsThatCallsWrite) {
  const ModelUnderTest model(
      {.layers = *ReadYaml("[Input: {shape: [5]}, Dense: {units: 5, use_bias:"
                           " false, kernel_regularizer: l2},"
                           " Call: {layer: dense}]",
                           "model", limits::kMaxJobBytes)});
  const ProgramSpec spec = model.Spec(Mode::kTrain, /*batch_size=*/4);
  RecordingBuilder builder(spec);
  const Tensor* const first = builder.NewGradientPart(0);
  EXPECT_EQ(first, builder.gradient(0));
  builder.AddOperation();
  builder.FinishGradient(0, first);
  builder.FinishReads(0);
  const Tensor* const second = builder.NewGradientPart(0);
  EXPECT_NE(second->memory, first->memory);
  builder.AddOperation();
  builder.FinishGradient(0, second);
  EXPECT_THAT(builder.TakeAdded(), ElementsAre("sum", "penalty", "bucket"));
  builder.AddOperation();
  builder.FinishReads(0);
  const std::vector<Section> sections = builder.TakeSections();
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_THAT(sections[0].ready_buckets, ElementsAre(0));
  EXPECT_THAT(sections[0].final_buckets, IsEmpty());
  EXPECT_THAT(sections[1].final_buckets, ElementsAre(0));
}

TEST(LoweredNodeTest, ASectionEndsWhereABucketIsFinal) {
  TrainedLayer layer("Dense: {units: 3}");
  layer.AddForward();
  layer.AddBackward(/*wants_input=*/true);
  layer.AddLaterOperation();
  const std::vector<Section> sections = layer.TakeSections();
  ASSERT_EQ(sections.size(), 3u);
  EXPECT_THAT(sections[0].ready_buckets, ElementsAre(0));
  EXPECT_THAT(sections[1].final_buckets, ElementsAre(0));
  EXPECT_THAT(sections[2].final_buckets, IsEmpty());
}

TEST(LoweredNodeTest, BackwardHasNothingThatNobodyWants) {
  TrainedLayer layer("Dense: {units: 3}");
  layer.AddForward();
  EXPECT_THAT(layer.AddBackward(/*wants_input=*/false),
              ElementsAre("MatrixProduct", "Reshape", "bucket"));
  EXPECT_EQ(layer.input_gradient(), nullptr);
  const std::vector<Section> sections = layer.TakeSections();
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_THAT(sections[0].ready_buckets, ElementsAre(0));
  EXPECT_THAT(sections[0].final_buckets, ElementsAre(0));

  TrainedLayer frozen("Dense: {units: 3, trainable: false}");
  frozen.AddForward();
  EXPECT_THAT(frozen.AddBackward(/*wants_input=*/true),
              ElementsAre("MatrixProduct"));
}

TEST(LoweredNodeTest, AnActivationWritesOverTheProduct) {
  const auto written_count = [](const std::string& activation) {
    TrainedLayer layer(
        absl::StrCat("Dense: {units: 3, activation: ", activation, "}"));
    layer.AddForward();
    return layer.written_count();
  };
  EXPECT_EQ(written_count("relu"), 1u);
  // Its backward reads what goes in.
  EXPECT_EQ(written_count("silu"), 2u);
  // A loss may read the logits.
  EXPECT_EQ(written_count("sigmoid"), 2u);
}

TEST(LoweredNodeTest, ASharedGradientIsNotWrittenOver) {
  for (const bool is_shared : {false, true}) {
    TrainedLayer layer("Dense: {units: 3}, ReLU: {}");
    layer.AddForward();
    EXPECT_THAT(layer.AddBackward(/*wants_input=*/true, is_shared),
                ElementsAre("Elementwise"));
    EXPECT_EQ(layer.input_gradient() == layer.gradient(), !is_shared);
  }
}

TEST(LoweredNodeTest, OutputsAreOfTheComputeTypeWhereThatIsAsked) {
  const auto type_of_output = [](bool stores_compute_type) {
    TrainedLayer layer("Dense: {units: 3}", stores_compute_type);
    layer.AddForward();
    return layer.output()->type;
  };
  EXPECT_EQ(type_of_output(true), DataType::kBFloat16);
  EXPECT_EQ(type_of_output(false), DataType::kFloat32);
}

TEST(LoweredNodeTest, AGradientLiesAsTheInputDoes) {
  for (const DataType type : {DataType::kBFloat16, DataType::kFloat32}) {
    TrainedLayer layer("Dense: {units: 3}");
    layer.AddForward(type);
    layer.AddBackward(/*wants_input=*/true);
    EXPECT_EQ(layer.input_gradient()->type, type);
  }
}

// The sums for gamma and beta are one call, and the statistics of forward are
// not computed again.
TEST(LoweredNodeTest, ANormalizationFinishesGammaAndBetaTogether) {
  TrainedLayer layer("LayerNormalization: {}");
  EXPECT_THAT(layer.AddForward(),
              ElementsAre("Reshape", "GroupNormalization", "Reshape"));
  EXPECT_THAT(layer.AddBackward(/*wants_input=*/true),
              ElementsAre("Reshape", "GroupNormalizationGammaGradient",
                          "bucket", "GroupNormalizationGradient", "Reshape"));
  EXPECT_EQ(layer.input_gradient()->memory, layer.gradient()->memory);
}

TEST(LoweredNodeTest, ANormalizationComputesTheGradientsThatAreWanted) {
  const auto backward = [](const std::string& options, bool wants_input) {
    TrainedLayer layer(absl::StrCat("LayerNormalization: {", options, "}"));
    layer.AddForward();
    return layer.AddBackward(wants_input);
  };
  EXPECT_THAT(backward("trainable: false", true),
              ElementsAre("Reshape", "GroupNormalizationGradient", "Reshape"));
  EXPECT_THAT(backward("scale: false", false),
              ElementsAre("Reshape", "Reduce", "Reshape", "bucket"));
  EXPECT_THAT(
      backward("center: false", false),
      ElementsAre("Reshape", "GroupNormalizationGammaGradient", "bucket"));
}

TEST(LoweredNodeTest, StatisticsAreFinalInForward) {
  TrainedLayer layer("BatchNormalization: {center: false, scale: false}");
  EXPECT_THAT(layer.AddForward(),
              ElementsAre("BatchMoments", "ChannelNormalization", "Cast",
                          "Elementwise", "Cast", "Elementwise", "bucket"));
  EXPECT_THAT(
      layer.AddBackward(/*wants_input=*/true),
      ElementsAre("ChannelGradientSums", "ChannelNormalizationGradient"));
}

TEST(LoweredNodeTest, AFrozenNormalizationHasNoStatisticsAndNoSums) {
  TrainedLayer layer("BatchNormalization: {trainable: false}");
  EXPECT_THAT(layer.AddForward(), ElementsAre("ChannelNormalization"));
  EXPECT_THAT(layer.AddBackward(/*wants_input=*/true),
              ElementsAre("ChannelNormalizationGradient"));
}

TEST(LoweredNodeTest, ReplicasAllReduceEvenIfNobodyWantsTheGradientByTheInput) {
  TrainedLayer layer(
      "BatchNormalization: {synchronized: true, center: false, scale: false}");
  layer.AddForward();
  EXPECT_THAT(layer.AddBackward(/*wants_input=*/false),
              ElementsAre("ChannelGradientSums", "SumOverReplicas"));
}

// The output in the compute type, the gradient by the input in the type of the
// input; over the gradient by the output, if that is the same.
TEST(LoweredNodeTest, TheComputeTypePassesThrough) {
  for (const DataType input : {DataType::kFloat32, DataType::kBFloat16}) {
    for (const bool stores_compute_type : {false, true}) {
      TrainedLayer layer("BatchNormalization: {}", stores_compute_type);
      layer.AddForward(input);
      const DataType output =
          stores_compute_type ? DataType::kBFloat16 : DataType::kFloat32;
      EXPECT_EQ(layer.output()->type, output);
      layer.AddBackward(/*wants_input=*/true);
      EXPECT_EQ(layer.input_gradient()->type, input);
      EXPECT_EQ(layer.input_gradient() == layer.gradient(), input == output);
    }
  }
}

}  // namespace
}  // namespace paceline
