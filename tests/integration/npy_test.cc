// Data in files of NumPy.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::SizeIs;

// An array of bytes of this shape, as numpy.save writes it.
std::string Npy(const std::string& shape, const std::string& values) {
  const std::string header = absl::StrCat(
      "{'descr': '|u1', 'fortran_order': False, 'shape': ", shape, ", }\n");
  const std::string start("\x93NUMPY\x01\x00", 8);
  return absl::StrCat(start, std::string(1, static_cast<char>(header.size())),
                      std::string(1, '\0'), header, values);
}

// The small job's training set as .npy files in a folder of their own.
void WriteNpyFiles(const SmallJob& job) {
  constexpr size_t kImagesHeaderBytes = 16;
  constexpr size_t kLabelsHeaderBytes = 8;
  fs::create_directory(job.folder() / "arrays");
  WriteText(
      job.folder() / "arrays/x.npy",
      Npy(absl::StrCat("(", kTrainExamples, ", 8, 8)"),
          ReadText(job.folder() / "train-images").substr(kImagesHeaderBytes)));
  WriteText(
      job.folder() / "arrays/y.npy",
      Npy(absl::StrCat("(", kTrainExamples, ",)"),
          ReadText(job.folder() / "train-labels").substr(kLabelsHeaderBytes)));
}

std::vector<std::string> Synchronous(std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.end(),
                   {"--set", "strategy=multi_worker_mirrored", "--set",
                    "cluster={worker: 2}", "--set", "seed=5"});
  return arguments;
}

TEST(NpyTest, TrainsAsWithTheSameArraysInIdxFiles) {
  const SmallJob job;
  WriteNpyFiles(job);
  const auto losses = [&](const std::vector<std::string>& arguments) {
    Process run = job.Run(Synchronous(arguments));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    return Column(job.Result(), "loss");
  };
  const std::vector<double> idx = losses({});
  EXPECT_THAT(idx, SizeIs(3));
  EXPECT_EQ(losses({"--set", "data.train.idx=null", "--set",
                    "data.train.npy={features: arrays/x.npy, labels: "
                    "arrays/y.npy}"}),
            idx);
}

TEST(NpyTest, AFileThatIsCutIsRefusedBeforeTheFirstStep) {
  const SmallJob job;
  WriteNpyFiles(job);
  fs::resize_file(job.folder() / "arrays/x.npy", 5000);
  Process run = job.Run({"--set", "data.train.idx=null", "--set",
                         "data.train.npy={features: arrays/x.npy, labels: "
                         "arrays/y.npy}"});
  EXPECT_EQ(run.Wait(kJobLimit), 2) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("arrays/x.npy: truncated: "));
}

}  // namespace
}  // namespace paceline
