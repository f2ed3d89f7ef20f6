// Calls from the leader or a worker to one parameter server.
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
  // If false, calls wait, as part of their timeouts, until the server can be
  // reached. If true, they end with Unavailable when an attempt to resolve its
  // name or to connect fails.
  bool fail_fast = false;
  // Whether to try shared memory.
  bool use_shared_memory = true;
};

// No call blocks. Each reports through `done`, even after its deadline; request
// and response must stay valid until then. Errors name the call, the task and
// its address, and blame that task. Thread-safe.
//
// Gradients and variables are passed beside the messages. Gradients must stay
// valid and unchanged until `done`. Received blocks are written to `variables`,
// by block index; each buffer says whether its block has arrived. Internal if a
// block arrives that has no buffer or another size.
//
// Push, Apply and Pull go through shared memory if the server is on the same
// machine and memory can be shared (ps_attachment.h): up to
// limits::kCallsPerServer calls at a time. Other calls go over gRPC.
class PsClient {
 public:
  // A client of ps number `index` at `address`, "host:port".
  PsClient(int index, const std::string& address,
           std::shared_ptr<const Caller> caller, PsClientOptions options = {});
  // All calls must have ended. Blocks for some seconds at most until gRPC has
  // released all gradients.
  ~PsClient();

  // Always ends with Unavailable when an attempt to connect fails.
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
  void ChangeVariables(const v1::ChangeVariablesRequest& request,
                       v1::ChangeVariablesResponse* response,
                       absl::Duration timeout, CallDone done);
  void ReadCheckpoint(const v1::ReadCheckpointRequest& request,
                      v1::ReadCheckpointResponse* response,
                      absl::Duration timeout, CallDone done);
  void DiscardCheckpoint(const v1::DiscardCheckpointRequest& request,
                         v1::DiscardCheckpointResponse* response,
                         absl::Duration timeout, CallDone done);

  // Whether calls go through shared memory.
  bool shares_memory() const;

  // Ends open calls, and all later ones, with Cancelled.
  void Cancel();

  // "ps-0 at 127.0.0.1:2222".
  const std::string& description() const;

  // `error` with this server to blame. `waited_for`: see Blame.
  absl::Status Blamed(absl::string_view waited_for, absl::Status error) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_PS_CLIENT_H_
