#include "common/checkpoint/checkpointer.h"

#include <cstring>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "tests/unit/checkpoint/checkpoint_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckpointerTest : public CheckpointTest {
 protected:
  static ShardSnapshot Snapshot(float value) {
    ShardSnapshot snapshot;
    snapshot.file = "shard";
    SnapshotTensor& tensor = snapshot.tensors.emplace_back();
    tensor.name = "w";
    tensor.shape = {1};
    tensor.bytes.resize(sizeof(value));
    std::memcpy(tensor.bytes.data(), &value, sizeof(value));
    return snapshot;
  }
  // The folder of a checkpoint; returns its name.
  std::string MakeFolder(int64_t step) {
    return std::filesystem::path(*CreateCheckpointFolder(directory_, step))
        .filename();
  }
  absl::Status Start(const std::string& name) {
    return checkpointer_.Start(directory_, name, Snapshot(1));
  }
  Checkpointer::Result Await(const std::string& name) {
    std::promise<Checkpointer::Result> result;
    checkpointer_.WhenWritten(name, [&](const Checkpointer::Result& each) {
      result.set_value(each);
    });
    return result.get_future().get();
  }

  Checkpointer checkpointer_;
};

TEST_F(CheckpointerTest, WritesIntoTheFolderOfThatName) {
  const std::string name = MakeFolder(7);
  ASSERT_TRUE(Start(name).ok());
  EXPECT_TRUE(Await(name).ok());
  EXPECT_TRUE(Await(name).ok());
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/" + name + "/shard"));
}

TEST_F(CheckpointerTest, TakesOnlyNamesOfCheckpoints) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("x"),
        std::string("/etc"), std::string("../step-000000000001"),
        std::string("step-000000000001/.."), std::string("step-1"),
        std::string("step-000000000001-1"), std::string("step- 00000000001"),
        std::string("step-+00000000001"), std::string("step--00000000001"),
        std::string("step-000000000001\0", 18),
        "step-" + std::string(1 << 20, '1')}) {
    const absl::Status status = Start(name);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_LT(status.message().size(), 300);
    EXPECT_EQ(Await(name).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

// The leader has created the folder, on another machine.
TEST_F(CheckpointerTest, AFolderThatIsNotSharedIsNamed) {
  const std::string name = "step-000000000003";
  ASSERT_TRUE(Start(name).ok());
  const absl::Status status = Await(name).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(directory_ + "/" + name),
                    HasSubstr("the leader and all tasks with variables "
                              "share")));
  ASSERT_TRUE(checkpointer_.Start("/no/such", name, Snapshot(1)).ok());
  EXPECT_THAT(std::string(Await(name).status().message()),
              AllOf(HasSubstr("/no/such"), HasSubstr("share")));
}

TEST_F(CheckpointerTest, FollowsNoLink) {
  const std::string victim = MakeFolder(1);
  const std::string link = "step-000000000002";
  std::filesystem::create_directory_symlink(directory_ + "/" + victim,
                                            directory_ + "/" + link);
  ASSERT_TRUE(Start(link).ok());
  const absl::Status status = Await(link).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(link));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/" + victim));
}

TEST_F(CheckpointerTest, NoFileIsWrittenTwice) {
  const std::string a = MakeFolder(1);
  const std::string b = MakeFolder(2);
  ASSERT_TRUE(Start(a).ok());
  ASSERT_TRUE(Await(a).ok());
  ASSERT_TRUE(Start(b).ok());
  ASSERT_TRUE(Await(b).ok());
  ASSERT_TRUE(Start(a).ok());
  EXPECT_EQ(Await(a).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Await(b).status().code(), absl::StatusCode::kNotFound);
}

// While the writing thread is busy.
TEST_F(CheckpointerTest, KeepsTwoSnapshotsHoweverManyCome) {
  // WhenWritten calls on the writing thread, and so keeps it, unless the
  // snapshot was written before: then on this one, and the next is tried.
  const std::thread::id test_thread = std::this_thread::get_id();
  std::promise<void> go_on;
  bool is_kept = false;
  for (int step = 100; !is_kept; ++step) {
    const std::string name = MakeFolder(step);
    std::promise<bool> called;
    ASSERT_TRUE(Start(name).ok());
    checkpointer_.WhenWritten(name, [&](const Checkpointer::Result&) {
      const bool keep = std::this_thread::get_id() != test_thread;
      called.set_value(keep);
      if (keep) go_on.get_future().wait();
    });
    is_kept = called.get_future().get();
  }

  std::vector<absl::StatusCode> codes;
  for (int step = 1; step < 100; ++step) {
    const std::string name = MakeFolder(step);
    ASSERT_TRUE(Start(name).ok());
    // Of a name that waits there is no second snapshot.
    EXPECT_EQ(Start(name).code(), absl::StatusCode::kFailedPrecondition);
    checkpointer_.WhenWritten(name, [&](const Checkpointer::Result& result) {
      codes.push_back(result.status().code());
    });
  }
  EXPECT_EQ(codes, std::vector(98, absl::StatusCode::kAborted));
  go_on.set_value();
  EXPECT_TRUE(Await("step-000000000099").ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/step-000000000050"));
}

}  // namespace
}  // namespace paceline
