#include "worker/device/program/node_function.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/activation_operations.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/loss_input.h"
#include "common/model/model_function.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/constant.h"
#include "common/operations/gradient.h"
#include "common/operations/map.h"
#include "common/operations/rewrites/fuse_bias.h"
#include "common/operations/rewrites/fuse_maps.h"
#include "common/operations/rewrites/fuse_pooling.h"
#include "common/operations/rewrites/fuse_rectifiers.h"
#include "common/operations/rewrites/fuse_row_sum.h"
#include "common/operations/rewrites/rewrite_bodies.h"
#include "worker/device/program/fused_clamp.h"
#include "worker/device/program/pooling_behind.h"

namespace paceline {
namespace {

class NodeLowering {
 public:
  NodeLowering(const Graph& graph, const Node& node,
               const NodeFunctionSpec& spec, op::HasOperation has)
      : graph_(graph),
        node_(node),
        spec_(spec),
        has_(has),
        pooling_(PoolingBehind(graph, node, has)),
        is_pooled_before_(IsPooledBefore(graph, node, has)) {}

  NodeFunction Run() && {
    function_.SetOwner(absl::StrCat("layer ", node_.layer->name));
    result_.stores_compute_type = spec_.stores_compute_type;
    const std::vector<op::Tensor> inputs = AddInputs();
    const std::vector<op::Tensor> variables = AddVariables();
    const bool is_done_before =
        is_pooled_before_ || IsFusedIntoInput(graph_, node_);
    const LoweredLayer layer =
        is_done_before ? LoweredLayer(inputs[0]) : Lower(inputs, variables);
    const op::Tensor& before = layer.output;
    const ActivationFunction activation = is_done_before
                                              ? ActivationFunction::kLinear
                                              : node_.layer->final_activation();
    const op::Tensor output = Pool(Activate(activation, before));
    AddResult(output, result_.output);
    if (MayGiveLogits(activation)) {
      AddResult(before, result_.before_activation);
    }
    if (spec_.is_training) {
      AddDeltas(layer.statistics, variables);
      AddGradients(inputs, variables, output, before);
    }
    return Fused();
  }

 private:
  // Adds the layer without its final activation, but with the operations that
  // neighbouring nodes leave to it.
  LoweredLayer Lower(const std::vector<op::Tensor>& inputs,
                     const std::vector<op::Tensor>& variables) {
    LoweredLayer layer = node_.layer->Lower(
        node_.CallOn(inputs, variables, spec_.is_training, spec_.seed));
    if (const std::optional<op::Clamp> clamp = ClampBehind(graph_, node_)) {
      layer.output = op::ClampNormalization(layer.output, *clamp);
    }
    return layer;
  }

  // Applies the max pooling after the layer, if it is fused.
  op::Tensor Pool(const op::Tensor& output) {
    if (pooling_ == nullptr) return output;
    return pooling_->layer
        ->Lower(pooling_->CallOn({output}, {}, spec_.is_training, spec_.seed))
        .output;
  }

  std::vector<op::Tensor> AddInputs() {
    std::vector<op::Tensor> inputs;
    for (const int input : node_.inputs) {
      Shape shape = is_pooled_before_ ? node_.output_shape
                                      : graph_.nodes[input].output_shape;
      shape.insert(shape.begin(), spec_.batch_size);
      inputs.push_back(AddParameter(std::move(shape)));
      result_.inputs.push_back(inputs.back().id());
    }
    return inputs;
  }

  std::vector<op::Tensor> AddVariables() {
    std::vector<op::Tensor> variables;
    for (const int variable : node_.variables) {
      variables.push_back(AddParameter(graph_.variables[variable].shape));
      result_.variables.push_back(variables.back().id());
    }
    return variables;
  }

  op::Tensor AddParameter(Shape shape) {
    return function_.AddParameter({DataType::kFloat32, std::move(shape)});
  }

  void AddDeltas(const std::vector<std::pair<int, op::Tensor>>& statistics,
                 const std::vector<op::Tensor>& variables) {
    result_.variable_gradients.resize(variables.size(), -1);
    if (statistics.empty()) return;
    const op::Tensor share = AddParameter({});
    result_.regularization_scale = share.id();
    for (const auto& [index, value] : statistics) {
      const double momentum = graph_.variables[node_.variables[index]].momentum;
      AddResult(StatisticDelta(value, variables[index], momentum, share),
                result_.variable_gradients[index]);
    }
  }

