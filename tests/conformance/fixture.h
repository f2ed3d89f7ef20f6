// What tests of the conformance suite begin with.
#ifndef PACELINE_TESTS_CONFORMANCE_FIXTURE_H_
#define PACELINE_TESTS_CONFORMANCE_FIXTURE_H_

#include <memory>

#include "common/sharding/shard_plan.h"
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

// What all are compared with.
inline const DeviceUnderTest& Float64Reference() {
  return DevicesUnderTest().front();
}

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_FIXTURE_H_
