// The leader's calls to the parameter servers, as the session orders them.
#ifndef PACELINE_COMMON_SESSION_LEADER_SHARD_CALLS_H_
#define PACELINE_COMMON_SESSION_LEADER_SHARD_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/repeated_calls.h"
#include "common/session/leader/variable_holders.h"
#include "common/session/machine/session.h"
#include "paceline/v1/job.pb.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// Each method calls all shards in parallel and returns at once. `done` gets the
// answers by shard, or an error, on one of gRPC's threads; it must not block.
// If several shards fail, `done` gets an error that leaves the shard's state
// open (no answer arrived) before other errors. All calls but Initialize are
// repeated until their deadline if a connection breaks. Thread-safe.
class ShardCalls : public VariableHolders {
 public:
  template <typename Response>
  using Done = std::function<void(absl::StatusOr<std::vector<Response>>)>;

  // `addresses`: by shard.
  ShardCalls(v1::Job job, const std::vector<std::string>& addresses,
             const std::shared_ptr<const Caller>& caller);
  // Cancels open calls and blocks until their `done` was called.
  ~ShardCalls() override;

  void Initialize(const InitializeShards& order, absl::Duration timeout,
                  Done<v1::InitializeResponse> done);
  void Admit(const std::vector<v1::WorkerId>& workers, absl::Duration timeout,
             Done<v1::AdmitResponse> done);
  void Fence(const v1::WorkerId& worker, absl::Duration timeout,
             Done<v1::FenceResponse> done);
  // `done` is called within limits::kCheckpointTimeout.
  void ChangeVariables(const v1::VariablesOrder& order,
                       Done<v1::ChangeVariablesResponse> done);
  void Snapshot(const std::string& path, SnapshotDone done) override;
  // A relative `folder` may be one on the leader's machine only: shards on
  // others have written into folders of their own, and a thread collects their
  // files. Of a checkpoint that is kept they hold on to their files, from which
  // they load it, until another one is.
  void WriteCheckpoint(const std::string& folder, bool is_kept,
                       WriteDone done) override;

 private:
  template <typename Request, typename Response>
  using Method = void (PsClient::*)(const Request&, Response*, absl::Duration,
                                    CallDone);
  // Calls `method` on each shard, with its own request.
  template <typename Request, typename Response>
  void Call(Method<Request, Response> method, std::vector<Request> requests,
            absl::Duration timeout, Done<Response> done);
  // Calls `method` on all shards with the same request. The method must be
  // idempotent, since the call may be repeated.
  template <typename Request, typename Response>
  void CallAll(Method<Request, Response> method, const Request& request,
               absl::Duration timeout, Done<Response> done) {
    Call(method, std::vector<Request>(shards_.size(), request), timeout,
         std::move(done));
  }

  using Files = absl::StatusOr<std::vector<ShardFile>>;
  // What the shards answered, checked.
  Files ReadFiles(
      const absl::StatusOr<std::vector<v1::WriteCheckpointResponse>>& answers)
      const;
  // A thread collects the files, and calls `done`.
  void StartToCollect(const std::string& folder, bool is_kept,
                      absl::Time deadline, Files files, const WriteDone& done);
  // Brings the files that are not in `folder` there, and has their shards
  // delete them, or if this one is kept, those of the one that was kept before.
  // If `files` is an error, they are deleted only.
  Files Collect(const std::string& folder, bool is_kept, absl::Time deadline,
                const Files& files);
  absl::StatusOr<std::string> ReadPiece(size_t shard, const std::string& name,
                                        uint64_t offset_bytes,
                                        absl::Time deadline);
  // Has these shards delete their files of the checkpoint; logs what fails.
  void Discard(absl::Span<const size_t> shards, const std::string& name);
  // Blocks until the shard has answered, or its deadline.
  template <typename Request, typename Response>
  absl::Status CallAndWait(Method<Request, Response> method, size_t shard,
                           const Request& request, absl::Duration timeout,
                           Response& response);

  // Files of a checkpoint that stay on their servers' machines.
  struct Kept {
    std::string name;
    std::vector<size_t> shards;
  };

  const v1::Job job_;
  std::vector<std::unique_ptr<PsClient>> shards_;
  RepeatedCalls repeated_;
  Mutex mutex_;
  CondVar closed_;
  int open_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Kept kept_ ABSL_GUARDED_BY(mutex_);
  // Collects files; joined before the next checkpoint's.
  std::thread collector_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_SHARD_CALLS_H_
