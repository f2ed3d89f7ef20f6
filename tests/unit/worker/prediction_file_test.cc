#include "worker/evaluation/prediction_file.h"

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/data_source/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using testing::ElementsAre;

std::string TestPath(const std::string& name) {
  return testing::TempDir() + "prediction_file_test" + name;
}

// What is written of two examples of two elements each, in two parts.
std::string Write(const std::string& path, const std::vector<float>& outputs) {
  const auto file = PredictionFile::Create(path, 2, {1, 2});
  EXPECT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->Append({outputs.data(), 2}).ok());
  EXPECT_TRUE((*file)->Append({outputs.data() + 2, 2}).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE((*file)->Commit().ok());
  std::string bytes = *ReadFile(path, 1 << 20);
  std::filesystem::remove(path);
  return bytes;
}

TEST(PredictionFileTest, WritesAnArray) {
  const std::vector<float> outputs = {1, -2, 0.5, 1e-30f};
  EXPECT_EQ(Write(TestPath(".npy"), outputs),
            NpyStart({2, 1, 2}) +
                std::string(reinterpret_cast<const char*>(outputs.data()),
                            outputs.size() * sizeof(float)));
}

TEST(PredictionFileTest, WritesRows) {
  EXPECT_EQ(
      Write(TestPath(".csv"), {1, 0.1f, std::numeric_limits<float>::quiet_NaN(),
                               -std::numeric_limits<float>::infinity()}),
      "1,0.100000001\nnan,-inf\n");
}

TEST(PredictionFileTest, LeavesNothingWithoutCommit) {
  const std::string path = TestPath(".npy");
  { ASSERT_TRUE(PredictionFile::Create(path, 1, {1}).ok()); }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(PredictionFileTest, EachOfSeveralOutputsHasAPath) {
  EXPECT_THAT(PathsOfOutputs("a.b/p.npy", {"digit"}), ElementsAre("a.b/p.npy"));
  EXPECT_THAT(PathsOfOutputs("a.b/p.csv", {"digit", "odd"}),
              ElementsAre("a.b/p-digit.csv", "a.b/p-odd.csv"));
  EXPECT_THAT(PathsOfOutputs("p.npy", {"a", "a", "a_1", "a"}),
              ElementsAre("p-a.npy", "p-a_1.npy", "p-a_1_1.npy", "p-a_2.npy"));
}

TEST(PredictionFileTest, RefusesOtherSuffixes) {
  EXPECT_TRUE(CheckPredictionPath("p.npy").ok());
  EXPECT_TRUE(CheckPredictionPath("a/p.csv").ok());
  for (const char* path : {"p.txt", "p", "npy", "p.npy/"}) {
    EXPECT_EQ(CheckPredictionPath(path).code(),
              absl::StatusCode::kInvalidArgument)
        << path;
  }
}

}  // namespace
}  // namespace paceline
