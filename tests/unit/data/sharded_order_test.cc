// How replicas divide the examples of an epoch.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/data/epoch_order.h"
#include "worker/data/step_slices.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Lt;
using testing::SizeIs;

// A source whose files have so many examples.
OrderOptions OfFiles(const std::vector<int64_t>& sizes) {
  OrderOptions options;
  options.files.begins.clear();
  for (const int64_t size : sizes) {
    options.files.begins.push_back(options.count);
    options.count += size;
  }
  options.seed = 3;
  return options;
}

struct Taken {
  int replica = 0;
  int64_t example = 0;
  int64_t pass = 0;
};

// What comes in `positions` from the start of `epoch` on, and which replica
// takes it, as BatchPipeline cuts an epoch into steps.
std::vector<Taken> TakenIn(const OrderOptions& options, int64_t epoch) {
  EpochOrder order(options);
  std::vector<Taken> taken;
  const int64_t end = order.epoch_examples();
  for (int64_t at = 0; at < end; at += options.step_size) {
    const int64_t count = std::min(options.step_size, end - at);
    for (int replica = 0; replica < options.replicas; ++replica) {
      const int64_t begin = at + SliceBegin(count, replica, options.replicas);
      for (int64_t i = 0; i < SliceSize(count, replica, options.replicas);
           ++i) {
        const EpochOrder::Place place = order.At(epoch, begin + i);
        taken.push_back({replica, place.example, place.pass});
      }
    }
  }
  return taken;
}

std::vector<int64_t> ExamplesOf(const std::vector<Taken>& taken) {
  std::vector<int64_t> examples;
  for (const Taken& each : taken) examples.push_back(each.example);
  return examples;
}

std::vector<int64_t> ExamplesOf(const std::vector<Taken>& taken, int replica) {
  std::vector<int64_t> examples;
  for (const Taken& each : taken) {
    if (each.replica == replica) examples.push_back(each.example);
  }
  return examples;
}

