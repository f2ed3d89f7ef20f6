#include "worker/lifecycle/callback_reports.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/make_callbacks.h"
#include "common/data_source/image_input.h"
#include "worker/inspection/contact_sheet.h"
#include "worker/setup/datasets.h"

namespace paceline {

absl::StatusOr<std::vector<std::string>> DrawExamples(
    const PreparedArray& examples, const Shape& shape, int64_t count,
    int64_t wanted) {
  ContactSheet sheet(shape, std::min(count, wanted));
  const auto size = static_cast<size_t>(sheet.capacity() * NumElements(shape));
  if (examples.type == DataType::kFloat64) {
    const auto* const values = reinterpret_cast<const double*>(examples.data);
    sheet.Add(std::vector<float>(values, values + size));
  } else {
    sheet.Add({reinterpret_cast<const float*>(examples.data), size});
  }
  return sheet.EncodeImages(kMaxFirstImageBytes);
}

absl::StatusOr<std::unique_ptr<CallbackReports>> CallbackReports::Create(
    const v1::Job& job, const JobModel& model, int replicas, Member& member) {
  auto reports = absl::WrapUnique(new CallbackReports(member));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<CallbackList> callbacks,
      MakeCallbacks(job, ContextOf(job, SpecsOf(model.objectives))));
  reports->wanted_images_ = callbacks->first_batch_images();
  if (reports->wanted_images_ > 0) reports->FindImages(model);
  const ProfileBatch steps = callbacks->traced_steps();
  if (!steps.is_on()) return reports;
  reports->recorder_ = std::make_unique<TraceRecorder>();
  reports->open_ = replicas;
  for (int replica = 0; replica < replicas; ++replica) {
    reports->traces_.push_back(std::make_unique<ReplicaTrace>(
        *reports->recorder_, absl::StrCat("replica ", replica), steps,
        [raw = reports.get()] { raw->EndTrace(); }));
  }
  return reports;
}

void CallbackReports::FindImages(const JobModel& model) {
  const std::vector<ModelArray> inputs = ModelArraysOf(model).inputs;
  const absl::StatusOr<size_t> input = ImageInput(inputs);
  if (!input.ok()) {
    LOG(WARNING) << "TensorBoard gets no images of the first batch: "
                 << input.status().message();
    wanted_images_ = 0;
    return;
  }
  input_ = *input;
  shape_ = inputs[input_].shape;
}

void CallbackReports::EndTrace() {
  if (--open_ > 0) return;
  const Trace trace = recorder_->Take();
  // Others may have taken all of these steps.
  if (trace.spans.empty()) return;
  LOG_IF(WARNING, trace.dropped_spans > 0)
      << "the trace lacks " << trace.dropped_spans << " spans: it has at most "
      << kMaxTraceSpans << " of them, with " << kMaxTraceNames << " names, on "
      << kMaxTraceLanes << " lanes of a replica or a server";
  member_.ReportTrace(ToProto(trace));
}

std::function<void(const PreparedBatch&)> CallbackReports::on_first_batch() {
  if (wanted_images_ == 0) return nullptr;
  return [this](const PreparedBatch& batch) { SendImages(batch); };
}

void CallbackReports::SendImages(const PreparedBatch& batch) {
  const absl::StatusOr<std::vector<std::string>> images =
      DrawExamples(batch.features[input_], shape_, batch.count, wanted_images_);
  if (!images.ok()) {
    LOG(WARNING) << images.status();
    return;
  }
  LOG_IF(WARNING, std::ssize(*images) < wanted_images_)
      << "TensorBoard gets " << images->size() << " of " << wanted_images_
      << " images: the replica has " << batch.count
      << " examples of the first batch, and images have at most "
      << kMaxFirstImageBytes << " bytes and " << ContactSheet::kMaxPixels
      << " pixels together";
  if (images->empty()) return;
  v1::ReportImagesRequest report;
  for (const std::string& image : *images) report.add_images(image);
  member_.ReportImages(std::move(report));
}

v1::ReportTraceRequest ToProto(const Trace& trace) {
  v1::ReportTraceRequest report;
  report.mutable_start()->set_seconds(trace.start_ns / 1'000'000'000);
  report.mutable_start()->set_nanos(
      static_cast<int32_t>(trace.start_ns % 1'000'000'000));
  for (const std::string& lane : trace.lanes) report.add_lanes(lane);
  for (const std::string& name : trace.names) report.add_names(name);
  report.mutable_spans()->Reserve(static_cast<int>(trace.spans.size()));
  for (const TraceSpan& span : trace.spans) {
    v1::TraceSpan& added = *report.add_spans();
    added.set_name(span.name);
    added.set_lane(span.lane);
    added.set_begin_ns(static_cast<uint64_t>(span.begin_ns));
    added.set_duration_ns(static_cast<uint64_t>(span.duration_ns));
  }
  report.set_dropped_spans(trace.dropped_spans);
  return report;
}

}  // namespace paceline
