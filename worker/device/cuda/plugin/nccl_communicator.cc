// Groups of GPUs by NCCL. NCCL's calls are used in non-blocking mode: deadlines
// and the watch thread detect a rank that never joins or is lost, so no call
// waits for it forever.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "worker/device/cuda/plugin/communicator.h"
#include "worker/device/cuda/plugin/cuda_queue.h"
#include "worker/device/cuda/plugin/cuda_status.h"
#include "worker/device/cuda/plugin/nccl_library.h"

namespace paceline::cuda {
namespace {

// Interval at which the watch thread checks a working group.
constexpr absl::Duration kWatchInterval = absl::Milliseconds(100);

// Sleeps between two checks of a call that has been under way for `waited`. In
// each step there is one call, which takes microseconds; but the first call may
// have to wait for other ranks.
void PauseAfter(absl::Duration waited) {
  constexpr absl::Duration kShort = absl::Microseconds(300);
  constexpr absl::Duration kLongest = absl::Milliseconds(1);
  if (waited < kShort) {
    std::this_thread::yield();
  } else {
    absl::SleepFor(std::min(waited / 4, kLongest));
  }
}

absl::Status ErrorOf(const NcclLibrary& nccl, ncclResult_t result,
                     absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ",
                                             nccl.GetErrorString(result), "; ",
                                             nccl.GetLastError(nullptr)));
}

class NcclCommunicator final : public Communicator {
 public:
  static absl::StatusOr<std::unique_ptr<Communicator>> Join(
      const NcclLibrary& nccl, int ordinal, const DeviceGroupOptions& options);
  ~NcclCommunicator() override;

  void AllReduce(float* values, int64_t count, Queue& queue) override;
  void Abort(const absl::Status& reason) override;
  absl::Status status() const override;

 private:
  NcclCommunicator(const NcclLibrary& nccl, int ordinal,
                   const DeviceGroupOptions& options)
      : nccl_(nccl),
        ordinal_(ordinal),
        name_(absl::StrCat("cuda:", ordinal, ": rank ", options.rank, " of ",
                           options.world_size, " GPUs")) {}
  absl::Status Initialize(const DeviceGroupOptions& options);
  // Waits until a call is complete, if `result` says that it is still in
  // progress.
  absl::Status Finish(ncclResult_t result, absl::string_view what,
                      absl::Duration timeout);
  absl::Status ErrorOf(ncclResult_t result, absl::string_view what) const {
    return cuda::ErrorOf(nccl_, result, absl::StrCat(name_, ": ", what));
  }
  // Runs on a separate thread: ends the group if a rank was lost, so that
  // launched sums end, too.
  void Watch();

  const NcclLibrary nccl_;
  const int ordinal_;
  const std::string name_;
  // Set in Initialize; aborted only once.
  ncclComm_t communicator_ = nullptr;

  mutable Mutex mutex_;
  CondVar stopped_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_aborted_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watch_;
};

absl::StatusOr<std::unique_ptr<Communicator>> NcclCommunicator::Join(
    const NcclLibrary& nccl, int ordinal, const DeviceGroupOptions& options) {
  std::unique_ptr<NcclCommunicator> communicator(
      new NcclCommunicator(nccl, ordinal, options));
  RETURN_IF_ERROR(communicator->Initialize(options));
  communicator->watch_ =
      std::thread([raw = communicator.get()] { raw->Watch(); });
  return communicator;
}

absl::Status NcclCommunicator::Initialize(const DeviceGroupOptions& options) {
  ncclUniqueId id;
  if (options.nccl_id.size() != sizeof(id)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": an NCCL id of ", options.nccl_id.size(),
                     " bytes, expected ", sizeof(id)));
  }
  std::memcpy(&id, options.nccl_id.data(), sizeof(id));
  RETURN_IF_ERROR(ToStatus(cudaSetDevice(ordinal_), name_));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const ncclResult_t result = nccl_.CommInitRankConfig(
      &communicator_, options.world_size, id, options.rank, &config);
  return Finish(result, "joining the group", options.timeout);
}

