// Variables and slots between the host and a device that updates them.
#include <cstddef>
#include <memory>

#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/optimizer/adam.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/reference/reference_device.h"
#include "worker/strategy/local_variables.h"

namespace paceline {
namespace {

// Gives each element of variables and slots a value of its own.
void Number(LocalVariables& variables, float first) {
  variables.VisitTensors([&](const Part&, int slot, auto values) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = first + static_cast<float>(100 * slot) + i;
    }
  });
}

void ExpectNumbered(LocalVariables& variables, float first) {
  variables.VisitTensors([&](const Part& part, int slot, auto values) {
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], first + static_cast<float>(100 * slot) + i)
          << "variable " << part.variable << " slot " << slot;
    }
  });
}

TEST(DeviceUpdatesTest, VariablesAndSlotsComeBackFromTheDevice) {
  const ModelUnderTest model(
      {.layers = *ReadYaml("[Input: {shape: [3]}, Dense: {units: 2},"
                           " BatchNormalization: {}]",
                           "model", limits::kMaxJobBytes)});
  CudaDevice device(cuda::MakeFakeGpu());
  const std::unique_ptr<Stream> stream = *device.CreateStream();
  const Adam adam;
  ProgramSpec spec = model.Spec(Mode::kTrain, 2);
  spec.optimizer = &adam;
  const std::unique_ptr<ModelState> state = *device.CreateState(spec);
  LocalVariables variables(model.plan(), adam, *state);
  Number(variables, 7);
  variables.set_iterations(5);
  ASSERT_TRUE(variables.Upload(*stream).ok());
  Number(variables, -1);
  ASSERT_TRUE(variables.Download(*stream).ok());
  ExpectNumbered(variables, 7);
  EXPECT_EQ(variables.iterations(), 5);
  EXPECT_TRUE(state->host_gradients(0).empty());
}

TEST(DeviceUpdatesTest, OnlyDevicesThatCanUpdateSaySo) {
  EXPECT_TRUE(CudaDevice(cuda::MakeFakeGpu()).CanUpdate());
  EXPECT_FALSE(ReferenceDevice<float>().CanUpdate());
}

}  // namespace
}  // namespace paceline
