#include "tests/benchmark/gpu_comparisons.h"

#include <chrono>
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "common/base/status_macros.h"
#include "worker/device/cuda/cuda_state.h"

namespace paceline::cuda {
namespace {

// A side of a comparison.
struct Side {
  // May return before the queue has run its work.
  absl::FunctionRef<absl::Status()> round;
  double bytes_of_round;
};

// Bytes a second.
absl::StatusOr<double> RateOf(const Side& side, int rounds, Queue& queue) {
  RETURN_IF_ERROR(side.round());
  RETURN_IF_ERROR(queue.Synchronize());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) RETURN_IF_ERROR(side.round());
  RETURN_IF_ERROR(queue.Synchronize());
  const std::chrono::duration<double> duration =
      std::chrono::steady_clock::now() - start;
  return side.bytes_of_round * rounds / duration.count();
}

absl::StatusOr<Comparison> Compare(const Side& ours, const Side& plain,
                                   const PairOptions& options, Queue& queue) {
  Comparison comparison;
  for (int i = 0; i < options.pairs; ++i) {
    ASSIGN_OR_RETURN(comparison.ours.emplace_back(),
                     RateOf(ours, options.rounds, queue));
    ASSIGN_OR_RETURN(comparison.plain.emplace_back(),
                     RateOf(plain, options.rounds, queue));
  }
  return comparison;
}

// Copies all buckets of a state to the host and back.
class BucketTrip {
 public:
  static absl::StatusOr<BucketTrip> Create(Gpu& gpu,
                                           const BucketLayout& layout) {
    BucketTrip trip;
    ProgramSpec spec;
    spec.bucket_layout = &layout;
    ASSIGN_OR_RETURN(trip.state_, CudaState::Create(gpu, spec));
    for (size_t i = 0; i < layout.updated_buckets().size(); ++i) {
      ASSIGN_OR_RETURN(trip.arrived_.emplace_back(), gpu.CreateEvent());
    }
    return trip;
  }

  absl::Status Round(Queue& queue) {
    const int count = static_cast<int>(arrived_.size());
    for (int bucket = 0; bucket < count; ++bucket) {
      state_->DownloadGradients({bucket}, queue, *arrived_[bucket]);
    }
    RETURN_IF_ERROR(state_->copies().TakeError());
    for (const auto& arrived : arrived_) RETURN_IF_ERROR(arrived->Wait());
    for (int bucket = 0; bucket < count; ++bucket) {
      RETURN_IF_ERROR(state_->UploadVariables(bucket, queue));
    }
    return queue.Synchronize();
  }

  int64_t bytes_one_way() const {
    int64_t bytes = 0;
    for (size_t bucket = 0; bucket < arrived_.size(); ++bucket) {
      bytes += static_cast<int64_t>(
          state_->host_gradients(static_cast<int>(bucket)).size());
    }
    return bytes;
  }

 private:
  std::unique_ptr<CudaState> state_;
  // By bucket.
  std::vector<std::unique_ptr<Event>> arrived_;
};

// Adam with gradients of 1.
class AdamRound {
  using AdamKernel = UpdateVariables<AdamFormula<false>>;

 public:
  static absl::StatusOr<AdamRound> Create(Gpu& gpu, int64_t count,
                                          Queue& queue) {
    AdamRound adam;
    AdamKernel& update = adam.update_;
    update.count = count;
    for (MemoryBlock& block : adam.blocks_) {
      ASSIGN_OR_RETURN(block, gpu.Allocate(adam.block_bytes(), "Adam"));
    }
    ASSIGN_OR_RETURN(adam.copy_, gpu.Allocate(adam.block_bytes(), "a copy"));
    ASSIGN_OR_RETURN(adam.step_, gpu.Allocate(sizeof(StepValues), "Adam"));
    update.gradients = adam.floats(0);
    for (int t = 0; t < AdamKernel::kTensors; ++t) {
      update.tensors[t] = adam.floats(1 + t);
    }
    update.step = reinterpret_cast<const StepValues*>(adam.step_.get());
    update.formula = {
        .one_minus_beta_1 = 0.1, .one_minus_beta_2 = 1e-3, .epsilon = 1e-7};
    RETURN_IF_ERROR(adam.Start(queue));
    return adam;
  }

