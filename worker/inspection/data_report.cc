#include "worker/inspection/data_report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "common/data_source/image_input.h"
#include "common/data_step/example_steps.h"
#include "common/job/job_model.h"
#include "worker/data/batch_pipeline.h"
#include "worker/evaluation/whole_pass.h"
#include "worker/inspection/label_counter.h"
#include "worker/setup/datasets.h"

namespace paceline {
namespace {

// Of all arrays, in a buffer of the pipeline.
constexpr int64_t kBatchBytes = int64_t{64} << 20;

// Longest wait for a batch before looking again.
constexpr absl::Duration kBatchWaitSlice = absl::Seconds(1);

int64_t ValuesOf(const std::vector<ModelArray>& arrays) {
  int64_t values = 0;
  for (const ModelArray& array : arrays) values += NumElements(array.shape);
  return values;
}

ArrayReport Describe(const ModelArray& wanted, const ArraySpec& stored) {
  ArrayReport report;
  report.name = wanted.name;
  report.origin = stored.origin;
  report.stored_type = stored.type;
  report.stored_shape = stored.shape;
  report.shape = wanted.shape;
  if (wanted.classes.count > 0) report.type = DataType::kInt32;
  return report;
}

template <typename T>
absl::Span<const T> ValuesIn(const PreparedArray& array, const Shape& shape,
                             int64_t count) {
  return {reinterpret_cast<const T*>(array.data),
          static_cast<size_t>(count * NumElements(shape))};
}

// Names and numbers of the classes of labels array `label`.
void SetClasses(const PhaseData& phase, size_t label,
                const std::vector<int64_t>& counts, ArrayReport& report) {
  const DataSource& source = *phase.source;
  const std::vector<std::string> names = source.ClassNames(label);
  for (const std::string& name : names) report.classes.push_back({name, 0});
  const int64_t first = phase.order.first;
  if (!names.empty() && source.KnownClass(first)) {
    for (int64_t i = first; i < first + phase.order.count; ++i) {
      ++report.classes[*source.KnownClass(i)].examples;
    }
    report.class_examples = phase.order.count;
    return;
  }
  report.classes.resize(counts.empty() ? 0
                                       : std::max(counts.size(), names.size()));
  for (size_t id = 0; id < counts.size(); ++id) {
    report.classes[id].examples = counts[id];
    report.class_examples += counts[id];
  }
}

// Reads one data set.
class SetReader {
 public:
  SetReader(std::string name, v1::Phase phase, const PhaseData& data,
            const ModelArrays& model, const DataReportRequest& request)
      : phase_(phase), data_(data), model_(model), request_(request) {
    report_.name = std::move(name);
    report_.examples = data.order.count;
    report_.step_size = data.step_size;
    const int64_t epoch = data.order.ExamplesInEpoch();
    report_.steps_per_epoch = (epoch + data.step_size - 1) / data.step_size;
    report_.examples_per_epoch = epoch;
    report_.examples_per_pass = data.order.ExamplesInPass();
    const int64_t values = std::max<int64_t>(ValuesOf(model.inputs), 1);
    const int64_t bounded =
        std::clamp<int64_t>(kReportedValues / values, 1, kReportedExamples);
    report_.counted =
        std::min(epoch, request.examples > 0 ? request.examples : bounded);
    // Only the buffers are smaller: a batch is a range of the epoch's order.
    const auto example_bytes = static_cast<int64_t>(
        (values + ValuesOf(model.outputs)) * sizeof(float));
    data_.step_size =
        std::clamp<int64_t>(kBatchBytes / example_bytes, 1, data.step_size);
  }

  // `sheet`: null, or gets the images for input `sheet_input`.
  absl::StatusOr<SetReport> Read(ContactSheet* sheet, size_t sheet_input) {
    RETURN_IF_ERROR(DescribeArrays());
    PipelineOptions options;
    options.phases[phase_] = data_;
    options.model = model_;
    options.readers = request_.readers;
    const int64_t wanted =
        std::max(report_.counted, sheet == nullptr ? 0 : sheet->capacity());
    ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline,
                     BatchPipeline::Create(options, WholePass(phase_, wanted)));
    while (!pipeline->has_ended()) {
      ASSIGN_OR_RETURN(const PreparedBatch* batch,
                       pipeline->Next(kBatchWaitSlice));
      if (batch == nullptr) continue;
      Count(*batch);
      if (sheet != nullptr) {
        sheet->Add(ValuesIn<float>(batch->features[sheet_input],
                                   report_.inputs[sheet_input].shape,
                                   batch->count));
      }
      pipeline->Release(batch);
    }
    report_.skipped = pipeline->skipped_examples();
    for (size_t i = 0; i < counters_.size(); ++i) {
      ArrayReport& label = report_.labels[i];
      SetClasses(data_, match_.outputs[i], counters_[i].counts(), label);
      if (!label.classes.empty()) label.values = ValueHistogram();
    }
    return std::move(report_);
  }

