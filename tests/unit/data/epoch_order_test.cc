#include "worker/data/epoch_order.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::Lt;

std::vector<int64_t> EpochOf(EpochOrder& order, int64_t epoch) {
  std::vector<int64_t> examples(order.epoch_examples());
  for (size_t i = 0; i < examples.size(); ++i) {
    examples[i] = order.ExampleAt(epoch, static_cast<int64_t>(i));
  }
  return examples;
}

std::vector<int64_t> EpochOf(const OrderOptions& options, int64_t epoch) {
  EpochOrder order(options);
  return EpochOf(order, epoch);
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<int64_t> Range(int64_t begin, int64_t end) {
  std::vector<int64_t> values(end - begin);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

TEST(EpochOrderTest, APassMayEndBeforeItsLastExamples) {
  OrderOptions options = {.first = 3, .count = 10, .pass_examples = 8};
  EXPECT_EQ(EpochOf(options, 1), Range(3, 11));
  options.shuffle = true;
  const std::vector<int64_t> first = EpochOf(options, 0);
  EXPECT_EQ(first.size(), 8U);
  EXPECT_NE(Sorted(first), Sorted(EpochOf(options, 1)))
      << "each pass leaves out others";
  options.epoch_examples = 4;
  EXPECT_EQ(EpochOf(options, 1),
            std::vector<int64_t>(first.begin() + 4, first.end()));
}

TEST(PermutationTest, IsAPermutationOfAnySize) {
  for (int64_t size = 1; size <= 300; ++size) {
    const Permutation permutation(size, 7);
    std::vector<int64_t> images;
    for (int64_t i = 0; i < size; ++i) images.push_back(permutation(i));
    EXPECT_EQ(Sorted(images), Range(0, size)) << size;
  }
}

TEST(PermutationTest, StaysInALargeRange) {
  const int64_t size = (int64_t{1} << 40) + 1;
  const Permutation permutation(size, 7);
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_THAT(permutation(size - 1 - i), AllOf(Ge(0), Lt(size)));
  }
}

// Each element comes to each position about equally often over the keys: a χ²
// test with 99 degrees of freedom, whose 0.9999 quantile is 160.
TEST(PermutationTest, SpreadsEachElementOverAllPlaces) {
  constexpr int64_t kSize = 100;
  constexpr int kKeys = 10'000;
  for (const int64_t element : {0, 1, 50, 99}) {
    std::vector<int> counts(kSize);
    for (int key = 0; key < kKeys; ++key) {
      ++counts[Permutation(kSize, MixBits(key))(element)];
    }
    double chi_squared = 0;
    for (const int count : counts) {
      chi_squared += std::pow(count - 100.0, 2) / 100.0;
    }
    EXPECT_LT(chi_squared, 160) << "element " << element;
  }
}

TEST(EpochOrderTest, KeepsTheOrderWithoutShuffle) {
  EXPECT_THAT(EpochOf({.count = 4}, 3), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(EpochOf({.first = 10, .count = 3}, 0), ElementsAre(10, 11, 12));
}

TEST(EpochOrderTest, ShuffleSeesEachExampleOnce) {
  for (const int64_t buffer : {0, 1, 7, 1000, 5000}) {
    const OrderOptions options{.first = 5,
                               .count = 1000,
                               .shuffle = true,
                               .shuffle_buffer_size = buffer,
                               .seed = 3};
    EXPECT_EQ(Sorted(EpochOf(options, 2)), Range(5, 1005)) << buffer;
  }
}

TEST(EpochOrderTest, OrderFollowsFromSeedAndEpochAlone) {
  for (const int64_t buffer : {0, 100}) {
    OrderOptions options{.count = 500,
                         .shuffle = true,
                         .shuffle_buffer_size = buffer,
                         .seed = 3};
    EpochOrder order(options);
    const std::vector<int64_t> first = EpochOf(order, 0);
    const std::vector<int64_t> second = EpochOf(order, 1);
    EXPECT_NE(first, second);
    EXPECT_NE(first, Range(0, 500));
    // Another object, and going back, make no difference.
    EXPECT_EQ(EpochOf(options, 1), second);
    EXPECT_EQ(EpochOf(order, 0), first);
    options.seed = 4;
    EXPECT_NE(EpochOf(options, 0), first);
  }
}

// Checkpoints hold positions in these orders, so they must never change.
TEST(EpochOrderTest, OrdersStayAsTheyAre) {
  const auto head = [](int64_t buffer) {
    EpochOrder order({.count = 60000,
                      .shuffle = true,
                      .shuffle_buffer_size = buffer,
                      .seed = 1});
    return std::vector<int64_t>{order.ExampleAt(2, 0), order.ExampleAt(2, 1),
                                order.ExampleAt(2, 59999)};
  };
  EXPECT_THAT(head(0), ElementsAre(16160, 16888, 12542));
  EXPECT_THAT(head(1000), ElementsAre(108, 490, 58940));
}

TEST(EpochOrderTest, BufferBoundsHowFarAnExampleMovesForward) {
  const std::vector<int64_t> order = EpochOf(
      {.count = 1000, .shuffle = true, .shuffle_buffer_size = 10, .seed = 3},
      0);
  for (int64_t i = 0; i < 1000; ++i) EXPECT_LT(order[i], i + 10);
  EXPECT_NE(order, Range(0, 1000));
}

TEST(EpochOrderTest, BufferOfOneKeepsTheOrder) {
  EXPECT_EQ(
      EpochOf({.count = 100, .shuffle = true, .shuffle_buffer_size = 1}, 0),
      Range(0, 100));
}

TEST(EpochOrderTest, ShortEpochsGoOnWhereTheLastEnded) {
  OrderOptions options{.count = 10, .epoch_examples = 4};
  EXPECT_THAT(EpochOf(options, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(EpochOf(options, 2), ElementsAre(8, 9, 0, 1));
}

TEST(EpochOrderTest, RepeatedPassesEachSeeEveryExample) {
  for (const int64_t buffer : {0, 5}) {
    EpochOrder order({.count = 10,
                      .shuffle = true,
                      .shuffle_buffer_size = buffer,
                      .seed = 3,
                      .epoch_examples = 25});
    std::vector<int64_t> stream = EpochOf(order, 0);
    const std::vector<int64_t> next = EpochOf(order, 1);
    stream.insert(stream.end(), next.begin(), next.end());
    for (int pass = 0; pass < 5; ++pass) {
      EXPECT_EQ(Sorted({stream.begin() + 10 * pass,
                        stream.begin() + 10 * (pass + 1)}),
                Range(0, 10));
    }
  }
}

TEST(TrainingExamplesTest, IsKerasFloor) {
  EXPECT_EQ(TrainingExamples(60000, 0), 60000);
  EXPECT_EQ(TrainingExamples(60000, 0.1), 54000);
  EXPECT_EQ(TrainingExamples(10, 0.25), 7);
  EXPECT_EQ(TrainingExamples(3, 0.99), 0);
}

}  // namespace
}  // namespace paceline
