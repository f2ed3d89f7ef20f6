// What the files of a checkpoint must agree in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/session/leader/checkpoint_taker.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// Two shards that say what the test has them say.
class CountingHolders : public VariableHolders {
 public:
  void Snapshot(const std::string& /*name*/, SnapshotDone done) override {
    done(copied);
  }
  void WriteCheckpoint(const std::string& folder, bool /*is_kept*/,
                       WriteDone done) override {
    for (const ShardFile& file : files) {
      ASSERT_TRUE(WriteFileAtomically(folder + "/" + file.file, "abc").ok());
    }
    done(files);
  }

  std::vector<int64_t> copied = {20, 20};
  std::vector<ShardFile> files = {{ShardFileName(0, 2), 3, 0, 20},
                                  {ShardFileName(1, 2), 3, 0, 20}};
};

class ShardFilesTest : public ::testing::Test {
 protected:
  ShardFilesTest()
      : directory_(std::string(::testing::TempDir()) + "/shard_files") {
    std::filesystem::remove_all(directory_);
  }
  ~ShardFilesTest() override { std::filesystem::remove_all(directory_); }

  // Takes a checkpoint for which both shards are to have counted 20 steps.
  void Take() {
    SessionOptions options;
    options.tasks = {{{TaskType::kWorker, 0}, "a:1"}};
    options.job.set_strategy(v1::STRATEGY_MIRRORED);
    options.job.set_batch_size_per_replica(1);
    options.learning_rate = [](int64_t) { return 0.1; };
    auto session = Session::Create(options, absl::Now());
    ASSERT_TRUE(session.ok()) << session.status();
    SharedSession shared(*std::move(session));
    const Graph graph;
    EventFiles event_files;
    ModelSaver saver({directory_, graph, event_files}, nullptr);
    CheckpointTaker taker(directory_, 1, Manifest(), shared, holders_, saver);
    TakeCheckpoint action;
    action.step = 20;
    action.state =
        std::make_shared<const nlohmann::json>(nlohmann::json::object());
    action.shard_steps = {{20, 20}, {19, 20}};
    taker.Take(action);
    taker.Poll();
  }

  bool IsComplete() const {
    return std::filesystem::exists(directory_ +
                                   "/step-000000000020/manifest.json");
  }

  const std::string directory_;
  CountingHolders holders_;
};

TEST_F(ShardFilesTest, CompletesWhereAllCountsAgree) {
  Take();
  EXPECT_TRUE(IsComplete());
  holders_.copied[1] = holders_.files[1].step = 19;
  std::filesystem::remove_all(directory_);
  Take();
  EXPECT_TRUE(IsComplete());
}

TEST_F(ShardFilesTest, AShardOfAnotherStepFailsIt) {
  holders_.copied[1] = holders_.files[1].step = 18;
  Take();
  EXPECT_FALSE(IsComplete());
}

TEST_F(ShardFilesTest, AFileOfAnotherStepThanTheCopyFailsIt) {
  holders_.copied[1] = 19;
  Take();
  EXPECT_FALSE(IsComplete());
}

TEST_F(ShardFilesTest, AFileThatIsNoShardsFailsIt) {
  holders_.files[1].file = "shard";
  Take();
  EXPECT_FALSE(IsComplete());
}

TEST_F(ShardFilesTest, WorkersTellTheirStepWithTheirFile) {
  holders_.copied.clear();
  Take();
  EXPECT_TRUE(IsComplete());
  std::filesystem::remove_all(directory_);
  holders_.files[0].step = 21;
  Take();
  EXPECT_FALSE(IsComplete());
}

TEST(CheckShardFilesTest, NamesTheShardAndBothCounts) {
  const std::vector<ShardFile> files = {{ShardFileName(0, 2), 3, 0, 20},
                                        {ShardFileName(1, 2), 3, 0, 17}};
  const auto message = [&](const std::vector<StepBounds>& expected,
                           const std::vector<int64_t>& copied) {
    const absl::Status status = CheckShardFiles(20, files, expected, copied);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(status.message());
  };
  EXPECT_EQ(message({{20, 20}, {20, 20}}, {20, 17}),
            "the shard of shard-00001-of-00002.safetensors counts 17 steps; "
            "expected 20, since the leader counts 20");
  EXPECT_THAT(message({{20, 20}, {18, 20}}, {20, 17}),
              HasSubstr("counts 17 steps; expected 18 to 20"));
  EXPECT_EQ(message({}, {20, 18}),
            "shard-00001-of-00002.safetensors has 17 steps; its shard had "
            "copied 18");
}

}  // namespace
}  // namespace paceline
