// What a queue store has after its process or its machine died, or its disk was
// full.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "coordinator/store/queue_store.h"
#include "gmock/gmock.h"
#include "tests/unit/store/store_fixture.h"

namespace paceline {
namespace {

// All records of transaction `n`, of several pages.
std::vector<QueueAction> TransactionNumber(uint64_t n) {
  v1::JobRecord large = JobNamed("large", n);
  large.set_error(std::string(20'000, 'x'));
  return {StoreJob{large},
          StoreJob{JobNamed(absl::StrCat("job-", n), n)},
          RemoveJob{absl::StrCat("job-", n - 1)},
          StoreDaemon{DaemonNamed("rack", n)},
          OrdersChanged{"rack"},
          StoreLastNumber{n}};
}

// The number of the last transaction, all of which the store must have.
uint64_t LastTransaction(const std::string& path) {
  auto store = QueueStore::Open(path);
  EXPECT_TRUE(store.ok()) << store.status();
  if (!store.ok()) return 0;
  const auto stored = (*store)->Load();
  EXPECT_TRUE(stored.ok()) << stored.status();
  if (!stored.ok()) return 0;
  const uint64_t n = stored->last_number;
  if (n == 0) {
    EXPECT_TRUE(stored->jobs.empty() && stored->daemons.empty());
    return 0;
  }
  EXPECT_EQ(stored->jobs.size(), 2);
  EXPECT_EQ(stored->daemons.size(), 1);
  for (const v1::JobRecord& job : stored->jobs) EXPECT_EQ(job.number(), n);
  for (const v1::DaemonRecord& daemon : stored->daemons) {
    EXPECT_EQ(daemon.incarnation(), n);
  }
  return n;
}

class StoreDeathTest : public StoreTest {};

// Tells the pipe the number of each transaction that is stored.
[[noreturn]] void StoreForEver(const std::string& path, uint64_t last,
                               int pipe) {
  auto store = QueueStore::Open(path);
  if (!store.ok()) _exit(1);
  for (uint64_t n = last + 1;; ++n) {
    if (!(*store)->Apply(TransactionNumber(n)).ok()) _exit(2);
    if (write(pipe, &n, sizeof(n)) != sizeof(n)) _exit(3);
  }
}

TEST_F(StoreDeathTest, AKilledProcessHasStoredWhatItSaid) {
  std::minstd_rand random(1);
  std::uniform_int_distribution<int> micros(0, 30'000);
  uint64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) StoreForEver(Path("queue"), last, ends[1]);
    close(ends[1]);
    uint64_t acknowledged = last;
    // In every other round it has at least begun to store.
    if (round % 2 == 1) {
      ASSERT_GT(read(ends[0], &acknowledged, sizeof(acknowledged)), 0);
    }
    usleep(micros(random));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    while (read(ends[0], &acknowledged, sizeof(acknowledged)) > 0) {
    }
    close(ends[0]);
    last = LastTransaction(Path("queue"));
    EXPECT_GE(last, acknowledged);
    EXPECT_LE(last, acknowledged + 1);
    if (HasFailure()) return;
  }
  EXPECT_GE(last, 10);
}

// Exits with 0 if a transaction for which there is no room fails, and the next
// one, for which there is, does not.
[[noreturn]] void FillTheDisk(const std::string& path) {
  auto store = QueueStore::Open(path);
  if (!store.ok() || !(*store)->Apply(TransactionNumber(1)).ok()) _exit(1);
  rlimit room = {};
  getrlimit(RLIMIT_FSIZE, &room);
  const rlim_t all = room.rlim_cur;
  room.rlim_cur = std::filesystem::file_size(path + "-wal") + 10'000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &room);
  if ((*store)->Apply(TransactionNumber(2)).ok()) _exit(2);
  if (!(*store)->Load().ok() || (*store)->Load()->last_number != 1) _exit(3);
  room.rlim_cur = all;
  setrlimit(RLIMIT_FSIZE, &room);
  _exit((*store)->Apply(TransactionNumber(2)).ok() ? 0 : 4);
}

TEST_F(StoreDeathTest, WhatDoesNotFitIsNotStored) {
  const pid_t child = fork();
  if (child == 0) FillTheDisk(Path("queue"));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_EQ(LastTransaction(Path("queue")), 2);
}

// Of a log that the machine has not written whole, whole transactions are kept.
TEST_F(StoreDeathTest, TransactionsAreNotCut) {
  auto store = QueueStore::Open(Path("queue"));
  ASSERT_TRUE(store.ok()) << store.status();
  for (uint64_t n = 1; n <= 8; ++n) {
    ASSERT_TRUE((*store)->Apply(TransactionNumber(n)).ok());
  }
  const auto size = std::filesystem::file_size(Path("queue-wal"));
  uint64_t last = 0;
  for (uintmax_t kept = 0; kept <= size; kept += size / 50) {
    std::filesystem::copy_file(
        Path("queue"), Path("copy"),
        std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(Path("queue-wal"), Path("copy-wal"));
    std::filesystem::resize_file(Path("copy-wal"), kept);
    const uint64_t n = LastTransaction(Path("copy"));
    EXPECT_GE(n, last);
    last = n;
    if (HasFailure()) return;
  }
  EXPECT_GE(last, 7);
}

}  // namespace
}  // namespace paceline
