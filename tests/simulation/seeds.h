// Seeds of simulations: each test runs with fixed ones, and with a fresh one
// that each run draws. A failure prints the command that repeats it.
#ifndef PACELINE_TESTS_SIMULATION_SEEDS_H_
#define PACELINE_TESTS_SIMULATION_SEEDS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace paceline {

// The environment variable with the fresh seed, so that a run can be repeated.
inline constexpr char kSeedVariable[] = "PACELINE_SIMULATION_SEED";

// One that is fixed, or the fresh one. Tests are named by these, so that each
// run has the same tests.
using Seed = std::optional<uint64_t>;

// 1 to `count`, and the fresh one.
inline std::vector<Seed> Seeds(uint64_t count) {
  std::vector<Seed> seeds = {std::nullopt};
  for (uint64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  return seeds;
}

inline std::string NameOf(const ::testing::TestParamInfo<Seed>& info) {
  return info.param ? absl::StrCat(*info.param) : "fresh";
}

class SeededTest : public ::testing::TestWithParam<Seed> {
 protected:
  // At once, since a crash prints no trace.
  void SetUp() override {
    if (!GetParam()) std::cout << CommandOf(seed_) << std::endl;
  }

 private:
  static uint64_t DrawSeed() {
    const char* text = std::getenv(kSeedVariable);
    if (text == nullptr) return std::random_device()();
    uint64_t seed = 0;
    CHECK(absl::SimpleAtoi(text, &seed)) << kSeedVariable << "=" << text;
    return seed;
  }

  // What repeats the test that runs, with this seed.
  static std::string CommandOf(uint64_t seed) {
    const ::testing::TestInfo& test =
        *::testing::UnitTest::GetInstance()->current_test_info();
    return absl::StrCat(
        kSeedVariable, "=", seed, " ",
        std::filesystem::read_symlink("/proc/self/exe").string(),
        " --gtest_filter=", test.test_suite_name(), ".", test.name());
  }

 protected:
  const uint64_t seed_ = GetParam() ? *GetParam() : DrawSeed();

 private:
  // Printed with each failure.
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, CommandOf(seed_)};
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_SEEDS_H_