 private:
  absl::Status DescribeArrays() {
    const ExampleSpec& stored = data_.source->spec();
    ASSIGN_OR_RETURN(const ExampleSteps steps,
                     ExampleSteps::Create(data_.steps, stored));
    ASSIGN_OR_RETURN(match_,
                     MatchArrays(data_.source->name(), steps.spec(), model_));
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      report_.inputs.push_back(
          Describe(model_.inputs[i], stored.features[match_.inputs[i]]));
    }
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      report_.labels.push_back(
          Describe(model_.outputs[i], stored.labels[match_.outputs[i]]));
      counters_.emplace_back(model_.outputs[i]);
    }
    for (size_t i = 0; i < match_.weights.size(); ++i) {
      if (!match_.weights[i]) continue;
      weighted_.push_back(i);
      report_.weights.push_back(Describe({model_.outputs[i].name, {}},
                                         stored.weights[*match_.weights[i]]));
    }
    return absl::OkStatus();
  }

  void Count(const PreparedBatch& batch) {
    const int64_t count = std::min(batch.count, report_.counted - batch.begin);
    if (count <= 0) return;
    for (size_t i = 0; i < report_.inputs.size(); ++i) {
      ArrayReport& input = report_.inputs[i];
      input.values.Add(ValuesIn<float>(batch.features[i], input.shape, count));
    }
    for (size_t i = 0; i < report_.labels.size(); ++i) {
      ArrayReport& label = report_.labels[i];
      const PreparedArray& array = batch.labels[i];
      if (array.type == DataType::kInt32) {
        counters_[i].AddIds(ValuesIn<int32_t>(array, label.shape, count));
        continue;
      }
      const auto values = ValuesIn<float>(array, label.shape, count);
      counters_[i].AddValues(values);
      label.values.Add(values);
    }
    for (size_t i = 0; i < weighted_.size(); ++i) {
      report_.weights[i].values.Add(
          ValuesIn<float>(batch.weights[weighted_[i]], {}, count));
    }
  }

  const v1::Phase phase_;
  PhaseData data_;
  const ModelArrays& model_;
  const DataReportRequest request_;
  ArrayMatch match_;
  std::vector<LabelCounter> counters_;
  // The outputs of report_.weights.
  std::vector<size_t> weighted_;
  SetReport report_;
};

struct NamedPhase {
  std::string name;
  v1::Phase phase;
};

std::vector<NamedPhase> PhasesOf(const v1::Data& data) {
  std::vector<NamedPhase> phases = {{"data.train", v1::PHASE_TRAIN}};
  if (data.has_validation()) {
    phases.push_back({"data.validation", v1::PHASE_VALIDATION});
  } else if (data.validation_split() > 0) {
    phases.push_back({"data.validation_split", v1::PHASE_VALIDATION});
  }
  if (data.has_test()) phases.push_back({"data.test", v1::PHASE_TEST});
  return phases;
}

// Of the job: nothing is read often enough for a cache.
v1::Job WithoutCaches(v1::Job job) {
  v1::Data& data = *job.mutable_data();
  data.mutable_train()->clear_cache();
  if (data.has_validation()) data.mutable_validation()->clear_cache();
  if (data.has_test()) data.mutable_test()->clear_cache();
  return job;
}

}  // namespace

absl::StatusOr<DataReport> MakeDataReport(const v1::Job& given,
                                          const DataReportRequest& request,
                                          const RemoteFiles& files) {
  const v1::Job job = WithoutCaches(given);
  ASSIGN_OR_RETURN(const JobModel model, MakeJobModel(job));
  const ModelArrays arrays = ModelArraysOf(model);
  const int workers = std::max(1, static_cast<int>(job.cluster().worker()));
  size_t sheet_input = 0;
  if (request.wants_sheet) {
    const absl::StatusOr<size_t> input = ImageInput(arrays.inputs);
    if (!input.ok()) return Annotate(input.status(), "--png");
    sheet_input = *input;
  }
  DataReport report;
  report.job = job.name();
  for (const auto& [name, phase] : PhasesOf(job.data())) {
    ASSIGN_OR_RETURN(
        const Datasets datasets,
        OpenDatasets(job, model, workers, {phase}, files, ReadFence()));
    const auto data = datasets.phases.find(phase);
    // A split may be of no example.
    if (data == datasets.phases.end()) continue;
    ContactSheet* sheet = nullptr;
    if (request.wants_sheet && phase == v1::PHASE_TRAIN) {
      const int64_t images = std::min(data->second.step_size,
                                      data->second.order.ExamplesInEpoch());
      const ModelArray& input = arrays.inputs[sheet_input];
      report.sheet_input = input.name;
      sheet = &report.sheet.emplace(input.shape, images);
    }
    SetReader reader(name, phase, data->second, arrays, request);
    absl::StatusOr<SetReport> set = reader.Read(sheet, sheet_input);
    if (!set.ok()) return Annotate(set.status(), name);
    report.sets.push_back(*std::move(set));
  }
  return report;
}

}  // namespace paceline
