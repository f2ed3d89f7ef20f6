// What fails outside of a job while it trains: a file of its data vanishes, the
// disk of its output fills up. There is one error, the last checkpoint is good,
// and the job goes on from it once the cause is gone.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// The lines of an output that tell an error.
std::vector<std::string> ErrorLines(const Process& run) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(run.Errors(), '\n')) {
    if (line.substr(0, 7) == "error: ") lines.emplace_back(line);
  }
  return lines;
}

// Expects that the job, resumed for two epochs more than the latest checkpoint
// has, ends with all of them.
void ExpectGoesOn(const SmallJob& job, std::vector<std::string> arguments) {
  const size_t epochs = job.LatestManifest().at("session").at("epoch");
  arguments.insert(arguments.end(),
                   {"--resume", "--set", absl::StrCat("epochs=", epochs + 2)});
  Process run = job.Run(arguments);
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::vector<double> numbers = Column(job.Result(), "epoch");
  EXPECT_THAT(run.Errors(), Not(HasSubstr("lost; the last because")));
  ASSERT_THAT(numbers, SizeIs(epochs + 2));
  for (size_t epoch = 0; epoch < numbers.size(); ++epoch) {
    EXPECT_EQ(numbers[epoch], epoch);
  }
}

TEST(DataFailureTest, AnImageVanishes) {
  const SmallJob job;
  const fs::path images = job.folder() / "images";
  const fs::path fixtures = PACELINE_SOURCE_DIR "/tests/unit/image/fixtures";
  for (const char* name : {"420.jpg", "444.jpg"}) {
    fs::create_directories(images / name);
    for (int i = 0; i < 60; ++i) {
      fs::copy_file(fixtures / name,
                    images / name / absl::StrCat("image-", i, ".jpg"));
    }
  }
  const std::vector<std::string> arguments = {
      "--set",
      "data.test=null",
      "--set",
      absl::StrCat("data.train={images: {folder: ", images.string(),
                   ", image_size: 8}, shuffle: true}"),
      "--set",
      "model.layers=[Input: {shape: [8, 8, 3]}, Flatten: {}, Dense: "
      "{units: 2}]",
      "--set",
      "checkpoint={every_epochs: 1, keep: 2}"};
  std::vector<std::string> forever = arguments;
  forever.insert(forever.end(), {"--set", "epochs=100000"});
  Process run = job.Run(forever);
  ASSERT_TRUE(WaitForEpochs(run, 3)) << run.Errors();
  const fs::path lost = images / "420.jpg" / "image-7.jpg";
  fs::rename(lost, job.folder() / "kept.jpg");

  EXPECT_EQ(run.Wait(kFailureLimit), 1) << run.Errors();
  EXPECT_THAT(ErrorLines(run), SizeIs(1)) << run.Errors();
  EXPECT_THAT(ErrorLines(run), Contains(HasSubstr(lost.string())));
  fs::rename(job.folder() / "kept.jpg", lost);
  ExpectGoesOn(job, arguments);
}

// The small job's training set, repeated, in a file whose rows are read as they
// are needed, and its labels.
void WriteLargeNpyFiles(const SmallJob& job) {
  constexpr int kRepeats = 500;
  constexpr size_t kImagesHeaderBytes = 16;
  constexpr size_t kLabelsHeaderBytes = 8;
  const auto write = [&](const std::string& name, const std::string& shape,
                         const std::string& values) {
    const std::string header =
        absl::StrCat("{'descr': '|u1', 'fortran_order': False, 'shape': (",
                     kRepeats * kTrainExamples, shape, "), }\n");
    std::string text("\x93NUMPY\x01\x00", 8);
    text.push_back(static_cast<char>(header.size()));
    text.push_back('\0');
    text += header;
    for (int i = 0; i < kRepeats; ++i) text += values;
    WriteText(job.folder() / name, text);
  };
  write("x.npy", ", 8, 8",
        ReadText(job.folder() / "train-images").substr(kImagesHeaderBytes));
  write("y.npy", ",",
        ReadText(job.folder() / "train-labels").substr(kLabelsHeaderBytes));
}