  absl::Status Update(Queue& queue) const {
    queue.ForEach(FourBlocks(update_.count), update_);
    return queue.TakeError();
  }

  // Copies the gradients to a block that the update does not read.
  absl::Status Copy(Queue& queue) const {
    queue.Copy(copy_.get(), blocks_[0].get(), block_bytes());
    return queue.TakeError();
  }

  // An error if the updates left out variables.
  absl::Status CheckUpdated(Queue& queue) const {
    std::vector<float> variables(static_cast<size_t>(update_.count));
    queue.Copy(variables.data(), update_.tensors[0], block_bytes());
    RETURN_IF_ERROR(queue.Synchronize());
    if (absl::c_all_of(variables, [](float w) { return w < 0; })) {
      return absl::OkStatus();
    }
    return absl::InternalError("Adam's update has left out variables");
  }

  int64_t block_bytes() const {
    return update_.count * static_cast<int64_t>(sizeof(float));
  }

 private:
  static constexpr double kStepSize = 1e-3;

  // Variables and slots are 0.
  absl::Status Start(Queue& queue) {
    const std::vector<float> gradients(static_cast<size_t>(update_.count), 1);
    StepValues step;
    step.optimizer.values[0] = kStepSize;
    queue.Copy(blocks_[0].get(), gradients.data(), block_bytes());
    queue.Copy(step_.get(), &step, sizeof(step));
    for (float* const tensor : update_.tensors) {
      queue.Zero(tensor, block_bytes());
    }
    return queue.Synchronize();
  }

  float* floats(int block) const {
    return reinterpret_cast<float*>(blocks_[block].get());
  }

  // Of the gradients, the variables, and each slot.
  MemoryBlock blocks_[1 + AdamKernel::kTensors];
  MemoryBlock copy_;
  MemoryBlock step_;
  AdamKernel update_;
};

}  // namespace

std::vector<double> Comparison::Ratios() const {
  std::vector<double> ratios;
  for (size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / plain[i]);
  return ratios;
}

absl::StatusOr<Comparison> CompareGradients(Gpu& gpu,
                                            const BucketLayout& layout,
                                            const PairOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Queue> queue,
                   gpu.CreateQueue(QueueKind::kComputing));
  ASSIGN_OR_RETURN(BucketTrip trip, BucketTrip::Create(gpu, layout));
  const int64_t bytes = trip.bytes_one_way();
  ASSIGN_OR_RETURN(const MemoryBlock host, gpu.AllocatePinned(bytes, "a copy"));
  ASSIGN_OR_RETURN(const MemoryBlock device, gpu.Allocate(bytes, "a copy"));
  const auto buckets = [&] { return trip.Round(*queue); };
  const auto block = [&]() -> absl::Status {
    queue->Copy(host.get(), device.get(), bytes);
    RETURN_IF_ERROR(queue->Synchronize());
    queue->Copy(device.get(), host.get(), bytes);
    return queue->Synchronize();
  };
  const double both_ways = 2.0 * static_cast<double>(bytes);
  return Compare({buckets, both_ways}, {block, both_ways}, options, *queue);
}

absl::StatusOr<Comparison> CompareAdam(Gpu& gpu, int64_t count,
                                       const PairOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Queue> queue,
                   gpu.CreateQueue(QueueKind::kComputing));
  ASSIGN_OR_RETURN(const AdamRound adam, AdamRound::Create(gpu, count, *queue));
  const auto update = [&] { return adam.Update(*queue); };
  const auto copy = [&] { return adam.Copy(*queue); };
  const auto block_bytes = static_cast<double>(adam.block_bytes());
  ASSIGN_OR_RETURN(Comparison comparison,
                   Compare({update, 7 * block_bytes}, {copy, 2 * block_bytes},
                           options, *queue));
  RETURN_IF_ERROR(adam.CheckUpdated(*queue));
  return comparison;
}

}  // namespace paceline::cuda
