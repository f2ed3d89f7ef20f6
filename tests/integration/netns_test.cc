// A cluster across hosts, made of network namespaces: names that resolve late,
// cut links.
#include <array>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/test_network.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr int kManyEpochs = 40;

// The tasks, each on the host of its number.
enum Host { kChief, kPs, kWorker0, kWorker1, kHostCount };
constexpr std::array<const char*, kHostCount> kTasks = {"chief-0", "ps-0",
                                                        "worker-0", "worker-1"};

class NetnsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = TestNetwork::Obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << obstacle;
    network_ = std::make_unique<TestNetwork>(kHostCount);
  }

  // Starts all tasks of a cluster where a host is called by `name_of`.
  template <typename NameOf>
  void Start(int epochs, NameOf name_of) {
    const auto address = [&](Host host) {
      return absl::StrCat(name_of(host), ":2222");
    };
    cluster_ = std::make_unique<HandStartedCluster>(
        job_,
        HandStartedCluster::Addresses{
            {"chief", {address(kChief)}},
            {"ps", {address(kPs)}},
            {"worker", {address(kWorker0), address(kWorker1)}}},
        [this](const std::string& task) {
          const auto it = std::find(kTasks.begin(), kTasks.end(), task);
          return network_->On(static_cast<int>(it - kTasks.begin()));
        });
    tasks_[kPs] = std::make_unique<Process>(cluster_->Start("ps", 0));
    tasks_[kWorker0] = std::make_unique<Process>(cluster_->Start("worker", 0));
    tasks_[kWorker1] = std::make_unique<Process>(cluster_->Start("worker", 1));
    tasks_[kChief] = std::make_unique<Process>(
        cluster_->StartChief({"--set", absl::StrCat("epochs=", epochs)}));
  }

  void StartByAddress(int epochs) {
    Start(epochs, [&](Host host) { return network_->AddressOf(host); });
  }

  // The same, then waits until the job is in full swing.
  void RunFor(int epochs) {
    StartByAddress(epochs);
    ASSERT_TRUE(WaitForEpochs(*tasks_[kChief], 2))
        << tasks_[kChief]->Errors() << tasks_[kPs]->Errors();
  }
  void RunForever() { RunFor(100000); }

  void ExpectExit(Host host, int code, absl::Duration timeout) {
    EXPECT_EQ(tasks_[host]->Wait(timeout), code)
        << kTasks[host] << ": " << tasks_[host]->Errors();
  }

  void ExpectSuccess() {
    for (const Host host : {kChief, kPs, kWorker0, kWorker1}) {
      ExpectExit(host, 0, kJobLimit);
    }
    EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
  }

  // Expects that a member gives up the leader, and says where that should be.
  void ExpectMissesTheLeader(Host host) {
    ExpectExit(host, 1, kFailureLimit);
    EXPECT_THAT(tasks_[host]->Errors(),
                HasSubstr(cluster_->AddressOf("chief", 0)));
  }

  SmallJob job_;
  std::unique_ptr<TestNetwork> network_;
  std::unique_ptr<HandStartedCluster> cluster_;
  // After the network, so that they end before it goes.
  std::array<std::unique_ptr<Process>, kHostCount> tasks_;
};

TEST_F(NetnsTest, TrainsAcrossHosts) {
  StartByAddress(3);
  ExpectSuccess();
}

TEST_F(NetnsTest, NamesThatResolveLate) {
  Start(3, [](Host host) { return absl::StrCat(kTasks[host], ".test"); });
  // A host knows its own name, as those of Kubernetes do.
  for (int host = 0; host < kHostCount; ++host) {
    network_->AddName(host, absl::StrCat(kTasks[host], ".test"), host);
  }
  absl::SleepFor(absl::Seconds(2));
  for (const auto& task : tasks_) {
    EXPECT_FALSE(task->Wait(absl::ZeroDuration()).has_value())
        << task->Errors();
  }
  EXPECT_EQ(EpochLines(*tasks_[kChief]), 0);
  for (int host = 0; host < kHostCount; ++host) {
    for (int other = 0; other < kHostCount; ++other) {
      if (other == host) continue;
      network_->AddName(host, absl::StrCat(kTasks[other], ".test"), other);
    }
  }
  ExpectSuccess();
}

TEST_F(NetnsTest, ParameterServerIsCutOff) {
  RunForever();
  network_->Cut(kPs);
  ExpectExit(kChief, 1, kFailureLimit);
  const std::string name = "ps-0 at " + cluster_->AddressOf("ps", 0);
  EXPECT_THAT(tasks_[kChief]->Errors(), HasSubstr(name));
  const nlohmann::json error = job_.Result().at("error");
  EXPECT_EQ(error.at("task"), "ps-0");
  EXPECT_THAT(error.at("message").get<std::string>(), HasSubstr(name));
  ExpectMissesTheLeader(kPs);
  EXPECT_TRUE(tasks_[kWorker0]->Wait(kFailureLimit).has_value());
  EXPECT_TRUE(tasks_[kWorker1]->Wait(kFailureLimit).has_value());
}

TEST_F(NetnsTest, WorkerIsCutOff) {
  RunFor(kManyEpochs);
  network_->Cut(kWorker1);
  ExpectMissesTheLeader(kWorker1);
  ExpectExit(kChief, 0, kFailureLimit + kJobLimit);
  EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
}

TEST_F(NetnsTest, LeaderIsCutOff) {
  RunForever();
  network_->Cut(kChief);
  for (const Host host : {kPs, kWorker0, kWorker1}) ExpectMissesTheLeader(host);
  ExpectExit(kChief, 1, kFailureLimit);
}

}  // namespace
}  // namespace paceline
