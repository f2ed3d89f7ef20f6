#include "common/keras/model_weights.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "common/keras/model_config.h"
#include "common/keras/slot_paths.h"
#include "common/keras/weight_paths.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelWeightsTest : public ::testing::Test {
 protected:
  void Load(const std::string& name) {
    absl::StatusOr<v1::Job> job =
        JobOf(KerasFixture(name), "loss: mse\noptimizer: sgd\n");
    ASSERT_TRUE(job.ok()) << job.status();
    job_ = *std::move(job);
    graph_ = GraphOf(job_);
  }

  absl::StatusOr<std::unique_ptr<ModelWeights>> Open(const std::string& path) {
    return ModelWeights::Open(path, graph_, graph_.tree);
  }

  // The first elements of each variable; the fixtures number variables.
  static std::vector<float> FirstElements(ModelWeights& weights,
                                          const Graph& graph) {
    std::vector<float> elements(graph.variables.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      const absl::Status status =
          weights.Read(static_cast<int>(i), 0, {&elements[i], 1});
      EXPECT_TRUE(status.ok()) << status;
    }
    return elements;
  }

  // A copy of a fixture with other bytes, which the test deletes.
  std::string CopyWith(const std::string& bytes) {
    const std::string path = ::testing::TempDir() + "model_weights_test.keras";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  v1::Job job_;
  Graph graph_;
};

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ModelWeightsTest, ReadsVariablesOfASequentialModel) {
  Load("sequential.keras");
  for (const char* name : {"sequential.keras", "deflated.keras"}) {
    const auto weights = Open(KerasFixture(name));
    ASSERT_TRUE(weights.ok()) << weights.status();
    EXPECT_THAT(FirstElements(**weights, graph_),
                ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    std::vector<float> range(3);
    ASSERT_TRUE((*weights)->Read(0, 5, absl::MakeSpan(range)).ok());
    EXPECT_THAT(range, ElementsAre(1.25, 1.5, 1.75));
    std::vector<double> doubles(2);
    ASSERT_TRUE((*weights)->Read(0, 5, absl::MakeSpan(doubles)).ok());
    EXPECT_THAT(doubles, ElementsAre(1.25, 1.5));
  }
}

// The graph decides on the order of layers in the file: short is made first,
// but deep_1 is deeper. Keras numbers variables in the order of model.layers.
TEST_F(ModelWeightsTest, FindsTheLayersOfAFunctionalModel) {
  Load("functional.keras");
  const auto weights = Open(KerasFixture("functional.keras"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  std::map<std::string, std::string> path_of;
  for (const WeightPath& each : WeightPaths(graph_.tree)) {
    path_of[graph_.variables[each.variable].name] = each.path;
  }
  EXPECT_EQ(path_of["deep_1/kernel"], "layers/conv2d/vars/0");
  EXPECT_EQ(path_of["short/bias"], "layers/conv2d_1/vars/1");
  EXPECT_EQ(path_of["deep_2/bias"], "layers/conv2d_2/vars/1");
  const std::vector<float> elements = FirstElements(**weights, graph_);
  std::map<std::string, float> element_of;
  for (size_t i = 0; i < elements.size(); ++i) {
    element_of[graph_.variables[i].name] = elements[i];
  }
  EXPECT_EQ(element_of["deep_1/kernel"], 0);
  EXPECT_EQ(element_of["short/kernel"], 2);
  EXPECT_EQ(element_of["deep_2/bias"], 5);
}

// The operations that compute masks make "deep" deeper than "first", which the
// walk from the output meets first.
TEST_F(ModelWeightsTest, CountsTheOperationsOfMasks) {
  Load("masked.keras");
  const auto weights = Open(KerasFixture("masked.keras"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  const std::vector<float> elements = FirstElements(**weights, graph_);
  std::map<std::string, float> element_of;
  for (size_t i = 0; i < elements.size(); ++i) {
    element_of[graph_.variables[i].name] = elements[i];
  }
  EXPECT_EQ(element_of["deep/kernel"], 0);
  EXPECT_EQ(element_of["deep/bias"], 1);
  EXPECT_EQ(element_of["first/kernel"], 2);
}

TEST_F(ModelWeightsTest, FindsTheLayersOfModelsInModels) {
  Load("nested.keras");
  const auto weights = Open(KerasFixture("nested.keras"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  std::map<std::string, std::string> path_of;
  for (const WeightPath& each : WeightPaths(graph_.tree)) {
    path_of[graph_.variables[each.variable].name] = each.path;
  }
  EXPECT_EQ(path_of["base/features/kernel"],
            "layers/functional/layers/conv2d/vars/0");
  EXPECT_EQ(path_of["head/features/kernel"],
            "layers/sequential/layers/dense/vars/0");
  EXPECT_EQ(path_of["tail/inner/narrow/bias"],
            "layers/functional_1/layers/functional/layers/dense/vars/1");
  EXPECT_THAT(FirstElements(**weights, graph_),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST_F(ModelWeightsTest, FindsVariablesInPartsOfLayers) {
  Load("recurrent.keras");
  const auto weights = Open(KerasFixture("recurrent.keras"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_THAT(FirstElements(**weights, graph_),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  std::vector<std::string> paths;
  for (const WeightPath& each : WeightPaths(graph_.tree)) {
    paths.push_back(each.path);
  }
  EXPECT_THAT(paths,
              ElementsAre("layers/time_distributed/layer/vars/0",
                          "layers/time_distributed/layer/vars/1",
                          "layers/bidirectional/forward_layer/cell/vars/0",
                          "layers/bidirectional/forward_layer/cell/vars/1",
                          "layers/bidirectional/forward_layer/cell/vars/2",
                          "layers/bidirectional/backward_layer/cell/vars/0",
                          "layers/bidirectional/backward_layer/cell/vars/1",
                          "layers/bidirectional/backward_layer/cell/vars/2",
                          "layers/gru/cell/vars/0", "layers/gru/cell/vars/1",
                          "layers/gru/cell/vars/2"));
}

TEST_F(ModelWeightsTest, ReadsTheSlotsOfTheOptimizer) {
  const auto job = JobOf(KerasFixture("sequential.keras"));
  ASSERT_TRUE(job.ok()) << job.status();
  graph_ = GraphOf(*job);
  const auto weights = Open(KerasFixture("sequential.keras"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_EQ(*(*weights)->ReadIterations(), 3);
  const auto optimizer = MakeJobOptimizer(*job, graph_);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  const absl::Status found = (*weights)->FindSlots(graph_, **optimizer);
  ASSERT_TRUE(found.ok()) << found;
  // Six trained variables: m and v of each lie together, then all maxima.
  // conv2d: kernel, bias; batch_normalization: gamma, beta, and two statistics.
  const std::pair<std::pair<int, int>, float> expected[] = {
      {{0, 0}, 0}, {{0, 1}, 1},  {{1, 0}, 2},  {{3, 1}, 7},
      {{6, 0}, 8}, {{7, 1}, 11}, {{0, 2}, 12}, {{7, 2}, 17}};
  for (const auto& [slot, value] : expected) {
    float element = -1;
    ASSERT_TRUE(
        (*weights)->ReadSlot(slot.first, slot.second, 0, {&element, 1}).ok());
    EXPECT_EQ(element, value) << slot.first << " " << slot.second;
  }
  // A statistic has no slots.
  float element = -1;
  ASSERT_TRUE((*weights)->ReadSlot(4, 0, 0, {&element, 1}).ok());
  EXPECT_EQ(element, -1);
}

// As if a layer had been frozen after training.
// Keras 2 stores no learning rate, so slots begin one number earlier.
TEST_F(ModelWeightsTest, ReadsTheSlotsOfKeras2) {
  const auto job = JobOf(KerasFixture("keras2_sequential.keras"));
  ASSERT_TRUE(job.ok()) << job.status();
  graph_ = GraphOf(*job);
  const auto weights = Open(KerasFixture("keras2_sequential.keras"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_THAT(FirstElements(**weights, graph_),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const auto optimizer = MakeJobOptimizer(*job, graph_);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  const absl::Status found = (*weights)->FindSlots(graph_, **optimizer);
  ASSERT_TRUE(found.ok()) << found;
  // Of the last variable, the bias of the Dense: the velocity.
  std::vector<float> velocity(3);
  ASSERT_TRUE((*weights)->ReadSlot(7, 1, 0, absl::MakeSpan(velocity)).ok());
  EXPECT_THAT(velocity, ElementsAre(11, 11.25, 11.5));
}

// Those of the same optimizer, by names in a legacy file, and in checkpoints.
TEST_F(ModelWeightsTest, OtherFilesHaveTheSameSlots) {
  const std::pair<const char*, const char*> cases[] = {
      {"sequential.h5", "sequential.keras"},
      {"tensorflow/sequential", "sequential.keras"},
      {"keras2_sequential.h5", "keras2_sequential.keras"},
      {"tensorflow/keras2_sequential", "keras2_sequential.keras"},
      {"keras2_old_adam.h5", "keras2_sequential.keras"},
      {"tensorflow/keras2_old_adam", "keras2_sequential.keras"}};
  for (const auto& [file, original] : cases) {
    SCOPED_TRACE(file);
    const auto job = JobOf(KerasFixture(original));
    ASSERT_TRUE(job.ok()) << job.status();
    graph_ = GraphOf(*job);
    const auto optimizer = MakeJobOptimizer(*job, graph_);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status();
    const auto weights = Open(KerasFixture(file));
    ASSERT_TRUE(weights.ok()) << weights.status();
    EXPECT_EQ(*(*weights)->ReadIterations(), job->initial_iterations());
    EXPECT_GT((*weights)->OptimizerSize()->elements, 0);
    const absl::Status found = (*weights)->FindSlots(graph_, **optimizer);
    ASSERT_TRUE(found.ok()) << found;
    const auto expected = Open(KerasFixture(original));
    ASSERT_TRUE((*expected)->FindSlots(graph_, **optimizer).ok());
    const auto slot_count = static_cast<int>((*optimizer)->slot_names().size());
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      for (int slot = 0; slot < slot_count; ++slot) {
        const auto read = [&](ModelWeights& from) {
          std::vector<float> values(NumElements(graph_.variables[i].shape), -1);
          EXPECT_TRUE(from.ReadSlot(static_cast<int>(i), slot, 0,
                                    absl::MakeSpan(values))
                          .ok());
          return values;
        };
        EXPECT_EQ(read(**weights), read(**expected))
            << graph_.variables[i].name << " " << slot;
      }
    }
  }
}

TEST_F(ModelWeightsTest, RefusesOtherSlotsOfALegacyFile) {
  auto job = JobOf(KerasFixture("keras2_old_adam.h5"));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->initial_iterations(), 1u);
  const auto error = [&](const v1::Job& changed) {
    graph_ = GraphOf(changed);
    const auto weights = Open(KerasFixture("keras2_old_adam.h5"));
    EXPECT_TRUE(weights.ok()) << weights.status();
    const auto optimizer = MakeJobOptimizer(changed, graph_);
    EXPECT_TRUE(optimizer.ok()) << optimizer.status();
    return std::string((*weights)->FindSlots(graph_, **optimizer).message());
  };
  v1::Job changed = *job;
  changed.mutable_optimizer()->set_class_name("Adamax");
  changed.mutable_optimizer()->clear_config();
  EXPECT_EQ(error(changed), "");
  changed.mutable_optimizer()->set_class_name("Ftrl");
  EXPECT_THAT(error(changed),
              HasSubstr("keras2_old_adam.h5: has no accumulator of "
                        "first/kernel, expected one for Ftrl of this model; "
                        "name the optimizer in the job"));
  // As if a layer had been frozen after training.
  auto& config = *job->mutable_model()->mutable_layers(5)->mutable_config();
  (*config.mutable_fields())["trainable"].set_bool_value(false);
  EXPECT_THAT(error(*job), HasSubstr("has 12 slots, expected 8 for Adam"));
}

// By the names of layers.
TEST_F(ModelWeightsTest, ReadsLegacyFiles) {
  for (const std::string file :
       {"legacy.h5", "keras2_functional.h5", "keras2_weights.h5"}) {
    SCOPED_TRACE(file);
    Load(file == "legacy.h5" ? file : "keras2_functional.json");
    const auto weights = Open(KerasFixture(file));
    ASSERT_TRUE(weights.ok()) << weights.status();
    // The fixtures number variables in the order of layers, trained ones first
    // in Keras 2.
    std::map<std::string, float> element_of;
    const std::vector<float> elements = FirstElements(**weights, graph_);
    for (size_t i = 0; i < elements.size(); ++i) {
      element_of[graph_.variables[i].name] = elements[i];
    }
    EXPECT_EQ(element_of["base/features/bias"], 1);
    EXPECT_EQ(element_of["base/norm/gamma"], 2);
    EXPECT_EQ(element_of["head/bias"], file == "legacy.h5" ? 7 : 0);
    EXPECT_EQ(*(*weights)->ReadIterations(),
              file == "keras2_functional.h5" ? 1 : 0);
  }
}

TEST_F(ModelWeightsTest, ReadsLayersThatWrapOthersFromALegacyFile) {
  Load("keras2_wrappers.h5");
  const auto weights = Open(KerasFixture("keras2_wrappers.h5"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  const std::vector<float> elements = FirstElements(**weights, graph_);
  for (size_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(elements[i], static_cast<float>(i)) << graph_.variables[i].name;
  }
  EXPECT_EQ(graph_.variables[3].name, "forward_both/backward_layer/kernel");
  EXPECT_EQ(graph_.variables[6].name, "inner/both/forward_layer/kernel");
  EXPECT_EQ(graph_.variables[12].name, "inner/steps/layer/kernel");
  EXPECT_EQ(elements.size(), 19);
}

TEST_F(ModelWeightsTest, NamesWhatALegacyFileLacks) {
  Load("nested.keras");
  const auto weights = Open(KerasFixture("legacy.h5"));
  EXPECT_EQ(weights.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(weights.status().message()),
              HasSubstr("legacy.h5: model_weights/base/features/kernel "
                        "(base/features/kernel) has shape"));
}

TEST_F(ModelWeightsTest, RefusesSlotsOfOtherVariables) {
  auto job = JobOf(KerasFixture("sequential.keras"));
  ASSERT_TRUE(job.ok()) << job.status();
  auto& config = *job->mutable_model()->mutable_layers(5)->mutable_config();
  (*config.mutable_fields())["trainable"].set_bool_value(false);
  graph_ = GraphOf(*job);
  const auto weights = Open(KerasFixture("sequential.keras"));
  ASSERT_TRUE(weights.ok()) << weights.status();
  const auto optimizer = MakeJobOptimizer(*job, graph_);
  const absl::Status found = (*weights)->FindSlots(graph_, **optimizer);
  EXPECT_EQ(found.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(found.message()),
              HasSubstr("optimizer/vars/ has 20 variables, expected 14"));
}

TEST_F(ModelWeightsTest, RefusesAnotherModel) {
  Load("sequential.keras");
  absl::Status status = Open(KerasFixture("functional.keras")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(KerasFixture("functional.keras")));
  // Without the last layer there are variables too many.
  job_.mutable_model()->mutable_layers()->RemoveLast();
  graph_ = GraphOf(job_);
  status = Open(KerasFixture("sequential.keras")).status();
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("the model has no variable for layers/dense/vars/0 of shape"));
}

TEST_F(ModelWeightsTest, RefusesADamagedFile) {
  Load("sequential.keras");
  const std::string bytes = BytesOf(KerasFixture("sequential.keras"));
  const size_t weights = bytes.find("\x89HDF");
  ASSERT_NE(weights, std::string::npos);
  // An element of a variable, which only the checksum protects.
  std::string changed = bytes;
  changed[weights + 3000] ^= 1;
  EXPECT_EQ(Open(CopyWith(changed)).status().code(),
            absl::StatusCode::kDataLoss);
  for (size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_FALSE(Open(CopyWith(bytes.substr(0, size))).ok()) << size;
  }
  std::filesystem::remove(CopyWith(""));
}

TEST_F(ModelWeightsTest, NamesAMissingFile) {
  Load("sequential.keras");
  const absl::Status status = Open("/no/such.keras").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/no/such.keras"));
}

// Two Dense layers of one shape would have each other's values.
TEST(ModelWeights, RefusesAFileOfKeras2WhoseMasksChangeTheOrderOfLayers) {
  const absl::Status status =
      JobOf(KerasFixture("keras2_masked.keras"), "loss: mse\noptimizer: sgd\n")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("keras2_masked.keras: it is of Keras 2, or does not say of "
                "which release; because of the model's masks"));
}

}  // namespace
}  // namespace paceline
