#include "common/data_source/tfrecord_source.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tfrecord_builder.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> Values(const Elements& elements) {
  std::vector<T> values(elements.count);
  std::memcpy(values.data(), elements.data, values.size() * sizeof(T));
  return values;
}

class TfrecordSourceTest : public testing::Test {
 protected:
  TfrecordSourceTest()
      : folder_(absl::StrCat(testing::TempDir(), "tfrecord_source_test.",
                             getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    source_.features.entries[""].feature = "x";
    source_.labels.entries[""].feature = "y";
  }
  ~TfrecordSourceTest() override { std::filesystem::remove_all(folder_); }

  // Adds a file with these Examples.
  void AddFile(const std::vector<std::string>& examples) {
    const std::string path =
        absl::StrCat(folder_, "/", source_.file.files.size(), ".tfrecord");
    std::ofstream file(path, std::ios::binary);
    for (const std::string& example : examples) file << Record(example);
    source_.file.files.push_back({path});
  }

  absl::StatusCode OpenCode() const {
    return OpenTfrecordSource(source_).status().code();
  }
  std::string OpenError() const {
    return std::string(OpenTfrecordSource(source_).status().message());
  }

  // The error of reading example `index`.
  std::string ReadError(int64_t index) const {
    const auto source = OpenTfrecordSource(source_);
    EXPECT_TRUE(source.ok()) << source.status();
    const auto reader = (*source)->MakeReader();
    return std::string((*reader)->Read(index).status().message());
  }

  const std::string folder_;
  TfrecordSource source_;
};

std::string NumbersExample(float x, int64_t y) {
  return ExampleOf({{"x", FloatFeature({x, 2 * x})}, {"y", Int64Feature({y})}});
}

// Fixtures/make_tfrecord.py.
TEST_F(TfrecordSourceTest, ReadsWhatTensorFlowWrites) {
  source_.file.files = {{absl::StrCat(PACELINE_SOURCE_DIR,
                                      "/tests/unit/data_source/fixtures/"
                                      "examples.tfrecord")}};
  source_.features.entries = {{"floats", {"floats", {}, {}}},
                              {"halves", {"halves", {}, ElementType::kFloat64}},
                              {"pixels", {"pixels", Shape{2, 3, 1}, {}}}};
  source_.labels.entries[""].feature = "label";
  source_.sample_weight.emplace().entries[""].feature = "weight";
  const auto source = OpenTfrecordSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 3);

  const ExampleSpec& spec = (*source)->spec();
  ASSERT_EQ(spec.features.size(), 3U);
  EXPECT_EQ(spec.features[0].name, "floats");
  EXPECT_EQ(spec.features[0].type, ElementType::kFloat32);
  EXPECT_THAT(spec.features[0].shape, ElementsAre(2));
  EXPECT_EQ(spec.features[1].type, ElementType::kFloat64);
  EXPECT_EQ(spec.features[2].type, ElementType::kUint8);
  EXPECT_THAT(spec.features[2].shape, ElementsAre(2, 3, 1));
  EXPECT_THAT(spec.features[2].origin, HasSubstr("examples.tfrecord: pixels"));
  EXPECT_EQ(spec.labels[0].type, ElementType::kInt64);
  EXPECT_THAT(spec.labels[0].shape, ElementsAre());

  const auto reader = (*source)->MakeReader();
  for (const int i : {2, 0, 1}) {
    const auto example = (*reader)->Read(i);
    ASSERT_TRUE(example.ok()) << example.status();
    const auto& features = (*example)->features;
    EXPECT_THAT(Values<float>(features[0]),
                ElementsAre(static_cast<float>(i), i + 0.25F));
    EXPECT_THAT(Values<double>(features[1]), ElementsAre(i / 2.0, -i / 2.0));
    EXPECT_THAT(Values<uint8_t>(features[2]),
                ElementsAre(i, i + 1, i + 2, i + 3, i + 4, i + 5));
    EXPECT_THAT(Values<int64_t>((*example)->labels[0]), ElementsAre(i - 1));
    EXPECT_THAT(Values<float>((*example)->weights[0]),
                ElementsAre(static_cast<float>(1 + i)));
  }
}

