#include "common/daemon/log_shipper.h"

#include <glog/logging.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/rpc/rpc_server.h"
#include "common/rpc/service_client.h"
#include "tests/test_identity.h"
#include "tests/unit/daemon/fake_coordinator.h"

namespace paceline {
namespace {

class LogShipperTest : public ::testing::Test {
 protected:
  LogShipperTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    auto server = StartTestServer("127.0.0.1:0", {&daemons_});
    CHECK(server.ok()) << server.status();
    server_ = *std::move(server);
    client_ = std::make_unique<ServiceClient>(
        absl::StrCat("127.0.0.1:", server_->port()), TestCaller());
    shipper_ = std::make_unique<LogShipper>(
        *client_, HeldTask{"job-1", 1, {TaskType::kChief, 0}}.ToProto(),
        folder_ + "/log", folder_ + "/progress");
  }

  void Log(const std::string& text) {
    std::ofstream(folder_ + "/log", std::ios::app) << text;
  }
  void Progress(const std::string& content) {
    std::ofstream(folder_ + "/progress") << content;
  }
  void SetSteps(uint64_t steps) {
    v1::JobProgress progress;
    progress.mutable_current()->set_steps_done(steps);
    Progress(progress.SerializeAsString());
  }
  // The steps of the progress that has come since the last call.
  std::vector<uint64_t> Steps() {
    MutexLock lock(books_.mutex);
    std::vector<uint64_t> steps;
    for (const v1::JobProgress& each : books_.progress) {
      steps.push_back(each.current().steps_done());
    }
    books_.progress.clear();
    return steps;
  }
  std::string Shipped() {
    MutexLock lock(books_.mutex);
    return books_.logs.empty() ? "" : books_.logs.begin()->second;
  }
  void SetWanted(bool is_wanted) {
    MutexLock lock(books_.mutex);
    books_.wants_progress = is_wanted;
  }
  // Whether a piece of the log was sent.
  bool Ship() {
    const auto shipped = shipper_->Ship();
    EXPECT_TRUE(shipped.ok()) << shipped.status();
    return shipped.ok() && *shipped;
  }

  const std::string folder_ = ::testing::TempDir() + "log_shipper_test";
  Books books_;
  FakeDaemonService daemons_{books_};
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ServiceClient> client_;
  std::unique_ptr<LogShipper> shipper_;
};

TEST_F(LogShipperTest, SendsProgressOnceAndOftenOnlyIfItIsWanted) {
  Log("Epoch 1/2\n");
  SetSteps(1);
  SetWanted(true);
  EXPECT_TRUE(Ship());
  EXPECT_FALSE(Ship());
  EXPECT_EQ(Shipped(), "Epoch 1/2\n");
  EXPECT_EQ(Steps(), std::vector<uint64_t>({1}));
  SetWanted(false);
  SetSteps(2);
  EXPECT_FALSE(Ship());
  EXPECT_EQ(Steps(), std::vector<uint64_t>({2}));
  // Alone it waits now, but not with the next piece.
  SetSteps(3);
  EXPECT_FALSE(Ship());
  EXPECT_EQ(Steps(), std::vector<uint64_t>());
  Log("a warning\n");
  EXPECT_TRUE(Ship());
  EXPECT_EQ(Steps(), std::vector<uint64_t>({3}));
  EXPECT_EQ(Shipped(), "Epoch 1/2\na warning\n");
}

TEST_F(LogShipperTest, SendsTheSameProgressToAnotherCoordinator) {
  Log("Epoch 1/2\n");
  SetSteps(1);
  EXPECT_TRUE(Ship());
  EXPECT_EQ(Steps(), std::vector<uint64_t>({1}));
  EXPECT_FALSE(Ship());
  EXPECT_EQ(Steps(), std::vector<uint64_t>());
  shipper_->SendProgressAgain();
  EXPECT_FALSE(Ship());
  EXPECT_FALSE(Ship());
  EXPECT_EQ(Steps(), std::vector<uint64_t>({1}));
}

TEST_F(LogShipperTest, SendsAgainWhatWasRefused) {
  Log("text");
  SetSteps(1);
  {
    MutexLock lock(books_.mutex);
    books_.refusal = absl::ResourceExhaustedError("full");
  }
  EXPECT_FALSE(shipper_->Ship().ok());
  {
    MutexLock lock(books_.mutex);
    books_.refusal = absl::OkStatus();
  }
  EXPECT_TRUE(Ship());
  EXPECT_EQ(Steps(), std::vector<uint64_t>({1}));
}

TEST_F(LogShipperTest, ABadFileOfProgressHoldsNoLogUp) {
  SetWanted(true);
  v1::JobProgress impossible;
  impossible.mutable_current()->set_seconds(-1);
  for (const std::string& content :
       {std::string("no message"), impossible.SerializeAsString(),
        std::string(1 << 20, '\0')}) {
    Progress(content);
    Log("line\n");
    EXPECT_TRUE(Ship());
    EXPECT_EQ(Steps(), std::vector<uint64_t>());
  }
  EXPECT_EQ(Shipped(), "line\nline\nline\n");
}

}  // namespace
}  // namespace paceline
