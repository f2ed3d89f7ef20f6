#include "common/model/model_function.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/activation_operations.h"
#include "common/model/loss_input.h"
#include "common/model/lower_output.h"
#include "common/model/regularizer.h"
#include "common/operations/batch_moments.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/constant.h"
#include "common/operations/gradient.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "glog/logging.h"

namespace paceline {
namespace {

class ModelLowering {
 public:
  explicit ModelLowering(const ModelFunctionSpec& spec)
      : spec_(spec),
        graph_(*spec.graph),
        model_(std::make_unique<ModelFunction>()),
        function_(model_->function),
        before_activation_(graph_.nodes.size()),
        outputs_(graph_.nodes.size()),
        statistics_(graph_.variables.size()),
        has_penalty_(graph_.variables.size()) {}

  std::unique_ptr<const ModelFunction> Run() && {
    AddParameters();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].inputs.empty() || IsUnreadPenalty(i)) continue;
      AddNode(i);
      if (graph_.nodes[i].layer->is_penalty()) {
        model_->activity_penalties.push_back(outputs_[i]);
      }
    }
    for (const int output : graph_.outputs) {
      model_->outputs.push_back(outputs_[output]);
    }
    function_.SetOwner("loss");
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      const OutputSpec& output = spec_.outputs[i];
      if (output.loss == nullptr) continue;
      model_->losses.push_back(
          LowerLoss(output, spec_.is_training, TensorsOf(output.loss, i)));
    }
    AddMetrics();
    if (spec_.is_training) AddDeltas();
    model_->backward_begin = function_.calls().size();
    if (spec_.is_training) AddGradients();
    return std::move(model_);
  }

 private:
  Shape WithBatch(const Shape& shape) const {
    Shape with_batch = {spec_.batch_size};
    with_batch.insert(with_batch.end(), shape.begin(), shape.end());
    return with_batch;
  }

  void AddParameters() {
    const auto add = [this](Shape shape) {
      return function_.AddParameter({spec_.type, std::move(shape)});
    };
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      model_->features.push_back(add(WithBatch(graph_.input_shape(i))));
      outputs_[graph_.inputs[i]] = model_->features.back();
      before_activation_[graph_.inputs[i]] = model_->features.back();
    }
    for (const OutputSpec& output : spec_.outputs) {
      Shape shape =
          WithBatch(output.LabelShape(graph_.output_shape(output.output)));
      model_->labels.push_back(
          output.has_sparse_labels()
              ? function_.AddParameter({DataType::kInt32, std::move(shape)})
              : add(std::move(shape)));
    }
    for (const OutputSpec& output : spec_.outputs) {
      if (!output.has_sample_weights) continue;
      model_->weights.push_back(add({spec_.batch_size}));
    }
    for (const VariableSpec& variable : graph_.variables) {
      model_->variables.push_back(add(variable.shape));
    }
    model_->loss_divisor = add({});
    model_->regularization_scale = add({});
  }

  // Whether it is a penalty in a function without losses.
  bool IsUnreadPenalty(size_t index) const {
    return spec_.outputs.empty() && graph_.nodes[index].layer->is_penalty();
  }

  void AddNode(size_t index) {
    const Node& node = graph_.nodes[index];
    std::vector<op::Tensor> inputs;
    for (const int input : node.inputs) inputs.push_back(outputs_[input]);
    std::vector<op::Tensor> variables;
    for (const int variable : node.variables) {
      variables.push_back(model_->variables[variable]);
    }
    function_.SetOwner(absl::StrCat("layer ", node.layer->name));
    for (const int variable : node.variables) AddPenalty(variable);
    const LoweredLayer lowered = node.layer->Lower(
        node.CallOn(inputs, variables, spec_.is_training, spec_.seed));
    for (const auto& [index, value] : lowered.statistics) {
      statistics_[node.variables[index]] = value;
    }
    before_activation_[index] = lowered.output;
    outputs_[index] = Activate(node.layer->final_activation(), lowered.output);
    CHECK(outputs_[index].shape() == WithBatch(node.output_shape))
        << "layer " << node.layer->name << ": "
        << op::ToString(outputs_[index].type());
  }

  // What `loss` reads of an output, by OutputSpec; null: a metric, which reads
  // the output.
  OutputTensors TensorsOf(const Loss* loss, size_t spec) const {
    const size_t output = spec_.outputs[spec].output;
    const op::Tensor& labels = model_->labels[spec];
    if (loss == nullptr) {
      return {model_->outputs[output], labels, MaskOf(output), WeightsOf(spec)};
    }
    const LossInput input = ResolveLossInput(graph_, graph_.outputs[output],
                                             *loss, spec_.is_training);
    const std::vector<op::Tensor>& from =
        input.before_activation ? before_activation_ : outputs_;
    return {from[input.node], labels, MaskOf(output), WeightsOf(spec),
            input.from_logits};
  }

  std::optional<op::Tensor> WeightsOf(size_t spec) const {
    return spec_.outputs[spec].has_sample_weights
               ? std::optional(model_->weights[spec])
               : std::nullopt;
  }

  // Of Graph::outputs[output].
  std::optional<op::Tensor> MaskOf(size_t output) const {
    const int mask = graph_.output_masks[output];
    return mask < 0 ? std::nullopt : std::optional(outputs_[mask]);
  }

  // Adds the penalty of a variable before the calls of its node, so that
  // backward computes the penalty's gradient right after the node's gradients.
  // The penalty's gradient is as large as the variable; if backward computed it
  // earlier, it would take memory until the node's gradients are added to it.
  void AddPenalty(int variable) {
    if (has_penalty_[variable]) return;
    has_penalty_[variable] = true;
    const Regularizer& regularizer = graph_.variables[variable].regularizer;
    const op::Tensor& w = model_->variables[variable];
    if (regularizer.l1 != 0) {
      AddToPenalty(op::SumAll(op::Abs(w)) * regularizer.l1);
    }
    if (regularizer.l2 != 0) {
      AddToPenalty(op::SumAll(w * w) * regularizer.l2);
    }
  }

  void AddToPenalty(const op::Tensor& part) {
    model_->penalty = model_->penalty ? *model_->penalty + part : part;
  }

  void AddMetrics() {
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      for (const auto& metric : spec_.outputs[i].metrics) {
        function_.SetOwner(absl::StrCat("metric ", metric->name));
        model_->metrics.push_back(LowerMetric(spec_.outputs[i], *metric,
                                              spec_.is_training,
                                              TensorsOf(metric->mean_of(), i)));
      }
    }
  }

  void AddDeltas() {
    model_->updates.resize(graph_.variables.size());
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      if (!statistics_[i]) continue;
      function_.SetOwner(absl::StrCat("statistic ", graph_.variables[i].name));
      model_->updates[i] = StatisticDelta(*statistics_[i], model_->variables[i],
                                          graph_.variables[i].momentum,
                                          model_->regularization_scale);
    }
  }

  // Adds the gradients of Σ weight · losses / loss_divisor over all outputs +
  // Σ activity_penalties / loss_divisor + regularization_scale · penalty.
  void AddGradients() {
    function_.SetOwner("loss");
    std::vector<op::Tensor> of = model_->losses;
    std::vector<op::Tensor> output_gradients;
    for (const OutputSpec& output : spec_.outputs) {
      if (output.loss == nullptr) continue;
      output_gradients.push_back(op::Broadcast(
          output.weight / model_->loss_divisor, {spec_.batch_size}));
    }
    for (const op::Tensor& penalty : model_->activity_penalties) {
      of.push_back(penalty);
      output_gradients.push_back(
          op::Broadcast(1 / model_->loss_divisor, {spec_.batch_size}));
    }
    if (model_->penalty) {
      of.push_back(*model_->penalty);
      output_gradients.push_back(model_->regularization_scale);
    }
    std::vector<op::Tensor> by;
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      if (graph_.variables[i].is_trained()) by.push_back(model_->variables[i]);
    }
    const std::vector<op::Tensor> shared = SharedInputs();
    by.insert(by.end(), shared.begin(), shared.end());
    const op::Gradients gradients = op::AddGradients(of, output_gradients, by);
    size_t next = 0;
    for (size_t i = 0; i < graph_.variables.size(); ++i) {
      if (!graph_.variables[i].is_trained()) continue;
      const std::optional<op::Tensor>& gradient = gradients[next++];
      model_->updates[i] =
          gradient ? *gradient
                   : op::Full(function_, model_->variables[i].type(), 0);
    }
  }

  // Inputs of nodes with synchronized statistics. Their gradients are added
  // even if no variable needs them: they contain all-reduces, and a replica
  // without an example takes part in all all-reduces, whose number it derives
  // from the model alone (SynchronizedChannels).
  std::vector<op::Tensor> SharedInputs() {
    std::vector<op::Tensor> inputs;
    for (const op::Call& call : function_.calls()) {
      if (call.operation->name() != op::BatchMomentsOperation::kName) continue;
      const auto& moments =
          static_cast<const op::BatchMomentsOperation&>(*call.operation);
      if (moments.over_replicas()) {
        inputs.push_back(function_.tensor(call.inputs[0]));
      }
    }
    return inputs;
  }

  const ModelFunctionSpec& spec_;
  const Graph& graph_;
  std::unique_ptr<ModelFunction> model_;
  op::Function& function_;
  // By node.
  std::vector<op::Tensor> before_activation_;
  std::vector<op::Tensor> outputs_;
  // By variable.
  std::vector<std::optional<op::Tensor>> statistics_;
  std::vector<bool> has_penalty_;
};

}  // namespace

std::unique_ptr<const ModelFunction> MakeModelFunction(
    const ModelFunctionSpec& spec) {
  return ModelLowering(spec).Run();
}

op::Tensor StatisticDelta(const op::Tensor& value, const op::Tensor& statistic,
                          double momentum, const op::Tensor& share) {
  return (op::Cast(value, statistic.data_type()) - statistic) * share *
         (1 - momentum);
}

std::vector<VariableEnd> VariableEnds(const ModelFunction& model) {
  const std::vector<op::Call>& calls = model.function.calls();
  // By tensor: the number of calls up to the one that writes it, and up to the
  // last one that reads it.
  std::vector<size_t> written(model.function.tensor_count());
  std::vector<size_t> last_read(model.function.tensor_count());
  for (size_t i = 0; i < calls.size(); ++i) {
    for (const int input : calls[i].inputs) last_read[input] = i + 1;
    for (const int output : calls[i].outputs) written[output] = i + 1;
  }
  std::vector<VariableEnd> ends(model.variables.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!model.updates[i]) continue;
    ends[i].ready_after = written[model.updates[i]->id()];
    ends[i].final_after =
        std::max(ends[i].ready_after, last_read[model.variables[i].id()]);
  }
  return ends;
}

}  // namespace paceline
