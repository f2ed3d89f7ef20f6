#include "common/process/program_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline {
namespace {

using ::testing::ElementsAre;

constexpr const char* kEnvironment[] = {"PATH=/bin",
                                        "PATHS=x",
                                        "AWS_SECRET_ACCESS_KEY=s",
                                        "LC_ALL=C",
                                        "LC=x",
                                        "PYTHONPATH=/a=b",
                                        "PACELINE_SECRET_FILE=/s",
                                        "PACELINE_JOB_SECRET=s",
                                        "PACELINE_TOKEN_FILE=/t",
                                        "PACELINE_COORDINATOR=host:1",
                                        "TF_CONFIG={}",
                                        "no name",
                                        "CUDA_VISIBLE_DEVICES=",
                                        nullptr};

TEST(ProgramEnvironment, OfAUserIsWhole) {
  const auto whole = WholeEnvironment(kEnvironment);
  EXPECT_EQ(whole.size(), 13);
  EXPECT_EQ(whole.at(2), "AWS_SECRET_ACCESS_KEY=s");
}

TEST(ProgramEnvironment, OfAServiceHasNoSecrets) {
  EXPECT_THAT(
      SafeEnvironment(kEnvironment),
      ElementsAre("PATH=/bin", "LC_ALL=C", "PYTHONPATH=/a=b",
                  "PACELINE_COORDINATOR=host:1", "CUDA_VISIBLE_DEVICES="));
}

}  // namespace
}  // namespace paceline
