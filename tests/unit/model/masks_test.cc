// Which layers make, pass, merge, read and drop masks. Values are those of
// Keras: tests/interop/keras_masks.py.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/layers/batch_normalization.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A graph of the layers behind an Embedding of 4 steps that masks zeros.
absl::StatusOr<Graph> BehindEmbedding(const std::string& layers) {
  return GraphOf(absl::StrCat(
      "[Input: {shape: [4]}, Embedding: {input_dim: 9, output_dim: 3, "
      "mask_zero: true, name: e}, ",
      layers, "]"));
}

std::string ErrorOf(const std::string& layers) {
  return std::string(BehindEmbedding(layers).status().message());
}

const Node& NodeOf(const Graph& graph, const std::string& layer) {
  for (const Node& node : graph.nodes) {
    if (node.layer->name == layer) return node;
  }
  ADD_FAILURE() << "no layer " << layer;
  return graph.nodes[0];
}

TEST(MasksTest, AMaskIsANodeThatLayersRead) {
  const auto graph =
      BehindEmbedding("Dense: {units: 2}, LSTM: {units: 2, name: l}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Node& mask = NodeOf(*graph, "e/mask");
  EXPECT_THAT(mask.inputs, ElementsAre(0));
  EXPECT_THAT(mask.output_shape, ElementsAre(4));
  const Node& lstm = NodeOf(*graph, "l");
  ASSERT_EQ(lstm.inputs.size(), 2u);
  EXPECT_EQ(&graph->nodes[lstm.inputs[1]], &mask);
  EXPECT_THAT(lstm.masked_inputs, ElementsAre(0));
  EXPECT_EQ(lstm.layer_input_count(), 1u);
  // The output of the last step has none.
  EXPECT_THAT(graph->output_masks, ElementsAre(-1));
  EXPECT_EQ(graph->tree.children.size(), 4u);
}

TEST(MasksTest, ReachTheOutput) {
  for (const char* layers :
       {"Dropout: {rate: 0.5}, LayerNormalization: {}, Rescaling: {scale: 2}",
        "GRU: {units: 2, return_sequences: true}",
        "Bidirectional: {layer: {GRU: {units: 2, return_sequences: true}}}",
        "TimeDistributed: {layer: {Dense: {units: 2}}}",
        "BatchNormalization: {trainable: false}",
        "Model: {layers: [Input: {shape: [4, 3]}, ReLU: {}]}"}) {
    const auto graph = BehindEmbedding(layers);
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_GE(graph->output_masks[0], 0) << layers;
    EXPECT_EQ(&graph->nodes[graph->output_masks[0]], &NodeOf(*graph, "e/mask"));
  }
}

TEST(MasksTest, AreDropped) {
  for (const char* layers :
       {"Conv1D: {filters: 2, kernel_size: 1}", "Flatten: {}",
        "Reshape: {target_shape: [2, 6]}", "GlobalAveragePooling1D: {}",
        "GRU: {units: 2}", "Permute: {dims: [2, 1]}", "MaxPooling1D: {}"}) {
    const auto graph = BehindEmbedding(layers);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_THAT(graph->output_masks, ElementsAre(-1)) << layers;
  }
}

TEST(MasksTest, MergesHaveAMaskIfAllInputsDo) {
  const auto graph = BehindEmbedding(
      "Masking: {name: m}, {Add: {name: a}, inputs: [e, m]}, "
      "{Flatten: {name: f}, inputs: [m]}, {Reshape: {target_shape: [4, 3], "
      "name: r}}, {Maximum: {}, inputs: [a, r]}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Node& any = NodeOf(*graph, "a/mask");
  ASSERT_EQ(any.inputs.size(), 2u);
  EXPECT_EQ(graph->nodes[any.inputs[0]].layer->name, "e/mask");
  EXPECT_EQ(graph->nodes[any.inputs[1]].layer->name, "m/mask");
  EXPECT_THAT(NodeOf(*graph, "maximum").masked_inputs, ElementsAre(0));
  EXPECT_THAT(graph->output_masks, ElementsAre(-1));
}

// Each merge has the mask of both its inputs, which is the same.
TEST(MasksTest, ManyMergesTakeNoTime) {
  std::string layers = "{Add: {name: a0}, inputs: [e, e]}";
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&layers, ", {Add: {name: a", i + 1, "}, inputs: [a", i,
                    ", a", i, "]}");
  }
  const auto graph = BehindEmbedding(layers + ", LSTM: {units: 2}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->tree.children.back().mask_paths.size(), 1u);
  EXPECT_EQ(graph->tree.children.back().mask_paths[0].operation_count, 102);
}

// Keras' attention takes the masks of its inputs away, so what reads them later
// has none. Calls with a recorded mask keep it.
TEST(MasksTest, AttentionTakesMasksAway) {
  const std::string attention =
      "{MultiHeadAttention: {num_heads: 1, key_dim: 2, name: a}, inputs: [e, "
      "e]}, {Add: {name: s}, inputs: [e, a]}";
  auto graph = BehindEmbedding(attention);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(NodeOf(*graph, "a").masked_inputs.size(), 2u);
  EXPECT_THAT(graph->output_masks, ElementsAre(-1));
  graph = BehindEmbedding(attention + ", LSTM: {units: 2, name: l}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeOf(*graph, "l").masked_inputs, ElementsAre(0));
  graph = BehindEmbedding(
      attention +
      ", {MultiHeadAttention: {num_heads: 1, key_dim: 2, name: b}, inputs: [s, "
      "s]}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeOf(*graph, "b").masked_inputs, IsEmpty());
  // Before it, the mask is there.
  graph = BehindEmbedding(
      "Dense: {units: 3, name: d}, {MultiHeadAttention: {num_heads: 1, "
      "key_dim: 2, name: a}, inputs: [d, e]}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(NodeOf(*graph, "a").masked_inputs.size(), 2u);
}

TEST(MasksTest, RefusesReadersThatKerasMayRunBeforeOrAfterAttention) {
  const std::string dense = "{Dense: {units: 3, name: d}, inputs: [e]}";
  const std::string attention =
      "{MultiHeadAttention: {num_heads: 1, key_dim: 2, name: a}, inputs: [e, "
      "e]}";
  const std::string add = ", {Add: {}, inputs: [a, d]}";
  EXPECT_THAT(
      ErrorOf(absl::StrCat(attention, ", ", dense, add)),
      HasSubstr("Dense \"d\": it reads the mask of \"e\", which "
                "MultiHeadAttention \"a\" takes away; it depends on Keras"));
  EXPECT_THAT(ErrorOf(absl::StrCat(dense, ", ", attention, add)),
              HasSubstr("it takes the mask of \"e\" away, which \"d\" reads"));
}

TEST(MasksTest, AModelInTheModelRecordsNone) {
  const std::string inner =
      "Model: {name: n, layers: [Input: {shape: [4, 3]}, ReLU: {}]}";
  auto graph = BehindEmbedding(inner + ", LSTM: {units: 2, name: l}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeOf(*graph, "l").masked_inputs, ElementsAre(0));
  EXPECT_THAT(graph->tree.children.back().mask_paths, IsEmpty());
  // Keras takes its steps for unmasked ones where it concatenates masks.
  graph =
      BehindEmbedding(inner +
                      ", {Concatenate: {name: c, axis: 1}, inputs: [e, n]}, "
                      "{LSTM: {units: 2, name: l}}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Node& lstm = NodeOf(*graph, "l");
  ASSERT_EQ(lstm.inputs.size(), 2u);
  EXPECT_EQ(graph->nodes[lstm.inputs[1]].inputs.size(), 1u);
}

TEST(MasksTest, LayersWithTheSameMaskShareIt) {
  const auto graph = BehindEmbedding(
      "{Embedding: {input_dim: 9, output_dim: 3, mask_zero: true, name: f}, "
      "inputs: [input_layer]}, {Add: {}, inputs: [e, f]}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(&graph->nodes[graph->output_masks[0]], &NodeOf(*graph, "e/mask"));
}

TEST(MasksTest, LayersWithoutMasksHaveNoNodesOfThem) {
  const auto graph = GraphOf(
      "[Input: {shape: [4]}, Embedding: {input_dim: 9, output_dim: 3}, LSTM: "
      "{units: 2}]");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes.size(), 3u);
  EXPECT_THAT(graph->nodes[2].masked_inputs, IsEmpty());
}

// As in Keras, whose moments under a mask are never those of all replicas.
TEST(MasksTest, StatisticsUnderAMaskAreNotSynchronized) {
  const std::string layer = "BatchNormalization: {synchronized: true}";
  const auto masked = BehindEmbedding(layer);
  ASSERT_TRUE(masked.ok()) << masked.status();
  EXPECT_THAT(SynchronizedChannels(*masked), IsEmpty());
  const auto unmasked = BehindEmbedding("Flatten: {}, " + layer);
  ASSERT_TRUE(unmasked.ok()) << unmasked.status();
  EXPECT_THAT(SynchronizedChannels(*unmasked), ElementsAre(12));
}

TEST(MasksTest, RefusesLayersThatCannotReadThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"Softmax: {}", "Softmax \"softmax\": its input (4, 3) has a mask (4,)"},
      {"TimeDistributed: {layer: {Softmax: {}}}",
       "its input (4, 3) has a mask (4,), of which Keras would give Softmax "
       "one "
       "number a step"},
      {"{Softmax: {mask_inputs: [mask], name: s}, inputs: [e, e]}, "
       "{GlobalAveragePooling1D: {}, inputs: [s]}",
       "it reads the mask that was given to \"s\""},
      {"{Softmax: {mask_inputs: [mask], name: s}, inputs: [e, e]}, "
       "Softmax: {name: t}",
       "Softmax \"t\": it reads the mask that was given to \"s\""},
      {"{Softmax: {mask_inputs: [mask], name: s}, inputs: [e, e]}, ReLU: {}, "
       "Softmax: {name: t}",
       "Softmax \"t\": it reads the mask that was given to \"s\""},
      {"{Softmax: {mask_inputs: [mask], name: s}, inputs: [e, e]}, "
       "TimeDistributed: {layer: {Softmax: {}}, name: t}",
       "TimeDistributed \"t\": it reads the mask that was given to \"s\""},
      {"{Softmax: {mask_inputs: [mask], name: s}, inputs: [e, e]}, ReLU: {}",
       "the mask that was given to \"s\" is that of an output of the model"},
      {"Flatten: {name: f}, {Dense: {units: 3, name: d}, inputs: [f]}, "
       "{Multiply: {}, inputs: [e, d]}",
       "inputs of different ranks, one of them with a mask, are not supported "
       "yet"},
      {"TimeDistributed: {layer: {Reshape: {target_shape: [1, 3]}}, name: t}, "
       "Masking: {name: m}, {Add: {}, inputs: [t, m]}",
       "a mask (4,) of an input (4, 1, 3) is not supported yet beside others"},
  };
  for (const auto& [layers, message] : cases) {
    EXPECT_THAT(ErrorOf(layers), HasSubstr(message)) << layers;
  }
}

TEST(MasksTest, LayersMayFollowASoftmaxWithAMaskByHand) {
  for (const char* layer :
       {"{Softmax: {mask_inputs: [mask]}, inputs: [s, e]}",
        "TimeDistributed: {layer: {Dense: {units: 2}}}",
        "BatchNormalization: {trainable: false}",
        "{Call: {layer: s}, inputs: [s, e]}", "Flatten: {}, Softmax: {}"}) {
    const auto graph = BehindEmbedding(absl::StrCat(
        "{Softmax: {mask_inputs: [mask], name: s}, inputs: [e, e]}, ", layer,
        ", Flatten: {name: last}"));
    EXPECT_TRUE(graph.ok()) << layer << graph.status();
  }
}

// As in Keras, where x + y is no layer.
TEST(MasksTest, OperatorsCarryNoneOn) {
  for (const char* layers :
       {"{Add: {}, inputs: [e, e], unmasked: true}",
        "{Multiply: {}, inputs: [e, e], unmasked: true}",
        "{Rescaling: {scale: 2}, unmasked: true}",
        "{Rescaling: {scale: -1, offset: 2}, unmasked: true}",
        "{Model: {layers: [Input: {shape: [4, 3]}, {Rescaling: {scale: 2}, "
        "unmasked: true}]}}"}) {
    const auto graph = BehindEmbedding(layers);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_THAT(graph->output_masks, ElementsAre(-1)) << layers;
    EXPECT_THAT(graph->nodes.back().masked_inputs, IsEmpty());
  }
  // It may run before attention takes the mask away, or after it.
  const auto graph = BehindEmbedding(
      "{Rescaling: {scale: 2, name: r}, inputs: [e], unmasked: true}, "
      "{MultiHeadAttention: {num_heads: 1, key_dim: 2, name: a}, inputs: [e, "
      "e]}, {Rescaling: {scale: 3, name: s}, inputs: [e], unmasked: true}, "
      "{Add: {}, inputs: [r, a, s]}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(NodeOf(*graph, "a").masked_inputs.size(), 2u);
}

TEST(MasksTest, RefusesOperatorsThatKerasHasNot) {
  EXPECT_THAT(ErrorOf("{Rescaling: {scale: 2, offset: 1, name: r}, unmasked: "
                      "true}"),
              HasSubstr("model.layers[2].unmasked: Rescaling \"r\": it does "
                        "not read the mask of \"e\" in Keras, which is not "
                        "supported yet; expected an operator (Add, Multiply"));
  EXPECT_THAT(
      ErrorOf("{Add: {}, inputs: [e, e, e], unmasked: true}"),
      HasSubstr("model.layers[2].unmasked: Add \"add\": it does not read"));
  EXPECT_THAT(ErrorOf("{Rescaling: {scale: 2, name: r}, unmasked: true}, "
                      "{Call: {layer: r}, inputs: [e]}"),
              HasSubstr("model.layers[3]: Rescaling \"r\": an operator "
                        "(unmasked: true) that is called twice is not "
                        "supported yet"));
}

// Keras broadcasts the two differently.
TEST(MasksTest, RefusesOperatorsOfDifferentNumbersOfAxes) {
  for (const char* inputs : {"[e, f]", "[f, e]"}) {
    EXPECT_THAT(
        ErrorOf(absl::StrCat("GRU: {units: 3, name: f}, {Add: {name: s}, "
                             "inputs: ",
                             inputs, ", unmasked: true}")),
        AllOf(HasSubstr("model.layers[3].unmasked: Add \"s\": an operator of "
                        "tensors with different numbers of axes, ("),
              HasSubstr("is not supported")))
        << inputs;
  }
}

// As Keras' calls with keywords.
TEST(MasksTest, UnmaskedCallsReadTheMaskThatThereIs) {
  const std::string lstm = "{LSTM: {units: 2, name: l}, unmasked: true";
  auto graph = BehindEmbedding(lstm + "}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeOf(*graph, "l").masked_inputs, ElementsAre(0));
  EXPECT_THAT(graph->tree.children.back().mask_paths, IsEmpty());
  const std::string attention =
      "{MultiHeadAttention: {num_heads: 1, key_dim: 2, name: a}, inputs: [e, "
      "e]}, {Add: {name: s}, inputs: [e, a]}, ";
  graph = BehindEmbedding(attention + lstm + "}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeOf(*graph, "l").masked_inputs, IsEmpty());
  EXPECT_THAT(ErrorOf(attention + "{Flatten: {name: f}, inputs: [s]}, " + lstm +
                      ", inputs: [e]}, {Concatenate: {}, inputs: [f, l]}"),
              HasSubstr("LSTM \"l\": it reads the mask of \"e\", which "
                        "MultiHeadAttention \"a\" takes away"));
}

// Keras records the mask of a Functional's call with keywords, too.
TEST(MasksTest, OnlyCallsOfSequentialModelsAreUnmasked) {
  const std::string lstm = "LSTM: {units: 2, return_sequences: true, name: l}";
  const auto model = [&](absl::string_view rest) {
    return absl::StrCat(
        "{Model: {name: m, layers: [Input: {shape: [4, 3], "
        "name: i}, ",
        rest, "]}, unmasked: true}");
  };
  const auto graph = BehindEmbedding(model(lstm));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->tree.children.back().mask_paths, IsEmpty());
  EXPECT_THAT(ErrorOf(model(absl::StrCat("{", lstm, ", inputs: [i]}"))),
              HasSubstr("model.layers[2].unmasked: Functional \"m\": it does "
                        "not read the mask of \"e\" in Keras"));
}

TEST(MasksTest, ChecksWhoMadeAMask) {
  EXPECT_TRUE(
      BehindEmbedding("{LSTM: {units: 2}, masked_by: [e]}").status().ok());
  EXPECT_THAT(
      ErrorOf("Conv1D: {filters: 2, kernel_size: 1}, "
              "{LSTM: {units: 2, name: l}, masked_by: [e]}"),
      HasSubstr("model.layers[3].masked_by: LSTM \"l\": a mask other than that "
                "of the input is not supported yet; the input's comes from no "
                "layer"));
  EXPECT_THAT(
      ErrorOf("{Conv1D: {filters: 3, kernel_size: 1, name: c}}, {Concatenate: "
              "{}, inputs: [e, c]}, {LSTM: {units: 2}, masked_by: [e]}"),
      HasSubstr("the input's comes from \"concatenate/mask\""));
  EXPECT_TRUE(
      BehindEmbedding("Masking: {name: m}, {Add: {name: s}, inputs: [e, "
                      "m]}, {LSTM: {units: 2}, masked_by: [s]}")
          .ok());
  EXPECT_THAT(ErrorOf("{ReLU: {name: r}, unmasked: true}"),
              HasSubstr("model.layers[2].unmasked: ReLU \"r\": it does not "
                        "read the mask of \"e\" in Keras"));
  EXPECT_TRUE(
      BehindEmbedding("Flatten: {}, {Dense: {units: 2}, unmasked: true}").ok());
  EXPECT_THAT(ErrorOf("Masking: {name: m}, {LSTM: {units: 2}, masked_by: [e]}"),
              HasSubstr("the input's comes from \"m/mask\""));
  EXPECT_THAT(ErrorOf("{LSTM: {units: 2}, masked_by: [f]}"),
              HasSubstr("masked_by[0]: \"f\" is no layer before this one"));
}

}  // namespace
}  // namespace paceline
