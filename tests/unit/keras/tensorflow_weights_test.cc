// Checkpoints of TensorFlow as the weights of a model.
#include "common/keras/tensorflow_weights.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/keras/initial_weights.h"
#include "common/tensorflow_checkpoint/checkpoint_file.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Variables = std::vector<std::vector<double>>;

// What fixtures/tensorflow/make_checkpoints.py made.
std::string Checkpoint(const std::string& name) {
  return KerasFixture(absl::StrCat("tensorflow/", name));
}

class TensorFlowWeightsTest : public ::testing::Test {
 protected:
  void Load(const std::string& name) {
    const absl::StatusOr<v1::Job> job =
        JobOf(KerasFixture(name), "loss: mse\noptimizer: sgd\n");
    ASSERT_TRUE(job.ok()) << job.status();
    graph_ = GraphOf(*job);
  }

  absl::Status Open(const std::string& path) {
    auto opened = InitialWeights::Open(path, graph_);
    if (opened.ok()) weights_ = *std::move(opened);
    return opened.status();
  }

  // All elements of all variables.
  Variables Read(const std::string& path) {
    const absl::Status status = Open(path);
    EXPECT_TRUE(status.ok()) << status;
    Variables variables;
    for (size_t i = 0; status.ok() && i < graph_.variables.size(); ++i) {
      const auto count =
          static_cast<size_t>(NumElements(graph_.variables[i].shape));
      const absl::Status read =
          weights_->Read(static_cast<int>(i), 0,
                         absl::MakeSpan(variables.emplace_back(count)));
      EXPECT_TRUE(read.ok()) << read;
    }
    return variables;
  }

  // A checkpoint of the Sequential model in a folder of the test's.
  std::string CopyOfSequential() {
    const fs::path folder = ::testing::TempDir() + "tensorflow_weights_test";
    fs::remove_all(folder);
    fs::create_directory(folder);
    for (const char* each : {".index", ".data-00000-of-00001"}) {
      fs::copy(Checkpoint(absl::StrCat("sequential", each)),
               folder / absl::StrCat("copy", each));
    }
    return folder / "copy";
  }

  // Changes the last byte of a tensor.
  static void Damage(const std::string& prefix, const std::string& key) {
    const auto file = CheckpointFile::Open(prefix + ".index");
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->entries().contains(key));
    const BundleEntry& entry = (*file)->entries().at(key);
    std::fstream bytes(prefix + ".data-00000-of-00001",
                       std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(entry.offset_bytes + entry.size_bytes - 1);
    bytes.put('x');
  }

  // A model with two of the layers, one of another shape.
  void LoadPartOfSequential() {
    const absl::StatusOr<v1::Job> job = ReadJob(
        "strategy: mirrored\nmodel: {layers: [Input: {shape: [4, 4, 1]}, "
        "Conv2D: {filters: 2, kernel_size: 3, name: first}, Flatten: {}, "
        "Dense: {units: 5, name: dense}]}\nloss: mse\noptimizer: sgd\n"
        "data: {train: {npz: {file: x.npz, features: x, labels: y}}}\n"
        "batch_size_per_replica: 2\n",
        "/jobs/job.yaml", {}, {.check_files = false});
    ASSERT_TRUE(job.ok()) << job.status();
    graph_ = GraphOf(*job);
  }

  Graph graph_;
  std::unique_ptr<InitialWeights> weights_;
};

constexpr char kMovingMean[] =
    "model/_functional/_operations/2/moving_mean/.ATTRIBUTES/VARIABLE_VALUE";

TEST_F(TensorFlowWeightsTest, TakesTheValuesOfModelsOfKeras3) {
  for (const std::string name :
       {"sequential", "functional", "nested", "recurrent", "shared"}) {
    SCOPED_TRACE(name);
    const std::string file = absl::StrCat(name, ".keras");
    Load(file);
    EXPECT_EQ(Read(Checkpoint(name)), Read(KerasFixture(file)));
  }
}

TEST_F(TensorFlowWeightsTest, TakesTheValuesOfModelsOfKeras2) {
  for (const std::string name : {"keras2_sequential", "keras2_functional"}) {
    SCOPED_TRACE(name);
    const std::string file = absl::StrCat(name, ".keras");
    Load(file);
    EXPECT_EQ(Read(Checkpoint(name)), Read(KerasFixture(file)));
  }
  Load("keras2_sequential.keras");
  EXPECT_EQ(Read(Checkpoint("keras2_variables")),
            Read(KerasFixture("keras2_sequential.keras")));
}

// The fixture numbers its variables.
TEST_F(TensorFlowWeightsTest, KnowsWhatKeras2CallsVariables) {
  Load("keras2_layers.json");
  const Variables variables = Read(Checkpoint("keras2_layers"));
  for (size_t i = 0; i < variables.size(); ++i) {
    EXPECT_EQ(variables[i][0], static_cast<double>(i))
        << graph_.variables[i].name;
  }
}

