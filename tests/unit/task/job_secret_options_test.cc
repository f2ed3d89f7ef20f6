#include "common/task/job_secret_options.h"

#include <string>

#include "common/cluster/cluster_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ClusterSpec ClusterOf(const std::string& ps, const std::string& worker) {
  ClusterSpec cluster;
  cluster.tasks[TaskType::kPs][0] = ps;
  cluster.tasks[TaskType::kWorker][0] = worker;
  return cluster;
}

TEST(JobSecretOptionsTest, OnLoopbackNoneIsNeeded) {
  for (const std::string address :
       {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"}) {
    const auto secret = FindJobSecret({}, ClusterOf(address, "127.0.0.1:2"));
    ASSERT_TRUE(secret.ok()) << secret.status();
    EXPECT_FALSE(secret->has_value());
  }
}

TEST(JobSecretOptionsTest, BeyondItsLackNamesBothRemedies) {
  for (const std::string address : {"10.0.0.2:2222", "128.0.0.1:1",
                                    "worker-0.job.svc:2222", "[fe80::1]:1"}) {
    const auto secret = FindJobSecret({}, ClusterOf("127.0.0.1:1", address));
    EXPECT_EQ(secret.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(secret.status().message()),
                AllOf(HasSubstr("worker-0 at " + address),
                      HasSubstr("--job-secret-file"), HasSubstr("--insecure")));
    JobSecretOptions insecure;
    insecure.is_insecure = true;
    const auto open =
        FindJobSecret(insecure, ClusterOf("127.0.0.1:1", address));
    ASSERT_TRUE(open.ok()) << open.status();
    EXPECT_FALSE(open->has_value());
  }
}

TEST(JobSecretOptionsTest, TheOptionComesBeforeTheEnvironment) {
  JobSecretOptions options;
  options.environment_text = "0123456789abcdef";
  const auto secret = FindJobSecret(options, {});
  ASSERT_TRUE(secret.ok()) << secret.status();
  EXPECT_EQ((*secret)->text(), options.environment_text);
  options.environment_file = "/nonexistent/of_the_environment";
  EXPECT_THAT(FindJobSecret(options, {}).status().ToString(),
              HasSubstr(options.environment_file));
  options.file = "/nonexistent/of_the_option";
  EXPECT_THAT(FindJobSecret(options, {}).status().ToString(),
              HasSubstr(options.file));
}

TEST(JobSecretOptionsTest, InsecureWithASecretIsAContradiction) {
  JobSecretOptions options;
  options.is_insecure = true;
  options.environment_text = "0123456789abcdef";
  EXPECT_EQ(FindJobSecret(options, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Nobody proves anything there, so nobody else must reach it.
TEST(ListenAddressTest, OnLoopbackItIsLoopbackAlone) {
  const ClusterSpec local = ClusterOf("127.0.0.1:1", "[::1]:2");
  EXPECT_EQ(ListenAddress(local, "127.0.0.1:1"), "127.0.0.1:1");
  EXPECT_EQ(ListenAddress(local, "[::1]:2"), "[::1]:2");
  const ClusterSpec wide = ClusterOf("127.0.0.1:1", "10.0.0.2:2");
  EXPECT_EQ(ListenAddress(wide, "127.0.0.1:1"), "[::]:1");
  EXPECT_EQ(ListenAddress(wide, "10.0.0.2:2"), "[::]:2");
}

}  // namespace
}  // namespace paceline
