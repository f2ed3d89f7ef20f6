#include "common/strategy/strategy_traits.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(StrategyTraits, EachStrategyOfTheWireHasARowWithItsName) {
  const auto& values = *v1::Strategy_descriptor();
  ASSERT_EQ(Strategies().size(), values.value_count() - 1);
  for (int i = 0; i < values.value_count(); ++i) {
    const auto number = static_cast<v1::Strategy>(values.value(i)->number());
    const StrategyTraits* const strategy = FindStrategy(number);
    if (number == v1::STRATEGY_UNSPECIFIED) {
      EXPECT_EQ(strategy, nullptr);
      continue;
    }
    ASSERT_NE(strategy, nullptr) << number;
    EXPECT_EQ(strategy->strategy, number);
    EXPECT_EQ(strategy->name, absl::AsciiStrToLower(absl::StripPrefix(
                                  values.value(i)->name(), "STRATEGY_")));
  }
}

}  // namespace
}  // namespace paceline
