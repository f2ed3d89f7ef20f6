#include "worker/device/reference/program.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/base/status_macros.h"
#include "common/model/lower_output.h"
#include "common/model/metric_layout.h"
#include "glog/logging.h"
#include "worker/device/check_batch.h"

namespace paceline::reference {
namespace {

// For each bucket: the last call that matters to its variables. At least the
// end of forward with loss and metrics, which are all in the first section.
std::vector<VariableEnd> BucketEnds(const ModelFunction& model,
                                    absl::Span<const Bucket> buckets) {
  const std::vector<VariableEnd> of_variables = VariableEnds(model);
  std::vector<VariableEnd> ends(buckets.size(),
                                {model.backward_begin, model.backward_begin});
  for (size_t b = 0; b < buckets.size(); ++b) {
    for (const int variable : buckets[b].variables) {
      const VariableEnd& end = of_variables[variable];
      ends[b].ready_after = std::max(ends[b].ready_after, end.ready_after);
      ends[b].final_after = std::max(ends[b].final_after, end.final_after);
    }
  }
  return ends;
}

}  // namespace

template <typename T>
ReferenceProgram<T>::ReferenceProgram(const ProgramSpec& spec, State<T>& state)
    : spec_(spec),
      state_(state),
      model_(MakeModelFunction({.graph = spec.graph,
                                .outputs = spec.outputs,
                                .is_training = spec.mode == Mode::kTrain,
                                .batch_size = spec.batch_size,
                                .seed = spec.seed,
                                .type = DataTypeOf<T>::kValue})),
      run_(model_->function) {
  MakeSections();
}

template <typename T>
void ReferenceProgram<T>::MakeSections() {
  std::vector<VariableEnd> ends;
  if (spec_.mode == Mode::kTrain) {
    ends = BucketEnds(*model_, spec_.bucket_layout->updated_buckets());
  }
  // Buckets that are ready after this many calls.
  std::map<size_t, std::vector<int>> ready_buckets;
  for (size_t b = 0; b < ends.size(); ++b) {
    ready_buckets[ends[b].ready_after].push_back(static_cast<int>(b));
  }
  for (auto& [end, ready] : ready_buckets) {
    section_ends_.push_back(end);
    sections_.push_back({std::move(ready), {}});
  }
  // Without gradients there is only forward.
  if (sections_.empty()) {
    sections_.emplace_back();
    section_ends_.emplace_back();
  }
  // After the last gradient, replicas may still have sums to all-reduce.
  section_ends_.back() = model_->function.calls().size();
  for (size_t b = 0; b < ends.size(); ++b) {
    const size_t section =
        std::lower_bound(section_ends_.begin(), section_ends_.end(),
                         ends[b].final_after) -
        section_ends_.begin();
    sections_[section].final_buckets.push_back(static_cast<int>(b));
  }
}

template <typename T>
absl::Status ReferenceProgram<T>::SetBatch(const Batch& batch,
                                           Stream& /*stream*/) {
  RETURN_IF_ERROR(CheckBatch(spec_, batch, DataTypeOf<T>::kValue));
  batch_ = batch;
  return absl::OkStatus();
}

template <typename T>
void ReferenceProgram<T>::SetScalar(const op::Tensor& parameter, double value) {
  run_.Argument(parameter.id()).values<T>()[0] = static_cast<T>(value);
}

template <typename T>
void ReferenceProgram<T>::SetArguments() {
  const auto copy = [&](const op::Tensor& parameter, const auto* from) {
    using E = std::remove_cvref_t<decltype(*from)>;
    const absl::Span<E> to = run_.Argument(parameter.id()).values<E>();
    std::copy_n(from, to.size(), to.begin());
  };
  for (size_t i = 0; i < model_->features.size(); ++i) {
    copy(model_->features[i], static_cast<const T*>(batch_.features[i].data));
  }
  for (size_t i = 0; i < model_->labels.size(); ++i) {
    const void* const labels = batch_.labels[i].data;
    if (spec_.outputs[i].has_sparse_labels()) {
      copy(model_->labels[i], static_cast<const int32_t*>(labels));
    } else {
      copy(model_->labels[i], static_cast<const T*>(labels));
    }
  }
  for (size_t i = 0; i < model_->weights.size(); ++i) {
    copy(model_->weights[i], static_cast<const T*>(batch_.weights[i].data));
  }
  for (size_t i = 0; i < model_->variables.size(); ++i) {
    copy(model_->variables[i],
         state_.value(spec_.bucket_layout->location(static_cast<int>(i))));
  }
  SetScalar(model_->loss_divisor, batch_.loss_divisor);
  SetScalar(model_->regularization_scale, batch_.regularization_scale);
}

template <typename T>
absl::Status ReferenceProgram<T>::Enqueue(int section, Stream& /*stream*/) {
  if (section == 0) SetArguments();
  run_.Run(section == 0 ? 0 : section_ends_[section - 1],
           section_ends_[section],
           {batch_.first_example, batch_.epoch, spec_.statistics_all_reduce});
  if (section == 0) {
    AddSums();
    if (spec_.mode == Mode::kTrain) state_.NoteLoss(batch_.step);
  }
  for (const int bucket : sections_[section].ready_buckets) {
    WriteUpdates(bucket);
  }
  return spec_.statistics_all_reduce == nullptr
             ? absl::OkStatus()
             : spec_.statistics_all_reduce->Take();
}

template <typename T>
absl::StatusOr<std::vector<HostTensor>> ReferenceProgram<T>::Outputs(
    Stream& /*stream*/) {
  std::vector<HostTensor> outputs;
  for (const op::Tensor& output : model_->outputs) {
    outputs.push_back({DataTypeOf<T>::kValue,
                       run_.value(output.id()).template values<T>().data()});
  }
  return outputs;
}

template <typename T>
double ReferenceProgram<T>::TotalOf(const op::Tensor& values) const {
  const absl::Span<const T> of_examples =
      run_.value(values.id()).template values<T>();
  return std::accumulate(of_examples.begin(), of_examples.end(), 0.0);
}

template <typename T>
void ReferenceProgram<T>::AddSums() {
  const auto count = static_cast<double>(batch_.count);
  // The whole penalty, not only the share in this replica's gradients. Then the
  // mean over all replicas' examples includes it once.
  const double penalty = model_->penalty ? TotalOf(*model_->penalty) : 0;
  double loss = 0;
  size_t next_loss = 0;
  for (const OutputSpec& output : spec_.outputs) {
    if (output.loss == nullptr) continue;
    loss += output.weight * TotalOf(model_->losses[next_loss++]);
  }
  for (const op::Tensor& of_examples : model_->activity_penalties) {
    loss += TotalOf(of_examples);
  }
  state_.AddToState(0, loss + count * penalty);
  state_.AddToState(1, count);
  const MetricLayout layout(spec_.outputs);
  size_t next = 0;
  for (const OutputSpec& output : spec_.outputs) {
    const bool has_mask = spec_.graph->output_masks[output.output] >= 0;
    for (const auto& metric : output.metrics) {
      AddMetric(model_->metrics[next], IsMeanOfExamples(*metric, has_mask),
                layout.offset(next));
      ++next;
    }
  }
}

template <typename T>
void ReferenceProgram<T>::AddMetric(const op::Tensor& values,
                                    bool is_mean_of_examples, size_t offset) {
  if (is_mean_of_examples) {
    state_.AddToState(offset, TotalOf(values));
    state_.AddToState(offset + 1, static_cast<double>(batch_.count));
    return;
  }
  const absl::Span<const T> added =
      run_.value(values.id()).template values<T>();
  for (size_t i = 0; i < added.size(); ++i) {
    state_.AddToState(offset + i, added[i]);
  }
}

template <typename T>
void ReferenceProgram<T>::WriteUpdates(int bucket) {
  for (const int variable :
       spec_.bucket_layout->updated_buckets()[bucket].variables) {
    const absl::Span<const T> update =
        run_.value(model_->updates[variable]->id()).template values<T>();
    std::copy(update.begin(), update.end(),
              state_.gradient(spec_.bucket_layout->location(variable)));
  }
}

template class ReferenceProgram<float>;
template class ReferenceProgram<double>;

}  // namespace paceline::reference
