#include "common/rpc/call_door.h"

#include <grpcpp/alarm.h>

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/base/thread_sanitizer.h"
#include "common/identity/call_header.h"
#include "common/rpc/grpc_status.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Time that open calls get to end when the server shuts down, before they are
// cancelled.
constexpr absl::Duration kGrace = absl::Milliseconds(200);
// Interval for log lines about calls that do not end then.
constexpr absl::Duration kPatience = absl::Seconds(5);

}  // namespace

absl::Status TooLarge(size_t bytes, size_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("a request of ", bytes, " bytes; expected at most ", limit));
}

// A call:
//
//   awaited ──> Arrive ──> admitted ──> Receive ──> handled ──> End
//                  │                                             ^
//                  └──> refused, its request unread ─────────────┘
//
// gRPC reports the end twice: the end of the last operation, and whether the
// call was cancelled. A call without a proof also has an alarm, which ends when
// the request arrives or is late. After all of these, the object deletes
// itself.
class CallDoor::Call final : public ServerCall {
 public:
  explicit Call(CallDoor& door) : door_(door) {}

  // Waits for the next call. The object deletes itself.
  void Await() {
    MutexLock lock(mutex_);
    context_.AsyncNotifyWhenDone(Begin(over_));
    door_.generic_.RequestCall(&context_, &stream_, door_.queue_.get(),
                               door_.queue_.get(), Begin(arrived_));
  }

  // The callback for the end of a gRPC operation.
  struct Operation {
    Call* call;
    void (Call::*ended)(bool ok);
  };

  grpc::ByteBuffer& request() override { return request_; }
  const Person& person() const override { return admission_->person(); }
  void Finish(const absl::Status& error) override {
    // PermissionDenied is reserved for calls of another job, or of somebody who
    // may not do this, so other errors with this code (of a file, say) get
    // another one.
    const bool is_taken =
        absl::IsPermissionDenied(error) && method_->access != Access::kPeople;
    Refuse(is_taken ? absl::FailedPreconditionError(error.message()) : error);
  }
  void Finish(grpc::ByteBuffer response) override {
    MutexLock lock(mutex_);
    stream_.WriteAndFinish(response, grpc::WriteOptions(), grpc::Status::OK,
                           Begin(finished_));
  }
  void Send(grpc::ByteBuffer response, std::function<void()> sent) override {
    MutexLock lock(mutex_);
    on_sent_ = std::move(sent);
    stream_.Write(response, Begin(sent_));
  }
  void Cancel() override { context_.TryCancel(); }
  void OnCancelled(std::function<void()> on_cancel) override {
    {
      MutexLock lock(mutex_);
      if (!is_cancelled_) {
        on_cancel_ = std::move(on_cancel);
        return;
      }
    }
    on_cancel();
  }

 private:
  void Arrive(bool ok) {
    // The server has shut down, and gRPC reports nothing else about a call that
    // never came.
    if (!ok) return Delete();
    door_.AwaitCall();
    const absl::Status admitted = Admit();
    if (!admitted.ok()) return Refuse(admitted);
    MutexLock lock(mutex_);
    if (method_->access == Access::kAnybody) {
      ++expected_ends_;
      SetAlarm();
    }
    stream_.Read(&request_, Begin(received_));
  }

  absl::Status Admit() {
    const auto method = door_.methods_.find(context_.method());
    if (method == door_.methods_.end()) {
      return absl::UnimplementedError("this task has no such method");
    }
    method_ = method->second;
    const std::string peer = context_.peer();
    absl::StatusOr<std::unique_ptr<CallGuard::Admission>> admission =
        door_.guard_->Admit(peer, method->first, Header(), method_->access);
    if (absl::IsUnauthenticated(admission.status())) {
      context_.AddTrailingMetadata(kChallengeKey,
                                   door_.guard_->Challenge(peer));
    }
    if (!admission.ok()) return admission.status();
    admission_ = *std::move(admission);
    return absl::OkStatus();
  }

  absl::string_view Header() const {
    const auto found = context_.client_metadata().find(kHeaderKey);
    if (found == context_.client_metadata().end()) return "";
    return {found->second.data(), found->second.size()};
  }

  void Receive(bool ok) {
    {
      MutexLock lock(mutex_);
      is_received_ = true;
      // Without effect if there is no alarm, or it has gone off.
      alarm_.Cancel();
    }
    if (!ok) return Finish(absl::InvalidArgumentError("there is no request"));
    if (request_.Length() > method_->max_request_bytes) {
      return Finish(TooLarge(request_.Length(), method_->max_request_bytes));
    }
    method_->handle(*this);
  }