TEST_F(TensorFlowWeightsTest, ReadsSeveralShards) {
  Load("keras2_sequential.keras");
  EXPECT_EQ(Read(Checkpoint("two_shards")),
            Read(Checkpoint("keras2_sequential")));
}

// All values are small multiples of a quarter; the whole numbers are those of
// beta.
TEST_F(TensorFlowWeightsTest, ConvertsTheTypeOfElements) {
  Load("keras2_sequential.keras");
  Variables expected = Read(Checkpoint("keras2_sequential"));
  const Variables converted = Read(Checkpoint("types"));
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string& name = graph_.variables[i].name;
    if (name == "batch_normalization/beta") {
      for (double& each : expected[i]) each = static_cast<int>(each);
    }
    EXPECT_EQ(converted[i], expected[i]) << name;
  }
}

TEST_F(TensorFlowWeightsTest, TheFileOfTheIndexIsTheSameAsThePrefix) {
  Load("sequential.keras");
  EXPECT_EQ(Read(Checkpoint("sequential.index")),
            Read(Checkpoint("sequential")));
  EXPECT_EQ(WeightsFilePath(Checkpoint("no_such")), Checkpoint("no_such"));
  // A folder of the same name is no file of weights.
  const std::string prefix = CopyOfSequential();
  fs::create_directory(prefix);
  EXPECT_EQ(WeightsFilePath(prefix), prefix + ".index");
  std::ofstream(prefix + ".keras");
  EXPECT_EQ(WeightsFilePath(prefix + ".keras"), prefix + ".keras");
}

// Also where a job's files are looked for; no file has the prefix as its name.
TEST_F(TensorFlowWeightsTest, AJobNamesThePrefix) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "x.npz");
  const auto read = [&](const std::string& name) {
    return ReadJob(JobText(KerasFixture("keras2_sequential.keras"),
                           absl::StrCat("weights: ", Checkpoint(name), "\n")),
                   folder + "job.yaml", {}, {.check_files = true});
  };
  const absl::StatusOr<v1::Job> job = read("keras2_sequential");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->weights(), Checkpoint("keras2_sequential"));
  // The optimizer of the model's file goes on with the checkpoint's state.
  EXPECT_EQ(job->initial_iterations(), 1u);
  const absl::Status missing = read("no_such").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound) << missing;
  EXPECT_THAT(std::string(missing.message()), HasSubstr("weights: "));
  const absl::Status other = read("functional").status();
  EXPECT_EQ(other.code(), absl::StatusCode::kInvalidArgument) << other;
}

TEST_F(TensorFlowWeightsTest, AModelIsNoCheckpoint) {
  const absl::Status status = JobOf(Checkpoint("sequential")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("has weights alone"));
}

TEST_F(TensorFlowWeightsTest, NamesTheVariableThatTheModelHasElse) {
  Load("functional.keras");
  const absl::Status status = Open(Checkpoint("sequential"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat(
                  Checkpoint("sequential"),
                  ": optimizer/_trainable_variables/0/.ATTRIBUTES/"
                  "VARIABLE_VALUE (deep_1/kernel) has shape (3, 3, 1, 2), "
                  "expected (3, 3, 2, 2)")));
}

TEST_F(TensorFlowWeightsTest, NamesTheVariableThatOneSideDoesNotHave) {
  absl::StatusOr<v1::Job> job =
      JobOf(KerasFixture("sequential.keras"), "loss: mse\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  auto& layers = *job->mutable_model()->mutable_layers();
  v1::KerasObject more = *layers.rbegin();
  (*more.mutable_config()->mutable_fields())["name"].set_string_value("more");
  *layers.Add() = more;
  graph_ = GraphOf(*job);
  EXPECT_THAT(std::string(Open(Checkpoint("sequential")).message()),
              HasSubstr("has no layer_with_weights-3/kernel (more/kernel), "
                        "expected a variable of shape (3, 3)"));
  layers.RemoveLast();
  layers.RemoveLast();
  graph_ = GraphOf(*job);
  EXPECT_THAT(std::string(Open(Checkpoint("sequential")).message()),
              HasSubstr("the model has no variable for optimizer/"
                        "_trainable_variables/5/.ATTRIBUTES/VARIABLE_VALUE of "
                        "shape (3,)"));
}

TEST_F(TensorFlowWeightsTest, TakesLayersByTheirNames) {
  LoadPartOfSequential();
  auto weights = InitialWeights::OpenByName(Checkpoint("sequential"), graph_,
                                            /*own=*/nullptr);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const NameMatch& match = *(*weights)->match();
  EXPECT_THAT(match.matched, ElementsAre("first"));
  EXPECT_THAT(match.different, ElementsAre(HasSubstr("dense: kernel has")));
  EXPECT_THAT(match.not_in_model, ElementsAre("batch_normalization"));
}

// That of a layer around others is not in the checkpoint.
TEST_F(TensorFlowWeightsTest, TakesALayerWithACellByItsName) {
  Load("recurrent.keras");
  const auto weights = InitialWeights::OpenByName(Checkpoint("recurrent"),
                                                  graph_, /*own=*/nullptr);
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_THAT((*weights)->match()->matched, ElementsAre("gru"));
}

TEST_F(TensorFlowWeightsTest, LayersOfModelsInTheModelMatchNoName) {
  Load("nested.keras");
  const absl::Status status =
      InitialWeights::OpenByName(Checkpoint("nested"), graph_,
                                 /*own=*/nullptr)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("not in the model: layer_with_weights-0/"));
}

