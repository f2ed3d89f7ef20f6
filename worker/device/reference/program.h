// A model as a graph of computations with their tensors.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_PROGRAM_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/state.h"
#include "worker/device/reference/tensor.h"

namespace paceline::reference {

// What the program runs is done when it is enqueued.
class PassedEvent : public Event {
 public:
  bool HasPassed() const override { return true; }
  absl::Status Wait() override { return absl::OkStatus(); }
};

template <typename T>
class ReferenceProgram : public Program {
 public:
  // What `spec` points to, and `state`, outlive the program.
  ReferenceProgram(const ProgramSpec& spec, State<T>& state);

  int64_t batch_size() const override { return spec_.batch_size; }
  absl::Span<const Section> sections() const override { return sections_; }
  absl::Status SetBatch(const Batch& batch, Stream& stream) override;
  absl::Status Enqueue(int section, Stream& stream) override;
  Event& section_event(int /*section*/) override { return event_; }
  absl::StatusOr<HostTensor> Output(Stream& stream) override;

 private:
  // A layer, or the activation that a layer ends in.
  struct Link {
    std::unique_ptr<NodeComputation<T>> computation;
    // The links that it reads; none: the features.
    std::vector<size_t> inputs;
    // By index in Graph::variables; their gradients are final after backward.
    std::vector<int> variables;
    Tensor<T> output;
    // The sum of what its readers' backward gave.
    Tensor<T> output_gradient;
    // What its own backward gives, for each input.
    std::vector<Tensor<T>> input_gradients;
  };
  // A loss with the link whose output it reads.
  struct BoundLoss {
    std::unique_ptr<LossComputation<T>> computation;
    size_t link = 0;
  };
  // A metric: one of both is set.
  struct BoundMetric {
    std::unique_ptr<MetricComputation<T>> computation;
    BoundLoss mean_of;
  };

  void AddLinks(int node);
  void AddLink(std::unique_ptr<NodeComputation<T>> computation,
               std::vector<size_t> inputs, std::vector<int> variables,
               const Shape& output);
  BoundLoss Bind(const Loss& loss) const;
  // Cuts backward where buckets become final.
  void MakeSections();

  Shape WithBatch(const Shape& shape) const;
  bool is_frozen(int variable) const {
    return spec_.graph->variables[variable].update == VariableUpdate::kNone;
  }
  // A frozen one has its gradient in memory of its own, which nobody reads.
  Variable<T> variable(int index);
  std::vector<const Tensor<T>*> InputsOf(const Link& link) const;

  absl::Status CheckLabels(const Batch& batch) const;
  void Forward();
  void AddSums();
  void ComputeLossGradient();
  void Backward(size_t link);

  const ProgramSpec spec_;
  State<T>& state_;
  Tensor<T> features_;
  // In topological order.
  std::vector<Link> links_;
  // Of each node, the link that gives its output.
  std::vector<size_t> last_links_;
  // Of each variable; empty unless it is frozen.
  std::vector<std::vector<T>> unread_gradients_;
  BoundLoss loss_;
  std::vector<BoundMetric> metrics_;
  std::vector<T> example_losses_;

  std::vector<Section> sections_;
  // Section s goes back through the links [section_links_[s + 1],
  // section_links_[s]).
  std::vector<size_t> section_links_;
  Step step_;
  PassedEvent event_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_PROGRAM_H_
