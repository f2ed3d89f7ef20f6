#include "common/model/layers/bidirectional.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/config/codec.h"
#include "common/model/philox.h"
#include "common/operations/binary_map.h"
#include "common/operations/concatenate.h"
#include "glog/logging.h"

namespace paceline {
namespace {

const RecurrentLayer* AsRecurrent(const std::shared_ptr<Layer>& layer) {
  return dynamic_cast<const RecurrentLayer*>(layer.get());
}

absl::Status CheckLayers(const Bidirectional& object, const Path& path) {
  const RecurrentLayer* const forward = AsRecurrent(object.forward_layer);
  if (forward == nullptr) {
    return ConfigError(path.Key("layer"),
                       absl::StrCat("expected LSTM, GRU or SimpleRNN, got ",
                                    object.forward_layer->class_name()),
                       absl::StatusCode::kUnimplemented);
  }
  if (forward->go_backwards) {
    return ConfigError(path.Key("layer"),
                       "go_backwards must be false; true is not supported yet",
                       absl::StatusCode::kUnimplemented);
  }
  const Path backward_path = path.Key("backward_layer");
  if (object.backward_layer->class_name() != forward->class_name()) {
    return ConfigError(backward_path,
                       absl::StrCat("expected ", forward->class_name(),
                                    ", the class of layer, got ",
                                    object.backward_layer->class_name()),
                       absl::StatusCode::kUnimplemented);
  }
  RETURN_IF_ERROR(CheckUnpenalized(*forward, path.Key("layer")));
  RETURN_IF_ERROR(CheckUnpenalized(*object.backward_layer, backward_path));
  const RecurrentLayer& backward = *AsRecurrent(object.backward_layer);
  if (!backward.go_backwards ||
      backward.return_sequences != forward->return_sequences ||
      backward.units != forward->units) {
    return ConfigError(backward_path,
                       "go_backwards must be true, and return_sequences and "
                       "units those of layer");
  }
  return absl::OkStatus();
}

// Merges the outputs of both directions.
op::Tensor Merged(MergeMode mode, const op::Tensor& a, const op::Tensor& b) {
  switch (mode) {
    case MergeMode::kConcatenate:
      return op::Concatenate({a, b}, -1);
    case MergeMode::kSum:
      return a + b;
    case MergeMode::kMultiply:
      return a * b;
    case MergeMode::kAverage:
      return (a + b) / 2;
  }
  LOG(FATAL) << "merge mode " << static_cast<int>(mode);
}

}  // namespace

absl::Span<const EnumName<MergeMode>> EnumNames(MergeMode) {
  static constexpr EnumName<MergeMode> kNames[] = {
      {MergeMode::kConcatenate, "concat"},
      {MergeMode::kSum, "sum"},
      {MergeMode::kMultiply, "mul"},
      {MergeMode::kAverage, "ave"},
  };
  return kNames;
}

const FieldTable<Bidirectional>& Bidirectional::Fields() {
  using Self = Bidirectional;
  using LayerPtr = std::shared_ptr<Layer>;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "A recurrent layer in both directions.",
      LayerFields<Self>(
          {Optional("merge_mode", &Self::merge_mode,
                    "How the outputs of both directions become one."),
           Required("layer",
                    Accessors<Self, LayerPtr>{
                        [](const Self& self) { return self.forward_layer; },
                        [](Self& self, LayerPtr layer) {
                          self.SetLayer(std::move(layer));
                        }},
                    "The recurrent layer that begins with the first step."),
           Optional("backward_layer", &Self::backward_layer,
                    "The one that begins with the last; by default, a copy of "
                    "`layer`.")}),
      [] { return Self(); }, CheckLayers);
  return table;
}

void Bidirectional::SetLayer(std::shared_ptr<Layer> layer) {
  forward_layer = std::move(layer);
  const RecurrentLayer* const forward = AsRecurrent(forward_layer);
  if (forward == nullptr) return;
  const std::string stem(absl::StripPrefix(forward->name, "forward_"));
  std::shared_ptr<RecurrentLayer> backward = forward->Copy();
  backward->go_backwards = true;
  backward->name = absl::StrCat("backward_", stem);
  backward_layer = std::move(backward);
  forward_layer->name = absl::StrCat("forward_", stem);
}

absl::StatusOr<Shape> Bidirectional::OutputShape(
    absl::Span<const Shape> inputs) const {
  ASSIGN_OR_RETURN(Shape output, forward_layer->OutputShape(inputs));
  if (merge_mode == MergeMode::kConcatenate) output.back() *= 2;
  return output;
}

std::vector<VariableSpec> Bidirectional::Variables(
    absl::Span<const Shape> inputs) const {
  std::vector<VariableSpec> variables =
      WrappedVariables("forward_layer", *forward_layer, inputs);
  for (VariableSpec& each :
       WrappedVariables("backward_layer", *backward_layer, inputs)) {
    variables.push_back(std::move(each));
  }
  return variables;
}

std::string Bidirectional::WeightPath(int variable) const {
  const int count = AsRecurrent(forward_layer)->variable_count();
  return variable < count
             ? absl::StrCat("forward_layer/",
                            forward_layer->WeightPath(variable))
             : absl::StrCat("backward_layer/",
                            backward_layer->WeightPath(variable - count));
}

LoweredLayer Bidirectional::Lower(const LayerCall& call) const {
  const RecurrentLayer& forward = *AsRecurrent(forward_layer);
  LayerCall part = call;
  // The names of both layers may be those of another Bidirectional's.
  part.seed = PhiloxKey({.seed = call.seed, .stream = StableHash(name)});
  part.variables = call.variables.first(forward.variable_count());
  const op::Tensor first = forward.LowerInOrder(part);
  part.variables = call.variables.subspan(forward.variable_count());
  const op::Tensor second = AsRecurrent(backward_layer)->LowerInOrder(part);
  return Merged(merge_mode, first, second);
}

}  // namespace paceline
