#include "worker/device/reference/program.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/model/metric_layout.h"
#include "glog/logging.h"
#include "worker/device/feature_ids.h"

namespace paceline::reference {

template <typename T>
ReferenceProgram<T>::ReferenceProgram(const ProgramSpec& spec, State<T>& state)
    : spec_(spec),
      state_(state),
      model_(MakeModelFunction({.graph = spec.graph,
                                .loss = spec.loss,
                                .metrics = spec.metrics,
                                .is_training = spec.mode == Mode::kTrain,
                                .batch_size = spec.batch_size,
                                .seed = spec.seed,
                                .type = DataTypeOf<T>::kValue})),
      run_(model_->function) {
  MakeSections();
}

template <typename T>
void ReferenceProgram<T>::MakeSections() {
  // The buckets that are final after so many calls.
  std::map<size_t, std::vector<int>> final_buckets;
  if (spec_.mode == Mode::kTrain) {
    const std::vector<size_t> of_variables = FinalAfter(*model_);
    const absl::Span<const Bucket> buckets = spec_.plan->updated_buckets();
    for (size_t b = 0; b < buckets.size(); ++b) {
      // The first section has all of forward, with loss and metrics.
      size_t latest = model_->backward_begin;
      for (const int variable : buckets[b].variables) {
        latest = std::max(latest, of_variables[variable]);
      }
      final_buckets[latest].push_back(static_cast<int>(b));
    }
  }
  for (auto& [end, buckets] : final_buckets) {
    section_ends_.push_back(end);
    sections_.push_back({std::move(buckets)});
  }
  // Without a gradient it is forward alone.
  if (sections_.empty()) {
    sections_.emplace_back();
    section_ends_.emplace_back();
  }
  // Behind the last gradient replicas may still have sums to share.
  section_ends_.back() = model_->function.calls().size();
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
  batch_ = batch;
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
  copy(model_->features, static_cast<const T*>(batch_.features.data));
  if (spec_.loss->has_sparse_labels()) {
    copy(model_->labels, static_cast<const int32_t*>(batch_.labels.data));
  } else {
    copy(model_->labels, static_cast<const T*>(batch_.labels.data));
  }
  for (size_t i = 0; i < model_->variables.size(); ++i) {
    copy(model_->variables[i],
         state_.value(spec_.plan->place(static_cast<int>(i))));
  }
  SetScalar(model_->loss_divisor, batch_.loss_divisor);
  SetScalar(model_->regularization_scale, batch_.regularization_scale);
}

template <typename T>
absl::Status ReferenceProgram<T>::Enqueue(int section, Stream& /*stream*/) {
  if (section == 0) SetArguments();
  run_.Run(section == 0 ? 0 : section_ends_[section - 1],
           section_ends_[section],
           {batch_.first_example, batch_.epoch, spec_.replica_sum});
  if (section == 0) {
    AddSums();
    if (spec_.mode == Mode::kTrain) state_.NoteLoss(batch_.step);
  }
  for (const int bucket : sections_[section].final_buckets) {
    WriteUpdates(bucket);
  }
  return spec_.replica_sum == nullptr ? absl::OkStatus()
                                      : spec_.replica_sum->Take();
}

template <typename T>
absl::StatusOr<HostTensor> ReferenceProgram<T>::Output(Stream& /*stream*/) {
  return HostTensor{
      DataTypeOf<T>::kValue,
      run_.value(model_->output.id()).template values<T>().data()};
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
  // The whole penalty, whatever share of it this replica's gradients carry: the
  // mean over all replicas' examples then has it once.
  const double penalty = model_->penalty ? TotalOf(*model_->penalty) : 0;
  state_.AddToState(0, TotalOf(model_->losses) + count * penalty);
  state_.AddToState(1, count);
  const MetricLayout layout(spec_.metrics);
  for (size_t m = 0; m < model_->metrics.size(); ++m) {
    const op::Tensor& values = model_->metrics[m];
    const size_t offset = layout.offset(m);
    if (spec_.metrics[m]->is_mean()) {
      state_.AddToState(offset, TotalOf(values));
      state_.AddToState(offset + 1, count);
      continue;
    }
    const absl::Span<const T> added =
        run_.value(values.id()).template values<T>();
    for (size_t i = 0; i < added.size(); ++i) {
      state_.AddToState(offset + i, added[i]);
    }
  }
}

template <typename T>
void ReferenceProgram<T>::WriteUpdates(int bucket) {
  for (const int variable : spec_.plan->updated_buckets()[bucket].variables) {
    const absl::Span<const T> update =
        run_.value(model_->updates[variable]->id()).template values<T>();
    std::copy(update.begin(), update.end(),
              state_.gradient(spec_.plan->place(variable)));
  }
}

template class ReferenceProgram<float>;
template class ReferenceProgram<double>;

}  // namespace paceline::reference
