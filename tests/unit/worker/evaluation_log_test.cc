#include "worker/evaluation/evaluation_log.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

class EvaluationLogTest : public ::testing::Test {
 protected:
  EvaluationLogTest() { std::filesystem::remove(path_); }
  ~EvaluationLogTest() override { std::filesystem::remove(path_); }

  std::string Text() const {
    return ReadFile(path_, /*limit=*/1 << 20).value_or("unreadable");
  }
  void Set(int64_t step, double loss, double accuracy) {
    EXPECT_EQ(log_.Set(step, {{"loss", loss}, {"accuracy", accuracy}}),
              absl::OkStatus());
  }

  const std::string path_ = testing::TempDir() + "evaluation_log_test.csv";
  const std::vector<LoggedMetric> metrics_ = {{.name = "loss"},
                                              {.name = "accuracy"}};
  const EvaluationLog log_{path_, metrics_};
};

TEST_F(EvaluationLogTest, HasARowForEachStep) {
  EXPECT_FALSE(*log_.Has(10));
  Set(10, 2.5, 0.5);
  Set(110, 1.5, 0.75);
  EXPECT_EQ(Text(), "step,loss,accuracy\r\n10,2.5,0.5\r\n110,1.5,0.75\r\n");
  EXPECT_TRUE(*log_.Has(10));
  EXPECT_TRUE(*log_.Has(110));
  EXPECT_FALSE(*log_.Has(1));
  EXPECT_FALSE(*log_.Has(11));
}

TEST_F(EvaluationLogTest, TheRowOfAStepIsReplaced) {
  Set(10, 2.5, 0.5);
  Set(110, 1.5, 0.75);
  Set(10, 3, 0.25);
  EXPECT_EQ(Text(), "step,loss,accuracy\r\n10,3,0.25\r\n110,1.5,0.75\r\n");
  Set(110, 4, 1);
  EXPECT_EQ(Text(), "step,loss,accuracy\r\n10,3,0.25\r\n110,4,1\r\n");
}

TEST_F(EvaluationLogTest, AFileWithOtherColumnsIsReplaced) {
  ASSERT_EQ(WriteFileAtomically(path_, "step,loss\r\n10,2.5\r\n"),
            absl::OkStatus());
  EXPECT_FALSE(*log_.Has(10));
  Set(20, 1, 0.5);
  EXPECT_EQ(Text(), "step,loss,accuracy\r\n20,1,0.5\r\n");
}

}  // namespace
}  // namespace paceline
