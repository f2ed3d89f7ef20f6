// Evaluates a model's function (common/model/model_function.h) in sections.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_PROGRAM_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/model_function.h"
#include "worker/device/device.h"
#include "worker/device/reference/array.h"
#include "worker/device/reference/evaluate.h"
#include "worker/device/reference/state.h"

namespace paceline::reference {

// Work runs when it is enqueued, so the event has always passed.
class PassedEvent : public Event {
 public:
  bool HasPassed() const override { return true; }
  absl::Status Wait() override { return absl::OkStatus(); }
};

template <typename T>
class ReferenceProgram : public Program {
 public:
  // `state`, and the objects to which `spec` points, must outlive the program.
  ReferenceProgram(const ProgramSpec& spec, State<T>& state);

  int64_t batch_size() const override { return spec_.batch_size; }
  absl::Span<const Section> sections() const override { return sections_; }
  absl::Status SetBatch(const Batch& batch, Stream& stream) override;
  absl::Status Enqueue(int section, Stream& stream) override;
  Event& section_event(int /*section*/) override { return event_; }
  absl::StatusOr<std::vector<HostTensor>> Outputs(Stream& stream) override;

 private:
  // Cuts the list of calls where buckets become ready.
  void MakeSections();

  // Copies the function's arguments for this step.
  void SetArguments();
  void SetScalar(const op::Tensor& parameter, double value);
  void AddSums();
  // Adds the batch's contribution to a metric, whose state is at `offset`:
  // ModelFunction::metrics.
  void AddMetric(const op::Tensor& values, bool is_mean_of_examples,
                 size_t offset);
  // Copies the updates of a bucket into the state.
  void WriteUpdates(int bucket);

  // The sum of one value per example.
  double TotalOf(const op::Tensor& values) const;

  const ProgramSpec spec_;
  State<T>& state_;
  const std::unique_ptr<const ModelFunction> model_;
  FunctionRun run_;
  Batch batch_;

  std::vector<Section> sections_;
  // Section s ends before this call.
  std::vector<size_t> section_ends_;
  PassedEvent event_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_PROGRAM_H_
