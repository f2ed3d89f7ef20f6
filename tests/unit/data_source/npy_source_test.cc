#include "common/data_source/npy_source.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/data_source/sources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/idx_files.h"
#include "tests/unit/data_source/npy_files.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string NpyTextOf(const Elements& values) {
  return std::string(reinterpret_cast<const char*>(values.data),
                     values.count * SizeOf(values.type));
}

NpySource TwoFiles(const std::string& features, const std::string& labels) {
  NpySource source;
  source.features.entries[""].text = WriteTestFile("x.npy", features);
  source.labels.entries[""].text = WriteTestFile("y.npy", labels);
  return source;
}

TEST(NpySourceTest, GivesExamples) {
  for (const bool is_compressed : {false, true}) {
    const std::string features = NpyBytes("(3, 2)", "abcdef");
    const NpySource source = TwoFiles(is_compressed ? Gzip(features) : features,
                                      NpyBytes("(3,)", "\1\2\3"));
    const auto opened = OpenNpySource(source);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ((*opened)->name(), source.features.entries.at("").text);
    EXPECT_EQ((*opened)->example_count(), 3);
    EXPECT_FALSE((*opened)->is_stream());
    const ExampleSpec& spec = (*opened)->spec();
    ASSERT_EQ(spec.features.size(), 1);
    EXPECT_EQ(spec.features[0].name, "");
    EXPECT_EQ(spec.features[0].type, ElementType::kUint8);
    EXPECT_THAT(spec.features[0].shape, ElementsAre(2));
    const auto reader = *(*opened)->MakeReader();
    for (const int index : {2, 0, 1, 2}) {
      const auto example = reader->Read(index);
      ASSERT_TRUE(example.ok()) << example.status();
      EXPECT_EQ(NpyTextOf((*example)->features[0]),
                std::string("abcdef").substr(2 * index, 2));
      EXPECT_EQ(NpyTextOf((*example)->labels[0]),
                std::string(1, static_cast<char>(index + 1)));
    }
    EXPECT_EQ((*opened)->CheckClassIds(0, {3}).message(),
              absl::StrCat(source.labels.entries.at("").text,
                           ": label 2 is 3, expected a class id from 0 to 2"));
  }
}

TEST(NpySourceTest, GivesNamedArraysAndWeights) {
  NpySource source;
  source.features.entries["left"].text =
      WriteTestFile("l.npy", NpyBytes("(2, 1)", "ab"));
  source.features.entries["right"].text =
      WriteTestFile("r.npy", NpyBytes("(2, 2)", "cdef"));
  source.labels.entries["out"].text =
      WriteTestFile("y.npy", NpyBytes("(2,)", "gh"));
  EXPECT_FALSE(HasSampleWeight(source));
  source.sample_weight.emplace().entries[""].text =
      WriteTestFile("w.npy", NpyBytes("(2,)", "ij"));
  EXPECT_TRUE(HasSampleWeight(source));
  const auto opened = OpenNpySource(source);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->spec().features[1].name, "right");
  const auto reader = *(*opened)->MakeReader();
  const auto example = reader->Read(1);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_EQ(NpyTextOf((*example)->features[0]), "b");
  EXPECT_EQ(NpyTextOf((*example)->features[1]), "ef");
  EXPECT_EQ(NpyTextOf((*example)->labels[0]), "h");
  EXPECT_EQ(NpyTextOf((*example)->weights[0]), "j");
}

TEST(NpySourceTest, PredictionsNeedNoLabels) {
  NpySource source = TwoFiles(NpyBytes("(2, 1)", "ab"), "");
  source.labels.entries[""].text = "/nowhere/y.npy";
  const auto opened = OpenNpySource(source, Contents::kFeatures);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_THAT((*opened)->spec().labels, IsEmpty());
  EXPECT_EQ(OpenNpySource(source).status().code(), absl::StatusCode::kNotFound);
}

TEST(NpySourceTest, RefusesDifferentNumbersOfExamples) {
  const NpySource source =
      TwoFiles(NpyBytes("(3, 2)", "abcdef"), NpyBytes("(2,)", "gh"));
  const absl::Status status = OpenNpySource(source).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("x.npy has 3 examples"),
                    HasSubstr("y.npy has 2, expected the same number")));
}

TEST(NpySourceTest, NamesTheFileThatIsDamaged) {
  const std::string whole = NpyBytes("(3, 2)", "abcdef");
  const std::string labels = NpyBytes("(3,)", "\1\2\3");
  for (size_t size = 0; size < whole.size(); size += 5) {
    const absl::Status status =
        OpenNpySource(TwoFiles(whole.substr(0, size), labels)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("x.npy: "));
  }
  const absl::Status longer =
      OpenNpySource(TwoFiles(whole + "g", labels)).status();
  EXPECT_EQ(longer.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(longer.message()),
              HasSubstr("x.npy: there are bytes after the 6 that "));
}

// As a job on the wire names it.
TEST(NpySourceTest, IsOpenedByItsName) {
  v1::Dataset dataset;
  v1::SourceObject& npy = *dataset.mutable_other();
  npy.set_name("npy");
  auto& config = *npy.mutable_config()->mutable_fields();
  config["features"].set_string_value(
      WriteTestFile("x.npy", NpyBytes("(2, 1)", "ab")));
  config["labels"].set_string_value(
      WriteTestFile("y.npy", NpyBytes("(2,)", "cd")));
  const auto source = OpenDataSource(dataset);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 2);
  config.erase("labels");
  EXPECT_THAT(std::string(OpenDataSource(dataset).status().message()),
              HasSubstr("npy.labels: missing"));
}

}  // namespace
}  // namespace paceline
