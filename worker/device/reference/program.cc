#include "worker/device/reference/program.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/model/loss_input.h"
#include "glog/logging.h"
#include "worker/device/feature_ids.h"
#include "worker/device/reference/regularization.h"

namespace paceline::reference {

template <typename T>
ReferenceProgram<T>::ReferenceProgram(const ProgramSpec& spec, State<T>& state)
    : spec_(spec),
      state_(state),
      features_(WithBatch(spec.graph->input_shape())),
      example_losses_(static_cast<size_t>(spec.batch_size)) {
  for (size_t i = 0; i < spec.graph->variables.size(); ++i) {
    unread_gradients_.emplace_back(
        is_frozen(static_cast<int>(i))
            ? NumElements(spec.graph->variables[i].shape)
            : 0);
  }
  for (size_t node = 0; node < spec.graph->nodes.size(); ++node) {
    AddLinks(static_cast<int>(node));
  }
  loss_ = Bind(*spec.loss);
  for (const std::unique_ptr<const Metric>& metric : spec.metrics) {
    BoundMetric& bound = metrics_.emplace_back();
    if (metric->mean_of() != nullptr) {
      bound.mean_of = Bind(*metric->mean_of());
    } else {
      bound.computation = MakeMetricComputation<T>(*metric);
    }
  }
  MakeSections();
}

template <typename T>
void ReferenceProgram<T>::AddLinks(int index) {
  const Node& node = spec_.graph->nodes[index];
  std::vector<size_t> inputs;
  for (const int input : node.inputs) inputs.push_back(last_links_[input]);
  const Shape output = WithBatch(node.output_shape);
  LayerContext<T> context;
  context.layer = node.layer;
  context.input_shape =
      inputs.empty() ? features_.shape : links_[inputs[0]].output.shape;
  context.output_shape = output;
  context.seed = spec_.seed;
  context.replica_sum = spec_.replica_sum;
  for (const int each : node.variables) {
    context.variables.push_back(variable(each));
  }
  AddLink(MakeLayerComputation<T>(context), std::move(inputs), node.variables,
          output);
  const ActivationFunction activation = node.layer->final_activation();
  if (activation != ActivationFunction::kLinear) {
    AddLink(MakeActivationComputation<T>(activation), {links_.size() - 1}, {},
            output);
  }
  last_links_.push_back(links_.size() - 1);
}

template <typename T>
void ReferenceProgram<T>::AddLink(
    std::unique_ptr<NodeComputation<T>> computation, std::vector<size_t> inputs,
    std::vector<int> variables, const Shape& output) {
  Link link{std::move(computation), std::move(inputs), std::move(variables),
            Tensor<T>(output),      Tensor<T>(output), {}};
  for (const Tensor<T>* input : InputsOf(link)) {
    link.input_gradients.emplace_back(input->shape);
  }
  links_.push_back(std::move(link));
}

template <typename T>
typename ReferenceProgram<T>::BoundLoss ReferenceProgram<T>::Bind(
    const Loss& loss) const {
  const LossInput input =
      ResolveLossInput(*spec_.graph, loss, spec_.mode == Mode::kTrain);
  return {MakeLossComputation<T>(loss, input.from_logits),
          last_links_[input.node] - (input.before_activation ? 1 : 0)};
}

template <typename T>
void ReferenceProgram<T>::MakeSections() {
  // Of each bucket, the gradients that are to come.
  std::vector<size_t> unfinished;
  for (const Bucket& bucket : spec_.plan->updated_buckets()) {
    unfinished.push_back(bucket.variables.size());
  }
  section_links_.push_back(links_.size());
  Section section;
  const bool is_training = spec_.mode == Mode::kTrain;
  for (size_t link = is_training ? links_.size() : 0; link-- > 0;) {
    for (const int each : links_[link].variables) {
      if (is_frozen(each)) continue;
      const int bucket = spec_.plan->place(each).bucket;
      if (--unfinished[bucket] == 0) section.final_buckets.push_back(bucket);
    }
    if (section.final_buckets.empty()) continue;
    std::sort(section.final_buckets.begin(), section.final_buckets.end());
    sections_.push_back(std::exchange(section, {}));
    section_links_.push_back(link);
  }
  if (!sections_.empty()) return;
  // Without a gradient it is forward alone.
  sections_.emplace_back();
  section_links_.push_back(links_.size());
}

template <typename T>
Shape ReferenceProgram<T>::WithBatch(const Shape& shape) const {
  Shape with_batch = {spec_.batch_size};
  with_batch.insert(with_batch.end(), shape.begin(), shape.end());
  return with_batch;
}

template <typename T>
Variable<T> ReferenceProgram<T>::variable(int index) {
  const VariableSpec& spec = spec_.graph->variables[index];
  Variable<T> result = state_.variable(spec, spec_.plan->place(index));
  if (is_frozen(index)) {
    result.gradient = absl::MakeSpan(unread_gradients_[index]);
  }
  return result;
}

template <typename T>
std::vector<const Tensor<T>*> ReferenceProgram<T>::InputsOf(
    const Link& link) const {
  if (link.inputs.empty()) return {&features_};
  std::vector<const Tensor<T>*> inputs;
  for (const size_t input : link.inputs) {
    inputs.push_back(&links_[input].output);
  }
  return inputs;
}

template <typename T>
absl::Status ReferenceProgram<T>::SetBatch(const Batch& batch,
                                           Stream& /*stream*/) {
  if (batch.count != spec_.batch_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("a batch of ", batch.count, " examples for a program of ",
                     spec_.batch_size));
  }
  const DataType type = DataTypeOf<T>::kValue;
  if (batch.features.type != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("features are ", DataTypeName(batch.features.type),
                     ", expected ", DataTypeName(type)));
  }
  RETURN_IF_ERROR(CheckFeatureIds<T>(*spec_.graph, batch));
  RETURN_IF_ERROR(CheckLabels(batch));
  step_ = {spec_.mode, batch};
  std::memcpy(features_.values.data(), batch.features.data,
              features_.values.size() * sizeof(T));
  return absl::OkStatus();
}

