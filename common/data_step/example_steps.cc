#include "common/data_step/example_steps.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/path.h"
#include "common/data_source/convert.h"
#include "common/data_step/data_steps.h"

namespace paceline {
namespace {

// Numbers in an array that a step reads or writes: 1 GiB. Each thread that
// reads examples has two such arrays.
constexpr int64_t kMaxElements = int64_t{1} << 28;

// "steps[2]: RandomFlip".
std::string NameOf(const DataStep& step, size_t place) {
  return absl::StrCat(Path("steps").Index(place).text(), ": ",
                      step.class_name());
}

// InvalidArgument unless two arrays of the shape fit into memory.
absl::Status CheckSize(const Shape& shape) {
  int64_t left = kMaxElements;
  for (const int64_t size : shape) {
    left /= std::max<int64_t>(size, 1);
    if (left > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("an array of shape ", ShapeToString(shape),
                     " has more than the limit of ", kMaxElements, " numbers"));
  }
  return absl::OkStatus();
}

}  // namespace

StepOptions StepOptionsOf(const v1::Dataset& dataset, uint64_t seed) {
  StepOptions options;
  for (const v1::KerasObject& step : dataset.steps()) {
    options.steps.push_back(FromProto(step));
  }
  options.seed = seed;
  return options;
}

absl::StatusOr<ExampleSteps::Chain> ExampleSteps::MakeChain(
    const StepOptions& options, bool of_labels, ArraySpec& array) {
  Chain chain;
  Shape shape = array.shape;
  int64_t most = 0;
  for (size_t place = 0; place < options.steps.size(); ++place) {
    ASSIGN_OR_RETURN(
        std::unique_ptr<DataStep> step,
        MakeDataStep(options.steps[place], Path("steps").Index(place)));
    if (step->is_of_labels() != of_labels) continue;
    if (options.without_random && !step->LeaveOutRandom()) continue;
    const std::string name = NameOf(*step, place);
    RETURN_IF_ERROR(Annotate(CheckSize(shape), name));
    most = std::max(most, NumElements(shape));
    absl::StatusOr<Shape> built = step->Build(shape);
    if (!built.ok()) return Annotate(built.status(), name);
    shape = *std::move(built);
    RETURN_IF_ERROR(Annotate(CheckSize(shape), name));
    most = std::max(most, NumElements(shape));
    chain.steps.push_back({std::move(step), place, NumElements(shape)});
  }
  if (chain.steps.empty()) return chain;
  has_steps_ = true;
  for (std::vector<float>& memory : chain.memory) memory.resize(most);
  array.type = ElementType::kFloat32;
  array.shape = std::move(shape);
  return chain;
}

absl::StatusOr<ExampleSteps> ExampleSteps::Create(const StepOptions& options,
                                                  const ExampleSpec& spec) {
  ExampleSteps steps(options.seed);
  steps.spec_ = spec;
  for (ArraySpec& array : steps.spec_.features) {
    ASSIGN_OR_RETURN(Chain chain, steps.MakeChain(options, false, array));
    steps.features_.push_back(std::move(chain));
  }
  for (ArraySpec& array : steps.spec_.labels) {
    ASSIGN_OR_RETURN(Chain chain, steps.MakeChain(options, true, array));
    steps.labels_.push_back(std::move(chain));
  }
  return steps;
}

absl::StatusOr<const Example*> ExampleSteps::Apply(const Example& example,
                                                   int64_t pass,
                                                   int64_t index) {
  if (!has_steps_) return &example;
  const ExamplePass key = {seed_, pass, index};
  example_ = example;
  for (size_t i = 0; i < features_.size(); ++i) {
    RETURN_IF_ERROR(ApplyChain(key, features_[i], example_.features[i]));
  }
  for (size_t i = 0; i < labels_.size(); ++i) {
    RETURN_IF_ERROR(ApplyChain(key, labels_[i], example_.labels[i]));
  }
  return &example_;
}

absl::Status ExampleSteps::ApplyChain(const ExamplePass& pass, Chain& chain,
                                      Elements& values) {
  if (chain.steps.empty()) return absl::OkStatus();
  float* out = chain.memory[0].data();
  float* other = chain.memory[1].data();
  const auto* in = reinterpret_cast<const float*>(values.data);
  if (values.type != ElementType::kFloat32 ||
      reinterpret_cast<uintptr_t>(values.data) % alignof(float) != 0) {
    ConvertScaled(values, 1.0F, other);
    in = other;
  }
  for (const PlacedStep& each : chain.steps) {
    StepRandom random(pass, each.place);
    const absl::Status status = each.step->Apply(in, out, random);
    if (!status.ok()) return Annotate(status, NameOf(*each.step, each.place));
    in = out;
    std::swap(out, other);
  }
  values = {ElementType::kFloat32, reinterpret_cast<const std::byte*>(in),
            chain.steps.back().size};
  return absl::OkStatus();
}

}  // namespace paceline