TEST_F(TensorFlowWeightsTest, SaysWhatACheckpointLacks) {
  Load("sequential.keras");
  const struct {
    const char* name;
    absl::StatusCode code;
    const char* message;
  } kCases[] = {
      {"tensorflow1", absl::StatusCode::kInvalidArgument,
       ".index: has no _CHECKPOINTABLE_OBJECT_GRAPH, expected a checkpoint of "
       "tf.train.Checkpoint"},
      {"no_model", absl::StatusCode::kInvalidArgument,
       ".index: _CHECKPOINTABLE_OBJECT_GRAPH: its objects are no Sequential or "
       "Functional model"},
      {"two_models", absl::StatusCode::kInvalidArgument,
       "has several models, first and second, expected one"},
      {"in_parts", absl::StatusCode::kUnimplemented,
       "layer_with_weights-2/kernel/.ATTRIBUTES/VARIABLE_VALUE: a variable in "
       "parts is not supported"},
  };
  for (const auto& each : kCases) {
    const absl::Status status = Open(Checkpoint(each.name));
    EXPECT_EQ(status.code(), each.code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(Checkpoint(each.name)));
  }
}

TEST_F(TensorFlowWeightsTest, RefusesADamagedElement) {
  Load("sequential.keras");
  const std::string prefix = CopyOfSequential();
  ASSERT_TRUE(Open(prefix).ok());
  Damage(prefix, kMovingMean);
  const absl::Status status = Open(prefix);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(absl::StrCat(prefix, ".data-00000-of-00001: ", kMovingMean,
                             " is damaged: its checksum is another")));
}

// It may be large, or of another model.
TEST_F(TensorFlowWeightsTest, ReadsNoVariableThatItDoesNotTake) {
  LoadPartOfSequential();
  const std::string prefix = CopyOfSequential();
  Damage(prefix, kMovingMean);
  const auto weights =
      InitialWeights::OpenByName(prefix, graph_, /*own=*/nullptr);
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_THAT((*weights)->match()->not_in_model,
              ElementsAre("batch_normalization"));
}

TEST_F(TensorFlowWeightsTest, SaysThePrefixToWhoeverNamesAnotherPart) {
  Load("sequential.keras");
  const fs::path prefix = CopyOfSequential();
  const fs::path folder = prefix.parent_path();
  const auto expect_hint = [&](const fs::path& path, const std::string& what,
                               const fs::path& expected) {
    const absl::Status status = Open(path);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(status.message(), absl::StrCat(path.string(), ": is ", what,
                                             "; expected the prefix of one, ",
                                             expected.string()));
  };
  expect_hint(prefix.string() + ".data-00000-of-00001",
              "a shard of a checkpoint of TensorFlow", prefix);
  // A folder may have such a name, too.
  const fs::path elsewhere = prefix.string() + ".data-old";
  fs::create_directory(elsewhere);
  fs::copy(KerasFixture("sequential.keras"), elsewhere / "model.keras");
  const absl::Status opened = Open(elsewhere / "model.keras");
  EXPECT_TRUE(opened.ok()) << opened;
  std::ofstream(folder / "checkpoint")
      << "model_checkpoint_path: \"copy\"\nall_model_checkpoint_paths: "
         "\"copy\"";
  expect_hint(folder / "checkpoint", "the list of a folder's checkpoints",
              prefix);
  expect_hint(folder, "a folder of checkpoints of TensorFlow", prefix);
  fs::create_directories(folder / "saved" / "variables");
  const fs::path variables = folder / "saved" / "variables" / "variables";
  fs::copy(prefix.string() + ".index", variables.string() + ".index");
  expect_hint(folder / "saved",
              "a SavedModel, which has a checkpoint of TensorFlow", variables);
}

TEST_F(TensorFlowWeightsTest, RefusesAShardThatIsCutOrMissing) {
  Load("sequential.keras");
  const std::string prefix = CopyOfSequential();
  const std::string shard = prefix + ".data-00000-of-00001";
  fs::resize_file(shard, 100);
  absl::Status status = Open(prefix);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat(shard, ": has 100 bytes, expected ")));
  fs::remove(shard);
  status = Open(prefix);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(shard));
}

}  // namespace
}  // namespace paceline
