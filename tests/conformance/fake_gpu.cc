#include "tests/conformance/fake_gpu.h"

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

void RunProduct(const MatrixProduct& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t column = 0; column < p.columns; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < p.inner; ++i) {
        const double left =
            p.left[p.left_is_transposed ? i * p.rows + row : row * p.inner + i];
        sum += left * p.right[p.right_is_transposed ? column * p.inner + i
                                                    : i * p.columns + column];
      }
      p.result[row * p.columns + column] = static_cast<float>(sum);
    }
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
  FakeQueue(int index, CallLog* log) : index_(index), log_(log) {}

  absl::Status Synchronize() override { return TakeError(); }
  absl::Status TakeError() override { return absl::OkStatus(); }

  void Copy(void* to, const void* from, int64_t size_bytes) override {
    Do(absl::StrCat("copy ", size_bytes, " bytes"),
       [=] { std::memcpy(to, from, size_bytes); });
  }
  void Zero(void* to, int64_t size_bytes) override {
    Do("zero", [=] { std::memset(to, 0, size_bytes); });
  }
  void Multiply(const MatrixProduct& product) override {
    Do("multiply", [=] { RunProduct(product); });
  }
  void ForEach(int64_t count, const Kernel& kernel) override {
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

  void Do(const std::string& what, Work work) {
    if (log_ != nullptr) {
      log_->push_back(absl::StrCat("queue ", index_, ": ", what));
    }
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
  CallLog* const log_;
  bool is_capturing_ = false;
  std::vector<Work> captured_;
};

// Where the ranks of groups meet.
class MeetingPoints {
 public:
  static MeetingPoints& Get() {
    static auto& points = *new MeetingPoints;
    return points;
  }

  // Of a GPU or a group.
  int NextNumber() {
    MutexLock lock(mutex_);
    return next_++;
  }
  std::shared_ptr<MemoryGroup> Of(const GroupPlace& place) {
    MutexLock lock(mutex_);
    std::shared_ptr<MemoryGroup>& group = groups_[place.group_id];
    if (group == nullptr) {
      group = std::make_shared<MemoryGroup>(place.world_size, place.timeout);
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

  absl::Status Meet() { return collectives_.Barrier(); }

  void AllReduce(float* values, int64_t count, Queue& queue) override {
    static_cast<FakeQueue&>(queue).Do("all-reduce", [this, values, count] {
      if (!status().ok()) return;
      const absl::Status reduced =
          collectives_.AllReduce(absl::MakeSpan(values, count), ReduceOp::kSum);
      MutexLock lock(mutex_);
      status_.Update(reduced);
    });
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
  explicit FakeGpu(CallLog* log)
      : log_(log),
        hardware_id_(absl::StrCat("fake-", MeetingPoints::Get().NextNumber())) {
  }

  std::string name() const override { return "cuda:fake"; }
  std::string hardware_id() const override { return hardware_id_; }
  absl::StatusOr<std::string> NewGroupId() override {
    return absl::StrCat("group-", MeetingPoints::Get().NextNumber());
  }
  absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
      const GroupPlace& place) override {
    auto communicator = std::make_unique<FakeCommunicator>(
        MeetingPoints::Get().Of(place), place.rank);
    RETURN_IF_ERROR(communicator->Meet());
    return communicator;
  }

  absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                       absl::string_view /*what*/) override {
    if (log_ != nullptr) log_->push_back("allocate");
    return MemoryBlock(static_cast<std::byte*>(std::calloc(size_bytes + 1, 1)),
                       std::free);
  }
  absl::StatusOr<MemoryBlock> AllocatePinned(int64_t size_bytes,
                                             absl::string_view what) override {
    return Allocate(size_bytes, what);
  }
  absl::StatusOr<MemoryBlock> Pin(absl::Span<std::byte> memory) override {
    return MemoryBlock(memory.data(), [](std::byte*) {});
  }
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override {
    return std::make_unique<FakeQueue>(queue_count_++, log_);
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    return std::make_unique<FakeEvent>();
  }

 private:
  CallLog* const log_;
  const std::string hardware_id_;
  int queue_count_ = 0;
};

}  // namespace

std::unique_ptr<Gpu> MakeFakeGpu(CallLog* log) {
  return std::make_unique<FakeGpu>(log);
}

}  // namespace paceline::cuda
