#include "tests/conformance/fake_gpu.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/collective/collectives.h"
#include "worker/collective/memory_transport.h"
#include "worker/device/cuda/out_of_memory.h"

namespace paceline::cuda {
namespace {

using Work = std::function<void()>;

class FakeEvent final : public Event {
 public:
  bool HasPassed() const override { return is_recorded_; }
  absl::Status Wait() override {
    if (is_recorded_) return absl::OkStatus();
    return absl::InternalError("nothing records what is waited for");
  }
  void Record() { is_recorded_ = true; }

 private:
  bool is_recorded_ = false;
};

class FakeGraph final : public CapturedGraph {
 public:
  explicit FakeGraph(std::vector<Work> work) : work_(std::move(work)) {}
  void Run() const {
    for (const Work& each : work_) each();
  }

 private:
  const std::vector<Work> work_;
};

// The product at `index` of its count.
void RunProduct(const MatrixProduct& p, int64_t index) {
  const int64_t left_begin = index * p.rows * p.inner;
  const int64_t right_begin = index * p.inner * p.columns;
  const int64_t result_begin = index * p.rows * p.columns;
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t column = 0; column < p.columns; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < p.inner; ++i) {
        const double left =
            p.left[left_begin + (p.left_is_transposed ? i * p.rows + row
                                                      : row * p.inner + i)];
        sum += left * p.right[right_begin + (p.right_is_transposed
                                                 ? column * p.inner + i
                                                 : i * p.columns + column)];
      }
      if (p.bias.data != nullptr) sum += p.bias[column];
      p.result.Set(result_begin + row * p.columns + column,
                   static_cast<float>(sum));
    }
  }
}

void RunProducts(const MatrixProduct& p) {
  CHECK(p.count == 1 || (p.bias.data == nullptr && p.column_sums == nullptr));
  for (int64_t index = 0; index < p.count; ++index) RunProduct(p, index);
  if (p.column_sums == nullptr) return;
  CHECK(!p.right_is_transposed);
  for (int64_t column = 0; column < p.columns; ++column) {
    double sum = 0;
    for (int64_t i = 0; i < p.inner; ++i)
      sum += p.right[i * p.columns + column];
    p.column_sums[column] = static_cast<float>(sum);
  }
}

class FakePlan final : public ConvolutionPlan {
 public:
  explicit FakePlan(const ConvolutionShape& shape) : shape_(shape) {}
  // Some passes need none.
  int64_t workspace_bytes() const override {
    return shape_.pass == ConvolutionPass::kInputGradient ? 0 : 100;
  }
  const ConvolutionShape& shape() const { return shape_; }

 private:
  const ConvolutionShape shape_;
};

// Calls visit(image, weight, output) with the indices of each product of a
// convolution.
template <typename Visit>
void ForEachProduct(const ConvolutionShape& s, const Visit& visit) {
  const auto& [y, x, channels] = s.windows;
  const int64_t depth = channels / s.groups;
  const int64_t outputs = s.batch * y.output * x.output * s.filters;
  for (int64_t output = 0; output < outputs; ++output) {
    const ImageElement at = ElementAt(output, y.output, x.output, s.filters);
    const int64_t first_channel = at.channel / (s.filters / s.groups) * depth;
    const int64_t first_weight = at.channel * y.size * x.size * depth;
    s.windows.ForEachInput(at.y, at.x, [&](int64_t k, int64_t iy, int64_t ix) {
      for (int64_t c = 0; c < depth; ++c) {
        visit(s.windows.Input(at.example, iy, ix, first_channel + c),
              first_weight + k * depth + c, output);
      }
    });
  }
}

// An algorithm may leave anything in its workspace.
void SpoilWorkspace(const FakePlan& plan, std::byte* workspace) {
  constexpr int kNanByte = 0xff;
  if (plan.workspace_bytes() == 0) return;
  CHECK(workspace != nullptr);
  std::memset(workspace, kNanByte, plan.workspace_bytes());
}

void Write(const std::vector<double>& sums, const Values& to) {
  for (size_t i = 0; i < sums.size(); ++i) {
    to.Set(static_cast<int64_t>(i), static_cast<float>(sums[i]));
  }
}

