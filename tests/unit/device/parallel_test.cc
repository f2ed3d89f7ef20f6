#include "worker/device/cpu/parallel.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "gtest/gtest.h"

namespace paceline::cpu {
namespace {

// Calls body() on a thread that has `thread_count` threads.
template <typename Body>
void WithThreads(int thread_count, Body body) {
  std::thread([&] {
    PrepareThread(thread_count);
    body();
  }).join();
}

TEST(TakeInTurnTest, TakesEachIndexOnce) {
  for (const int threads : {1, 2, 3, 70}) {
    WithThreads(threads, [&] {
      for (const int64_t count : {0, 1, 2, 5, 64, 1000}) {
        std::vector<std::atomic<int>> calls(count);
        TakeInTurn(count, [&](int64_t index) { ++calls[index]; });
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(calls[i], 1) << i << " of " << count << " on " << threads;
        }
      }
    });
  }
}

// The first call of a share lasts until all others have been made.
TEST(TakeInTurnTest, OthersTakeWhatASlowThreadHasNotBegun) {
  WithThreads(2, [] {
    constexpr int64_t kCount = 16;
    std::atomic<int64_t> ended = 0;
    TakeInTurn(kCount, [&](int64_t index) {
      if (index == 0) {
        const absl::Time deadline = MonotonicNow() + absl::Seconds(30);
        while (ended < kCount - 1 && MonotonicNow() < deadline) {
          std::this_thread::yield();
        }
        EXPECT_EQ(ended, kCount - 1);
      }
      ++ended;
    });
    EXPECT_EQ(ended, kCount);
  });
}

TEST(OneThreadTest, LeavesTheThreadsBehind) {
  WithThreads(3, [] {
    {
      const OneThread one_thread;
      EXPECT_EQ(ThreadCount(), 1);
    }
    EXPECT_EQ(ThreadCount(), 3);
  });
}

}  // namespace
}  // namespace paceline::cpu
