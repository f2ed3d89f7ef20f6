// Tasks of a cluster under TF_CONFIG that die or hang.
#include <signal.h>

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr int kManyEpochs = 40;

class HandStartedFailureTest : public testing::Test {
 protected:
  // Starts chief, ps and two workers; waits until two epochs have ended.
  void RunFor(int epochs) {
    ps_ = std::make_unique<Process>(cluster_.Start("ps", 0));
    for (int i = 0; i < 2; ++i) {
      workers_.push_back(cluster_.Start("worker", i));
    }
    chief_ = std::make_unique<Process>(
        cluster_.StartChief({"--set", "epochs=" + std::to_string(epochs)}));
    ASSERT_TRUE(WaitForEpochs(*chief_, 2)) << chief_->Errors();
  }
  void RunForever() { RunFor(100000); }

  // Expects that ps and workers end with 1 and name the leader's address.
  void ExpectMembersMissTheLeader() {
    const std::string& address = cluster_.AddressOf("chief", 0);
    EXPECT_EQ(ps_->Wait(kFailureLimit), 1);
    EXPECT_THAT(ps_->Errors(), HasSubstr(address));
    for (Process& worker : workers_) {
      EXPECT_EQ(worker.Wait(kFailureLimit), 1);
      EXPECT_THAT(worker.Errors(), HasSubstr(address));
    }
  }

  SmallJob job_;
  HandStartedCluster cluster_ = HandStartedCluster::OnLoopback(job_, 1, 1, 2);
  std::unique_ptr<Process> chief_;
  std::unique_ptr<Process> ps_;
  std::vector<Process> workers_;
};

TEST_F(HandStartedFailureTest, LeaderDies) {
  RunForever();
  chief_->Signal(SIGKILL);
  ExpectMembersMissTheLeader();
}

TEST_F(HandStartedFailureTest, LeaderHangs) {
  RunForever();
  chief_->Signal(SIGSTOP);
  ExpectMembersMissTheLeader();
}

TEST_F(HandStartedFailureTest, ParameterServerHangs) {
  RunForever();
  ps_->Signal(SIGSTOP);
  EXPECT_EQ(chief_->Wait(kFailureLimit), 1);
  const std::string name = "ps-0 at " + cluster_.AddressOf("ps", 0);
  EXPECT_THAT(chief_->Errors(), HasSubstr(name));
  const nlohmann::json error = job_.Result().at("error");
  EXPECT_EQ(error.at("task"), "ps-0");
  EXPECT_THAT(error.at("message").get<std::string>(), HasSubstr(name));
  EXPECT_THAT(error.at("message").get<std::string>(), HasSubstr("waits for"));
  for (Process& worker : workers_) {
    EXPECT_TRUE(worker.Wait(kFailureLimit).has_value());
  }
}

TEST_F(HandStartedFailureTest, OneOfTwoWorkersDies) {
  RunFor(kManyEpochs);
  workers_[1].Signal(SIGKILL);
  ASSERT_EQ(chief_->Wait(kFailureLimit + kJobLimit), 0) << chief_->Errors();
  EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
  EXPECT_EQ(workers_[0].Wait(kJobLimit), 0);
  EXPECT_EQ(ps_->Wait(kJobLimit), 0);
}

}  // namespace
}  // namespace paceline