TEST(DataFailureTest, AnArrayIsCut) {
  const SmallJob job;
  WriteLargeNpyFiles(job);
  const std::vector<std::string> arguments = {
      "--set", "data.train.idx=null",
      "--set", "data.train.npy={features: x.npy, labels: y.npy}",
      "--set", "steps_per_epoch=50",
      "--set", "checkpoint={every_epochs: 1, keep: 2}"};
  std::vector<std::string> forever = arguments;
  forever.insert(forever.end(), {"--set", "epochs=100000"});
  const std::string path = job.folder() / "x.npy";
  const std::string whole = ReadText(path);
  Process run = job.Run(forever);
  ASSERT_TRUE(WaitForEpochs(run, 3)) << run.Errors();
  fs::resize_file(path, whole.size() / 2);

  EXPECT_EQ(run.Wait(kFailureLimit), 1) << run.Errors();
  EXPECT_THAT(ErrorLines(run), SizeIs(1)) << run.Errors();
  EXPECT_THAT(ErrorLines(run),
              Contains(AllOf(HasSubstr(path + ": was written to"),
                             HasSubstr("(at byte "))));
  WriteText(path, whole);
  ExpectGoesOn(job, arguments);
}

// A disk of 1 MiB for the output of a job.
class SmallDisk {
 public:
  explicit SmallDisk(const SmallJob& job) : path_(job.output_dir()) {
    fs::create_directory(path_);
    if (mount("none", path_.c_str(), "tmpfs", 0, "size=1m") != 0) {
      obstacle_ = absl::StrCat("no file system of its own: ", strerror(errno));
    }
  }
  ~SmallDisk() {
    if (obstacle_.empty()) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Why there is none; "": there is one.
  const std::string& obstacle() const { return obstacle_; }

  void Fill() const {
    std::ofstream filler(path_ + "/filler");
    const std::string block(1024, 'x');
    while (filler << block << std::flush) {
    }
  }
  void Enlarge() const {
    EXPECT_EQ(mount("none", path_.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  }

 private:
  const std::string path_;
  std::string obstacle_;
};

TEST(DataFailureTest, TheDiskOfTheOutputIsFull) {
  const SmallJob job;
  const SmallDisk disk(job);
  if (!disk.obstacle().empty()) GTEST_SKIP() << disk.obstacle();
  const std::vector<std::string> arguments = {
      "--set", "checkpoint={every_epochs: 1, keep: 1000}"};
  std::vector<std::string> many = arguments;
  many.insert(many.end(), {"--set", "epochs=400"});
  Process run = job.Run(many);
  EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
  EXPECT_THAT(ErrorLines(run),
              ElementsAre(AllOf(HasSubstr("the last checkpoint was not "
                                          "written (nor "),
                                HasSubstr("shard-00000-of-00001.safetensors"),
                                HasSubstr("No space left on device"),
                                HasSubstr("--resume goes on from"))));
  // Nor can result.json be written. Each lost checkpoint before the last one
  // failed for the same reason, and was told once.
  EXPECT_THAT(run.Errors(), HasSubstr("warning: cannot write "));
  int notices = 0;
  for (const absl::string_view line : absl::StrSplit(run.Errors(), '\n')) {
    if (absl::StrContains(line, "a checkpoint was not written")) ++notices;
  }
  EXPECT_EQ(notices, 1) << run.Errors();
  EXPECT_THAT(run.Errors(), Not(HasSubstr("lost; the last because")))
      << "the error tells of them";
  disk.Enlarge();
  ExpectGoesOn(job, arguments);
}

// The job fails by the disk, since a stop is no failure.
TEST(DataFailureTest, TheDiskIsFullWhenAJobIsStopped) {
  const SmallJob job;
  const SmallDisk disk(job);
  if (!disk.obstacle().empty()) GTEST_SKIP() << disk.obstacle();
  Process run = job.Run({"--set", "checkpoint=null", "--set", "epochs=100000"});
  ASSERT_TRUE(WaitForEpochs(run, 1)) << run.Errors();
  disk.Fill();
  run.Signal(SIGINT);
  EXPECT_EQ(run.Wait(kFailureLimit), 1) << run.Errors();
  EXPECT_THAT(ErrorLines(run),
              ElementsAre(HasSubstr("stopped by a signal"),
                          AllOf(HasSubstr("cannot write "),
                                HasSubstr("No space left on device"),
                                Not(HasSubstr("has trained")))))
      << run.Errors();
}

}  // namespace
}  // namespace paceline
