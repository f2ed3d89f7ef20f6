// Where traces are written.
#include "common/session/leader/trace_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/callback/xplane.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class TraceFilesTest : public ::testing::Test {
 protected:
  TraceFilesTest()
      : folder_(::testing::TempDir() + "trace_files." +
                std::to_string(getpid())) {
    std::filesystem::remove_all(folder_);
  }
  ~TraceFilesTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      paths.push_back(entry.path().lexically_relative(folder_).string());
    }
    return paths;
  }

  const std::string folder_;
  const Trace trace_ = [] {
    Trace trace;
    trace.start_ns = 7;
    trace.lanes = {"lane"};
    return trace;
  }();
};

TEST_F(TraceFilesTest, TheRunHasTheTimeOfTheFirst) {
  absl::Time now = absl::FromCivil(absl::CivilSecond(2026, 3, 4, 5, 6, 7),
                                   absl::LocalTimeZone());
  TraceFiles files([&now] { return now; });
  ASSERT_EQ(files.Write(folder_ + "/a", "worker-0", trace_), absl::OkStatus());
  now += absl::Seconds(50);
  ASSERT_EQ(files.Write(folder_ + "/a", "worker-1", trace_), absl::OkStatus());
  ASSERT_EQ(files.Write(folder_ + "/b", "worker-0", trace_), absl::OkStatus());
  EXPECT_THAT(Paths(),
              UnorderedElementsAre(
                  "a/plugins/profile/2026_03_04_05_06_07/worker-0.xplane.pb",
                  "a/plugins/profile/2026_03_04_05_06_07/worker-1.xplane.pb",
                  "b/plugins/profile/2026_03_04_05_06_57/worker-0.xplane.pb"));
  EXPECT_EQ(*ReadFile(folder_ + "/" + Paths().front(), 1 << 20),
            EncodeXSpace(Paths().front().find("worker-0") != std::string::npos
                             ? "worker-0"
                             : "worker-1",
                         trace_));
}

TEST_F(TraceFilesTest, NamesAFileThatCannotBeWritten) {
  ASSERT_EQ(WriteFileAtomically(folder_, "a file"), absl::OkStatus());
  const absl::Status status = TraceFiles().Write(folder_, "worker-0", trace_);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_));
}

}  // namespace
}  // namespace paceline
