#include "common/model/seeded_values.h"

#include <memory>
#include <string>
#include <vector>

#include "common/model/initializer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

// Element i of a variable of n elements is n + i / 10. Counts its calls.
class CountingInitializer final : public Initializer {
 public:
  explicit CountingInitializer(bool computes_whole)
      : computes_whole_(computes_whole) {}

  absl::string_view class_name() const override { return "Counting"; }
  bool computes_whole() const override { return computes_whole_; }
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<float> out) const override {
    FillAny(key, shape, begin, out);
  }
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<double> out) const override {
    FillAny(key, shape, begin, out);
  }

  mutable int calls = 0;

 private:
  template <typename T>
  void FillAny(RandomKey /*key*/, absl::Span<const int64_t> shape,
               int64_t begin, absl::Span<T> out) const {
    ++calls;
    for (T& value : out) {
      value = static_cast<T>(shape[0] + 0.1 * static_cast<double>(begin++));
    }
  }

  const bool computes_whole_;
};

VariableSpec Variable(const std::string& name, int64_t size,
                      std::shared_ptr<const Initializer> initializer) {
  VariableSpec variable;
  variable.name = name;
  variable.shape = {size};
  variable.initializer = std::move(initializer);
  return variable;
}

std::vector<float> Part(SeededValues& values, const VariableSpec& variable,
                        int64_t begin, size_t count) {
  std::vector<float> part(count);
  values.Fill(variable, begin, absl::MakeSpan(part));
  return part;
}

TEST(SeededValuesTest, ComputesAWholeVariableOnceForItsParts) {
  const auto initializer = std::make_shared<CountingInitializer>(true);
  const VariableSpec a = Variable("a", 4, initializer);
  const VariableSpec b = Variable("b", 6, initializer);
  SeededValues values(/*seed=*/1);
  EXPECT_THAT(Part(values, a, 0, 2), ElementsAre(4.0F, 4.1F));
  EXPECT_THAT(Part(values, a, 2, 2), ElementsAre(4.2F, 4.3F));
  EXPECT_EQ(initializer->calls, 1);
  EXPECT_THAT(Part(values, b, 5, 1), ElementsAre(6.5F));
  EXPECT_EQ(initializer->calls, 2);
  std::vector<double> doubles(1);
  values.Fill(b, 4, absl::MakeSpan(doubles));
  EXPECT_THAT(doubles, ElementsAre(6.4));
  EXPECT_EQ(initializer->calls, 2);
}

TEST(SeededValuesTest, AsksOtherInitializersForThePart) {
  const auto initializer = std::make_shared<CountingInitializer>(false);
  const VariableSpec a = Variable("a", 4, initializer);
  SeededValues values(/*seed=*/1);
  EXPECT_THAT(Part(values, a, 1, 1), ElementsAre(4.1F));
  EXPECT_THAT(Part(values, a, 2, 2), ElementsAre(4.2F, 4.3F));
  EXPECT_EQ(initializer->calls, 2);
}

// As when it is asked for itself.
TEST(SeededValuesTest, PartsOfAMatrixAreThoseOfTheWhole) {
  VariableSpec matrix = Variable("m", 0, OrthogonalInitializer());
  matrix.shape = {9, 21};
  std::vector<float> whole(9 * 21);
  matrix.initializer->Fill(VariableKey(/*seed=*/3, "m"), matrix.shape, 0,
                           absl::MakeSpan(whole));
  SeededValues values(/*seed=*/3);
  for (int64_t begin = 0; begin < 9 * 21; begin += 27) {
    EXPECT_EQ(
        Part(values, matrix, begin, 27),
        std::vector<float>(whole.begin() + begin, whole.begin() + begin + 27));
  }
}

}  // namespace
}  // namespace paceline
