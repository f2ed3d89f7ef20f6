#include "common/data_source/data_source.h"

#include <cstring>
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

// Of a single array of bytes.
void ExpectBytes(const std::vector<Elements>& arrays,
                 const std::string& bytes) {
  ASSERT_EQ(arrays.size(), 1);
  EXPECT_EQ(arrays[0].type, ElementType::kUint8);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(arrays[0].data),
                        arrays[0].count),
            bytes);
}

TEST(DataSourceTest, GivesExamplesOfIdxFiles) {
  const v1::Dataset dataset = IdxDataset(IdxBytes(0x08, {3, 1, 2}, "abcdef"),
                                         IdxBytes(0x08, {3}, "\x05\x06\x07"));
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), dataset.idx().features());
  EXPECT_EQ((*source)->example_count(), 3);
  const ExampleSpec& spec = (*source)->spec();
  ASSERT_EQ(spec.features.size(), 1);
  EXPECT_THAT(spec.features[0].shape, ElementsAre(1, 2));
  ASSERT_EQ(spec.labels.size(), 1);
  EXPECT_THAT(spec.labels[0].shape, IsEmpty());

  const auto reader = *(*source)->MakeReader();
  const auto example = reader->Read(1);
  ASSERT_TRUE(example.ok()) << example.status();
  ExpectBytes((*example)->features, "cd");
  ExpectBytes((*example)->labels, "\x06");
}

TEST(DataSourceTest, GivesExamplesOfSeveralIdxFiles) {
  v1::Dataset dataset;
  v1::IdxSource& idx = *dataset.mutable_idx();
  idx.set_labels(WriteTestFile("labels", IdxBytes(0x08, {2}, "ef")));
  auto& features = *idx.mutable_named_features();
  features["right"] = WriteTestFile("r", IdxBytes(0x08, {2, 2}, "abcd"));
  features["left"] = WriteTestFile("l", IdxBytes(0x08, {2, 1}, "gh"));
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  const ExampleSpec& spec = (*source)->spec();
  ASSERT_EQ(spec.features.size(), 2);
  EXPECT_EQ(spec.features[0].name, "left");
  EXPECT_EQ(spec.features[0].origin, features["left"]);
  EXPECT_EQ(spec.features[1].name, "right");
  EXPECT_EQ(spec.labels[0].name, "");
  const auto reader = *(*source)->MakeReader();
  const Example* example = *reader->Read(1);
  ExpectBytes({example->features[0]}, "h");
  ExpectBytes({example->features[1]}, "cd");
  ExpectBytes(example->labels, "f");
}

TEST(DataSourceTest, StreamsIdxFiles) {
  v1::Dataset dataset = IdxDataset(Gzip(IdxBytes(0x08, {3, 1, 2}, "abcdef")),
                                   IdxBytes(0x08, {3}, "\x05\x06\x07"));
  EXPECT_FALSE(IsStream(dataset));
  dataset.mutable_idx()->set_stream(true);
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(IsStream(dataset));
  EXPECT_EQ((*source)->name(), dataset.idx().features());
  EXPECT_EQ((*source)->example_count(), 3);
  EXPECT_EQ((*source)->spec().features[0].type, ElementType::kUint8);
  EXPECT_THAT((*source)->spec().features[0].shape, ElementsAre(1, 2));
  EXPECT_THAT((*source)->spec().labels[0].shape, IsEmpty());
  const auto reader = (*source)->MakeReader();
  ASSERT_TRUE(reader.ok()) << reader.status();
  // Another reader stands elsewhere.
  ExpectBytes((*(*(*source)->MakeReader())->Read(2))->features, "ef");
  const char* features[] = {"ab", "cd", "ef"};
  const char* labels[] = {"\x05", "\x06", "\x07"};
  for (const int index : {0, 1, 2, 0, 2}) {
    const auto example = (*reader)->Read(index);
    ASSERT_TRUE(example.ok()) << example.status();
    ExpectBytes((*example)->features, features[index]);
    ExpectBytes((*example)->labels, labels[index]);
  }
}

