#include "common/rpc/call_door.h"

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

// A call:
//
//   awaited ──> Arrive ──> admitted ──> Receive ──> handled ──> End
//                  │                                             ^
//                  └──> refused, its request unread ─────────────┘
//
// gRPC reports the end twice: the end of the last operation, and whether the
// call was cancelled. After both, the object deletes itself.
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
  void Finish(const absl::Status& error) override {
    // PermissionDenied is reserved for calls of another job, so other errors
    // with this code (of a file, say) get another one.
    const bool is_taken = absl::IsPermissionDenied(error);
    Refuse(is_taken ? absl::FailedPreconditionError(error.message()) : error);
  }
  void Finish(grpc::ByteBuffer response) override {
    MutexLock lock(mutex_);
    stream_.WriteAndFinish(response, grpc::WriteOptions(), grpc::Status::OK,
                           Begin(finished_));
  }
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
    stream_.Read(&request_, Begin(received_));
  }

  absl::Status Admit() {
    const auto method = door_.service_.methods().find(context_.method());
    if (method == door_.service_.methods().end()) {
      return absl::UnimplementedError("this task has no such method");
    }
    method_ = &method->second;
    const std::string peer = context_.peer();
    absl::StatusOr<std::unique_ptr<CallGuard::Admission>> admission =
        door_.guard_->Admit(peer, method->first, Header(), method_->needs_job);
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
    if (!ok) return Finish(absl::InvalidArgumentError("there is no request"));
    if (request_.Length() > method_->max_request_bytes) {
      return Finish(absl::ResourceExhaustedError(absl::StrCat(
          "a request of ", request_.Length(), " bytes; expected at most ",
          method_->max_request_bytes)));
    }
    method_->handle(*this);
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
      if (++ends_ < 2) return;
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
  Operation finished_ = {this, &Call::End};
  Operation over_ = {this, &Call::LearnWhetherCancelled};
  const RpcMethod* method_ = nullptr;
  std::unique_ptr<CallGuard::Admission> admission_;
  grpc::ByteBuffer request_;
  Mutex mutex_;
  int ends_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_cancel_ ABSL_GUARDED_BY(mutex_);
};

CallDoor::CallDoor(std::shared_ptr<CallGuard> guard, const RpcService& service,
                   grpc::ServerBuilder& builder)
    : guard_(std::move(guard)),
      service_(service),
      queue_(builder.AddCompletionQueue()) {
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