void RunConvolution(const FakePlan& plan, const ConvolutionBlocks& blocks) {
  const ConvolutionShape& s = plan.shape();
  const auto& [y, x, channels] = s.windows;
  const int64_t outputs = s.batch * y.output * x.output * s.filters;
  SpoilWorkspace(plan, blocks.workspace);
  if (s.pass == ConvolutionPass::kForward) {
    std::vector<double> sums(outputs);
    ForEachProduct(s, [&](int64_t image, int64_t weight, int64_t output) {
      sums[output] += double{blocks.images[image]} * blocks.kernel[weight];
    });
    for (int64_t i = 0; i < outputs; ++i) {
      if (s.has_bias) sums[i] += blocks.bias[i % s.filters];
      if (s.has_relu && sums[i] < 0) sums[i] = 0;
      blocks.outputs.Set(i, static_cast<float>(sums[i]));
    }
  } else if (s.pass == ConvolutionPass::kInputGradient) {
    std::vector<double> sums(s.batch * y.input * x.input * channels);
    ForEachProduct(s, [&](int64_t image, int64_t weight, int64_t output) {
      sums[image] += double{blocks.kernel[weight]} * blocks.outputs[output];
    });
    Write(sums, blocks.images);
  } else {
    std::vector<double> sums(s.filters * y.size * x.size * channels / s.groups);
    ForEachProduct(s, [&](int64_t image, int64_t weight, int64_t output) {
      sums[weight] += double{blocks.images[image]} * blocks.outputs[output];
    });
    Write(sums, blocks.kernel);
  }
}

// Strides over the indices, as a grid of threads does.
void RunKernel(int64_t count, const Kernel& kernel) {
  constexpr int64_t kThreads = 7;
  for (int64_t thread = 0; thread < kThreads; ++thread) {
    std::visit(
        [&](const auto& body) {
          for (int64_t i = thread; i < count; i += kThreads) body(i);
        },
        kernel);
  }
}

class FakeQueue final : public Queue {
 public:
  // `options` outlive the queue.
  FakeQueue(int index, QueueKind kind, const FakeGpuOptions& options)
      : index_(index), kind_(kind), options_(options) {}

  absl::Status Synchronize() override {
    return std::exchange(error_, absl::OkStatus());
  }
  absl::Status TakeError() override {
    return options_.faults_are_late ? absl::OkStatus() : Synchronize();
  }

  void Copy(void* to, const void* from, int64_t size_bytes) override {
    Do(absl::StrCat("copy ", size_bytes, " bytes"),
       [=] { std::memcpy(to, from, size_bytes); });
  }
  void Zero(void* to, int64_t size_bytes) override {
    Do("zero", [=] { std::memset(to, 0, size_bytes); });
  }
  void Multiply(const MatrixProduct& product) override {
    CHECK(kind_ == QueueKind::kComputing);
    Do("multiply", [=] { RunProducts(product); });
  }
  void Convolve(const ConvolutionPlan& plan,
                const ConvolutionBlocks& blocks) override {
    CHECK(kind_ == QueueKind::kComputing);
    Do("convolve", [&plan, blocks] {
      RunConvolution(static_cast<const FakePlan&>(plan), blocks);
    });
  }
  void ForEach(int64_t count, const Kernel& kernel) override {
    CHECK(kind_ == QueueKind::kComputing);
    Do("kernel", [=] { RunKernel(count, kernel); });
  }
  void Record(Event& event) override {
    CHECK(!is_capturing_);
    Do("record", [&] { static_cast<FakeEvent&>(event).Record(); });
  }
  void WaitFor(Event& event) override {
    CHECK(!is_capturing_);
    Do("wait", [&] { CHECK(event.HasPassed()); });
  }

  // Logs a call. Returns the error that the test injects into it, if any.
  absl::Status Begin(const std::string& what) const {
    if (options_.log != nullptr) {
      options_.log->push_back(absl::StrCat("queue ", index_, ": ", what));
    }
    return options_.fault == nullptr ? absl::OkStatus() : options_.fault(what);
  }
  bool is_capturing() const { return is_capturing_; }

  void Do(const std::string& what, Work work) {
    error_.Update(Begin(what));
    if (is_capturing_) {
      captured_.push_back(std::move(work));
    } else {
      work();
    }
  }

  void BeginCapture() override {
    CHECK(!is_capturing_);
    Do("begin capture", [] {});
    is_capturing_ = true;
  }
  absl::StatusOr<std::unique_ptr<CapturedGraph>> EndCapture() override {
    CHECK(std::exchange(is_capturing_, false));
    Do("end capture", [] {});
    return std::make_unique<FakeGraph>(std::exchange(captured_, {}));
  }
  void Launch(CapturedGraph& graph) override {
    CHECK(!is_capturing_);
    Do("launch", [&] { static_cast<FakeGraph&>(graph).Run(); });
  }

 private:
  const int index_;
  const QueueKind kind_;
  const FakeGpuOptions& options_;
  absl::Status error_;
  bool is_capturing_ = false;
  std::vector<Work> captured_;
};

// The groups that ranks join, and numbers for names. Thread-safe.
class Groups {
 public:
  static Groups& Get() {
    static auto& groups = *new Groups;
    return groups;
  }

  // A unique number for the name of a GPU or a group.
  int NextNumber() {
    MutexLock lock(mutex_);
    return next_++;
  }
  std::shared_ptr<MemoryGroup> Of(const DeviceGroupOptions& options) {
    MutexLock lock(mutex_);
    std::shared_ptr<MemoryGroup>& group = groups_[options.nccl_id];
    if (group == nullptr) {
      group =
          std::make_shared<MemoryGroup>(options.world_size, options.timeout);
    }
    return group;
  }

