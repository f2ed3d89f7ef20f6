#include "common/session/shard_calls.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/session/peer_count.h"

namespace paceline {

ShardCalls::ShardCalls(v1::Job job, const std::vector<std::string>& addresses,
                       const std::shared_ptr<const Caller>& caller)
    : job_(std::move(job)) {
  for (size_t shard = 0; shard < addresses.size(); ++shard) {
    shards_.push_back(std::make_unique<PsClient>(absl::StrCat("ps-", shard),
                                                 addresses[shard], caller));
  }
}

ShardCalls::~ShardCalls() {
  for (const auto& shard : shards_) shard->Cancel();
  MutexLock lock(mutex_);
  while (open_count_ > 0) closed_.WaitFor(mutex_, absl::Seconds(1));
}

template <typename Request, typename Response, typename Start>
void ShardCalls::Call(std::vector<Request> requests, Start start,
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
    auto call_done = [this, state, shard](const absl::Status& status) {
      state->statuses[shard] = status;
      if (state->open_count.fetch_sub(1) > 1) return;
      absl::StatusOr<std::vector<Response>> answer(std::move(state->responses));
      for (const absl::Status& each : state->statuses) {
        if (!each.ok()) {
          answer = each;
          break;
        }
      }
      state->done(std::move(answer));
      MutexLock lock(mutex_);
      --open_count_;
      closed_.NotifyAll();
    };
    start(*shards_[shard], state->requests[shard], &state->responses[shard],
          std::move(call_done));
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
  Call<v1::InitializeRequest, v1::InitializeResponse>(
      std::move(requests),
      [timeout](PsClient& shard, const auto& request, auto* response,
                const CallDone& call_done) {
        shard.Initialize(request, response, timeout, call_done);
      },
      std::move(done));
}

void ShardCalls::Fence(const v1::WorkerId& worker, absl::Duration timeout,
                       Done<v1::FenceResponse> done) {
  v1::FenceRequest request;
  *request.mutable_worker() = worker;
  Call<v1::FenceRequest, v1::FenceResponse>(
      std::vector(shards_.size(), request),
      [timeout](PsClient& shard, const auto& request, auto* response,
                const CallDone& call_done) {
        shard.Fence(request, response, timeout, call_done);
      },
      std::move(done));
}

void ShardCalls::Snapshot(const std::string& path, SnapshotDone done) {
  v1::SnapshotRequest request;
  request.set_name(path);
  Call<v1::SnapshotRequest, v1::SnapshotResponse>(
      std::vector(shards_.size(), request),
      [](PsClient& shard, const auto& request, auto* response,
         const CallDone& call_done) {
        shard.Snapshot(request, response, limits::kPsTimeout, call_done);
      },
      [done = std::move(done)](
          const absl::StatusOr<std::vector<v1::SnapshotResponse>>& answers) {
        if (!answers.ok()) return done(answers.status());
        std::vector<int64_t> steps;
        for (size_t shard = 0; shard < answers->size(); ++shard) {
          const absl::StatusOr<int64_t> step =
              ReadCount(absl::StrCat("ps-", shard, ": step"),
                        (*answers)[shard].step(), limits::kMaxSteps);
          if (!step.ok()) return done(step.status());
          steps.push_back(*step);
        }
        done(std::move(steps));
      });
}

void ShardCalls::WriteCheckpoint(const std::string& path, WriteDone done) {
  v1::WriteCheckpointRequest request;
  request.set_name(path);
  using Answers = absl::StatusOr<std::vector<v1::WriteCheckpointResponse>>;
  Call<v1::WriteCheckpointRequest, v1::WriteCheckpointResponse>(
      std::vector(shards_.size(), request),
      [](PsClient& shard, const auto& request, auto* response,
         const CallDone& call_done) {
        shard.WriteCheckpoint(request, response, limits::kCheckpointTimeout,
                              call_done);
      },
      [done = std::move(done)](const Answers& answers) {
        if (!answers.ok()) return done(answers.status());
        std::vector<ShardFile> files;
        for (size_t shard = 0; shard < answers->size(); ++shard) {
          absl::StatusOr<ShardFile> file =
              ReadCheckpointFile((*answers)[shard].file());
          if (!file.ok()) {
            return done(Annotate(file.status(), absl::StrCat("ps-", shard)));
          }
          files.push_back(*std::move(file));
        }
        done(std::move(files));
      });
}

}  // namespace paceline
