// Common parts of the conformance tests.
#ifndef PACELINE_TESTS_CONFORMANCE_FIXTURE_H_
#define PACELINE_TESTS_CONFORMANCE_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "common/sharding/shard_plan.h"
#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/device.h"

namespace paceline {

// A model on the device under test, with some variables.
class Fixture {
 public:
  Fixture(const DeviceUnderTest& under_test, const ModelConfig& config,
          const v1::Partitioner& partitioner = {}, int shard_count = 1)
      : model(config, partitioner, shard_count),
        device(under_test.make()),
        on_device(model, *device) {
    on_device.SetVariables(model.SomeVariables());
  }

  const ModelUnderTest model;
  const std::unique_ptr<Device> device;
  ModelOnDevice on_device;
};

// A GPU runs a program's first step operation by operation, captures a graph in
// the second, and launches that graph in the third.
inline constexpr int kStepsUntilAllIsSeen = 3;

// The reference for all devices.
inline const DeviceUnderTest& Float64Reference() {
  return DevicesUnderTest().front();
}

// Expects all of `actual` to be within `tolerance` times the largest of
// `expected`.
inline void ExpectAllNear(const std::vector<double>& actual,
                          const std::vector<double>& expected, double tolerance,
                          const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 1e-3;
  for (const double each : expected)
    largest = std::max(largest, std::abs(each));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance * largest)
        << what << ", element " << i;
  }
}

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_FIXTURE_H_
