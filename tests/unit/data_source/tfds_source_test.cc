#include "common/data_source/tfds_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tfrecord_builder.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As tensorflow-datasets 4.9 writes them.
constexpr char kInfo[] = R"({
  "fileFormat": "tfrecord",
  "moduleName": "digits",
  "name": "digits",
  "splits": [
    {"filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
     "name": "train", "numBytes": "99", "shardLengths": ["2", "1"]},
    {"filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
     "name": "test", "numBytes": "99", "shardLengths": ["1"]}
  ],
  "supervisedKeys": {"tuple": {"items": [{"featureKey": "image"},
                                         {"featureKey": "label"}]}},
  "version": "3.0.1"
})";
constexpr char kFeatures[] = R"({"featuresDict": {"features": {
  "image": {"image": {"dtype": "uint8",
                      "shape": {"dimensions": ["13", "21", "1"]}},
            "pythonClassName": "tensorflow_datasets.core.features.Image"},
  "box": {"tensor": {"dtype": "float32", "encoding": "none",
                     "shape": {"dimensions": ["2", "2"]}}},
  "label": {"classLabel": {"numClasses": "10"},
            "pythonClassName": "tensorflow_datasets.core.features.ClassLabel"}}},
  "pythonClassName": "tensorflow_datasets.core.features.FeaturesDict"})";

class TfdsSourceTest : public testing::Test {
 protected:
  TfdsSourceTest()
      : folder_(absl::StrCat(testing::TempDir(), "tfds_source_test.", getpid(),
                             "/")) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    source_.folder.text = folder_;
    Write("dataset_info.json", kInfo);
    Write("features.json", kFeatures);
    Write("digits-train.tfrecord-00000-of-00002",
          DigitRecord(0) + DigitRecord(1));
    Write("digits-train.tfrecord-00001-of-00002", DigitRecord(2));
    Write("digits-test.tfrecord-00000-of-00001", DigitRecord(3));
  }
  ~TfdsSourceTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ + name, std::ios::binary) << content;
  }

  static std::string OddRecord() { return DigitRecord(1, "../label"); }

  static std::string DigitRecord(int64_t label,
                                 const std::string& feature = "label") {
    std::ifstream file(absl::StrCat(PACELINE_SOURCE_DIR,
                                    "/tests/unit/image/fixtures/gray.png"),
                       std::ios::binary);
    const std::string image((std::istreambuf_iterator<char>(file)), {});
    return Record(ExampleOf({{"image", BytesFeature({image})},
                             {"box", FloatFeature({1, 2, 3, 4})},
                             {feature, Int64Feature({label})}}));
  }

  std::string ErrorOf() const {
    return std::string(OpenTfdsSource(source_).status().message());
  }

  const std::string folder_;
  TfdsSource source_;
};

TEST_F(TfdsSourceTest, HasTheSupervisedKeys) {
  const auto source = OpenTfdsSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 3);
  EXPECT_EQ((*source)->spec().features[0].shape, (Shape{13, 21, 1}));
  EXPECT_EQ((*source)->spec().features[0].type, ElementType::kUint8);
  const auto reader = *(*source)->MakeReader();
  for (int64_t i = 0; i < 3; ++i) {
    const auto example = reader->Read(i);
    ASSERT_TRUE(example.ok()) << example.status();
    EXPECT_EQ(*reinterpret_cast<const int64_t*>((*example)->labels[0].data), i);
  }
  const auto features = OpenTfdsSource(source_, Contents::kFeatures);
  ASSERT_TRUE(features.ok()) << features.status();
  EXPECT_TRUE((*features)->spec().labels.empty());
}

TEST_F(TfdsSourceTest, TakesShapesFromItsFiles) {
  source_.split = "test";
  source_.features.emplace().entries[""].feature = "box";
  const auto source = OpenTfdsSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 1);
  EXPECT_EQ((*source)->spec().features[0].shape, (Shape{2, 2}));
}

TEST_F(TfdsSourceTest, KnowsTheNamesOfClasses) {
  EXPECT_THAT((*OpenTfdsSource(source_))->ClassNames(0), IsEmpty());
  std::string names;
  for (int i = 0; i < 10; ++i) absl::StrAppend(&names, "class ", i, " \n\n");
  Write("label.labels.txt", names);
  const auto source = OpenTfdsSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->ClassNames(0), SizeIs(10));
  EXPECT_EQ((*source)->ClassNames(0)[9], "class 9");
  Write("label.labels.txt", "one\ntwo\n");
  EXPECT_THAT(ErrorOf(), HasSubstr("label.labels.txt: has 2 names of classes; "
                                   "expected \"10\", the `numClasses`"));
  Write("label.labels.txt", "");
  EXPECT_THAT((*OpenTfdsSource(source_))->ClassNames(0), IsEmpty());
}

