#include "common/data_source/feature_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/data_source/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/idx_files.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two examples of shape (2, 1): 0 to 3.
std::string Npy() {
  const float values[] = {0, 1, 2, 3};
  return NpyStart({2, 2, 1}) +
         std::string(reinterpret_cast<const char*>(values), sizeof(values));
}

void ExpectTwoExamples(const std::string& path, const std::string& origin) {
  const auto source = OpenFeatureFile(path);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), origin);
  EXPECT_EQ((*source)->example_count(), 2);
  EXPECT_THAT((*source)->spec().labels, IsEmpty());
  const auto reader = (*source)->MakeReader();
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto example = (*reader)->Read(1);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_EQ((*example)->features[0].count, 2);
  EXPECT_THAT((*example)->labels, IsEmpty());
}

TEST(FeatureFileTest, TheSuffixTellsTheFormat) {
  for (const char* name : {"f.npy", "f.npy.gz"}) {
    const bool is_compressed = name[5] == '.';
    const std::string path =
        WriteTestFile(name, is_compressed ? Gzip(Npy()) : Npy());
    ExpectTwoExamples(path, path);
  }
  const std::string idx = WriteTestFile("f", IdxBytes(8, {2, 2}, "abcd"));
  ExpectTwoExamples(idx, idx);
}

// Of the fixture, which has labels, too.
TEST(FeatureFileTest, AnArchiveGivesTheArrayX) {
  const std::string path = absl::StrCat(
      PACELINE_SOURCE_DIR, "/tests/unit/data_source/fixtures/stored.npz");
  const auto source = OpenFeatureFile(path);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), path + ": x");
  EXPECT_THAT((*source)->spec().labels, IsEmpty());
}

TEST(FeatureFileTest, ReadsWhatNpyStartBegins) {
  for (const Shape& shape : {Shape{7}, Shape{1, 2}, Shape{100000, 28, 28, 1}}) {
    const std::string start = NpyStart(shape);
    EXPECT_EQ(start.size() % 64, 0);
    const auto header = ReadNpyHeader(WriteTestFile("f.npy", start));
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->type, ElementType::kFloat32);
    EXPECT_EQ(header->shape, shape);
  }
  EXPECT_THAT(NpyStart({7}), HasSubstr("'shape': (7,), }"));
}

TEST(FeatureFileTest, NamesAFileThatIsDamaged) {
  const std::string whole = Npy();
  struct {
    std::string bytes;
    absl::StatusCode code;
    std::string message;
  } cases[] = {
      {"", absl::StatusCode::kDataLoss, "magic number"},
      {"PK", absl::StatusCode::kDataLoss, "magic number"},
      {"no array", absl::StatusCode::kInvalidArgument, "NUMPY"},
      {whole.substr(0, 60), absl::StatusCode::kDataLoss, "header"},
      {whole.substr(0, whole.size() - 1), absl::StatusCode::kDataLoss, "bytes"},
      {whole + "x", absl::StatusCode::kInvalidArgument, "bytes"}};
  for (const auto& [bytes, code, message] : cases) {
    const std::string path = WriteTestFile("f.npy", bytes);
    const absl::Status status = OpenFeatureFile(path).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(status.message(), HasSubstr(path));
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
  EXPECT_EQ(OpenFeatureFile("/none.npy").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace paceline