TEST(DataSourceTest, GivesWeightsOfExamples) {
  v1::Dataset dataset =
      IdxDataset(IdxBytes(0x08, {2, 1}, "ab"), IdxBytes(0x08, {2}, "cd"));
  EXPECT_FALSE(HasSampleWeight(dataset));
  v1::IdxSource& idx = *dataset.mutable_idx();
  idx.set_sample_weight(WriteTestFile("weights", IdxBytes(0x08, {2}, "ef")));
  EXPECT_TRUE(HasSampleWeight(dataset));
  for (const bool is_stream : {false, true}) {
    idx.set_stream(is_stream);
    const auto source = OpenDataSource(dataset);
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ((*source)->spec().weights[0].origin, idx.sample_weight());
    const auto reader = *(*source)->MakeReader();
    ExpectBytes((*reader->Read(1))->weights, "f");
  }
  const auto predicting = OpenDataSource(dataset, Contents::kFeatures);
  EXPECT_TRUE((*predicting)->spec().weights.empty());
  EXPECT_TRUE((*predicting)->is_stream());
  idx.set_sample_weight(WriteTestFile("weights", IdxBytes(0x08, {3}, "efg")));
  EXPECT_THAT(std::string(OpenDataSource(dataset).status().message()),
              HasSubstr("weights has 3"));
}

TEST(DataSourceTest, AStreamRefusesDifferentNumbersOfExamples) {
  v1::Dataset dataset =
      IdxDataset(IdxBytes(0x08, {3, 1}, "abc"), IdxBytes(0x08, {2}, "ab"));
  dataset.mutable_idx()->set_stream(true);
  const absl::Status status = OpenDataSource(dataset).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(dataset.idx().features() + " has 3 examples"),
                    HasSubstr(dataset.idx().labels() + " has 2")));
}

TEST(DataSourceTest, AStreamRefusesFilesThatWereReplaced) {
  v1::Dataset dataset =
      IdxDataset(IdxBytes(0x08, {3, 1}, "abc"), IdxBytes(0x08, {3}, "abc"));
  dataset.mutable_idx()->set_stream(true);
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(WriteTestFile("labels", IdxBytes(0x08, {3, 2}, "abcdef")),
            dataset.idx().labels());
  EXPECT_EQ((*source)->MakeReader().status(),
            absl::FailedPreconditionError(
                dataset.idx().labels() +
                ": the header has changed since the job began"));
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
  EXPECT_THAT((*source)->spec().features[0].shape, ElementsAre(4));
  const auto reader = *(*source)->MakeReader();
  const auto example = reader->Read(997);
  ASSERT_TRUE(example.ok()) << example.status();
  const Elements features = (*example)->features[0];
  EXPECT_EQ(features.type, ElementType::kFloat32);
  ASSERT_EQ(features.count, 4);
  float feature = 0;
  std::memcpy(&feature, features.data + 3 * sizeof(feature), sizeof(feature));
  EXPECT_EQ(feature, 3);
  const Elements labels = (*example)->labels[0];
  EXPECT_EQ(labels.type, ElementType::kInt64);
  EXPECT_EQ(static_cast<int>(labels.data[0]), 7);
}

TEST(DataSourceTest, GivesWeightsOfANumpyArchive) {
  v1::Dataset dataset = NpzDataset();
  EXPECT_FALSE(HasSampleWeight(dataset));
  (*dataset.mutable_other()
        ->mutable_config()
        ->mutable_fields())["sample_weight"]
      .set_string_value("y_train");
  EXPECT_TRUE(HasSampleWeight(dataset));
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  const Elements weights = (*(*(*source)->MakeReader())->Read(997))->weights[0];
  EXPECT_EQ(weights.type, ElementType::kInt64);
  EXPECT_EQ(static_cast<int>(weights.data[0]), 7);
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
                    HasSubstr(dataset.idx().labels() +
                              " has 2, expected the same number")));
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

}  // namespace
}  // namespace paceline