template <typename T>
absl::Status ReferenceProgram<T>::CheckLabels(const Batch& batch) const {
  const bool sparse = spec_.loss->has_sparse_labels();
  const DataType type = sparse ? DataType::kInt32 : DataTypeOf<T>::kValue;
  if (batch.labels.type != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("labels are ", DataTypeName(batch.labels.type),
                     ", expected ", DataTypeName(type)));
  }
  if (!sparse) return absl::OkStatus();
  const int64_t classes = spec_.graph->output_shape().back();
  const auto* const labels = static_cast<const int32_t*>(batch.labels.data);
  for (int64_t i = 0; i < batch.count; ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "label ", labels[i], " of example ", batch.first_example + i,
          " is out of range: the model has ", classes, " classes"));
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status ReferenceProgram<T>::Enqueue(int section, Stream& /*stream*/) {
  if (section == 0) {
    Forward();
    AddSums();
    if (spec_.mode == Mode::kTrain) {
      state_.NoteLoss(step_.batch.step);
      ComputeLossGradient();
    }
  }
  for (size_t link = section_links_[section];
       link-- > section_links_[section + 1];) {
    Backward(link);
  }
  return spec_.replica_sum == nullptr ? absl::OkStatus()
                                      : spec_.replica_sum->Take();
}

template <typename T>
absl::StatusOr<HostTensor> ReferenceProgram<T>::Output(Stream& /*stream*/) {
  return HostTensor{DataTypeOf<T>::kValue, links_.back().output.values.data()};
}

template <typename T>
void ReferenceProgram<T>::Forward() {
  for (Link& link : links_) {
    link.computation->RunForward(step_, InputsOf(link), link.output);
  }
}

template <typename T>
void ReferenceProgram<T>::AddSums() {
  const auto count = static_cast<double>(step_.batch.count);
  const auto total_of = [this](const BoundLoss& loss) {
    loss.computation->Compute(links_[loss.link].output, step_.batch.labels,
                              absl::MakeSpan(example_losses_), nullptr);
    return std::accumulate(example_losses_.begin(), example_losses_.end(), 0.0);
  };
  // The whole penalty, whatever share of it this replica's gradients carry: the
  // mean over all replicas' examples then has it once.
  double penalty = 0;
  for (size_t i = 0; i < spec_.graph->variables.size(); ++i) {
    penalty += Penalty(variable(static_cast<int>(i)));
  }
  state_.AddToSums(0, total_of(loss_) + count * penalty, count);
  for (size_t i = 0; i < metrics_.size(); ++i) {
    const BoundMetric& metric = metrics_[i];
    const double total = metric.computation == nullptr
                             ? total_of(metric.mean_of)
                             : metric.computation->Total(links_.back().output,
                                                         step_.batch.labels);
    state_.AddToSums(1 + i, total, count);
  }
}

template <typename T>
void ReferenceProgram<T>::ComputeLossGradient() {
  for (Link& link : links_) {
    std::fill(link.output_gradient.values.begin(),
              link.output_gradient.values.end(), T{0});
  }
  Tensor<T>& gradient = links_[loss_.link].output_gradient;
  loss_.computation->Compute(links_[loss_.link].output, step_.batch.labels,
                             absl::MakeSpan(example_losses_), &gradient);
  for (T& each : gradient.values) {
    each /= static_cast<T>(step_.batch.loss_divisor);
  }
}

template <typename T>
void ReferenceProgram<T>::Backward(size_t index) {
  // What is behind that which the loss reads.
  if (index > loss_.link) return;
  Link& link = links_[index];
  link.computation->RunBackward(step_, InputsOf(link), link.output,
                                link.output_gradient,
                                absl::MakeSpan(link.input_gradients));
  for (size_t i = 0; i < link.inputs.size(); ++i) {
    std::vector<T>& sum = links_[link.inputs[i]].output_gradient.values;
    for (size_t e = 0; e < sum.size(); ++e) {
      sum[e] += link.input_gradients[i].values[e];
    }
  }
  for (const int each : link.variables) {
    AddPenaltyGradient(variable(each), step_.batch.regularization_scale);
  }
}

template class ReferenceProgram<float>;
template class ReferenceProgram<double>;

}  // namespace paceline::reference
