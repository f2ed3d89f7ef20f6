#include "common/keras/checkpoint_objects.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/tensorflow_checkpoint/messages.pb.h"
#include "gmock/gmock.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CheckpointObjectsTest : public ::testing::Test {
 protected:
  CheckpointObjectsTest() { graph_.add_nodes(); }

  // A new object, the child `name` of `parent`.
  int Add(int parent, const std::string& name) {
    const int node = graph_.nodes_size();
    graph_.add_nodes();
    Link(parent, name, node);
    return node;
  }

  void Link(int parent, const std::string& name, int node) {
    auto* const child = graph_.mutable_nodes(parent)->add_children();
    child->set_local_name(name);
    child->set_node_id(node);
  }

  int AddVariable(int parent, const std::string& name,
                  const std::string& full_name) {
    const int node = Add(parent, name);
    auto* const attribute = graph_.mutable_nodes(node)->add_attributes();
    attribute->set_name("VARIABLE_VALUE");
    attribute->set_full_name(full_name);
    attribute->set_checkpoint_key(absl::StrCat("key of ", full_name));
    return node;
  }

  // As Keras 2 before 2.11 has it.
  void AddSlot(int optimizer, int variable, const std::string& name, int slot) {
    auto* const added = graph_.mutable_nodes(optimizer)->add_slot_variables();
    added->set_original_variable_node_id(variable);
    added->set_slot_name(name);
    added->set_slot_variable_node_id(slot);
  }

  absl::StatusOr<std::vector<CheckpointVariable>> Find() const {
    return FindModelVariables(graph_.SerializeAsString());
  }

  std::vector<std::string> Paths() const {
    const auto found = Find();
    EXPECT_TRUE(found.ok()) << found.status();
    std::vector<std::string> paths;
    if (!found.ok()) return paths;
    for (const CheckpointVariable& each : *found) paths.push_back(each.path);
    return paths;
  }

  tensorflow::TrackableObjectGraph graph_;
};

TEST_F(CheckpointObjectsTest, CountsLayersThatHaveVariables) {
  const int model = Add(Add(Add(0, "model"), "_functional"), "_operations");
  Add(model, "0");
  // Numbers are not compared as texts.
  AddVariable(Add(model, "10"), "_kernel", "sequential/b/kernel");
  const int layer = Add(model, "9");
  AddVariable(Add(Add(layer, "forward_layer"), "cell"), "kernel",
              "sequential/a/forward_lstm/lstm_cell/kernel");
  const auto found = Find();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(Paths(),
              ElementsAre("layer_with_weights-0/forward_layer/cell/kernel",
                          "layer_with_weights-1/kernel"));
  EXPECT_EQ((*found)[0].layer, "a");
  EXPECT_EQ((*found)[1].layer, "b");
  EXPECT_EQ((*found)[1].key, "key of sequential/b/kernel");
}

TEST_F(CheckpointObjectsTest, TheOptimizerHasAListOfVariables) {
  const int model = Add(0, "model");
  const int kernel =
      AddVariable(Add(model, "layer_with_weights-0"), "kernel", "a/kernel");
  // Of the model, too; its own state is not that of the one in it.
  const int scaled = Add(model, "optimizer");
  AddVariable(scaled, "_iterations", "loss_scale_optimizer/iteration");
  const int optimizer = Add(scaled, "inner_optimizer");
  const int count = AddVariable(optimizer, "_iterations", "adam/iteration");
  const int list = Add(optimizer, "_variables");
  Link(list, "0", count);
  AddVariable(list, "2", "adam/a_kernel_velocity");
  AddVariable(list, "1", "adam/a_kernel_momentum");
  Link(Add(optimizer, "_trainable_variables"), "0", kernel);
  EXPECT_THAT(Paths(),
              ElementsAre("layer_with_weights-0/kernel", "optimizer/vars/0",
                          "optimizer/vars/1", "optimizer/vars/2"));
  EXPECT_EQ((*Find())[2].key, "key of adam/a_kernel_momentum");
}

