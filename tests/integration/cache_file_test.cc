// `cache: PATH` of a data set: its examples are kept in a file.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kJob[] = R"(name: pictures
strategy: multi_worker_mirrored
cluster: {worker: 2}
seed: 3
model:
  layers:
    - Input: {shape: [16, 12, 3]}
    - Flatten: {}
    - Dense: {units: 2}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: {SGD: {learning_rate: 0.00001}}
data:
  train:
    images: {folder: pictures, image_size: [16, 12]}
    steps: [RandomFlip: {mode: horizontal}]
    shuffle: true
    on_error: skip
batch_size_per_replica: 4
epochs: 3
)";

// So that a file of another content has the same state.
void SetContentAlone(const fs::path& path, std::string content) {
  struct stat before = {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  content.resize(before.st_size);
  WriteText(path, content);
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

class CacheFileTest : public testing::Test {
 protected:
  CacheFileTest() {
    WriteText(job_.path(), kJob);
    for (const char* format : {"420.jpg", "422.jpg", "444.jpg", "gray.jpg",
                               "progressive.jpg", "restart.jpg", "rgb.png"}) {
      for (int i = 0; i < 8; ++i) {
        const fs::path to =
            job_.folder() / absl::StrCat("pictures/",
                                         i % 2 == 0 ? "cats" : "dogs", "/", i,
                                         format);
        fs::create_directories(to.parent_path());
        fs::copy_file(
            fs::path(PACELINE_SOURCE_DIR "/tests/unit/image/fixtures") / format,
            to);
        pictures_.push_back(to);
      }
    }
  }

  nlohmann::json HistoryWith(const std::string& cache) const {
    Process run = job_.Run({"--set", "data.train.cache=" + cache});
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    nlohmann::json history = job_.Result()["history"];
    for (nlohmann::json& epoch : history) epoch.erase("seconds");
    return history;
  }

  std::string ErrorWith(const std::string& cache) const {
    Process run = job_.Run({"--set", "data.train.cache=" + cache});
    EXPECT_NE(run.Wait(kJobLimit), 0);
    return run.Errors();
  }

  // Puts something else into all pictures.
  void Destroy() const {
    for (const fs::path& picture : pictures_) SetContentAlone(picture, "none");
  }

  const SmallJob job_;
  std::vector<fs::path> pictures_;
};

TEST_F(CacheFileTest, ALaterRunTrainsTheSameWithoutThePictures) {
  // One of the pictures cannot be read, in either run.
  SetContentAlone(pictures_[3], "none");
  const nlohmann::json expected = HistoryWith("none");
  ASSERT_THAT(expected, SizeIs(3));
  EXPECT_EQ(HistoryWith("memory"), expected);
  EXPECT_EQ(HistoryWith("examples.cache"), expected);
  EXPECT_TRUE(fs::exists(job_.folder() / "examples.cache"));
  EXPECT_THAT(Column(job_.Result(), "skipped_examples"), Each(1));

  Destroy();
  EXPECT_EQ(HistoryWith("examples.cache"), expected);
  EXPECT_THAT(job_.Log("worker-0") + job_.Log("worker-1"),
              HasSubstr("dogs/3420.jpg: "));
  EXPECT_THAT(ErrorWith("none"), HasSubstr("in a row"));
}

TEST_F(CacheFileTest, IsRefusedIfAPictureHasChangedSince) {
  HistoryWith("examples.cache");
  fs::last_write_time(pictures_[5], fs::file_time_type::clock::now());
  EXPECT_THAT(ErrorWith("examples.cache"),
              AllOf(HasSubstr("data.train: cache: "),
                    HasSubstr("examples.cache: has the examples of another "
                              "source"),
                    HasSubstr("delete the file")));
  EXPECT_THAT(ErrorWith("/proc/examples.cache"),
              HasSubstr("data.train: cache: cannot write "
                        "/proc/examples.cache: "));
}

// There a task writes into its job's folder alone.
TEST_F(CacheFileTest, IsInTheJobsFolderOfAService) {
  TestService service;
  const Process ps = service.StartDaemon("ps_server", "ps");
  const Process worker = service.StartDaemon("worker", "worker");
  const auto submit = [&](const std::string& cache, int code) {
    const std::string id(absl::StripSuffix(
        service.Run({"submit", job_.path(), "--set", "cluster.worker=1",
                     "--set", "data.train.cache=" + cache}),
        "\n"));
    service.Run({"wait", id}, code);
    return id;
  };
  const std::string id = submit("examples.cache", 0);
  int caches = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(service.folder().path())) {
    if (entry.path().filename() != "examples.cache") continue;
    ++caches;
    EXPECT_THAT(entry.path().string(), HasSubstr("/" + id + "/files/"));
  }
  EXPECT_EQ(caches, 1);
  const std::string outside = job_.folder() / "outside.cache";
  EXPECT_THAT(service.Run({"logs", submit(outside, 1)}),
              HasSubstr("data.train.cache: \"" + outside +
                        "\": expected a path below the job's folder"));
  EXPECT_FALSE(fs::exists(outside));
}

}  // namespace
}  // namespace paceline
