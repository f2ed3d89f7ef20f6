#include "worker/evaluation/predictor.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/data_source/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

constexpr int kExamples = 5;

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

std::string TestPath(const std::string& name) {
  return testing::TempDir() + "predictor_test_" + name;
}

// Predictions by the model of a fixture, which reads images of 4 × 4.
PredictOptions Options() {
  std::vector<float> images(kExamples * 16);
  for (size_t i = 0; i < images.size(); ++i) {
    images[i] = static_cast<float>(i * 7 % 13) / 13;
  }
  PredictOptions options;
  options.model = KerasFixture("sequential.keras");
  options.data = TestPath("images.npy");
  EXPECT_TRUE(WriteFileAtomically(options.data,
                                  NpyStart({kExamples, 4, 4}) + BytesOf(images))
                  .ok());
  options.output = TestPath("outputs.npy");
  options.device = "reference";
  std::filesystem::remove(options.output);
  return options;
}

bool GoOn() { return false; }
void Ignore(int64_t, int64_t) {}

// The outputs that it writes.
std::vector<float> Predicted(const PredictOptions& options) {
  const auto paths = Predict(options, {}, /*threads=*/1, GoOn, Ignore);
  EXPECT_TRUE(paths.ok()) << paths.status();
  EXPECT_THAT(*paths, ElementsAre(options.output));
  const absl::StatusOr<StoredArray> array = ReadNpy(options.output);
  EXPECT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape[0], kExamples);
  std::vector<float> values(NumElements(array->shape));
  std::memcpy(values.data(), array->data.get(), values.size() * sizeof(float));
  return values;
}

TEST(PredictorTest, OutputsDoNotDependOnBatches) {
  PredictOptions options = Options();
  const std::vector<float> whole = Predicted(options);
  for (const int64_t batch_size : {1, 2, 5}) {
    options.batch_size = batch_size;
    EXPECT_EQ(Predicted(options), whole) << batch_size;
  }
  options.device = "cpu";
  // They are around 600.
  EXPECT_THAT(Predicted(options), Pointwise(FloatNear(1e-3f), whole));
}

TEST(PredictorTest, ScalesFeaturesOfAFile) {
  PredictOptions options = Options();
  const std::vector<float> whole = Predicted(options);
  options.scale = 1;
  EXPECT_EQ(Predicted(options), whole);
  options.scale = 0.5;
  EXPECT_NE(Predicted(options), whole);
}

TEST(PredictorTest, LeavesNothingWhenInterrupted) {
  const PredictOptions options = Options();
  // Before files are made, and before the first batch.
  for (const int at : {1, 2}) {
    int polls = 0;
    const absl::Status status =
        Predict(
            options, {}, /*threads=*/1, [&] { return ++polls == at; }, Ignore)
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
    EXPECT_FALSE(std::filesystem::exists(options.output));
    EXPECT_FALSE(std::filesystem::exists(options.output + ".tmp"));
  }
}

}  // namespace
}  // namespace paceline
