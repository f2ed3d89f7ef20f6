// Recurrent layers, and layers in the configs of others.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A graph of the layer behind an Input of 4 steps.
absl::StatusOr<Graph> Behind4Steps(const std::string& layer) {
  return GraphOf(absl::StrCat("[Input: {shape: [4, 3]}, ", layer, "]"));
}

std::vector<std::string> VariablesOf(const Graph& graph) {
  std::vector<std::string> variables;
  for (const VariableSpec& variable : graph.variables) {
    variables.push_back(
        absl::StrCat(variable.name, ShapeToString(variable.shape)));
  }
  return variables;
}

TEST(RecurrentLayerTest, HasTheVariablesOfKeras) {
  const auto lstm = Behind4Steps("LSTM: {units: 2}");
  ASSERT_TRUE(lstm.ok()) << lstm.status();
  EXPECT_THAT(lstm->nodes[1].output_shape, ElementsAre(2));
  EXPECT_THAT(VariablesOf(*lstm),
              ElementsAre("lstm/kernel(3, 8)", "lstm/recurrent_kernel(2, 8)",
                          "lstm/bias(8,)"));
  const auto gru = Behind4Steps("GRU: {units: 2, return_sequences: true}");
  ASSERT_TRUE(gru.ok()) << gru.status();
  EXPECT_THAT(gru->nodes[1].output_shape, ElementsAre(4, 2));
  EXPECT_THAT(VariablesOf(*gru),
              ElementsAre("gru/kernel(3, 6)", "gru/recurrent_kernel(2, 6)",
                          "gru/bias(2, 6)"));
  const auto simple = Behind4Steps("SimpleRNN: {units: 2, use_bias: false}");
  ASSERT_TRUE(simple.ok()) << simple.status();
  EXPECT_THAT(VariablesOf(*simple),
              ElementsAre("simple_rnn/kernel(3, 2)",
                          "simple_rnn/recurrent_kernel(2, 2)"));
}

TEST(RecurrentLayerTest, ForgetGateBeginsWithABiasOf1) {
  const auto first_bias = [](const std::string& config) {
    const auto graph =
        Behind4Steps(absl::StrCat("LSTM: {units: 2, ", config, "}"));
    std::vector<float> bias(7);
    graph->variables[2].initializer->Fill(RandomKey(), {8}, /*begin=*/1,
                                          absl::MakeSpan(bias));
    return bias;
  };
  EXPECT_THAT(first_bias("name: a"), ElementsAre(0, 1, 1, 0, 0, 0, 0));
  EXPECT_THAT(first_bias("bias_initializer: {Constant: {value: 3}}"),
              ElementsAre(3, 1, 1, 3, 3, 3, 3));
  EXPECT_THAT(first_bias("unit_forget_bias: false"),
              ElementsAre(0, 0, 0, 0, 0, 0, 0));
}

TEST(BidirectionalTest, CopiesTheLayerForTheOtherDirection) {
  const auto graph = Behind4Steps(
      "Bidirectional: {layer: {LSTM: {units: 2, name: a, use_bias: false}}}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->nodes[1].output_shape, ElementsAre(4));
  EXPECT_THAT(VariablesOf(*graph),
              ElementsAre("bidirectional/forward_layer/kernel(3, 8)",
                          "bidirectional/forward_layer/recurrent_kernel(2, 8)",
                          "bidirectional/backward_layer/kernel(3, 8)",
                          "bidirectional/backward_layer/recurrent_kernel(2, "
                          "8)"));
}

TEST(TimeDistributedTest, HasTheVariablesOfItsLayer) {
  const auto graph = Behind4Steps(
      "TimeDistributed: {layer: {Dense: {units: 2, trainable: false}}}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->nodes[1].output_shape, ElementsAre(4, 2));
  EXPECT_THAT(VariablesOf(*graph),
              ElementsAre("time_distributed/layer/kernel(3, 2)",
                          "time_distributed/layer/bias(2,)"));
  EXPECT_FALSE(graph->variables[0].is_trained());
}

struct BadLayer {
  const char* layer;
  absl::StatusCode code;
  // Both in the message.
  const char* path;
  const char* reason;
};

void PrintTo(const BadLayer& bad, std::ostream* stream) {
  *stream << bad.layer;
}

class BadLayerTest : public ::testing::TestWithParam<BadLayer> {};

TEST_P(BadLayerTest, ErrorNamesTheKeyAndTheReason) {
  const auto graph = Behind4Steps(GetParam().layer);
  EXPECT_EQ(graph.status().code(), GetParam().code) << graph.status();
  const std::string message(graph.status().message());
  EXPECT_THAT(message, HasSubstr(GetParam().path));
  EXPECT_THAT(message, HasSubstr(GetParam().reason));
}

constexpr auto kWrong = absl::StatusCode::kInvalidArgument;
constexpr auto kNotYet = absl::StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    , BadLayerTest,
    ::testing::Values(
        BadLayer{"LSTM: {}", kWrong, "model.layers[1].units", "missing"},
        BadLayer{"LSTM: {units: 2, stateful: true}", kNotYet,
                 "model.layers[1].stateful", "true is not supported yet"},
        BadLayer{"GRU: {units: 2, return_state: true}", kNotYet,
                 "model.layers[1].return_state", "true is not supported yet"},
        BadLayer{"SimpleRNN: {units: 2, recurrent_dropout: 1}", kWrong,
                 "model.layers[1].recurrent_dropout", "1"},
        BadLayer{"Flatten: {}, LSTM: {units: 2}", kWrong, "LSTM \"lstm\"",
                 "(12,)"},
        BadLayer{"LSTM: {units: 2, unit_forget_bias: false, "
                 "bias_initializer: orthogonal}",
                 kWrong, "LSTM \"lstm\"", "2 or more axes"},
        BadLayer{"Bidirectional: {layer: {Dense: {units: 2}}}", kNotYet,
                 "model.layers[1].layer", "Dense"},
        BadLayer{"Bidirectional: {layer: {LSTM: {units: 2}}, "
                 "backward_layer: {GRU: {units: 2, go_backwards: true}}}",
                 kNotYet, "model.layers[1].backward_layer", "GRU"},
        BadLayer{"Bidirectional: {layer: {GRU: {units: 2}}, "
                 "backward_layer: {GRU: {units: 2}}}",
                 kWrong, "model.layers[1].backward_layer",
                 "go_backwards must be true"},
        BadLayer{"Bidirectional: {layer: {GRU: {units: 2}}, merge_mode: null}",
                 kWrong, "model.layers[1].merge_mode", "concat"},
        BadLayer{"TimeDistributed: {layer: {Dropout: {rate: 0.5}}}", kNotYet,
                 "model.layers[1].layer", "Dropout"},
        BadLayer{"TimeDistributed: {layer: {BatchNormalization: {}}}", kNotYet,
                 "model.layers[1].layer", "BatchNormalization"},
        BadLayer{"TimeDistributed: {layer: {Dens: {units: 2}}}", kWrong,
                 "model.layers[1].layer", "did you mean \"Dense\""}));

}  // namespace
}  // namespace paceline