  void SetAlarm() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    alarm_.Set(door_.queue_.get(),
               absl::ToChronoTime(absl::Now() + kUnprovenTimeout),
               Begin(late_));
  }

  // The alarm went off, if `ok`; else it was cancelled. If the threads were
  // busy, it may come first although the request is there.
  void EndIfLate(bool ok) {
    {
      MutexLock lock(mutex_);
      if (ok && !is_received_) {
        if (!std::exchange(is_overdue_, true)) return SetAlarm();
        context_.TryCancel();
      }
    }
    End(true);
  }

  void TellSent(bool /*ok*/) {
    std::function<void()> on_sent;
    {
      MutexLock lock(mutex_);
      on_sent = std::exchange(on_sent_, nullptr);
    }
    on_sent();
  }

  void Refuse(const absl::Status& status) {
    MutexLock lock(mutex_);
    stream_.Finish(ToGrpcStatus(status), Begin(finished_));
  }

  void LearnWhetherCancelled(bool /*ok*/) {
    std::function<void()> on_cancel;
    {
      MutexLock lock(mutex_);
      is_cancelled_ = context_.IsCancelled();
      if (is_cancelled_) on_cancel = std::exchange(on_cancel_, nullptr);
    }
    if (on_cancel != nullptr) on_cancel();
    End(true);
  }

  void End(bool /*ok*/) {
    {
      MutexLock lock(mutex_);
      if (++ends_ < expected_ends_) return;
    }
    Delete();
  }

  void Delete() {
    CallDoor& door = door_;
    delete this;
    door.EndCall();
  }

  // The tag for an operation that begins. gRPC returns it when the operation
  // ends.
  static void* Begin(Operation& operation) {
    TsanRelease(&operation);
    return &operation;
  }

  CallDoor& door_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  Operation arrived_ = {this, &Call::Arrive};
  Operation received_ = {this, &Call::Receive};
  Operation late_ = {this, &Call::EndIfLate};
  Operation sent_ = {this, &Call::TellSent};
  Operation finished_ = {this, &Call::End};
  Operation over_ = {this, &Call::LearnWhetherCancelled};
  const RpcMethod* method_ = nullptr;
  std::unique_ptr<CallGuard::Admission> admission_;
  grpc::ByteBuffer request_;
  Mutex mutex_;
  grpc::Alarm alarm_ ABSL_GUARDED_BY(mutex_);
  // Whether the request has arrived, or will not.
  bool is_received_ ABSL_GUARDED_BY(mutex_) = false;
  // Whether the alarm has gone off before.
  bool is_overdue_ ABSL_GUARDED_BY(mutex_) = false;
  int ends_ ABSL_GUARDED_BY(mutex_) = 0;
  int expected_ends_ ABSL_GUARDED_BY(mutex_) = 2;
  std::function<void()> on_sent_ ABSL_GUARDED_BY(mutex_);
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_cancel_ ABSL_GUARDED_BY(mutex_);
};

CallDoor::CallDoor(std::shared_ptr<CallGuard> guard,
                   absl::Span<RpcService* const> services,
                   grpc::ServerBuilder& builder)
    : guard_(std::move(guard)), queue_(builder.AddCompletionQueue()) {
  for (const RpcService* service : services) {
    for (const auto& [name, method] : service->methods()) {
      CHECK(methods_.emplace(name, &method).second) << name;
    }
  }
  builder.RegisterAsyncGenericService(&generic_);
}

CallDoor::~CallDoor() {
  queue_->Shutdown();
  for (std::thread& thread : threads_) thread.join();
  // gRPC requires the queue to be drained, even if it was never used.
  if (threads_.empty()) Serve();
}

void CallDoor::Open(int thread_count) {
  for (int i = 0; i < thread_count; ++i) {
    threads_.emplace_back([this] { Serve(); });
    AwaitCall();
  }
}

void CallDoor::Close(grpc::Server& server) {
  {
    MutexLock lock(mutex_);
    closes_ = true;
  }
  server.Shutdown(absl::ToChronoTime(absl::Now() + kGrace));
  // Wait before the destructor shuts the queue down: calls still begin
  // operations, which is forbidden on a queue that is shut down.
  WaitForCalls();
}

void CallDoor::Serve() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
    TsanAcquire(tag);
    const auto& operation = *static_cast<const Call::Operation*>(tag);
    (operation.call->*operation.ended)(ok);
  }
}

void CallDoor::AwaitCall() {
  // With the lock, since gRPC could lose a call that is requested while the
  // server shuts down.
  MutexLock lock(mutex_);
  if (closes_) return;
  ++call_count_;
  (new Call(*this))->Await();
}

void CallDoor::WaitForCalls() {
  MutexLock lock(mutex_);
  while (call_count_ > 0) {
    if (!ended_.WaitFor(mutex_, kPatience)) {
      LOG(WARNING) << call_count_ << " calls are not finished after "
                   << kPatience << " more";
    }
  }
}

void CallDoor::EndCall() {
  MutexLock lock(mutex_);
  --call_count_;
  ended_.NotifyAll();
}

}  // namespace paceline
