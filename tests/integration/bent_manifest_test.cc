// `run --resume` of checkpoints whose manifests were changed: what cannot be is
// refused before anything starts, by file, field and value.
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A job with a checkpoint after its first epoch.
class BentManifestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Process run = job_.Run({"--set", "epochs=1"});
    ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    sound_ = ReadText(path_);
    ASSERT_FALSE(sound_.empty());
  }

  // A resume with another value at `pointer` ends with 2, and names the file,
  // the field in `culprit`, and the value.
  void Expect(const std::string& pointer, const json& value,
              const std::string& culprit) {
    SCOPED_TRACE(pointer + " = " + value.dump());
    json manifest = json::parse(sound_);
    manifest[json::json_pointer(pointer)] = value;
    WriteText(path_, manifest.dump());
    Process run = job_.Run({"--set", "epochs=2", "--resume"});
    EXPECT_EQ(run.Wait(kJobLimit), 2);
    EXPECT_THAT(run.Errors(),
                AllOf(HasSubstr("error: cannot use " + path_ + ": " + culprit),
                      HasSubstr(value.dump()), HasSubstr("expected")));
    EXPECT_THAT(run.Session(), IsEmpty());
  }

  const SmallJob job_;
  const std::string path_ =
      job_.output_dir() + "/checkpoint/step-000000000010/manifest.json";
  std::string sound_;
};

TEST_F(BentManifestTest, CountsOfTheSession) {
  for (const int64_t steps : {int64_t{-100000}, INT64_MAX, int64_t{11}}) {
    Expect("/session/steps", steps, "session.steps: ");
  }
  Expect("/session/counted/steps", int64_t{1} << 62, "session.counted.steps: ");
  Expect("/session/next_lease_id", 0, "session.next_lease_id: ");
  Expect("/session/epoch_examples", -601, "session.epoch_examples: ");
  Expect("/session/order_replicas", 0, "session.order_replicas: ");
  Expect("/session/round_examples", -1, "session.round_examples: ");
  Expect("/session/remaining", {{0, 601}, {600, 700}}, "session.remaining: ");
  Expect("/session/epoch", 7, "session.history: ");
  Expect("/session/stopped", 1, "session.stopped: ");
  Expect("/session/callbacks", "none", "session.callbacks: ");
}

TEST_F(BentManifestTest, CountsAndFilesOfShards) {
  for (const int64_t steps : {int64_t{-100000}, INT64_MAX}) {
    Expect("/step", steps, "step: ");
    Expect("/shards/0/step", steps, "shards[0].step: ");
  }
  Expect("/shards/0/size_bytes", -1, "shards[0].size_bytes: ");
  const std::string nul("shard\0", 6);
  for (const std::string& file :
       {std::string("../../x"), std::string(".."), std::string("."), nul,
        std::string("a\x1b[2J"), std::string(300, 'a')}) {
    json manifest = json::parse(sound_);
    manifest["shards"][0]["file"] = file;
    WriteText(path_, manifest.dump());
    Process run = job_.Run({"--set", "epochs=2", "--resume"});
    EXPECT_EQ(run.Wait(kJobLimit), 2);
    EXPECT_THAT(run.Errors(), HasSubstr("shards[0].file: \""));
    EXPECT_THAT(run.Errors(), HasSubstr("expected the name of a file"));
  }
}

TEST_F(BentManifestTest, NestedDeeplyEnoughToOverflowTheStack) {
  std::string deep(1'000'000, '[');
  deep += std::string(1'000'000, ']');
  WriteText(path_, "{\"session\": {\"steps\": " + deep + "}}");
  Process run = job_.Run({"--set", "epochs=2", "--resume"});
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(), AllOf(HasSubstr("error: " + path_),
                                  HasSubstr("nested more than 32 deep")));
}

}  // namespace
}  // namespace paceline
