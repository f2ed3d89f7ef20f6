// safetensors files as the weights of a model.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/keras/initial_weights.h"
#include "common/safetensors/safetensors.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SafetensorsWeightsTest : public ::testing::Test {
 protected:
  void SetUp() override { Load("nested.keras"); }

  void Load(const std::string& name) {
    const absl::StatusOr<v1::Job> job =
        JobOf(KerasFixture(name), "loss: mse\noptimizer: sgd\n");
    ASSERT_TRUE(job.ok()) << job.status();
    graph_ = GraphOf(*job);
    tensors_.clear();
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      const VariableSpec& variable = graph_.variables[i];
      AddTensor(variable.name, variable.shape, static_cast<float>(i));
    }
  }

  // All elements have the same value.
  void AddTensor(const std::string& name, const Shape& shape, float value) {
    elements_.push_back(std::make_unique<std::vector<float>>(
        static_cast<size_t>(NumElements(shape)), value));
    NamedTensor& tensor = tensors_.emplace_back();
    tensor.name = name;
    tensor.shape = shape;
    const std::vector<float>& elements = *elements_.back();
    tensor.bytes = {reinterpret_cast<const std::byte*>(elements.data()),
                    elements.size() * sizeof(float)};
  }

  NamedTensor& Tensor(const std::string& name) {
    for (NamedTensor& each : tensors_) {
      if (each.name == name) return each;
    }
    ADD_FAILURE() << "there is no " << name;
    return tensors_.front();
  }

  absl::StatusOr<std::unique_ptr<InitialWeights>> Open() {
    absl::StatusOr<std::unique_ptr<AtomicFile>> file =
        AtomicFile::Create(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    const auto written = WriteSafetensors(**file, {{"step", "1"}}, tensors_);
    EXPECT_TRUE(written.ok()) << written.status();
    return InitialWeights::Open(path_, graph_);
  }

  const std::string path_ =
      ::testing::TempDir() + "safetensors_weights_test.safetensors";
  Graph graph_;
  std::vector<NamedTensor> tensors_;
  std::vector<std::unique_ptr<std::vector<float>>> elements_;
};

TEST_F(SafetensorsWeightsTest, ReadsEachVariableByItsName) {
  const auto weights = Open();
  ASSERT_TRUE(weights.ok()) << weights.status();
  for (size_t i = 0; i < graph_.variables.size(); ++i) {
    ASSERT_TRUE((*weights)->Has(static_cast<int>(i)));
    float last = -1;
    ASSERT_TRUE((*weights)
                    ->Read(static_cast<int>(i),
                           NumElements(graph_.variables[i].shape) - 1,
                           absl::Span<float>(&last, 1))
                    .ok());
    EXPECT_EQ(last, static_cast<float>(i)) << graph_.variables[i].name;
  }
}

TEST_F(SafetensorsWeightsTest, ConvertsTheTypeOfElements) {
  const std::vector<double> doubles(
      static_cast<size_t>(NumElements(Tensor("base/features/bias").shape)),
      0.75);
  for (NamedTensor& each : tensors_) {
    const auto count = static_cast<size_t>(NumElements(each.shape));
    elements_.push_back(std::make_unique<std::vector<float>>(2 * count));
    each.type = DataType::kFloat64;
    each.bytes = {reinterpret_cast<const std::byte*>(elements_.back()->data()),
                  count * sizeof(double)};
  }
  Tensor("base/features/bias").bytes = {
      reinterpret_cast<const std::byte*>(doubles.data()),
      doubles.size() * sizeof(double)};
  const auto weights = Open();
  ASSERT_TRUE(weights.ok()) << weights.status();
  for (size_t i = 0; i < graph_.variables.size(); ++i) {
    if (graph_.variables[i].name != "base/features/bias") continue;
    std::vector<float> read(2);
    ASSERT_TRUE(
        (*weights)->Read(static_cast<int>(i), 0, absl::MakeSpan(read)).ok());
    EXPECT_THAT(read, ElementsAre(0.75F, 0.75F));
  }
}

TEST_F(SafetensorsWeightsTest, NamesTheTensorThatIsMissing) {
  Tensor("base/features/kernel").name = "features/kernel";
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat(
                  path_,
                  ": has no base/features/kernel, expected a variable of shape "
                  "(3, 3, 1, 2)")));
}

TEST_F(SafetensorsWeightsTest, NamesTheTensorOfAnotherShape) {
  NamedTensor& tensor = Tensor("base/features/kernel");
  const Shape shape = tensor.shape;
  tensor.shape = {NumElements(shape)};
  const absl::Status status = Open().status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("base/features/kernel has shape ",
                                     ShapeToString(tensor.shape), ", expected ",
                                     ShapeToString(shape))));
}

TEST_F(SafetensorsWeightsTest, NamesATensorThatTheModelDoesNotHave) {
  AddTensor("other\x1b[2J/kernel", {3}, 1);
  const absl::Status status = Open().status();
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("the model has no variable for other\\x1b[2J/kernel of shape "
                "(3,)"));
}

TEST_F(SafetensorsWeightsTest, RefusesElementsThatAreNoNumbersOfAVariable) {
  for (NamedTensor& each : tensors_) {
    each.type = DataType::kUint8;
    each.bytes =
        each.bytes.subspan(0, static_cast<size_t>(NumElements(each.shape)));
  }
  EXPECT_THAT(std::string(Open().status().message()),
              HasSubstr(": expected elements of float16"));
}

TEST_F(SafetensorsWeightsTest, RefusesADamagedFile) {
  ASSERT_TRUE(Open().ok());
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  const absl::Status status = InitialWeights::Open(path_, graph_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
}

TEST_F(SafetensorsWeightsTest, RefusesWhatIsNoRegularFile) {
  const std::string folder = ::testing::TempDir() + "folder.safetensors";
  std::filesystem::create_directory(folder);
  const absl::Status status = InitialWeights::Open(folder, graph_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

}  // namespace
}  // namespace paceline
