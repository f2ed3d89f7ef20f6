// weights_by_name: layers that take their values from a file by their names.
#include "common/keras/name_match.h"

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/model_file.h"
#include "common/keras/keras_archive.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A job that takes weights by name, with its model's layers.
absl::StatusOr<v1::Job> JobByName(const std::string& weights,
                                  const std::string& layers) {
  return ReadJob(
      absl::StrCat("strategy: mirrored\nmodel: {layers: [", layers,
                   "]}\nloss: mse\noptimizer: sgd\nweights: ", weights,
                   "\nweights_by_name: true\n"
                   "data: {train: {npz: {file: x.npz, features: x, labels: "
                   "y}}}\nbatch_size_per_replica: 2\n"),
      "/jobs/job.yaml", {}, {.check_files = false});
}

class NameMatchTest : public ::testing::Test {
 protected:
  absl::Status Open(const std::string& weights, const std::string& layers) {
    ASSIGN_OR_RETURN(const v1::Job job, JobByName(weights, layers));
    graph_ = GraphOf(job);
    ASSIGN_OR_RETURN(weights_, OpenWeights(job, graph_));
    return absl::OkStatus();
  }

  // The first element that a file has of the variable; -1: none has it.
  float First(const std::string& name) {
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      const int variable = static_cast<int>(i);
      if (graph_.variables[i].name != name) continue;
      float first = -1;
      if (!weights_->Has(variable)) return first;
      const absl::Status status =
          weights_->Read(variable, 0, absl::Span<float>(&first, 1));
      EXPECT_TRUE(status.ok()) << status;
      return first;
    }
    ADD_FAILURE() << "the model has no " << name;
    return -1;
  }

  Graph graph_;
  std::unique_ptr<InitialWeights> weights_;
};

constexpr char kLayers[] =
    "Input: {shape: [4, 4, 2]}, "
    "Conv2D: {filters: 2, kernel_size: 3, padding: same, name: deep_2}, "
    "Conv2D: {filters: 3, kernel_size: 3, padding: same, name: deep_1}, "
    "Flatten: {}, Dense: {units: 3, name: head}";

// The fixture numbers its variables: deep_1, short, deep_2, dense_1.
TEST_F(NameMatchTest, TakesLayersOfAKerasFileByTheirNames) {
  const absl::Status status = Open(KerasFixture("functional.keras"), kLayers);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(First("deep_2/kernel"), 4);
  EXPECT_EQ(First("deep_2/bias"), 5);
  EXPECT_EQ(First("deep_1/kernel"), -1);
  EXPECT_EQ(First("deep_1/bias"), -1);
  EXPECT_EQ(First("head/kernel"), -1);
  ASSERT_NE(weights_->match(), nullptr);
  const NameMatch& match = *weights_->match();
  EXPECT_THAT(match.matched, ElementsAre("deep_2"));
  EXPECT_THAT(match.not_in_file, ElementsAre("head"));
  EXPECT_THAT(match.different,
              ElementsAre("deep_1: kernel has shape (3, 3, 2, 2) in the file, "
                          "(3, 3, 2, 3) in the model; bias has shape (2,) in "
                          "the file, (3,) in the model"));
  EXPECT_THAT(match.not_in_model, ElementsAre("dense_1", "short"));
  EXPECT_EQ(weights_->whole(), nullptr);
  const std::string report = NameMatchReport(match, "base.keras");
  EXPECT_THAT(report,
              HasSubstr("1 of 3 layers with variables take their values from "
                        "base.keras by name\n"
                        "  matched:          deep_2\n"
                        "  not in the file:  head\n"
                        "  not the same:     deep_1: kernel has shape"));
}

TEST_F(NameMatchTest, TakesLayersOfALegacyFileByTheirNames) {
  const absl::Status status = Open(
      KerasFixture("legacy.h5"),
      "Input: {shape: [4, 4, 2]}, Flatten: {}, Dense: {units: 3, name: head}, "
      "Dense: {units: 3, name: more}");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_GE(First("head/kernel"), 0);
  EXPECT_EQ(First("more/kernel"), -1);
  const NameMatch& match = *weights_->match();
  EXPECT_THAT(match.matched, ElementsAre("head"));
  EXPECT_THAT(match.not_in_model, ElementsAre("base/features", "base/norm"));
}

