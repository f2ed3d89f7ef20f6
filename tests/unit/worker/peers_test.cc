#include "worker/setup/peers.h"

#include <climits>
#include <optional>

#include "common/cluster/blame.h"
#include "common/cluster/task_proto.h"
#include "gtest/gtest.h"
#include "worker/collective/blamed_rank.h"

namespace paceline {
namespace {

// Of a cluster whose chief trains.
v1::AwaitStartResponse StartOfThree() {
  v1::AwaitStartResponse start;
  for (const TaskId task :
       {TaskId{TaskType::kChief, 0}, TaskId{TaskType::kWorker, 0},
        TaskId{TaskType::kWorker, 1}}) {
    v1::Member& member = *start.add_workers();
    *member.mutable_task() = TaskToProto(task);
    member.set_address(task.ToString() + ":2222");
    member.set_incarnation(7);
  }
  return start;
}

TEST(PeersTest, ARankIsBlamedAsItsTask) {
  const v1::AwaitStartResponse start = StartOfThree();
  const absl::Status gone = absl::UnavailableError("gone");
  const absl::Status error = BlamePeer(start, "a sum", WithBlamedRank(1, gone));
  EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(error.message(), "gone");
  EXPECT_EQ(BlameOf(error),
            (Blame{{TaskType::kWorker, 0}, "worker-0:2222", "a sum"}));
  EXPECT_EQ(BlameOf(BlamePeer(start, "a sum", WithBlamedRank(0, gone)))->task,
            (TaskId{TaskType::kChief, 0}));
}

TEST(PeersTest, OtherErrorsStayAsTheyAre) {
  const v1::AwaitStartResponse start = StartOfThree();
  const absl::Status gone = absl::UnavailableError("gone");
  EXPECT_EQ(BlamePeer(start, "a sum", gone), gone);
  EXPECT_TRUE(BlamePeer(start, "a sum", absl::OkStatus()).ok());
  for (const int rank : {3, INT_MAX}) {
    EXPECT_EQ(BlameOf(BlamePeer(start, "a sum", WithBlamedRank(rank, gone))),
              std::nullopt);
  }
  const absl::Status of_ps =
      WithBlame(gone, {{TaskType::kPs, 1}, "ps-1:2222", "Push"});
  EXPECT_EQ(BlamePeer(start, "a sum", of_ps), of_ps);
}

TEST(PeersTest, NamesAreTasksWithTheirAddresses) {
  v1::AwaitStartResponse start = StartOfThree();
  start.mutable_workers(0)->clear_address();
  const auto options = PeerOptions(start, /*rank=*/1, /*threads=*/1);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->peers[0].name, "chief-0");
  EXPECT_EQ(options->peers[1].name, "worker-0 at worker-0:2222");
}

}  // namespace
}  // namespace paceline