NcclCommunicator::~NcclCommunicator() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    stopped_.NotifyAll();
  }
  if (watch_.joinable()) watch_.join();
  // Launched sums have ended, or nobody waits for them.
  Abort(absl::CancelledError("the group has ended"));
}

absl::Status NcclCommunicator::Finish(ncclResult_t result,
                                      absl::string_view what,
                                      absl::Duration timeout) {
  const absl::Time start = MonotonicNow();
  while (result == ncclInProgress) {
    {
      MutexLock lock(mutex_);
      if (is_aborted_) return status_;
      if (const ncclResult_t error =
              nccl_.CommGetAsyncError(communicator_, &result);
          error != ncclSuccess) {
        result = error;
      }
    }
    if (result != ncclInProgress) break;
    const absl::Duration waited = MonotonicNow() - start;
    if (waited >= timeout) {
      return absl::DeadlineExceededError(absl::StrCat(
          name_, ": ", what, ": some ranks did not take part within ",
          absl::FormatDuration(timeout)));
    }
    PauseAfter(waited);
  }
  return result == ncclSuccess ? absl::OkStatus() : ErrorOf(result, what);
}

void NcclCommunicator::AllReduce(float* values, int64_t count, Queue& queue) {
  const auto launch = [&]() -> absl::Status {
    RETURN_IF_ERROR(ToStatus(cudaSetDevice(ordinal_), name_));
    ncclResult_t result = ncclSuccess;
    {
      // Hold the lock, since an abort would destroy the communicator. The first
      // calls connect to the other ranks, which may still be busy before their
      // first step.
      MutexLock lock(mutex_);
      RETURN_IF_ERROR(status_);
      result = nccl_.AllReduce(values, values, static_cast<size_t>(count),
                               ncclFloat, ncclSum, communicator_,
                               static_cast<CudaQueue&>(queue).stream());
    }
    return Finish(result, "an all-reduce", limits::kCollectiveTimeout);
  };
  if (const absl::Status launched = launch(); !launched.ok()) Abort(launched);
}

void NcclCommunicator::Abort(const absl::Status& reason) {
  {
    // Set the status first, so that nobody takes a sum that was cut short for a
    // complete one.
    MutexLock lock(mutex_);
    if (is_aborted_) return;
    is_aborted_ = true;
    status_ = reason;
  }
  // CommAbort may block. Nobody else uses the communicator from here on, so it
  // is called without the lock, for which status() would wait.
  if (communicator_ != nullptr) nccl_.CommAbort(communicator_);
}

absl::Status NcclCommunicator::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void NcclCommunicator::Watch() {
  while (true) {
    absl::Status lost;
    {
      MutexLock lock(mutex_);
      if (!is_stopping_) stopped_.WaitFor(mutex_, kWatchInterval);
      if (is_stopping_ || is_aborted_) return;
      ncclResult_t result = ncclSuccess;
      nccl_.CommGetAsyncError(communicator_, &result);
      if (result == ncclSuccess || result == ncclInProgress) continue;
      lost = ErrorOf(result, "the group");
    }
    Abort(lost);
  }
}

}  // namespace

absl::Status CheckGroups() { return LoadNccl().status(); }

absl::StatusOr<std::string> NewNcclId() {
  ASSIGN_OR_RETURN(const NcclLibrary nccl, LoadNccl());
  ncclUniqueId id;
  if (const ncclResult_t result = nccl.GetUniqueId(&id);
      result != ncclSuccess) {
    return ErrorOf(nccl, result, "NCCL: a new group");
  }
  return std::string(reinterpret_cast<const char*>(&id), sizeof(id));
}

absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
    int ordinal, const DeviceGroupOptions& options) {
  ASSIGN_OR_RETURN(const NcclLibrary nccl, LoadNccl());
  return NcclCommunicator::Join(nccl, ordinal, options);
}

}  // namespace paceline::cuda
