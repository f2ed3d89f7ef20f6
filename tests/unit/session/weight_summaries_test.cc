// The variables of a checkpoint in an event file.
#include "common/session/leader/weight_summaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/callback/event_record.h"
#include "common/callback/histogram.h"
#include "common/session/leader/weight_images.h"
#include "tests/unit/checkpoint/checkpoint_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kTime = 1234567890;

class WeightSummariesTest : public CheckpointTest {
 protected:
  WeightSummariesTest() {
    graph_.variables = CheckpointVariables();
    graph_.tree.name = "sequential";
    graph_.tree.is_sequential = true;
    ModelTree::Child dense;
    dense.variables = {0, 1};
    graph_.tree.children.push_back(dense);
    // A model in the model.
    ModelTree::Child inner;
    inner.model = std::make_shared<const ModelTree>();
    inner.variables = {2};
    graph_.tree.children.push_back(inner);
  }

  absl::Status Write(const std::string& checkpoint, bool has_images) {
    return WriteWeightSummaries(checkpoint, graph_,
                                {"", /*step=*/4, has_images}, run(), files_,
                                [this] { return pieces_left_-- == 0; });
  }
  std::string run() const { return directory_ + "/logs/train"; }

  // The only event file of the run.
  std::string Written() const {
    std::string bytes;
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(run())) {
      bytes = *ReadFile(entry.path().string(), 1 << 20);
      ++count;
    }
    EXPECT_EQ(count, 1);
    return bytes;
  }

  static std::vector<float> ValuesOf(const VariableSpec& variable) {
    std::vector<float> values;
    for (int64_t i = 0; i < NumElements(variable.shape); ++i) {
      values.push_back(
          static_cast<float>(CheckpointElement(variable.name, "", i)));
    }
    return values;
  }
  static std::string Expected(const std::string& path,
                              const VariableSpec& variable) {
    HistogramMaker maker;
    const std::vector<float> values = ValuesOf(variable);
    maker.Look(values);
    maker.Count(values);
    return HistogramRecord(kTime, 4, path + "/histogram", maker.Make());
  }
  static std::string ExpectedImage(const std::string& path,
                                   const VariableSpec& variable) {
    const WeightImageLayout layout = *LayOutWeightImages(variable.shape);
    // All of its elements are drawn.
    return ImageRecord(kTime, 4, path + "/image", layout.size.height,
                       layout.size.width,
                       *EncodeWeightImages(layout, ValuesOf(variable)));
  }

  Graph graph_;
  // It stops after so many pieces; negative: never.
  int pieces_left_ = -1;
  EventFiles files_{[] { return absl::UnixEpoch() + absl::Seconds(kTime); }};
};

TEST_F(WeightSummariesTest, PathsAreThoseOfKeras) {
  EXPECT_THAT(
      WeightPathsOf(graph_),
      ElementsAre("sequential/dense/kernel", "sequential/dense/bias", "scale"));
  graph_.tree.is_sequential = false;
  EXPECT_THAT(WeightPathsOf(graph_),
              ElementsAre("dense/kernel", "dense/bias", "scale"));
}

TEST_F(WeightSummariesTest, EachVariableHasAHistogram) {
  const std::string checkpoint = WriteCheckpoint(17, /*shard_count=*/3);
  const absl::Status written = Write(checkpoint, /*has_images=*/false);
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_EQ(Written(),
            VersionRecord(kTime) +
                Expected("sequential/dense/kernel", graph_.variables[0]) +
                Expected("sequential/dense/bias", graph_.variables[1]) +
                Expected("scale", graph_.variables[2]));
}

TEST_F(WeightSummariesTest, ImagesFollowTheirHistograms) {
  const std::string checkpoint = WriteCheckpoint<double>(17);
  const absl::Status written = Write(checkpoint, /*has_images=*/true);
  ASSERT_TRUE(written.ok()) << written;
  // A number has no image.
  EXPECT_EQ(Written(),
            VersionRecord(kTime) +
                Expected("sequential/dense/kernel", graph_.variables[0]) +
                ExpectedImage("sequential/dense/kernel", graph_.variables[0]) +
                Expected("sequential/dense/bias", graph_.variables[1]) +
                ExpectedImage("sequential/dense/bias", graph_.variables[1]) +
                Expected("scale", graph_.variables[2]));
}

TEST_F(WeightSummariesTest, ACheckpointOfAnotherModelIsRefused) {
  const std::string checkpoint = WriteCheckpoint(17);
  graph_.variables[1].shape = {4};
  const absl::Status written = Write(checkpoint, /*has_images=*/false);
  EXPECT_EQ(written.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(written.message()), HasSubstr("dense/bias"));
  EXPECT_FALSE(std::filesystem::exists(run()));
}

TEST_F(WeightSummariesTest, StopsBetweenPieces) {
  const std::string checkpoint = WriteCheckpoint(17);
  // Each of these variables is read twice, in one piece.
  pieces_left_ = 3;
  EXPECT_EQ(Write(checkpoint, /*has_images=*/false).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(Written(),
            VersionRecord(kTime) +
                Expected("sequential/dense/kernel", graph_.variables[0]));
}

TEST_F(WeightSummariesTest, FilesOnOtherMachinesAreRefused) {
  const std::string checkpoint = WriteCheckpoint(17);
  const std::string missing = ShardFileName(1, 2);
  ASSERT_TRUE(std::filesystem::remove(checkpoint + "/" + missing));
  const absl::Status written = Write(checkpoint, /*has_images=*/false);
  EXPECT_EQ(written.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(written.message()),
            "histogram_freq needs " + missing + ", which is not in " +
                checkpoint +
                "; expected parameter servers on the leader's machine, or with "
                "an output folder that they share");
  EXPECT_FALSE(std::filesystem::exists(run()));
}

TEST_F(WeightSummariesTest, ABadShardIsNamed) {
  const std::string checkpoint = WriteCheckpoint(17);
  std::filesystem::resize_file(checkpoint + "/" + ShardFileName(1, 2), 40);
  const absl::Status written = Write(checkpoint, /*has_images=*/false);
  EXPECT_EQ(written.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(written.message()), HasSubstr(ShardFileName(1, 2)));
}

}  // namespace
}  // namespace paceline
