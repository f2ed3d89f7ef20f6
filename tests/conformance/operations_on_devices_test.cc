// Each operation by itself on each device, against the reference in float64.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/losses/mean_squared_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/model_under_test.h"
#include "tests/conformance/operation_forms.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/cuda/operations/operations.h"
#include "worker/device/program/node_function.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

// Computes a form of its variables, and ignores its input.
class FormLayer final : public Layer {
 public:
  explicit FormLayer(const OperationForm& form) : form_(form) { name = "form"; }

  absl::string_view class_name() const override { return "Form"; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> /*inputs*/) const override {
    op::Function function;
    std::vector<op::Tensor> variables;
    for (const Shape& shape : form_.inputs) {
      variables.push_back(function.AddParameter({DataType::kFloat32, shape}));
    }
    return Shape{form_.make(variables).count()};
  }
  LoweredLayer Lower(const LayerCall& call) const override {
    return InARow({form_.make(call.variables)}, call.variables[0].data_type());
  }

 private:
  const OperationForm& form_;
};

// A layer of the form behind an input that it does not read. Its variables are
// frozen: some operations have no gradient.
JobModel ModelOf(const OperationForm& form) {
  JobModel model;
  Graph& graph = model.graph;
  graph.layers.push_back(std::make_unique<FormLayer>(form));
  const Layer* const layer = graph.layers[0].get();
  graph.nodes = {{layer, /*inputs=*/{}, /*variables=*/{}, {1}},
                 {layer, {0}, {}, *layer->OutputShape({})}};
  graph.inputs = {0};
  graph.outputs = {1};
  graph.output_masks = {-1};
  for (size_t i = 0; i < form.inputs.size(); ++i) {
    VariableSpec& variable = graph.variables.emplace_back();
    variable.name = absl::StrCat("form/input_", i);
    variable.shape = form.inputs[i];
    variable.update = VariableUpdate::kNone;
    graph.nodes[1].variables.push_back(static_cast<int>(i));
  }
  model.objectives.emplace_back().loss = std::make_unique<MeanSquaredError>();
  return model;
}

// Numbers in (-1, 1), all different in a tensor of less than 997 elements.
std::vector<std::vector<double>> InputsOf(const OperationForm& form) {
  std::vector<std::vector<double>> inputs;
  for (size_t i = 0; i < form.inputs.size(); ++i) {
    const auto first = static_cast<int64_t>(100 * i + 1);
    std::vector<double>& values = inputs.emplace_back();
    for (int64_t k = 0; k < NumElements(form.inputs[i]); ++k) {
      values.push_back(static_cast<double>((first + k) * 379 % 997 - 498) /
                       500);
    }
  }
  return inputs;
}

// A form on a device.
class FormOnDevice {
 public:
  FormOnDevice(const OperationForm& form, const DeviceUnderTest& under_test)
      : form_(form),
        model_(ModelOf(form), Precision::kFloat32, {}, /*shard_count=*/1),
        device_(under_test.make()) {}

  absl::Status Supported() const {
    return device_->Supports(model_.Spec(Mode::kEvaluate, 1));
  }

  // The outputs of each of `steps` evaluations.
  std::vector<std::vector<double>> Outputs(int steps) {
    ModelOnDevice on_device(model_, *device_);
    on_device.SetVariables(InputsOf(form_));
    Examples examples = model_.SomeExamples(1);
    examples.first_example = 100;
    examples.epoch = 2;
    std::vector<std::vector<double>> outputs;
    for (int step = 0; step < steps; ++step) {
      outputs.push_back(on_device.Evaluate(examples).outputs[0]);
    }
    return outputs;
  }

 private:
  const OperationForm& form_;
  const ModelUnderTest model_;
  const std::unique_ptr<Device> device_;
};

// The operations of a device.
struct DeviceTable {
  std::string device;
  std::vector<std::string> names;
  std::function<NodeFunction(const Graph&)> lower;
};

template <typename Builder>
DeviceTable TableOf(const std::string& device,
                    absl::Span<const OperationEntry<Builder>> operations) {
  DeviceTable table;
  table.device = device;
  table.lower = [=](const Graph& graph) {
    return MakeNodeFunction(graph, graph.nodes[1], {.is_training = false},
                            [=](const auto& operation, auto inputs) {
                              return HasOperation(operations, operation,
                                                  inputs);
                            });
  };
  for (const auto& entry : operations) table.names.push_back(entry.name);
  return table;
}

const std::vector<DeviceTable>& DeviceTables() {
  static const auto& tables = *new std::vector<DeviceTable>{
      TableOf("cpu", cpu::Operations()), TableOf("cuda", cuda::Operations())};
  return tables;
}

// "cuda_on_fake" lacks the same forms as "cuda".
bool IsLacked(const OperationForm& form, absl::string_view device) {
  return std::any_of(
      form.lacked_by.begin(), form.lacked_by.end(),
      [&](const std::string& each) { return absl::StartsWith(device, each); });
}

class OperationOnDeviceTest : public ::testing::TestWithParam<
                                  std::tuple<DeviceUnderTest, OperationForm>> {
};

TEST_P(OperationOnDeviceTest, AgreesWithReferenceOrIsRefusedByName) {
  const auto& [under_test, form] = GetParam();
  FormOnDevice actual(form, under_test);
  if (IsLacked(form, under_test.name)) {
    const absl::Status status = actual.Supported();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(
        std::string(status.message()),
        MatchesRegex(absl::StrCat("layer form \\(Form\\): the (cpu|cuda) "
                                  "device has no operation ",
                                  form.operation)));
    return;
  }
  const absl::Status status = actual.Supported();
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<double> expected =
      FormOnDevice(form, Float64Reference()).Outputs(1)[0];
  for (const std::vector<double>& output :
       actual.Outputs(kStepsUntilAllIsSeen)) {
    ExpectAllNear(output, expected, under_test.tolerance, "output");
  }
}

INSTANTIATE_TEST_SUITE_P(
    , OperationOnDeviceTest,
    ::testing::Combine(::testing::ValuesIn(DevicesUnderTest()),
                       ::testing::ValuesIn(OperationForms())),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).name, "_",
                          std::get<1>(info.param).name());
    });

TEST(DeviceTableTest, EachOperationHasAForm) {
  for (const DeviceTable& table : DeviceTables()) {
    SCOPED_TRACE(table.device);
    std::set<std::string> untested(table.names.begin(), table.names.end());
    for (const OperationForm& form : OperationForms()) {
      if (IsLacked(form, table.device)) continue;
      const NodeFunction lowered = table.lower(ModelOf(form).graph);
      std::vector<std::string> names;
      for (const op::Call& call : lowered.function->calls()) {
        names.emplace_back(call.operation->name());
      }
      EXPECT_THAT(names, Contains(form.operation)) << form.name();
      untested.erase(form.operation);
    }
    EXPECT_THAT(untested, IsEmpty());
  }
}

}  // namespace
}  // namespace paceline