TEST_F(NameMatchTest, AnotherModelsPartKeepsTheValuesOfItsOwnFile) {
  const absl::Status status =
      Open(KerasFixture("legacy.h5"),
           absl::StrCat("Input: {shape: [4, 4, 2]}, Model: {path: ",
                        KerasFixture("functional.keras"),
                        ", name: part}, Flatten: {}, Dense: {units: 3, name: "
                        "head}"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  // The head has another shape, and nothing else matches.
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("not the same:     head: kernel has shape"));
  const absl::Status other =
      Open(KerasFixture("functional.keras"),
           absl::StrCat("Input: {shape: [4, 4, 2]}, Conv2D: {filters: 2, "
                        "kernel_size: 1, name: short}, Model: {path: ",
                        KerasFixture("functional.keras"), ", name: part}"));
  ASSERT_TRUE(other.ok()) << other;
  EXPECT_EQ(First("short/kernel"), 2);
  EXPECT_EQ(First("part/deep_2/bias"), 5);
  EXPECT_THAT(
      weights_->match()->not_in_file,
      ElementsAre("part/deep_1", "part/short", "part/deep_2", "part/dense_1"));
}

TEST_F(NameMatchTest, NothingThatMatchesIsAnError) {
  const absl::Status status =
      Open(KerasFixture("functional.keras"),
           "Input: {shape: [4]}, Dense: {units: 3, name: head}");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("functional.keras: expected a layer with the name and "
                        "the shapes of one of the model: 0 of 1 layers"));
}

TEST_F(NameMatchTest, AFileWithoutNamesIsRefused) {
  auto archive = KerasArchive::Open(KerasFixture("functional.keras"));
  ASSERT_TRUE(archive.ok()) << archive.status();
  const auto weights = KerasArchive::OpenWeights(*std::move(archive));
  ASSERT_TRUE(weights.ok()) << weights.status();
  std::string bytes(static_cast<size_t>((*weights)->size_bytes()), '\0');
  ASSERT_TRUE(
      (*weights)
          ->ReadAt(0, absl::MakeSpan(reinterpret_cast<std::byte*>(bytes.data()),
                                     bytes.size()))
          .ok());
  const std::string path = ::testing::TempDir() + "name_match_test.weights.h5";
  std::ofstream(path, std::ios::binary) << bytes;
  const absl::Status status = Open(path, kLayers);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(absl::StrCat(
          path,
          ": has variables by the structure of a model, without the names of "
          "its layers; expected the .keras of that model")));
}

// As a peer may say it; a job file cannot.
TEST_F(NameMatchTest, TheOptimizerDoesNotGoOn) {
  absl::StatusOr<v1::Job> job =
      JobByName(KerasFixture("functional.keras"), kLayers);
  ASSERT_TRUE(job.ok()) << job.status();
  job->set_initial_iterations(7);
  const absl::Status status = OpenWeights(*job, GraphOf(*job)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("weights_by_name: is true, so that the optimizer begins "
                "anew, but it is to go on from 7 updates"));
}

TEST_F(NameMatchTest, ByNameNeedsAFile) {
  const absl::Status status =
      JobByName("null", "Input: {shape: [4]}, Dense: {units: 3}").status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("weights_by_name: is true, but there is no file"));
}

TEST_F(NameMatchTest, ALayerIsTakenWholeOrNotAtAll) {
  const absl::StatusOr<v1::Job> job =
      JobByName("x.safetensors",
                "Input: {shape: [4]}, Dense: {units: 3, name: a}, "
                "Dense: {units: 3, name: b}, Dense: {units: 2, name: c}");
  ASSERT_TRUE(job.ok()) << job.status();
  const Graph graph = GraphOf(*job);
  // Many slashes in a name that no layer can have.
  const std::string slashes(1'000'000, '/');
  const NameMatch match = MatchByName(graph, {{"a/kernel", "1", {4, 3}},
                                              {"b/kernel", "2", {3, 3}},
                                              {"b/bias", "3", {3}},
                                              {"b/extra\x1b", "4", {5}},
                                              {"c/kernel", "5", {3, 2}},
                                              {"c/bias", "6", {2}},
                                              {slashes, "7", {1}},
                                              {"kernel", "8", {1}}});
  EXPECT_THAT(match.matched, ElementsAre("c"));
  EXPECT_THAT(match.not_in_file, IsEmpty());
  EXPECT_THAT(
      match.different,
      ElementsAre("a: bias is not in the file, and has shape (3,) in "
                  "the model",
                  "b: extra\\x1b has shape (5,) in the file, and is not "
                  "in the model"));
  EXPECT_THAT(match.paths, ElementsAre("", "", "", "", "5", "6"));
  EXPECT_EQ(match.not_in_model.size(), 2U);
}

}  // namespace
}  // namespace paceline
