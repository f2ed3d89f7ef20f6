#include "common/data_source/data_source.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/data_source/sources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/idx_files.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

v1::Dataset IdxDataset(const std::string& features, const std::string& labels) {
  v1::Dataset dataset;
  dataset.mutable_idx()->set_features(WriteTestFile("features", features));
  dataset.mutable_idx()->set_labels(WriteTestFile("labels", labels));
  return dataset;
}

TEST(DataSourceTest, GivesExamplesOfIdxFiles) {
  const v1::Dataset dataset = IdxDataset(IdxBytes(0x08, {3, 1, 2}, "abcdef"),
                                         IdxBytes(0x08, {3}, "\x05\x06\x07"));
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), dataset.idx().features());
  EXPECT_EQ((*source)->example_count(), 3);
  EXPECT_THAT((*source)->feature_shape(), ElementsAre(1, 2));
  EXPECT_THAT((*source)->label_shape(), IsEmpty());

  std::vector<std::byte> scratch;
  const auto example = (*source)->Read(1, scratch);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_EQ(example->features.type, ElementType::kUint8);
  ASSERT_EQ(example->features.count, 2);
  EXPECT_EQ(static_cast<char>(example->features.data[0]), 'c');
  EXPECT_EQ(static_cast<char>(example->features.data[1]), 'd');
  ASSERT_EQ(example->labels.count, 1);
  EXPECT_EQ(static_cast<int>(example->labels.data[0]), 6);
}

// As a job on the wire names it.
v1::Dataset NpzDataset() {
  v1::Dataset dataset;
  v1::SourceObject& npz = *dataset.mutable_other();
  npz.set_name("npz");
  auto& config = *npz.mutable_config()->mutable_fields();
  config["file"].set_string_value(absl::StrCat(
      PACELINE_SOURCE_DIR, "/tests/unit/data_source/fixtures/deflated.npz"));
  config["features"].set_string_value("x_train");
  config["labels"].set_string_value("y_train");
  return dataset;
}

TEST(DataSourceTest, GivesExamplesOfANumpyArchive) {
  const v1::Dataset dataset = NpzDataset();
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 1000);
  EXPECT_THAT((*source)->feature_shape(), ElementsAre(4));
  std::vector<std::byte> scratch;
  const auto example = (*source)->Read(997, scratch);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_EQ(example->features.type, ElementType::kFloat32);
  ASSERT_EQ(example->features.count, 4);
  float feature = 0;
  std::memcpy(&feature, example->features.data + 3 * sizeof(feature),
              sizeof(feature));
  EXPECT_EQ(feature, 3);
  EXPECT_EQ(example->labels.type, ElementType::kInt64);
  EXPECT_EQ(static_cast<int>(example->labels.data[0]), 7);
}

TEST(DataSourceTest, TakesDefaultsOfWhatASourceDoesNotSay) {
  v1::Dataset dataset = NpzDataset();
  dataset.mutable_other()->mutable_config()->mutable_fields()->erase("labels");
  const absl::Status status = OpenDataSource(dataset).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("there is no array \"y\""));
}

// A peer may send anything.
TEST(DataSourceTest, RefusesAMalformedSource) {
  v1::Dataset dataset = NpzDataset();
  auto& config = *dataset.mutable_other()->mutable_config()->mutable_fields();
  config["file"].set_number_value(5);
  absl::Status status = OpenDataSource(dataset).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "npz.file: expected a string, got 5");
  dataset.mutable_other()->clear_config();
  status = OpenDataSource(dataset).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "npz.file: missing; expected path (The archive.)");
}

TEST(DataSourceTest, RefusesDifferentNumbersOfExamples) {
  const v1::Dataset dataset =
      IdxDataset(IdxBytes(0x08, {3, 1}, "abc"), IdxBytes(0x08, {2}, "ab"));
  const absl::Status status = OpenDataSource(dataset).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(dataset.idx().features() + " has 3 examples"),
                    HasSubstr(dataset.idx().labels() + " has 2 labels")));
}

TEST(DataSourceTest, RefusesADatasetWithoutSource) {
  v1::Dataset dataset;
  absl::Status status = OpenDataSource(dataset).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("no source, expected idx: {features: PATH, labels: "
                         "PATH}"));
  dataset.mutable_other()->set_name("parquet");
  status = OpenDataSource(dataset).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("unknown source \"parquet\", expected idx: "));
}

class CheckFitsTest : public testing::Test {
 protected:
  // Two examples of 2 × 3 with the class ids 0 and 9.
  const v1::Dataset dataset_ =
      IdxDataset(IdxBytes(0x08, {2, 2, 3}, "abcdefghijkl"),
                 IdxBytes(0x08, {2}, std::string("\0\x09", 2)));
  const std::unique_ptr<const DataSource> source_ = *OpenDataSource(dataset_);
};

TEST_F(CheckFitsTest, TakesImagesWithoutTheirChannel) {
  EXPECT_TRUE(CheckFits(*source_, {2, 3}, {10}, true).ok());
  EXPECT_TRUE(CheckFits(*source_, {2, 3, 1}, {10}, true).ok());
}

TEST_F(CheckFitsTest, TakesOneValueAsLabel) {
  EXPECT_TRUE(CheckFits(*source_, {2, 3}, {1}, false).ok());
}

TEST_F(CheckFitsTest, RefusesOtherFeatures) {
  for (const Shape& input : {Shape{3, 2}, Shape{6}, Shape{2, 3, 3}}) {
    const absl::Status status = CheckFits(*source_, input, {10}, true);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(source_->name()), HasSubstr("(2, 3)"),
                      HasSubstr(ShapeToString(input))));
  }
}

TEST_F(CheckFitsTest, RefusesOtherLabels) {
  const absl::Status status = CheckFits(*source_, {2, 3}, {10}, false);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("()"), HasSubstr("(10,)")));
}

TEST_F(CheckFitsTest, RefusesIdsOfOtherClasses) {
  const absl::Status status = CheckFits(*source_, {2, 3}, {9}, true);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            dataset_.idx().labels() +
                ": label 1 is 9, expected a class id from 0 to 8");
}

}  // namespace
}  // namespace paceline
