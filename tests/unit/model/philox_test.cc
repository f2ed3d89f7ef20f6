#include "common/model/philox.h"

#include <array>
#include <cstdint>

#include "common/model/dropout_mask.h"
#include "common/model/layers/dropout.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using Words = std::array<uint32_t, 4>;

// Known answers of the authors' library, Random123 (kat_vectors).
TEST(PhiloxTest, GivesTheKnownAnswers) {
  EXPECT_EQ(Philox(0, 0, 0),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(StableHashTest, IsFnv1a) {
  EXPECT_EQ(StableHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(StableHash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(StableHash("foobar"), 0x85944171f73967e8u);
}

DropoutMask MaskOf(const Dropout& layer, uint64_t job_seed, int64_t epoch) {
  return DropoutMask(layer.rate, layer.NoiseKey(job_seed, /*call=*/0))
      .InEpoch(epoch);
}

TEST(DropoutMaskTest, DropsItsShare) {
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    Dropout layer(rate);
    layer.name = "dropout";
    const DropoutMask mask = MaskOf(layer, 1, 0);
    constexpr int kExamples = 40;
    constexpr int kElements = 1001;
    int dropped = 0;
    for (int example = 0; example < kExamples; ++example) {
      for (int element = 0; element < kElements; ++element) {
        if (!mask.IsKept(example, element)) ++dropped;
      }
    }
    // More than four standard deviations.
    EXPECT_NEAR(dropped, rate * kExamples * kElements, 410) << rate;
  }
}

// Elements of one example of which two masks differ.
int Differences(const DropoutMask& a, const DropoutMask& b, int64_t example_a,
                int64_t example_b) {
  int count = 0;
  for (int element = 0; element < 1000; ++element) {
    if (a.IsKept(example_a, element) != b.IsKept(example_b, element)) ++count;
  }
  return count;
}

TEST(DropoutMaskTest, DependsOnSeedLayerEpochAndExample) {
  Dropout layer(0.5);
  layer.name = "dropout";
  Dropout other_name = layer;
  other_name.name = "dropout_1";
  Dropout seeded = layer;
  seeded.seed = 9;
  const DropoutMask mask = MaskOf(layer, 1, 0);
  EXPECT_EQ(Differences(mask, MaskOf(layer, 1, 0), 5, 5), 0);
  // Independent masks differ in half of the elements.
  EXPECT_NEAR(Differences(mask, mask, 5, 6), 500, 80);
  EXPECT_NEAR(Differences(mask, MaskOf(layer, 2, 0), 5, 5), 500, 80);
  EXPECT_NEAR(Differences(mask, MaskOf(layer, 1, 1), 5, 5), 500, 80);
  EXPECT_NEAR(Differences(mask, MaskOf(other_name, 1, 0), 5, 5), 500, 80);
  EXPECT_NEAR(Differences(mask, MaskOf(seeded, 1, 0), 5, 5), 500, 80);
  // A seed of its own counts instead of the job's.
  EXPECT_EQ(Differences(MaskOf(seeded, 1, 0), MaskOf(seeded, 2, 0), 5, 5), 0);
}

}  // namespace
}  // namespace paceline
