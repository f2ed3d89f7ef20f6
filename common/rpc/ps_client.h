// One parameter server as its leader and its workers call it.
#ifndef PACELINE_COMMON_RPC_PS_CLIENT_H_
#define PACELINE_COMMON_RPC_PS_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/identity/caller.h"
#include "common/rpc/call_group.h"
#include "common/rpc/dense_values.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

struct PsClientOptions {
  // Calls wait, as part of their timeouts, until the address can be reached;
  // with this they end with Unavailable when an attempt to connect has failed.
  bool fail_fast = false;
  // Whether shared memory is tried.
  bool use_shared_memory = true;
};

// All calls return at once and report through `done`, also after their
// deadline; request and response stay valid until then. Errors name the call,
// the task and its address, and blame that task. Thread-safe.
//
// Gradients and variables are no part of the messages: those that are sent stay
// where they are, unchanged, until `done`; those that are received are written
// to `variables`, by block index. Internal if blocks come that have no buffer
// or do not fit it; which came, their buffers say.
//
// Push, Apply and Pull go through shared memory where the server is on the same
// machine and both sides can share some (ps_attachment.h), else over gRPC: as
// many at a time as limits.h has calls to one server, and others over gRPC.
class PsClient {
 public:
  // Of ps number `index`; `address` is "host:port".
  PsClient(int index, const std::string& address,
           std::shared_ptr<const Caller> caller, PsClientOptions options = {});
  // No call may be open. Waits, some seconds at most, until gRPC has let go of
  // all gradients.
  ~PsClient();

  // In any case ends with Unavailable when an attempt to connect has failed.
  void Initialize(const v1::InitializeRequest& request,
                  v1::InitializeResponse* response, absl::Duration timeout,
                  CallDone done);
  void Push(const v1::PushRequest& request,
            absl::Span<const DenseValues> gradients, v1::PushResponse* response,
            absl::Span<DenseBuffer> variables, absl::Duration timeout,
            CallDone done);
  void Apply(const v1::ApplyRequest& request, v1::ApplyResponse* response,
             absl::Span<DenseBuffer> variables, absl::Duration timeout,
             CallDone done);
  void Pull(const v1::PullRequest& request, v1::PullResponse* response,
            absl::Span<DenseBuffer> variables, absl::Duration timeout,
            CallDone done);
  void Admit(const v1::AdmitRequest& request, v1::AdmitResponse* response,
             absl::Duration timeout, CallDone done);
  void Fence(const v1::FenceRequest& request, v1::FenceResponse* response,
             absl::Duration timeout, CallDone done);
  void Snapshot(const v1::SnapshotRequest& request,
                v1::SnapshotResponse* response, absl::Duration timeout,
                CallDone done);
  void WriteCheckpoint(const v1::WriteCheckpointRequest& request,
                       v1::WriteCheckpointResponse* response,
                       absl::Duration timeout, CallDone done);

  // Whether calls go through shared memory.
  bool shares_memory() const;

  // Ends open calls, and those that are started later, with Cancelled.
  void Cancel();

  // "ps-0 at 127.0.0.1:2222".
  const std::string& description() const;

  // `error` with the server to blame for it. `waited_for` as in Blame.
  absl::Status Blamed(absl::string_view waited_for, absl::Status error) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_PS_CLIENT_H_