 private:
  Mutex mutex_;
  int next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::shared_ptr<MemoryGroup>> groups_
      ABSL_GUARDED_BY(mutex_);
};

class FakeCommunicator final : public Communicator {
 public:
  FakeCommunicator(std::shared_ptr<MemoryGroup> group, int rank)
      : group_(std::move(group)),
        transport_(group_->MakeTransport(rank)),
        collectives_(*transport_) {}

  absl::Status Barrier() { return collectives_.Barrier(); }

  void AllReduce(float* values, int64_t count, Queue& queue) override {
    const auto& fake_queue = static_cast<const FakeQueue&>(queue);
    absl::Status result = status();
    result.Update(fake_queue.Begin("all-reduce"));
    if (fake_queue.is_capturing()) {
      result.Update(absl::FailedPreconditionError("a sum is captured"));
    }
    // The transport reports an error if the ranks' counts differ.
    if (result.ok()) {
      result = collectives_.AllReduce(absl::MakeSpan(values, count));
    }
    if (!result.ok()) Abort(result);
  }
  void Abort(const absl::Status& reason) override {
    transport_->Abort(reason);
    MutexLock lock(mutex_);
    status_.Update(reason);
  }
  absl::Status status() const override {
    MutexLock lock(mutex_);
    return status_;
  }

 private:
  const std::shared_ptr<MemoryGroup> group_;
  const std::unique_ptr<Transport> transport_;
  Collectives collectives_;
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

class FakeGpu final : public Gpu {
 public:
  explicit FakeGpu(const FakeGpuOptions& options)
      : options_(options),
        gpu_uuid_(absl::StrCat("fake-", Groups::Get().NextNumber())) {}

  std::string name() const override { return "cuda:fake"; }
  std::string gpu_uuid() const override { return gpu_uuid_; }
  absl::StatusOr<std::string> NewNcclId() override {
    return absl::StrCat("group-", Groups::Get().NextNumber());
  }
  absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
      const DeviceGroupOptions& options) override {
    auto communicator = std::make_unique<FakeCommunicator>(
        Groups::Get().Of(options), options.rank);
    RETURN_IF_ERROR(communicator->Barrier());
    return communicator;
  }

  absl::StatusOr<GpuMemory> Memory() const override {
    return GpuMemory{options_.memory_bytes - used_bytes_,
                     options_.memory_bytes};
  }

  absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                       absl::string_view what) override {
    RETURN_IF_ERROR(Begin("allocate"));
    if (used_bytes_ + size_bytes > options_.memory_bytes) {
      return OutOfMemory(name(), what, size_bytes, *Memory());
    }
    used_bytes_ += size_bytes;
    return NewBlock(size_bytes, [this, size_bytes](std::byte* block) {
      used_bytes_ -= size_bytes;
      std::free(block);
    });
  }
  absl::StatusOr<MemoryBlock> AllocatePinned(
      int64_t size_bytes, absl::string_view /*what*/) override {
    RETURN_IF_ERROR(Begin("allocate pinned"));
    return NewBlock(size_bytes, std::free);
  }
  absl::StatusOr<MemoryBlock> Pin(absl::Span<std::byte> memory,
                                  absl::string_view /*what*/) override {
    RETURN_IF_ERROR(Begin("pin"));
    return MemoryBlock(memory.data(), [](std::byte*) {});
  }
  absl::StatusOr<std::unique_ptr<ConvolutionPlan>> PlanConvolution(
      const ConvolutionShape& shape, Planning planning) override {
    RETURN_IF_ERROR(Begin(planning == Planning::kForUse ? "plan" : "estimate"));
    return std::make_unique<FakePlan>(shape);
  }
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue(QueueKind kind) override {
    RETURN_IF_ERROR(Begin(kind == QueueKind::kComputing
                              ? "create queue"
                              : "create queue for copies"));
    return std::make_unique<FakeQueue>(queue_count_++, kind, options_);
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    return std::make_unique<FakeEvent>();
  }

 private:
  // Logs a call. Returns the error that the test injects into it, if any.
  absl::Status Begin(const std::string& call) const {
    if (options_.log != nullptr) options_.log->push_back(call);
    return options_.fault == nullptr ? absl::OkStatus() : options_.fault(call);
  }
  static MemoryBlock NewBlock(int64_t size_bytes,
                              std::function<void(std::byte*)> free) {
    return MemoryBlock(static_cast<std::byte*>(std::calloc(size_bytes + 1, 1)),
                       std::move(free));
  }

  const FakeGpuOptions options_;
  std::atomic<int64_t> used_bytes_ = 0;
  const std::string gpu_uuid_;
  int queue_count_ = 0;
};

}  // namespace

std::unique_ptr<Gpu> MakeFakeGpu(const FakeGpuOptions& options) {
  return std::make_unique<FakeGpu>(options);
}

}  // namespace paceline::cuda
