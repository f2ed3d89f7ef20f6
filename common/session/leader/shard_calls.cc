#include "common/session/leader/shard_calls.h"

#include <atomic>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/peer_count.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

// OK if all statuses are OK. Otherwise an open-ended error, if there is one
// (see IsOpenEnded); else the first error.
absl::Status GravestOf(absl::Span<const absl::Status> statuses) {
  absl::Status first;
  for (const absl::Status& status : statuses) {
    if (IsOpenEnded(status)) return status;
    first.Update(status);
  }
  return first;
}

}  // namespace

ShardCalls::ShardCalls(v1::Job job, const std::vector<std::string>& addresses,
                       const std::shared_ptr<const Caller>& caller)
    : job_(std::move(job)) {
  for (size_t shard = 0; shard < addresses.size(); ++shard) {
    shards_.push_back(std::make_unique<PsClient>(static_cast<int>(shard),
                                                 addresses[shard], caller));
  }
}

ShardCalls::~ShardCalls() {
  repeated_.Cancel();
  for (const auto& shard : shards_) shard->Cancel();
  MutexLock lock(mutex_);
  while (open_count_ > 0) closed_.WaitFor(mutex_, absl::Seconds(1));
}

template <typename Request, typename Response>
void ShardCalls::Call(Method<Request, Response> method,
                      std::vector<Request> requests, absl::Duration timeout,
                      Done<Response> done) {
  struct State {
    std::vector<Request> requests;
    std::vector<Response> responses;
    std::vector<absl::Status> statuses;
    std::atomic<size_t> open_count;
    Done<Response> done;
  };
  const size_t count = shards_.size();
  auto state = std::make_shared<State>();
  state->requests = std::move(requests);
  state->responses.resize(count);
  state->statuses.resize(count);
  state->open_count = count;
  state->done = std::move(done);
  {
    MutexLock lock(mutex_);
    ++open_count_;
  }
  for (size_t shard = 0; shard < count; ++shard) {
    auto attempt = [this, method, state, shard](absl::Duration left,
                                                CallDone attempted) {
      (shards_[shard].get()->*method)(state->requests[shard],
                                      &state->responses[shard], left,
                                      std::move(attempted));
    };
    auto call_done = [this, state, shard](const absl::Status& status) {
      state->statuses[shard] = status;
      if (state->open_count.fetch_sub(1) > 1) return;
      const absl::Status error = GravestOf(state->statuses);
      state->done(error.ok() ? absl::StatusOr<std::vector<Response>>(
                                   std::move(state->responses))
                             : error);
      MutexLock lock(mutex_);
      --open_count_;
      closed_.NotifyAll();
    };
    if (std::is_same_v<Request, v1::InitializeRequest>) {
      // ShardCalls does not repeat Initialize; the session does, with the
      // addresses that are known then.
      attempt(timeout, std::move(call_done));
    } else {
      repeated_.Start({timeout}, std::move(attempt), std::move(call_done));
    }
  }
}

void ShardCalls::Initialize(const std::string& restore_path, int worker_count,
                            absl::Duration timeout,
                            Done<v1::InitializeResponse> done) {
  std::vector<v1::InitializeRequest> requests(shards_.size());
  for (size_t shard = 0; shard < requests.size(); ++shard) {
    *requests[shard].mutable_job() = job_;
    requests[shard].set_shard(static_cast<uint32_t>(shard));
    requests[shard].set_shard_count(static_cast<uint32_t>(shards_.size()));
    requests[shard].set_restore_path(restore_path);
    requests[shard].set_workers(static_cast<uint32_t>(worker_count));
  }
  Call(&PsClient::Initialize, std::move(requests), timeout, std::move(done));
}

void ShardCalls::Admit(const std::vector<v1::WorkerId>& workers,
                       absl::Duration timeout, Done<v1::AdmitResponse> done) {
  v1::AdmitRequest request;
  request.mutable_workers()->Assign(workers.begin(), workers.end());
  CallAll(&PsClient::Admit, request, timeout, std::move(done));
}

void ShardCalls::Fence(const v1::WorkerId& worker, absl::Duration timeout,
                       Done<v1::FenceResponse> done) {
  v1::FenceRequest request;
  *request.mutable_worker() = worker;
  CallAll(&PsClient::Fence, request, timeout, std::move(done));
}

void ShardCalls::Snapshot(const std::string& path, SnapshotDone done) {
  v1::SnapshotRequest request;
  request.set_name(path);
  Done<v1::SnapshotResponse> all_done =
      [this, done = std::move(done)](
          const absl::StatusOr<std::vector<v1::SnapshotResponse>>& answers) {
        if (!answers.ok()) return done(answers.status());
        std::vector<int64_t> steps;
        for (size_t shard = 0; shard < answers->size(); ++shard) {
          const absl::StatusOr<int64_t> step =
              ReadCount(absl::StrCat("ps-", shard, ": step"),
                        (*answers)[shard].step(), limits::kMaxSteps);
          if (!step.ok()) {
            return done(shards_[shard]->Blamed("Snapshot", step.status()));
          }
          steps.push_back(*step);
        }
        done(std::move(steps));
      };
  CallAll(&PsClient::Snapshot, request, limits::kPsTimeout,
          std::move(all_done));
}

void ShardCalls::WriteCheckpoint(const std::string& path, WriteDone done) {
  v1::WriteCheckpointRequest request;
  request.set_name(path);
  using Answers = absl::StatusOr<std::vector<v1::WriteCheckpointResponse>>;
  Done<v1::WriteCheckpointResponse> all_done =
      [this, done = std::move(done)](const Answers& answers) {
        if (!answers.ok()) return done(answers.status());
        std::vector<ShardFile> files;
        for (size_t shard = 0; shard < answers->size(); ++shard) {
          absl::StatusOr<ShardFile> file =
              ReadCheckpointFile((*answers)[shard].file());
          if (!file.ok()) {
            return done(shards_[shard]->Blamed(
                "WriteCheckpoint",
                Annotate(file.status(), absl::StrCat("ps-", shard))));
          }
          files.push_back(*std::move(file));
        }
        done(std::move(files));
      };
  CallAll(&PsClient::WriteCheckpoint, request, limits::kCheckpointTimeout,
          std::move(all_done));
}

}  // namespace paceline
