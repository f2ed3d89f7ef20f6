// Memory and signals between processes.
#include "common/shared_memory/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/shared_memory/futex_event.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// A peer could otherwise end this process by SIGBUS.
TEST(SharedRegionTest, NobodyCanChangeItsSize) {
  auto region = SharedRegion::Create(10'000);
  ASSERT_TRUE(region.ok()) << region.status();
  EXPECT_EQ(region->memory().size(), 10'000u);
  EXPECT_NE(ftruncate(region->fd(), 1), 0);
  EXPECT_NE(ftruncate(region->fd(), 100'000), 0);
  struct stat status {};
  ASSERT_EQ(fstat(region->fd(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 10'000) << "all of it is reserved";
}

TEST(SharedRegionTest, PeersSeeTheSameMemory) {
  auto region = SharedRegion::Create(100);
  ASSERT_TRUE(region.ok());
  auto peer = SharedRegion::Open(dup(region->fd()));
  ASSERT_TRUE(peer.ok()) << peer.status();
  region->memory()[99] = std::byte{7};
  EXPECT_EQ(peer->memory()[99], std::byte{7});
  EXPECT_NE(peer->memory().data(), region->memory().data());
}

TEST(SharedRegionTest, TooLittleMemoryIsAnError) {
  const auto region = SharedRegion::Create(size_t{1} << 50);
  EXPECT_EQ(region.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(SharedRegionTest, RefusesWhatIsNoRegion) {
  const int unsealed = memfd_create("unsealed", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(unsealed, 4096), 0);
  EXPECT_EQ(SharedRegion::Open(unsealed).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SharedRegion::Open(open("/dev/null", O_RDWR)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SharedRegionTest, RefusesHugePages) {
  const int huge =
      memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (huge < 0) GTEST_SKIP() << "the kernel has no huge pages";
  struct stat status {};
  ASSERT_EQ(fstat(huge, &status), 0);
  ASSERT_EQ(ftruncate(huge, status.st_blksize), 0);
  ASSERT_EQ(fcntl(huge, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
            0);
  EXPECT_EQ(SharedRegion::Open(huge).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SharedRegionTest, RefusesARegionOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  auto region = SharedRegion::Create(100);
  ASSERT_TRUE(region.ok());
  ASSERT_EQ(fchown(region->fd(), 12345, 12345), 0);
  const auto peer = SharedRegion::Open(dup(region->fd()));
  EXPECT_EQ(peer.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(peer.status().message()), HasSubstr("user 12345"));
}

// A process that maps the region that it is told of, and writes into it.
TEST(SharedRegionTest, AnotherProcessFindsItByItsReference) {
  auto region = SharedRegion::Create(100);
  ASSERT_TRUE(region.ok());
  const auto reference = region->reference();
  ASSERT_TRUE(reference.ok()) << reference.status();
  const pid_t child = fork();
  if (child == 0) {
    close(region->fd());
    const auto peer = SharedRegion::Open(*reference);
    if (peer.ok()) peer->memory()[1] = std::byte{9};
    _exit(peer.ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(region->memory()[1], std::byte{9});
}

TEST(SharedRegionTest, ReferencesToAnythingElseAreRefused) {
  auto region = SharedRegion::Create(100);
  ASSERT_TRUE(region.ok());
  const RegionReference right = *region->reference();
  RegionReference wrong = right;
  wrong.inode += 1;
  EXPECT_EQ(SharedRegion::Open(wrong).status().code(),
            absl::StatusCode::kUnavailable);
  wrong = right;
  wrong.fd = 1 << 20;
  EXPECT_EQ(SharedRegion::Open(wrong).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(SharedRegion::Open(RegionReference()).status().code(),
            absl::StatusCode::kUnavailable);
  // A file that is really there, but no region.
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat status {};
  ASSERT_EQ(fstat(file, &status), 0);
  wrong = {right.process, static_cast<uint64_t>(file), status.st_dev,
           status.st_ino};
  EXPECT_EQ(SharedRegion::Open(wrong).status().code(),
            absl::StatusCode::kUnavailable);
  close(file);
}

// The kernel refuses it before this code can.
TEST(SharedRegionTest, AnotherUserCannotOpenIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  auto region = SharedRegion::Create(100);
  ASSERT_TRUE(region.ok());
  const RegionReference reference = *region->reference();
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(12345, 12345, 12345) != 0) _exit(2);
    const auto peer = SharedRegion::Open(reference);
    _exit(absl::IsUnavailable(peer.status()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(FutexEventTest, WakesWhoeverSleepsAndNobodyElse) {
  FutexEvent event{};
  const uint32_t signals = event.signals();
  event.Wait(signals, MonotonicNow() + absl::Milliseconds(20),
             absl::ZeroDuration());
  EXPECT_EQ(event.signals(), signals);
  std::thread signaller([&event] {
    absl::SleepFor(absl::Milliseconds(20));
    event.Signal();
  });
  const auto wait = [&] {
    event.Wait(signals, absl::InfiniteFuture(), absl::ZeroDuration());
    EXPECT_EQ(event.signals(), signals + 1);
  };
  wait();
  // What happened before the wait is not waited for.
  wait();
  signaller.join();
}

// A peer says in its name that nobody sleeps: the signal wakes nobody.
TEST(FutexEventTest, ASignalThatWakesNobodyCostsASecond) {
  FutexEvent event{};
  auto* words = reinterpret_cast<std::atomic<uint32_t>*>(&event);
  std::thread thief([&] {
    absl::SleepFor(absl::Milliseconds(100));
    words[1] = 0;
    event.Signal();
  });
  const absl::Time begun_at = MonotonicNow();
  event.Wait(0, begun_at + absl::Hours(1), absl::ZeroDuration());
  EXPECT_LT(MonotonicNow() - begun_at, absl::Seconds(20));
  thief.join();
}

// A peer sets the count back: the event was not signalled, but whoever waits
// for it looks again.
TEST(FutexEventTest, AWaitEndsAfterASecondAtMost) {
  FutexEvent event{};
  const absl::Time begun_at = MonotonicNow();
  event.Wait(0, begun_at + absl::Hours(1), absl::ZeroDuration());
  EXPECT_LT(MonotonicNow() - begun_at, absl::Seconds(20));
}

}  // namespace
}  // namespace paceline
