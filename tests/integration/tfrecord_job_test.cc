// The same examples from IDX and from TFRecord files train the same model.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"
#include "tests/tfrecord_builder.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kImageBytes = 64;
constexpr char kSource[] =
    "{file: [train-0.tfrecord, train-1.tfrecord], features: "
    "{feature: image, shape: [8, 8, 1]}, labels: label}";

class TfrecordTest : public testing::Test {
 protected:
  // Writes the training set as two files, of which the first is shorter.
  void WriteRecords() {
    const std::string images = Read("train-images").substr(16);
    const std::string labels = Read("train-labels").substr(8);
    std::string files[2];
    for (size_t i = 0; i < labels.size(); ++i) {
      const std::string image = images.substr(i * kImageBytes, kImageBytes);
      files[i < 200 ? 0 : 1] +=
          Record(ExampleOf({{"image", BytesFeature({image})},
                            {"label", Int64Feature({labels[i]})}}));
    }
    WriteText(job_.folder() / "train-0.tfrecord", files[0]);
    WriteText(job_.folder() / "train-1.tfrecord", files[1]);
  }

  std::string Read(const std::string& name) const {
    return ReadText(job_.folder() / name);
  }

  // The history of training in step, which is the same each time.
  nlohmann::json HistoryWith(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"--set", "strategy=multi_worker_mirrored",
                                    "--set", "cluster={worker: 2}"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    Process run = job_.Run(all);
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    nlohmann::json history = job_.Result()["history"];
    for (nlohmann::json& epoch : history) epoch.erase("seconds");
    return history;
  }

  const SmallJob job_;
};

TEST_F(TfrecordTest, TrainsAsFromOtherFormats) {
  WriteRecords();
  const nlohmann::json expected = HistoryWith({});
  ASSERT_EQ(expected.size(), 3U);
  EXPECT_EQ(
      HistoryWith({"--set", absl::StrCat("data.train={tfrecord: ", kSource,
                                         ", scale: 0.00392156862745098, "
                                         "shuffle: true}")}),
      expected);
}

TEST_F(TfrecordTest, ADamagedRecordEndsTheJob) {
  WriteRecords();
  std::string second = Read("train-1.tfrecord");
  second[second.size() - 5] ^= 1;
  WriteText(job_.folder() / "train-1.tfrecord", second);
  Process run =
      job_.Run({"--set", absl::StrCat("data.train={tfrecord: ", kSource, "}")});
  EXPECT_EQ(run.Wait(kJobLimit), 1);
  EXPECT_THAT(run.Errors(), HasSubstr("train-1.tfrecord: record 400, at byte"));
  EXPECT_THAT(job_.Result()["error"]["message"].get<std::string>(),
              HasSubstr("the checksum of its content is wrong"));
}

// 600 examples in batches of 2 x 64 leave 88. A record that cannot be read has
// the next one in its place.
TEST_F(TfrecordTest, LeavesOutWhatItIsTold) {
  WriteRecords();
  const std::string source = absl::StrCat(
      "data.train={tfrecord: ", kSource,
      ", scale: 0.00392156862745098, drop_remainder: true, cache: memory, "
      "on_error: skip}");
  const nlohmann::json whole = HistoryWith({"--set", source});
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(whole[0]["examples"], 512);
  std::string first = Read("train-0.tfrecord");
  first[first.size() - 5] ^= 1;
  WriteText(job_.folder() / "train-0.tfrecord", first);
  const nlohmann::json damaged = HistoryWith({"--set", source});
  EXPECT_EQ(damaged[0]["examples"], 512);
  EXPECT_EQ(damaged[0]["skipped_examples"], 1);
  EXPECT_EQ(whole[0]["skipped_examples"], 0);
  EXPECT_NE(damaged[0]["loss"], whole[0]["loss"]);
  const std::string logs = job_.Log("worker-0") + job_.Log("worker-1");
  EXPECT_THAT(logs, HasSubstr("data.train: an example is left out: "));
  EXPECT_THAT(logs, HasSubstr("train-0.tfrecord: record 199, at byte"));
  EXPECT_THAT(logs,
              HasSubstr("data.train: 1 example of epoch 3 could not be read"));
}

// Under servers, whose workers have leases of their own, and in step, in one
// process and in several.
TEST_F(TfrecordTest, CountsWhatItLeavesOut) {
  WriteRecords();
  std::string second = Read("train-1.tfrecord");
  const size_t size = second.size() / 401;
  for (const size_t record : {0, 7, 400}) {
    second[(record + 1) * size - 5] ^= 1;
  }
  WriteText(job_.folder() / "train-1.tfrecord", second);
  const std::string set = absl::StrCat(
      "={tfrecord: ", kSource, ", scale: 0.00392156862745098, on_error: skip}");
  const std::vector<std::vector<std::string>> strategies = {
      {"strategy=parameter_server", "cluster={worker: 2, ps: 1}", "devices=1"},
      {"strategy=mirrored", "cluster={worker: 1}", "devices=2"},
      {"strategy=multi_worker_mirrored", "cluster={worker: 2}", "devices=1"}};
  for (const std::vector<std::string>& strategy : strategies) {
    SCOPED_TRACE(strategy[0]);
    Process run = job_.Run({"--set", "data.train" + set, "--set",
                            "data.test" + set, "--set", strategy[0], "--set",
                            strategy[1], "--set", strategy[2]});
    ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    EXPECT_THAT(Column(job_.Result(), "skipped_examples"),
                ElementsAre(3, 3, 3));
    EXPECT_THAT(
        run.Errors(),
        AllOf(HasSubstr("epoch 3: 3 of 601 examples left out (on_error: skip)"),
              HasSubstr("data.test: 3 of 601 examples left out")));
  }
}

}  // namespace
}  // namespace paceline