// TensorFlow Datasets has "." for "/" in the names of these files.
TEST_F(TfdsSourceTest, NamesOfClassesStayInTheFolder) {
  Write("features.json",
        absl::StrReplaceAll(kFeatures, {{"\"label\"", "\"../label\""}}));
  source_.labels.emplace().entries[""].feature = "../label";
  Write("digits-train.tfrecord-00000-of-00002", OddRecord() + OddRecord());
  Write("digits-train.tfrecord-00001-of-00002", OddRecord());
  Write("...label.labels.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  const auto source = OpenTfdsSource(source_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->ClassNames(0), SizeIs(10));
  std::filesystem::remove(folder_ + "...label.labels.txt");
  std::filesystem::create_symlink(PACELINE_SOURCE_DIR "/LICENSE",
                                  folder_ + "...label.labels.txt");
  EXPECT_THAT(ErrorOf(), HasSubstr("leads out of"));
}

TEST_F(TfdsSourceTest, RefusesShapesBeyondTheLimits) {
  source_.features.emplace().entries[""].feature = "box";
  for (const char* sizes :
       {"[\"4611686018427387904\", \"4\"]", "[1, 1, 1, 1, 1, 1, 1, 4]"}) {
    Write("features.json",
          absl::StrReplaceAll(kFeatures, {{"[\"2\", \"2\"]", sizes}}));
    EXPECT_THAT(ErrorOf(), HasSubstr("features.json: feature \"box\" has "
                                     "dimensions beyond the limits"));
  }
}

TEST_F(TfdsSourceTest, NumbersNeedNotBeStrings) {
  Write("dataset_info.json",
        absl::StrReplaceAll(kInfo, {{"[\"2\", \"1\"]", "[2, 1]"}}));
  EXPECT_TRUE(OpenTfdsSource(source_).ok());
}

TEST_F(TfdsSourceTest, RefusesWhatIsNotThere) {
  source_.split = "tset";
  EXPECT_THAT(ErrorOf(), AllOf(HasSubstr("dataset_info.json: has no split"),
                               HasSubstr("did you mean \"test\"?")));
  source_.split = "train";
  source_.features.emplace().entries[""].feature = "img";
  EXPECT_THAT(ErrorOf(), HasSubstr("features.json: has no feature \"img\""));
  source_.features.reset();
  std::filesystem::remove(folder_ + "digits-train.tfrecord-00001-of-00002");
  EXPECT_EQ(OpenTfdsSource(source_).status().code(),
            absl::StatusCode::kNotFound);
  std::filesystem::remove(folder_ + "features.json");
  EXPECT_EQ(OpenTfdsSource(source_).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(TfdsSourceTest, RefusesShardsThatLackExamples) {
  Write("digits-train.tfrecord-00001-of-00002", "");
  const absl::Status status = OpenTfdsSource(source_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("have 2 examples together; the file says 3"));
}

// Nobody writes into them, so opening one would block.
TEST_F(TfdsSourceTest, RefusesPipes) {
  for (const char* name :
       {"label.labels.txt", "digits-train.tfrecord-00001-of-00002",
        "features.json", "dataset_info.json"}) {
    const std::string path = folder_ + name;
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const absl::Status status = OpenTfdsSource(source_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr(std::string(name) + ": is a pipe, expected a regular file"));
    std::filesystem::remove(path);
  }
}

TEST_F(TfdsSourceTest, RefusesFilesThatLeadOut) {
  Write("dataset_info.json",
        absl::StrReplaceAll(kInfo, {{"{DATASET}-{SPLIT}", "../{SPLIT}"}}));
  EXPECT_THAT(ErrorOf(), HasSubstr("is not the name of a file"));
  Write("dataset_info.json", kInfo);
  const std::string shard = folder_ + "digits-train.tfrecord-00001-of-00002";
  std::filesystem::remove(shard);
  std::filesystem::create_symlink(PACELINE_SOURCE_DIR "/LICENSE", shard);
  EXPECT_THAT(ErrorOf(), HasSubstr("leads out of"));
}

TEST_F(TfdsSourceTest, RefusesOtherFormats) {
  Write("dataset_info.json",
        absl::StrReplaceAll(kInfo, {{"\"tfrecord\"", "\"array_record\""}}));
  EXPECT_THAT(ErrorOf(), HasSubstr("\"array_record\"; expected \"tfrecord\""));
  Write("dataset_info.json", "{");
  EXPECT_EQ(OpenTfdsSource(source_).status().code(),
            absl::StatusCode::kInvalidArgument);
  Write("dataset_info.json",
        absl::StrReplaceAll(kInfo, {{"[\"2\", \"1\"]", "[]"}}));
  EXPECT_THAT(ErrorOf(), HasSubstr("expected `shardLengths`"));
}

}  // namespace
}  // namespace paceline