TEST_F(TfrecordSourceTest, FilesFollowEachOther) {
  AddFile({});
  AddFile({NumbersExample(0, 0), NumbersExample(1, 1)});
  AddFile({});
  AddFile({NumbersExample(2, 2)});
  const auto source = OpenTfrecordSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_EQ((*source)->example_count(), 3);
  EXPECT_EQ((*source)->name(), absl::StrCat(folder_, ": x"));
  const FileLayout files = (*source)->Files();
  EXPECT_THAT(files.begins, ElementsAre(0, 0, 2, 2));
  EXPECT_EQ(files.FilesWithin(3), 2);
  EXPECT_EQ(files.FilesWithin(2), 1) << "as a validation split may leave";
  EXPECT_THAT(files.SpansWithin(3),
              ElementsAre(ExampleSpan{0, 2}, ExampleSpan{2, 3}));
  EXPECT_THAT(files.SpansWithin(1), ElementsAre(ExampleSpan{0, 1}));
  const auto reader = (*source)->MakeReader();
  for (const int64_t i : {2, 1, 0}) {
    EXPECT_THAT(Values<int64_t>((*(*reader)->Read(i))->labels[0]),
                ElementsAre(i));
  }
}

TEST_F(TfrecordSourceTest, PredictionsNeedNoLabels) {
  AddFile({ExampleOf({{"x", FloatFeature({1})}})});
  EXPECT_FALSE(OpenTfrecordSource(source_).ok());
  const auto source = OpenTfrecordSource(source_, Contents::kFeatures);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE((*source)->spec().labels.empty());
  EXPECT_TRUE((*(*source)->MakeReader())->Read(0).ok());
}

TEST_F(TfrecordSourceTest, SaysWhatTheFirstExampleLacks) {
  AddFile({ExampleOf({{"x", FloatFeature({1, 2})},
                      {"image", BytesFeature({"\xff\xd8\xff\xe0"})},
                      {"text", BytesFeature({"abc", "de"})},
                      {"y", Int64Feature({1})}})});
  const std::string place =
      source_.file.files[0].text + ": record 0, at byte 0: ";

  source_.labels.entries[""].feature = "label";
  EXPECT_EQ(OpenError(), place +
                             "it has no values of feature \"label\"; "
                             "known: x, image, text, y");
  source_.labels.entries[""].feature = "Y";
  EXPECT_THAT(OpenError(), HasSubstr("did you mean \"y\"?"));
  source_.labels.entries[""].feature = "y";
  source_.features.entries[""] = {"x", Shape{3}, {}};
  EXPECT_EQ(OpenError(), place +
                             "feature \"x\" has 2 values; expected 3, for "
                             "the shape (3,)");
  source_.features.entries[""] = {"x", {}, ElementType::kInt8};
  EXPECT_THAT(OpenError(),
              HasSubstr("has a float_list; expected a bytes_list"));
  source_.features.entries[""] = {"image", {}, {}};
  EXPECT_THAT(OpenError(), HasSubstr("feature \"image\": the "));
  source_.features.entries[""].feature = "x";
  source_.features.entries[""].image_size = {4, 4};
  EXPECT_THAT(OpenError(), HasSubstr("since it has options of images"));
  source_.features.entries[""] = {"text", {}, {}};
  EXPECT_THAT(OpenError(), HasSubstr("has several strings; expected one"));
}

std::string ImageExample(const std::string& fixture, int64_t label) {
  std::ifstream file(
      absl::StrCat(PACELINE_SOURCE_DIR, "/tests/unit/image/fixtures/", fixture),
      std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(bytes.empty()) << fixture;
  return ExampleOf(
      {{"image", BytesFeature({bytes})}, {"y", Int64Feature({label})}});
}

TEST_F(TfrecordSourceTest, DecodesImages) {
  AddFile({ImageExample("rgb.png", 0), ImageExample("420.jpg", 1),
           NumbersExample(1, 2)});
  source_.features.entries[""] = {"image", {}, {}};
  const auto source = OpenTfrecordSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->spec().features[0].shape, (Shape{13, 21, 3}));
  EXPECT_EQ((*source)->spec().features[0].type, ElementType::kUint8);
  const auto reader = *(*source)->MakeReader();
  for (int64_t i = 0; i < 2; ++i) {
    const auto example = reader->Read(i);
    ASSERT_TRUE(example.ok()) << example.status();
    EXPECT_EQ((*example)->features[0].count, 13 * 21 * 3);
  }
  // The third pixel of the fixture.
  const auto first = reader->Read(0);
  const auto pixels = Values<uint8_t>((*first)->features[0]);
  EXPECT_EQ(pixels[6], 22);
  EXPECT_FALSE(reader->Read(2).ok());
}