TEST_F(CheckpointObjectsTest, AnOldOptimizerHasSlotsByVariable) {
  const int model = Add(0, "model");
  const int kernel =
      AddVariable(Add(model, "layer_with_weights-0"), "kernel", "a/kernel");
  const int optimizer = Add(0, "optimizer");
  AddVariable(optimizer, "iter", "Adam/iter");
  const int other = AddVariable(0, "other", "other");
  const int slot = AddVariable(0, "slot", "Adam/a/kernel/m");
  AddSlot(optimizer, kernel, "m", slot);
  AddSlot(optimizer, other, "m", slot);
  EXPECT_THAT(Paths(),
              ElementsAre("layer_with_weights-0/kernel", "optimizer/vars/0",
                          "optimizer/slots/layer_with_weights-0/kernel/m"));
  AddSlot(optimizer, kernel, "v", 99);
  EXPECT_EQ(Find().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(Find().status().message()),
              HasSubstr("the slot v is of object 99, expected one below"));
}

TEST_F(CheckpointObjectsTest, WalksModelsInTheModel) {
  const int inner = Add(0, "layer_with_weights-1");
  AddVariable(Add(inner, "layer_with_weights-0"), "kernel", "inner/kernel");
  const int first = Add(0, "layer_with_weights-0");
  AddVariable(first, "depthwise_kernel", "depthwise_conv2d/depthwise_kernel");
  Link(0, "layer-0", first);
  Link(inner, "root", 0);
  EXPECT_THAT(Paths(),
              ElementsAre("layer_with_weights-0/kernel",
                          "layer_with_weights-1/layer_with_weights-0/kernel"));
  EXPECT_EQ((*Find())[1].layer, "");
}

TEST_F(CheckpointObjectsTest, RefusesTwoVariablesOfOneName) {
  const int layer = Add(0, "layer_with_weights-0");
  AddVariable(layer, "one", "dense/kernel");
  AddVariable(layer, "two", "dense/kernel");
  const absl::Status status = Find().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("two variables may be layer_with_weights-0/kernel"));
}

TEST_F(CheckpointObjectsTest, RefusesObjectsThatAreNone) {
  for (const int node : {-1, 2, INT32_MAX}) {
    const int layer = Add(0, "layer_with_weights-0");
    Link(layer, "kernel", node);
    const absl::Status status = Find().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("kernel is object ", node,
                                       ", expected one below 2")));
    graph_.Clear();
    graph_.add_nodes();
  }
  EXPECT_EQ(FindModelVariables("").status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(FindModelVariables("\xff").status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(CheckpointObjectsTest, EndsInCircles) {
  const int layer = Add(0, "layer_with_weights-0");
  Link(layer, "self", layer);
  Link(layer, "model", 0);
  Link(0, "layer_with_weights-1", layer);
  Link(0, "layer_with_weights-2", 0);
  EXPECT_TRUE(Paths().empty());
}

// Each of many objects is the inside of the one before.
TEST_F(CheckpointObjectsTest, TakesNoStackForLongChains) {
  int model = 0;
  for (int i = 0; i < 100'000; ++i) model = Add(model, "_functional");
  EXPECT_TRUE(Paths().empty());
}

TEST_F(CheckpointObjectsTest, LooksAtAnObjectOnce) {
  const int layer = Add(0, "layer_with_weights-0");
  for (int i = 0; i < 100'000; ++i) {
    Link(0, absl::StrCat("layer_with_weights-", i), layer);
    Link(layer, "a", layer);
  }
  EXPECT_TRUE(Paths().empty());
}

TEST_F(CheckpointObjectsTest, RefusesDeepNesting) {
  int model = 0;
  for (int i = 0; i < 10; ++i) model = Add(model, "layer_with_weights-0");
  Add(model, "layer_with_weights-0");
  absl::Status status = Find().status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("models in its model nest deeper than 8 levels"));
  graph_.Clear();
  graph_.add_nodes();
  int layer = Add(0, "layer_with_weights-0");
  for (int i = 0; i < 17; ++i) layer = Add(layer, "part");
  status = Find().status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("nests deeper than 16 levels"));
  graph_.Clear();
  graph_.add_nodes();
  layer = Add(0, "layer_with_weights-0");
  Add(layer, std::string(2000, 'a'));
  EXPECT_EQ(Find().status().code(), absl::StatusCode::kDataLoss);
}

// A small graph would take much memory.
TEST_F(CheckpointObjectsTest, RefusesManyVariablesWithALongPath) {
  const int layer = Add(Add(0, "layer_with_weights-0"), std::string(900, 'x'));
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = absl::StrCat("v", i);
    AddVariable(layer, name, absl::StrCat("layer/", name));
  }
  const absl::Status status = Find().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(status.message(),
            "the paths of its variables have more than 16777216 bytes");
}

}  // namespace
}  // namespace paceline
