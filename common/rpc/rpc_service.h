// The methods that a task serves, by name, independent of how calls arrive.
#ifndef PACELINE_COMMON_RPC_RPC_SERVICE_H_
#define PACELINE_COMMON_RPC_RPC_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/identity/call_guard.h"
#include "common/identity/person.h"
#include "common/rpc/message_bytes.h"

namespace paceline {

// An admitted call whose request has arrived. Thread-safe, except request().
// Valid until Finish; do not use it afterwards.
class ServerCall {
 public:
  // The handler may consume it.
  virtual grpc::ByteBuffer& request() = 0;
  // Who calls; of methods for people (Access::kPeople) only.
  virtual const Person& person() const = 0;
  // Ends the call; call it exactly once.
  virtual void Finish(const absl::Status& error) = 0;
  virtual void Finish(grpc::ByteBuffer response) = 0;
  // Sends one of several responses. Calls `sent` once it is under way, or the
  // call was cancelled; only then another may be sent, or the call finished.
  virtual void Send(grpc::ByteBuffer response, std::function<void()> sent) = 0;
  // Cancels the call, also while a response waits for its caller to read. It
  // still must be finished.
  virtual void Cancel() = 0;
  // Calls `on_cancel` once if the call is cancelled: its caller gives up, or
  // its connection ends. At once if that has already happened; perhaps even
  // after the call was finished.
  virtual void OnCancelled(std::function<void()> on_cancel) = 0;

 protected:
  ~ServerCall() = default;
};

struct RpcMethod {
  // Handles a call. Runs on one of the server's threads, which may be the only
  // one, so it must be short, must not wait for another call, and must not
  // throw. It must ensure that the call is finished, before it returns or
  // later.
  std::function<void(ServerCall&)> handle;
  // Larger requests are refused.
  size_t max_request_bytes = 0;
  Access access = Access::kMembers;
};

// The error of a request that is larger than the limit.
absl::Status TooLarge(size_t bytes, size_t limit);

// Must not change while it is served.
class RpcService {
 public:
  // `name`: the service's full name, such as "paceline.v1.CoordinatorService".
  explicit RpcService(std::string name) : name_(std::move(name)) {}
  virtual ~RpcService() = default;
  RpcService(const RpcService&) = delete;
  RpcService& operator=(const RpcService&) = delete;

  // By "/service/Method".
  const std::map<std::string, RpcMethod, std::less<>>& methods() const {
    return methods_;
  }

 protected:
  using Done = std::function<void(const absl::Status&)>;

  void Add(absl::string_view method, RpcMethod how) {
    methods_["/" + name_ + "/" + std::string(method)] = std::move(how);
  }

  // Adds a method whose request and response are parsed and serialised as a
  // whole. `handle(request, response, done)`, or `handle(request, response,
  // done, person)` to know who calls, must call `done` once, before it returns
  // or later; what it gets is valid until then.
  template <typename Request, typename Response, typename Handle>
  void AddMessages(absl::string_view method, size_t max_request_bytes,
                   Handle handle, Access access = Access::kMembers) {
    Add(method,
        {[handle = std::move(handle)](ServerCall& call) {
           struct Messages {
             Request request;
             Response response;
           };
           const auto messages = std::make_shared<Messages>();
           const absl::Status read =
               ReadMessage(call.request(), messages->request);
           if (!read.ok()) return call.Finish(read);
           const Done done = [messages, &call](const absl::Status& status) {
             if (!status.ok()) return call.Finish(status);
             call.Finish(WriteMessage(messages->response));
           };
           if constexpr (std::is_invocable_v<const Handle&, Request&, Response&,
                                             const Done&, const Person&>) {
             handle(messages->request, messages->response, done, call.person());
           } else {
             handle(messages->request, messages->response, done);
           }
         },
         max_request_bytes, access});
  }

 private:
  const std::string name_;
  std::map<std::string, RpcMethod, std::less<>> methods_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_RPC_SERVICE_H_