TEST_F(TfrecordSourceTest, ResizesImages) {
  AddFile({ImageExample("gray.png", 0), ImageExample("progressive.jpg", 1)});
  ExampleFeature& images = source_.features.entries[""];
  images.feature = "image";
  images.image_size = {4, 5};
  images.color_mode = ColorMode::kGrayscale;
  const auto source = OpenTfrecordSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->spec().features[0].shape, (Shape{4, 5, 1}));
  EXPECT_EQ((*source)->spec().features[0].type, ElementType::kFloat32);
  const auto reader = *(*source)->MakeReader();
  for (int64_t i = 0; i < 2; ++i) {
    const auto example = reader->Read(i);
    ASSERT_TRUE(example.ok()) << example.status();
    EXPECT_EQ(Values<float>((*example)->features[0]).size(), 20);
  }
}

TEST_F(TfrecordSourceTest, RefusesImagesThatDiffer) {
  std::string damaged = ImageExample("rgb.png", 0);
  damaged[damaged.find("IDAT") + 9] ^= 1;
  AddFile({ImageExample("rgb.png", 0), damaged});
  source_.features.entries[""].feature = "image";
  EXPECT_THAT(ReadError(1), AllOf(HasSubstr("record 1, at byte "),
                                  HasSubstr("feature \"image\": the PNG image "
                                            "is damaged")));
}

TEST_F(TfrecordSourceTest, SaysWhichExampleDiffers) {
  AddFile(
      {NumbersExample(0, 0),
       ExampleOf({{"x", FloatFeature({1, 2, 3})}, {"y", Int64Feature({1})}}),
       ExampleOf({{"x", FloatFeature({1, 2})}}),
       ExampleOf({{"x", FloatFeature({1, 2})}, {"y", FloatFeature({1})}}),
       "no Example"});
  EXPECT_THAT(
      ReadError(1),
      AllOf(
          HasSubstr("0.tfrecord: record 1, at byte "),
          HasSubstr("feature \"x\" has more than 2 values; expected 2, as the "
                    "first example")));
  EXPECT_THAT(ReadError(2),
              HasSubstr("feature \"y\" has no list; expected int64_list"));
  EXPECT_THAT(ReadError(3),
              HasSubstr("feature \"y\" has float_list; expected int64_list"));
  EXPECT_THAT(ReadError(4),
              AllOf(HasSubstr("record 4"),
                    HasSubstr("expected a serialized tf.train.Example")));
}

TEST_F(TfrecordSourceTest, RefusesFilesWithoutRecords) {
  AddFile({});
  EXPECT_THAT(OpenError(), HasSubstr("there is no record; expected at least"));
  source_.file.files = {{folder_ + "/missing"}};
  EXPECT_EQ(OpenCode(), absl::StatusCode::kNotFound);
}

TEST_F(TfrecordSourceTest, ReadsItsConfiguration) {
  const Value::Map config = {
      {"file", Value::List{"a.tfrecord", "b.tfrecord"}},
      {"features", Value::Map{{"feature", "x"}, {"shape", Value::List{2, 3}}}},
      {"labels", Value::Map{{"left", "l"}, {"right", "r"}}}};
  const auto& table = FieldsOf(static_cast<const TfrecordSource*>(nullptr));
  const auto source = table.Read(config, Path("tfrecord"));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->file.files[1].text, "b.tfrecord");
  EXPECT_THAT(*source->features.entries.at("").shape, ElementsAre(2, 3));
  EXPECT_EQ(source->labels.entries.at("right").feature, "r");
  EXPECT_EQ(table.WriteWithoutDefaults(*source), Value(config));

  const auto error = [&](const char* key, const Value& value) {
    Value::Map changed = config;
    for (Value::Entry& entry : changed) {
      if (entry.key == key) entry.value = value;
    }
    return std::string(
        table.Read(changed, Path("tfrecord")).status().message());
  };
  EXPECT_THAT(error("file", Value::List()),
              HasSubstr("tfrecord.file: expected 1 to 4096 paths"));
  EXPECT_THAT(error("features", ""), HasSubstr("the name of a feature"));
  EXPECT_THAT(error("features",
                    Value::Map{{"feature", "x"}, {"shape", Value::List{2, 0}}}),
              HasSubstr("tfrecord.features.shape: expected positive sizes"));
  EXPECT_THAT(
      error("features", Value::Map{{"feature", "x"}, {"type", "float16"}}),
      HasSubstr("tfrecord.features.type"));
}

}  // namespace
}  // namespace paceline
