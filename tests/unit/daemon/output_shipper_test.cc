// What of a job's output folder goes to the coordinator, and when.

#include "common/daemon/output_shipper.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/rpc/rpc_server.h"
#include "gmock/gmock.h"
#include "tests/test_identity.h"
#include "tests/unit/daemon/fake_coordinator.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class OutputShipperTest : public ::testing::Test {
 protected:
  OutputShipperTest() {
    fs::remove_all(folder_);
    auto server = StartTestServer("127.0.0.1:0", {&daemons_, &files_});
    CHECK(server.ok()) << server.status();
    server_ = *std::move(server);
    client_ = std::make_unique<ServiceClient>(
        absl::StrCat("127.0.0.1:", server_->port()), TestCaller());
    shipper_ = std::make_unique<OutputShipper>(
        *client_, folder_,
        HeldTask{"job-1", 1, {TaskType::kWorker, 0}}.ToProto());
  }

  // Writes a file that was last changed before that time.
  void Write(const std::string& path, const std::string& content,
             std::chrono::seconds age = std::chrono::seconds(60)) {
    const fs::path file = fs::path(folder_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << content;
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
  }
  std::map<std::string, std::string> Outputs() {
    MutexLock lock(books_.mutex);
    return std::exchange(books_.outputs, {});
  }

  const std::string folder_ = ::testing::TempDir() + "output_shipper_test";
  Books books_;
  FakeDaemonService daemons_{books_};
  FakeFileService files_{books_};
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ServiceClient> client_;
  std::unique_ptr<OutputShipper> shipper_;
};

TEST_F(OutputShipperTest, ShipsWhatIsNewOrChanged) {
  ASSERT_TRUE(shipper_->ShipAll().ok());
  Write("out/old", "1");
  shipper_->SkipPresent();
  Write("out/empty", "");
  Write("out/a/b", "2");
  Write("job.yaml", "x");
  ASSERT_TRUE(shipper_->ShipAll().ok());
  EXPECT_THAT(Outputs(),
              ElementsAre(Pair("out/a/b", "2"), Pair("out/empty", "")));
  Write("out/old", "3", std::chrono::seconds(30));
  ASSERT_TRUE(shipper_->ShipAll().ok());
  EXPECT_THAT(Outputs(), ElementsAre(Pair("out/old", "3")));
  ASSERT_TRUE(shipper_->ShipAll().ok());
  EXPECT_THAT(Outputs(), IsEmpty());
}

TEST_F(OutputShipperTest, LeavesOutWhatIsNoOutput) {
  Write("secret", "x");
  Write("out/result.json.tmp", "x");
  Write("out/weights.h5.tmp.a1b2c3", "x");
  Write("out/.hidden", "x");
  Write("out/.folder/file", "x");
  fs::create_symlink(folder_ + "/secret", folder_ + "/out/link");
  fs::create_directory_symlink(folder_, folder_ + "/out/folder");
  ASSERT_TRUE(shipper_->ShipAll().ok());
  EXPECT_THAT(Outputs(), IsEmpty());
  fs::remove_all(folder_ + "/out");
  fs::create_directory_symlink(folder_, folder_ + "/out");
  ASSERT_TRUE(shipper_->ShipAll().ok());
  EXPECT_THAT(Outputs(), IsEmpty());
}

TEST_F(OutputShipperTest, LargeFilesGoInPiecesAndKnownOnesNotAtAll) {
  const std::string large(5 << 20, 'x');
  Write("out/large", large);
  Write("out/z/same", large);
  ASSERT_TRUE(shipper_->ShipAll().ok());
  EXPECT_EQ(Outputs().at("out/z/same"), large);
  MutexLock lock(books_.mutex);
  EXPECT_EQ(books_.put_calls, 5);
}

TEST_F(OutputShipperTest, ACheckpointGoesOnceItIsComplete) {
  const std::string step = "out/checkpoint/step-000000000001/";
  Write(step + "shard", "1");
  Write("out/result.json", "x");
  ASSERT_TRUE(shipper_->ShipCheckpoints().ok());
  EXPECT_THAT(Outputs(), IsEmpty());
  Write(step + "manifest.json", "2");
  ASSERT_TRUE(shipper_->ShipCheckpoints().ok());
  EXPECT_THAT(Outputs(), ElementsAre(Pair(step + "manifest.json", "2"),
                                     Pair(step + "shard", "1")));
}

TEST_F(OutputShipperTest, ACheckpointThatNeverBecameCompleteStays) {
  Write("out/checkpoint/step-000000000001/shard", "1");
  Write("out/phases/head/checkpoint/step-000000000001/shard", "1");
  Write("out/result.json", "x");
  ASSERT_TRUE(shipper_->ShipAll().ok());
  EXPECT_THAT(Outputs(), ElementsAre(Pair("out/result.json", "x")));
}

}  // namespace
}  // namespace paceline