std::vector<int64_t> InOrder(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<int64_t> UpTo(int64_t end) {
  std::vector<int64_t> values(end);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// The replica whose file has the example; files without examples do not count.
int OwnerOf(const OrderOptions& options, int64_t example) {
  const std::vector<ExampleSpan> files =
      options.files.SpansWithin(options.count);
  for (size_t i = 0; i < files.size(); ++i) {
    if (example < files[i].end) return static_cast<int>(i) % options.replicas;
  }
  ADD_FAILURE() << "no file has example " << example;
  return -1;
}

// A replica takes an example of another only once its own are used up.
void ExpectOwnFilesFirst(const OrderOptions& options,
                         const std::vector<Taken>& taken) {
  std::map<int, int64_t> left;
  for (int64_t i = 0; i < options.count; ++i) ++left[OwnerOf(options, i)];
  std::map<int, int64_t> own_taken;
  for (const Taken& each : taken) {
    const int owner = OwnerOf(options, each.example);
    if (owner == each.replica) {
      ++own_taken[owner];
    } else {
      EXPECT_EQ(own_taken[each.replica], left[each.replica])
          << "replica " << each.replica << " takes example " << each.example;
    }
  }
}

TEST(StepSlicesTest, SliceOfFindsTheSlice) {
  for (int replicas = 1; replicas <= 7; ++replicas) {
    for (int64_t count = 1; count <= 20; ++count) {
      for (int replica = 0; replica < replicas; ++replica) {
        const int64_t begin = SliceBegin(count, replica, replicas);
        for (int64_t i = 0; i < SliceSize(count, replica, replicas); ++i) {
          EXPECT_EQ(SliceOf(begin + i, count, replicas), replica);
        }
      }
    }
  }
}

TEST(OwnFilesTest, EachReplicaTakesItsFilesAndThenWhatOthersHaveLeft) {
  OrderOptions options = OfFiles({5, 3});
  options.sharding = Sharding::kOwnFiles;
  options.replicas = 2;
  options.step_size = 4;
  EXPECT_THAT(ExamplesOf(TakenIn(options, 0)),
              ElementsAre(0, 1, 5, 6, 2, 3, 7, 4));
  options.step_size = 2;
  EXPECT_THAT(ExamplesOf(TakenIn(options, 1)),
              ElementsAre(0, 5, 1, 6, 2, 7, 3, 4));
}

TEST(OwnFilesTest, FilesGoToReplicasInTurn) {
  OrderOptions options = OfFiles({2, 2, 2, 0, 2});
  options.sharding = Sharding::kOwnFiles;
  options.replicas = 2;
  options.step_size = 2;
  EXPECT_THAT(ExamplesOf(TakenIn(options, 0)),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

TEST(OwnFilesTest, EachExampleComesOnceFromOwnFilesFirst) {
  const std::vector<std::vector<int64_t>> all_files = {
      {10, 10, 10}, {1, 40, 3},  {0, 7, 0, 7, 9, 0, 2},
      {100, 1, 1},  {1, 1, 200}, {13, 13, 13, 8, 21}};
  for (const std::vector<int64_t>& files : all_files) {
    for (const int replicas : {1, 2, 3}) {
      for (const int64_t step_size : {1, 2, 3, 5, 12, 64}) {
        for (const int64_t buffer : {-1, 0, 1, 4, 1000}) {
          OrderOptions options = OfFiles(files);
          SCOPED_TRACE(absl::StrCat(absl::StrJoin(files, ","), "; ", replicas,
                                    " replicas; steps of ", step_size,
                                    "; buffer ", buffer));
          options.sharding = Sharding::kOwnFiles;
          options.replicas = replicas;
          options.step_size = step_size;
          options.shuffle = buffer >= 0;
          options.shuffle_buffer_size = std::max<int64_t>(0, buffer);
          for (const int64_t epoch : {0, 1}) {
            const std::vector<Taken> taken = TakenIn(options, epoch);
            EXPECT_EQ(InOrder(ExamplesOf(taken)), UpTo(options.count));
            ExpectOwnFilesFirst(options, taken);
          }
        }
      }
    }
  }
}

// As after drop_remainder: the order is one of the whole set, cut.
TEST(OwnFilesTest, LeavesOutARemainder) {
  OrderOptions options = OfFiles({9, 2, 4});
  options.sharding = Sharding::kOwnFiles;
  options.replicas = 3;
  options.step_size = 6;
  options.pass_examples = 12;
  options.shuffle = true;
  const std::vector<Taken> taken = TakenIn(options, 0);
  const std::vector<int64_t> examples = ExamplesOf(taken);
  EXPECT_THAT(examples, SizeIs(12));
  EXPECT_THAT(std::set<int64_t>(examples.begin(), examples.end()), SizeIs(12));
  ExpectOwnFilesFirst(options, taken);
}

// steps_per_epoch: epochs end amid rounds, and rounds amid steps.
TEST(OwnFilesTest, RoundsFollowEachOtherAcrossEpochs) {
  for (const int64_t steps : {1, 2, 3, 7}) {
    OrderOptions options = OfFiles({7, 3, 4});
    options.sharding = Sharding::kOwnFiles;
    options.replicas = 3;
    options.step_size = 6;
    options.epoch_examples = 6 * steps;
    options.shuffle = true;
    std::vector<Taken> stream;
    for (int64_t epoch = 0; stream.size() < 10 * 14; ++epoch) {
      const std::vector<Taken> taken = TakenIn(options, epoch);
      stream.insert(stream.end(), taken.begin(), taken.end());
    }
    for (int64_t round = 0; round < 10; ++round) {
      const std::vector<Taken> taken(stream.begin() + 14 * round,
                                     stream.begin() + 14 * (round + 1));
      EXPECT_EQ(InOrder(ExamplesOf(taken)), UpTo(14));
      for (const Taken& each : taken) EXPECT_EQ(each.pass, round);
      ExpectOwnFilesFirst(options, taken);
    }
  }
}

TEST(OwnFilesTest, AnExampleMayBeAFile) {
  OrderOptions options = OfFiles({11});
  options.files = {.has_file_per_example = true, .begins = {}};
  options.sharding = Sharding::kOwnFiles;
  options.replicas = 2;
  options.step_size = 4;
  EXPECT_THAT(ExamplesOf(TakenIn(options, 0)),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7, 8, 9, 10));
  options.shuffle = true;
  const std::vector<Taken> taken = TakenIn(options, 0);
  EXPECT_EQ(InOrder(ExamplesOf(taken)), UpTo(11));
  for (const Taken& each : taken) {
    // Of the last step replica 1 has two, of which only one is odd.
    if (each.example == 10) continue;
    EXPECT_EQ(each.example % 2, each.replica);
  }
}

// A resume begins anywhere.
TEST(OwnFilesTest, AnyPositionComesAtAnyTime) {
  for (const int64_t buffer : {0, 5}) {
    OrderOptions options = OfFiles({20, 5, 40});
    options.sharding = Sharding::kOwnFiles;
    options.replicas = 3;
    options.step_size = 7;
    options.shuffle = true;
    options.shuffle_buffer_size = buffer;
    const std::vector<int64_t> expected = ExamplesOf(TakenIn(options, 1));
    EXPECT_NE(ExamplesOf(TakenIn(options, 0)), expected);
    EpochOrder order(options);
    for (int64_t i = 64; i >= 0; --i) {
      EXPECT_EQ(order.ExampleAt(1, i), expected[i]);
      order.ExampleAt(2, 64 - i);
    }
  }
}

TEST(OwnPassesTest, EachReplicaTakesAllInAnOrderOfItsOwn) {
  for (const int64_t buffer : {0, 6}) {
    OrderOptions options{.first = 2,
                         .count = 21,
                         .shuffle = true,
                         .shuffle_buffer_size = buffer,
                         .epoch_passes = 3,
                         .sharding = Sharding::kOwnPasses,
                         .replicas = 3,
                         .step_size = 12};
    std::set<std::vector<int64_t>> orders;
    for (const int64_t epoch : {0, 1}) {
      const std::vector<Taken> taken = TakenIn(options, epoch);
      EXPECT_THAT(taken, SizeIs(63));
      for (const Taken& each : taken) {
        EXPECT_EQ(each.pass, 3 * epoch + each.replica);
      }
      for (int replica = 0; replica < 3; ++replica) {
        const std::vector<int64_t> examples = ExamplesOf(taken, replica);
        orders.insert(examples);
        EXPECT_THAT(std::set<int64_t>(examples.begin(), examples.end()),
                    SizeIs(21));
        EXPECT_THAT(examples, Each(AllOf(Ge(2), Lt(23))));
      }
    }
    EXPECT_THAT(orders, SizeIs(6));
  }
}

// Slices of 2 and 3 examples: the one who has fewer leaves some to the other.
TEST(OwnPassesTest, EachExampleComesAsOftenAsThereAreReplicas) {
  const OrderOptions options{.count = 10,
                             .shuffle = true,
                             .epoch_passes = 2,
                             .sharding = Sharding::kOwnPasses,
                             .replicas = 2,
                             .step_size = 5};
  std::map<int64_t, std::set<int64_t>> passes;
  for (const Taken& each : TakenIn(options, 0)) {
    EXPECT_TRUE(passes[each.example].insert(each.pass).second);
  }
  EXPECT_THAT(passes, SizeIs(10));
  for (const auto& [example, of_example] : passes) {
    EXPECT_THAT(of_example, ElementsAre(0, 1)) << example;
  }
}

TEST(OwnPassesTest, StepsPerEpochCutsThem) {
  const OrderOptions options{.count = 5,
                             .epoch_examples = 4,
                             .epoch_passes = 2,
                             .sharding = Sharding::kOwnPasses,
                             .replicas = 2,
                             .step_size = 4};
  EXPECT_THAT(ExamplesOf(TakenIn(options, 0)), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(ExamplesOf(TakenIn(options, 1)), ElementsAre(2, 3, 2, 3));
  // The round ends amid a step, where replica 0 takes what is left of both
  // passes, and the next one begins.
  EXPECT_THAT(ExamplesOf(TakenIn(options, 2)), ElementsAre(4, 4, 0, 1));
  EXPECT_THAT(ExamplesOf(TakenIn(options, 3)), ElementsAre(0, 1, 2, 3));
}

TEST(FileAfterFileTest, ExamplesOfAFileFollowEachOther) {
  OrderOptions options = OfFiles({30, 1, 20, 0, 49});
  options.sharding = Sharding::kFileAfterFile;
  options.shuffle = true;
  std::set<std::vector<int>> orders_of_files;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<int64_t> examples = ExamplesOf(TakenIn(options, epoch));
    EXPECT_EQ(InOrder(examples), UpTo(100));
    options.replicas = 100;
    std::vector<int> files;
    for (const int64_t example : examples) {
      const int file = OwnerOf(options, example);
      if (files.empty() || files.back() != file) files.push_back(file);
    }
    options.replicas = 1;
    EXPECT_THAT(files, SizeIs(4)) << "each file once";
    orders_of_files.insert(files);
    EXPECT_FALSE(std::is_sorted(examples.begin(), examples.begin() + 20));
  }
  EXPECT_THAT(orders_of_files, SizeIs(Ge(8)));
}

TEST(FileAfterFileTest, AnyPositionComesAtAnyTime) {
  OrderOptions options = OfFiles({5, 7, 3});
  options.sharding = Sharding::kFileAfterFile;
  options.shuffle = true;
  options.epoch_examples = 10;
  std::vector<int64_t> stream;
  for (const int64_t epoch : {0, 1, 2}) {
    const std::vector<int64_t> next = ExamplesOf(TakenIn(options, epoch));
    stream.insert(stream.end(), next.begin(), next.end());
  }
  EXPECT_EQ(InOrder({stream.begin(), stream.begin() + 15}), UpTo(15));
  EXPECT_EQ(InOrder({stream.begin() + 15, stream.end()}), UpTo(15));
  EpochOrder order(options);
  for (int64_t i = 29; i >= 0; --i) {
    EXPECT_EQ(order.ExampleAt(i / 10, i % 10), stream[i]);
  }
}

// A buffer, and no shuffling, leave files as they lie.
TEST(FileAfterFileTest, WithoutAPermutationTheOrderIsThatOfExamples) {
  OrderOptions options = OfFiles({5, 7, 3});
  for (const int64_t buffer : {0, 4}) {
    options.shuffle = buffer > 0;
    options.shuffle_buffer_size = buffer;
    options.sharding = Sharding::kExamples;
    const std::vector<int64_t> expected = ExamplesOf(TakenIn(options, 1));
    options.sharding = Sharding::kFileAfterFile;
    EXPECT_EQ(ExamplesOf(TakenIn(options, 1)), expected);
  }
}

// Checkpoints hold positions in these orders, so they must never change.
TEST(ShardedOrderTest, OrdersStayAsTheyAre) {
  const auto head = [](Sharding sharding, int64_t buffer) {
    OrderOptions options = OfFiles({20'000, 100, 15'000, 24'900});
    options.sharding = sharding;
    options.shuffle = true;
    options.shuffle_buffer_size = buffer;
    options.replicas = 2;
    options.step_size = 128;
    if (sharding == Sharding::kOwnPasses) options.epoch_passes = 2;
    EpochOrder order(options);
    return std::vector<int64_t>{order.ExampleAt(2, 0), order.ExampleAt(2, 64),
                                order.ExampleAt(2, 59'999)};
  };
  EXPECT_THAT(head(Sharding::kOwnFiles, 0), ElementsAre(6643, 43440, 17062));
  EXPECT_THAT(head(Sharding::kOwnFiles, 1000), ElementsAre(634, 35617, 34786));
  EXPECT_THAT(head(Sharding::kOwnPasses, 0), ElementsAre(58301, 36646, 1721));
  EXPECT_THAT(head(Sharding::kOwnPasses, 1000), ElementsAre(36, 799, 30605));
  EXPECT_THAT(head(Sharding::kFileAfterFile, 0),
              ElementsAre(30729, 22290, 38043));
}

// Whoever takes all positions, as `coordinator data` does, runs through each
// stream twice, not anew for each example that another replica takes.
TEST(ShardedOrderTest, ABufferOfUnevenFilesIsReadInLinearTime) {
  OrderOptions options = OfFiles({200'000, 1});
  options.sharding = Sharding::kOwnFiles;
  options.shuffle = true;
  options.shuffle_buffer_size = 1000;
  options.replicas = 2;
  options.step_size = 2;
  const absl::Time start = absl::Now();
  EXPECT_EQ(InOrder(ExamplesOf(TakenIn(options, 0))), UpTo(200'001));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
}

}  // namespace
}  // namespace paceline