  // Gradients of variables come first, since they are sent while backward goes
  // on.
  void AddGradients(const std::vector<op::Tensor>& inputs,
                    const std::vector<op::Tensor>& variables,
                    const op::Tensor& output, const op::Tensor& before) {
    std::vector<op::Tensor> of;
    std::vector<op::Tensor> output_gradients;
    const auto add = [&](const op::Tensor& tensor, int& parameter) {
      of.push_back(tensor);
      output_gradients.push_back(AddParameter(tensor.shape()));
      parameter = output_gradients.back().id();
    };
    if (spec_.has_output_gradient) add(output, result_.output_gradient);
    if (spec_.has_gradient_before_activation) {
      add(before, result_.gradient_before_activation);
    }
    std::vector<op::Tensor> by;
    std::vector<int*> ids;
    for (size_t i = 0; i < variables.size(); ++i) {
      if (!graph_.variables[node_.variables[i]].is_trained()) continue;
      by.push_back(variables[i]);
      ids.push_back(&result_.variable_gradients[i]);
    }
    result_.input_gradients.resize(inputs.size(), -1);
    for (size_t i = 0; i < inputs.size() && HasInputGradients(); ++i) {
      by.push_back(inputs[i]);
      ids.push_back(&result_.input_gradients[i]);
    }
    const op::Gradients gradients = op::AddGradients(of, output_gradients, by);
    for (size_t i = 0; i < by.size(); ++i) {
      AddResult(
          gradients[i] ? *gradients[i] : op::Full(function_, by[i].type(), 0),
          *ids[i]);
    }
  }

  // Whether to compute the gradients with respect to inputs. With synchronized
  // statistics, replicas all-reduce in this computation, so they do it even if
  // nobody reads the result.
  bool HasInputGradients() const {
    return spec_.wants_input_gradients ||
           node_.layer->class_name() == BatchNormalization::kClassName;
  }

  // Records in `id` which tensor of the rewritten function the result is.
  void AddResult(op::Tensor tensor, int& id) {
    function_.AddResult(tensor);
    result_ids_.push_back(&id);
  }

  std::unique_ptr<op::Function> Fuse(const op::Function& function) const {
    return op::FuseRowSum(op::FuseBias(op::FuseMaps(function), has_), has_);
  }

  NodeFunction Fused() {
    std::unique_ptr<op::Function> fused =
        pooling_ != nullptr ? Fuse(*op::FuseRectifiers(function_, has_))
                            : Fuse(function_);
    fused = op::RewriteBodies(
        std::move(fused),
        [this](const op::Function& body) { return Fuse(body); });
    if (pooling_ != nullptr) fused = op::FusePooling(std::move(fused), has_);
    // Rewrites keep the order of parameters and results.
    for (size_t i = 0; i < result_ids_.size(); ++i) {
      *result_ids_[i] = fused->results()[i];
    }
    size_t next = 0;
    for (int& input : result_.inputs) input = fused->parameters()[next++];
    for (int& variable : result_.variables) {
      variable = fused->parameters()[next++];
    }
    if (result_.regularization_scale >= 0) {
      result_.regularization_scale = fused->parameters()[next++];
    }
    for (int* gradient :
         {&result_.output_gradient, &result_.gradient_before_activation}) {
      if (*gradient >= 0) *gradient = fused->parameters()[next++];
    }
    result_.function = std::move(fused);
    return std::move(result_);
  }

  const Graph& graph_;
  const Node& node_;
  const NodeFunctionSpec& spec_;
  const op::HasOperation has_;
  // The fused max pooling; null: none.
  const Node* const pooling_;
  const bool is_pooled_before_;
  op::Function function_;
  NodeFunction result_;
  // By result.
  std::vector<int*> result_ids_;
};

}  // namespace

NodeFunction MakeNodeFunction(const Graph& graph, const Node& node,
                              const NodeFunctionSpec& spec,
                              op::HasOperation has) {
  return NodeLowering(graph, node, spec, has).Run();
}

}  // namespace paceline
