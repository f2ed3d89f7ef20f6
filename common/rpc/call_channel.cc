#include "common/rpc/call_channel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/identity/call_header.h"
#include "common/identity/mac.h"
#include "common/rpc/grpc_channel.h"
#include "common/rpc/grpc_status.h"

namespace paceline {
namespace {

// Attempts at a call, at most. A connection may break again between a refusal
// and the next attempt.
constexpr int kMaxAttempts = 4;

}  // namespace

struct CallChannel::Call {
  uint64_t number = 0;
  std::string method;
  grpc::ByteBuffer request;
  grpc::ByteBuffer response;
  absl::Time deadline;
  bool fail_fast = false;
  Done done;

  // Attempts so far.
  int attempts = 0;
  std::string challenge;
  // Replaced for each attempt, under the channel's lock.
  Context context;
  bool is_cancelled = false;
};

CallChannel::CallChannel(const std::string& address,
                         std::shared_ptr<const Caller> caller,
                         const Keepalive& keepalive)
    : stub_(CreateChannel(address, caller->tls().get(), keepalive)),
      caller_(std::move(caller)) {}

CallChannel::~CallChannel() {
  MutexLock lock(mutex_);
  while (attempting_ > 0) attempted_.WaitFor(mutex_, absl::Seconds(1));
}

uint64_t CallChannel::Start(const std::string& method, grpc::ByteBuffer request,
                            const Options& options, Done done) {
  const auto call = std::make_shared<Call>();
  call->method = method;
  call->request = std::move(request);
  call->deadline = MonotonicNow() + options.timeout;
  call->fail_fast = options.fail_fast;
  call->done = std::move(done);
  uint64_t number = 0;
  {
    MutexLock lock(mutex_);
    number = call->number = ++last_call_;
    open_[number] = call;
  }
  Attempt(call);
  return number;
}

void CallChannel::Attempt(const std::shared_ptr<Call>& call) {
  auto context = std::make_shared<grpc::ClientContext>();
  if (call->deadline != absl::InfiniteFuture()) {
    context->set_deadline(
        absl::ToChronoTime(absl::Now() + (call->deadline - MonotonicNow())));
  }
  context->set_wait_for_ready(!call->fail_fast);
  uint64_t sequence = 0;
  {
    MutexLock lock(mutex_);
    ++attempting_;
    call->attempts += 1;
    call->challenge = challenge_;
    call->context = context;
    sequence = ++last_sequence_;
    if (is_cancelled_ || call->is_cancelled) context->TryCancel();
  }
  context->AddMetadata(
      kHeaderKey, caller_->Header(call->method, sequence, call->challenge));
  stub_.UnaryCall(
      context.get(), call->method, grpc::StubOptions(), &call->request,
      &call->response,
      [this, call](const grpc::Status& status) { End(call, status); });
  // The call may have ended on another thread meanwhile. As in End, destroy the
  // context while the channel still exists.
  context.reset();
  MutexLock lock(mutex_);
  --attempting_;
  attempted_.NotifyAll();
}

void CallChannel::End(const std::shared_ptr<Call>& call,
                      const grpc::Status& status) {
  absl::Status ended = FromGrpcStatus(status);
  bool again = false;
  {
    // Destroy the context before calling `done`. It holds gRPC's channel, and
    // `done` may destroy this object: if a gRPC callback thread released gRPC's
    // last reference, gRPC would make that thread wait for itself.
    Context context;
    MutexLock lock(mutex_);
    context = std::move(call->context);
    if (Learn(*call, *context, status)) {
      again = call->attempts < kMaxAttempts && !is_cancelled_ &&
              !call->is_cancelled;
      ended = absl::UnavailableError(
          "the connection broke before the call could prove itself");
    }
    if (!again) open_.erase(call->number);
  }
  if (again) return Attempt(call);
  Done done = std::move(call->done);
  call->request.Clear();
  done(std::move(ended), call->response);
}

bool CallChannel::Learn(const Call& call, const grpc::ClientContext& context,
                        const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::UNAUTHENTICATED ||
      !caller_->secret()) {
    return false;
  }
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto found = metadata.find(kChallengeKey);
  // A challenge of another length is refused: a longer one could make the proof
  // cover a header that the server chose.
  if (found == metadata.end() || found->second.size() != kMacSize) return false;
  std::string learnt(found->second.data(), found->second.size());
  if (learnt != challenge_) {
    challenge_ = std::move(learnt);
    // An earlier process may have had a connection of the same name (address
    // and port), hence the same challenge, and the server refuses the sequence
    // numbers that it used. The time in microseconds is above them, since that
    // process started from its own time and made fewer calls than one in each
    // microsecond.
    last_sequence_ =
        std::max<uint64_t>(last_sequence_, absl::ToUnixMicros(absl::Now()));
  }
  // If the call was already proven with this challenge, the server has another
  // secret.
  return call.challenge != challenge_;
}

void CallChannel::Cancel(uint64_t number) {
  Context context;
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(number);
    if (found == open_.end()) return;
    found->second->is_cancelled = true;
    context = found->second->context;
  }
  // Without the lock, since gRPC may run callbacks in this call.
  if (context != nullptr) context->TryCancel();
}

void CallChannel::CancelAll() {
  std::vector<Context> contexts;
  {
    MutexLock lock(mutex_);
    is_cancelled_ = true;
    for (const auto& [number, call] : open_) contexts.push_back(call->context);
  }
  for (const Context& context : contexts) {
    if (context != nullptr) context->TryCancel();
  }
}

}  // namespace paceline
