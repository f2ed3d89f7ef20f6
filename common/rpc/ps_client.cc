#include "common/rpc/ps_client.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/mutex.h"
#include "common/rpc/call_error.h"
#include "common/rpc/grpc_channel.h"
#include "paceline/v1/ps.grpc.pb.h"

namespace paceline {

using Stub = v1::ParameterServerService::Stub;

struct PsClient::Impl {
  Impl(const std::string& address, bool fail_fast)
      : stub(v1::ParameterServerService::NewStub(CreateChannel(address))),
        fail_fast(fail_fast) {}

  // Starts `method` (a member of the stub's asynchronous interface).
  template <typename Method, typename Request, typename Response>
  void Start(Method method, const char* name, const std::string& callee,
             const Request& request, Response* response, absl::Duration timeout,
             CallDone done) {
    grpc::ClientContext* const context = Open(timeout);
    auto finished = [this, context, name, &callee, timeout,
                     done = std::move(done)](const grpc::Status& status) {
      Close(context);
      done(CallError(status, name, callee, timeout));
    };
    (async().*method)(context, &request, response, std::move(finished));
  }

  using Context = std::shared_ptr<grpc::ClientContext>;

  grpc::ClientContext* Open(absl::Duration timeout) {
    auto context = std::make_shared<grpc::ClientContext>();
    SetDeadline(*context, timeout);
    context->set_wait_for_ready(!fail_fast);
    MutexLock lock(mutex);
    if (cancelled) context->TryCancel();
    open.push_back(context);
    return context.get();
  }

  // Before the caller hears of the call's end. A context holds the channel, and
  // the caller may then destroy the client: if a callback's thread let go of
  // the channel last, gRPC would make that thread wait for itself.
  void Close(const grpc::ClientContext* closed) {
    Context last_use;
    MutexLock lock(mutex);
    const auto found = std::find_if(
        open.begin(), open.end(),
        [closed](const Context& context) { return context.get() == closed; });
    last_use = std::move(*found);
    open.erase(found);
  }

  void Cancel() {
    std::vector<Context> contexts;
    {
      MutexLock lock(mutex);
      cancelled = true;
      contexts = open;
    }
    for (const Context& context : contexts) context->TryCancel();
  }

  v1::ParameterServerService::StubInterface::async_interface& async() {
    return *stub->async();
  }

  std::unique_ptr<Stub> stub;
  const bool fail_fast;
  Mutex mutex;
  std::vector<Context> open ABSL_GUARDED_BY(mutex);
  bool cancelled ABSL_GUARDED_BY(mutex) = false;
};

namespace {

using Async = v1::ParameterServerService::StubInterface::async_interface;
template <typename Request, typename Response>
using UnaryMethod = void (Async::*)(grpc::ClientContext*, const Request*,
                                    Response*,
                                    std::function<void(grpc::Status)>);

}  // namespace

PsClient::PsClient(std::string task_name, std::string address, bool fail_fast)
    : description_(absl::StrCat(task_name, " at ", address)),
      impl_(std::make_unique<Impl>(address, fail_fast)) {}

PsClient::~PsClient() = default;

void PsClient::Cancel() { impl_->Cancel(); }

#define PACELINE_PS_CALL(Name)                                              \
  void PsClient::Name(const v1::Name##Request& request,                     \
                      v1::Name##Response* response, absl::Duration timeout, \
                      CallDone done) {                                      \
    constexpr UnaryMethod<v1::Name##Request, v1::Name##Response> kMethod =  \
        &Async::Name;                                                       \
    impl_->Start(kMethod, #Name, description_, request, response, timeout,  \
                 std::move(done));                                          \
  }
PACELINE_PS_CALL(Initialize)
PACELINE_PS_CALL(Push)
PACELINE_PS_CALL(Apply)
PACELINE_PS_CALL(Pull)
PACELINE_PS_CALL(Fence)
PACELINE_PS_CALL(Snapshot)
PACELINE_PS_CALL(WriteCheckpoint)
#undef PACELINE_PS_CALL

}  // namespace paceline
