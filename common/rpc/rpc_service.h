// What a task offers: methods by their names, apart from how calls come.
#ifndef PACELINE_COMMON_RPC_RPC_SERVICE_H_
#define PACELINE_COMMON_RPC_RPC_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/rpc/message_bytes.h"

namespace paceline {

// A call that was admitted and whose request is there. Thread-safe but for
// request(). It lasts until Finish, and nobody may touch it after that.
class ServerCall {
 public:
  // The handler's to consume.
  virtual grpc::ByteBuffer& request() = 0;
  // Ends the call; once.
  virtual void Finish(const absl::Status& error) = 0;
  virtual void Finish(grpc::ByteBuffer response) = 0;
  // Has `on_cancel` called once if the caller gives up, or its connection ends,
  // before the call is finished: from now on, or at once if it has.
  virtual void OnCancelled(std::function<void()> on_cancel) = 0;

 protected:
  ~ServerCall() = default;
};

struct RpcMethod {
  // Runs on a thread of the server's, which may be the only one: so it is
  // short, waits for no other call, and throws nothing. Sees to it that the
  // call is finished, before it returns or later.
  std::function<void(ServerCall&)> handle;
  // A larger request is refused.
  size_t max_request_bytes = 0;
  // False for what a task calls before it knows its job.
  bool needs_job = true;
};

// Not changed once it is served.
class RpcService {
 public:
  // `name` is the service's full one, such as "paceline.v1.CoordinatorService".
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

  // A method whose messages are read and written whole. `handle(request,
  // response, done)` calls `done` once, before it returns or later; both
  // messages stay valid until then.
  template <typename Request, typename Response, typename Handle>
  void AddMessages(absl::string_view method, size_t max_request_bytes,
                   Handle handle, bool needs_job = true) {
    Add(method, {[handle = std::move(handle)](ServerCall& call) {
                   struct Messages {
                     Request request;
                     Response response;
                   };
                   const auto messages = std::make_shared<Messages>();
                   const absl::Status read =
                       ReadMessage(call.request(), messages->request);
                   if (!read.ok()) return call.Finish(read);
                   handle(messages->request, messages->response,
                          [messages, &call](const absl::Status& status) {
                            if (!status.ok()) return call.Finish(status);
                            call.Finish(WriteMessage(messages->response));
                          });
                 },
                 max_request_bytes, needs_job});
  }

 private:
  const std::string name_;
  std::map<std::string, RpcMethod, std::less<>> methods_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_RPC_SERVICE_H_
