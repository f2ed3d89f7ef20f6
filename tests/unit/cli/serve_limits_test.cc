#include "coordinator/cli/serve_limits.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// What `serve` makes of the arguments.
absl::StatusOr<ServiceServerOptions> Parse(std::vector<std::string> arguments) {
  CLI::App app;
  ServeLimits limits;
  limits.AddTo(app);
  // CLI11 takes them from the end.
  std::reverse(arguments.begin(), arguments.end());
  app.parse(std::move(arguments));
  ServiceServerOptions server;
  const absl::Status status = limits.ApplyTo(server);
  if (!status.ok()) return status;
  return server;
}

std::string ErrorOf(std::vector<std::string> arguments) {
  return std::string(Parse(std::move(arguments)).status().message());
}

TEST(ServeLimitsTest, DefaultsAreThoseOfTheStores) {
  const auto server = Parse({});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->files.max_file_bytes, FileStoreOptions().max_file_bytes);
  EXPECT_EQ(server->files.max_bytes, FileStoreOptions().max_bytes);
  EXPECT_EQ(server->logs.max_log_bytes, LogStoreOptions().max_log_bytes);
  EXPECT_EQ(server->max_queued, JobQueueOptions().max_queued);
  EXPECT_EQ(server->files.min_free_bytes, uint64_t{1} << 30);
  EXPECT_EQ(server->logs.min_free_bytes, uint64_t{1} << 30);
  EXPECT_TRUE(server->quotas.empty());
  EXPECT_TRUE(server->retention.KeepsAll());
  EXPECT_EQ(server->max_upload_rate, kAnyUploadRate);
}

TEST(ServeLimitsTest, TakesARateOfUploads) {
  const auto server = Parse({"--max-upload-rate", "64MiB"});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->max_upload_rate, 64 << 20);
  EXPECT_EQ(ErrorOf({"--max-upload-rate", "1000KiB"}),
            "--max-upload-rate: \"1000KiB\"; expected at least 1MiB, which is "
            "meant a second");
}

TEST(ServeLimitsTest, TakesWhatIsKept) {
  const auto server = Parse({"--keep-jobs", "30d", "--keep-size", "500GiB"});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->retention.age, absl::Hours(720));
  EXPECT_EQ(server->retention.bytes, uint64_t{500} << 30);
  EXPECT_THAT(ErrorOf({"--keep-jobs", "0s"}),
              HasSubstr("--keep-jobs: \"0s\"; expected a duration above 0"));
}

TEST(ServeLimitsTest, TakesSizes) {
  const auto server =
      Parse({"--min-free", "0", "--max-log", "1MiB", "--max-file", "2GiB",
             "--max-store", "3GiB", "--max-queued", "7"});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->files.min_free_bytes, 0);
  EXPECT_EQ(server->logs.max_log_bytes, 1 << 20);
  EXPECT_EQ(server->files.max_file_bytes, uint64_t{2} << 30);
  EXPECT_EQ(server->files.max_bytes, uint64_t{3} << 30);
  EXPECT_EQ(server->max_queued, 7);
  EXPECT_EQ(ErrorOf({"--min-free", "much"}),
            "--min-free: \"much\"; expected a size such as 512MiB or 4GiB");
}

TEST(ServeLimitsTest, TakesQuotas) {
  const auto server =
      Parse({"--quota", "ann=cores:1.5,memory:8GiB,gpus:2,jobs:3", "--quota",
             "*=jobs:0"});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->quotas.at("ann").ToString(),
            "3 jobs, 1.5 cores, 8 GiB, 2 GPUs");
  EXPECT_EQ(server->quotas.at(kOtherUsers).ToString(), "0 jobs");
}

TEST(ServeLimitsTest, SaysWhatIsWrongWithAQuota) {
  for (const char* wrong : {"ann", "=jobs:1", "ann=", "ann=jobs", "ann=jobs:",
                            "ann=jobs:-1", "ann=jobs:1.5", "ann=cpus:4",
                            "ann=memory:-1", "ann=cores:x", "ann=jobs:1,"}) {
    EXPECT_THAT(ErrorOf({"--quota", wrong}),
                HasSubstr(std::string("--quota: \"") + wrong + "\""));
  }
  EXPECT_THAT(ErrorOf({"--quota", "ann=jobs:1,cpus:4"}),
              HasSubstr("has \"cpus:4\"; expected USER="));
  EXPECT_THAT(ErrorOf({"--quota", "ann=jobs:1,jobs:2"}),
              HasSubstr("has jobs twice"));
  EXPECT_THAT(ErrorOf({"--quota", "ann=jobs:1", "--quota", "ann=gpus:1"}),
              HasSubstr("ann has a quota"));
}

}  // namespace
}  // namespace paceline
