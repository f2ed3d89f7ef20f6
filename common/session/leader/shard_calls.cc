#include "common/session/leader/shard_calls.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/clock.h"
#include "common/base/peer_count.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/rpc/call_group.h"
#include "common/session/leader/shard_file_collector.h"
#include "glog/logging.h"

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
  std::thread collector;
  {
    MutexLock lock(mutex_);
    while (open_count_ > 0) closed_.WaitFor(mutex_, absl::Seconds(1));
    collector = std::move(collector_);
  }
  if (collector.joinable()) collector.join();
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

void ShardCalls::Initialize(const InitializeShards& order,
                            absl::Duration timeout,
                            Done<v1::InitializeResponse> done) {
  std::vector<v1::InitializeRequest> requests(shards_.size());
  for (size_t shard = 0; shard < requests.size(); ++shard) {
    *requests[shard].mutable_job() = job_;
    requests[shard].set_shard(static_cast<uint32_t>(shard));
    requests[shard].set_shard_count(static_cast<uint32_t>(shards_.size()));
    requests[shard].set_restore_path(order.restore_path);
    requests[shard].set_variables_only(order.variables_only);
    requests[shard].set_workers(static_cast<uint32_t>(order.worker_count));
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

void ShardCalls::ChangeVariables(const v1::VariablesOrder& order,
                                 Done<v1::ChangeVariablesResponse> done) {
  v1::ChangeVariablesRequest request;
  *request.mutable_order() = order;
  CallAll(&PsClient::ChangeVariables, request, limits::kCheckpointTimeout,
          std::move(done));
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

void ShardCalls::WriteCheckpoint(const std::string& folder, bool is_kept,
                                 WriteDone done) {
  v1::WriteCheckpointRequest request;
  request.set_name(std::filesystem::path(folder).filename().string());
  const absl::Time deadline = MonotonicNow() + limits::kCheckpointTimeout;
  using Answers = absl::StatusOr<std::vector<v1::WriteCheckpointResponse>>;
  Done<v1::WriteCheckpointResponse> all_done =
      [this, folder, is_kept, deadline,
       done = std::move(done)](const Answers& answers) {
        Files files = ReadFiles(answers);
        const bool may_collect = std::filesystem::path(folder).is_relative() &&
                                 (files.ok() || !IsOpenEnded(files.status()));
        if (!may_collect) return done(std::move(files));
        StartToCollect(folder, is_kept, deadline, std::move(files), done);
      };
  CallAll(&PsClient::WriteCheckpoint, request, limits::kCheckpointTimeout,
          std::move(all_done));
}

ShardCalls::Files ShardCalls::ReadFiles(
    const absl::StatusOr<std::vector<v1::WriteCheckpointResponse>>& answers)
    const {
  RETURN_IF_ERROR(answers.status());
  std::vector<ShardFile> files;
  for (size_t shard = 0; shard < answers->size(); ++shard) {
    absl::StatusOr<ShardFile> file =
        ReadCheckpointFile((*answers)[shard].file());
    if (!file.ok()) {
      return shards_[shard]->Blamed(
          "WriteCheckpoint",
          Annotate(file.status(), absl::StrCat("ps-", shard)));
    }
    files.push_back(*std::move(file));
  }
  return files;
}

void ShardCalls::StartToCollect(const std::string& folder, bool is_kept,
                                absl::Time deadline, Files files,
                                const WriteDone& done) {
  auto work = [this, folder, is_kept, deadline, files = std::move(files),
               done] { done(Collect(folder, is_kept, deadline, files)); };
  std::thread last;
  {
    MutexLock lock(mutex_);
    last = std::move(collector_);
  }
  // It has called its `done`, so it is about to end.
  if (last.joinable()) last.join();
  absl::Status started;
  try {
    std::thread collector(std::move(work));
    MutexLock lock(mutex_);
    collector_ = std::move(collector);
  } catch (const std::system_error& error) {
    started = absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread to collect the checkpoint's files, "
                     "which stay on their servers: ",
                     error.what()));
  }
  if (!started.ok()) done(started);
}

ShardCalls::Files ShardCalls::Collect(const std::string& folder, bool is_kept,
                                      absl::Time deadline, const Files& files) {
  const std::string name = std::filesystem::path(folder).filename().string();
  const std::vector<size_t> shards = ShardsElsewhere(folder, shards_.size());
  absl::Status status = files.status();
  if (status.ok()) {
    status = CollectShardFiles(
        folder, shards, *files, [&](size_t shard, uint64_t offset_bytes) {
          return ReadPiece(shard, name, offset_bytes, deadline);
        });
    // All shards have written, so the error leaves nothing open.
    if (!status.ok()) status = absl::AbortedError(status.message());
  }
  Kept done = {name, shards};
  if (status.ok() && is_kept) {
    MutexLock lock(mutex_);
    std::swap(kept_, done);
  }
  Discard(done.shards, done.name);
  if (!status.ok()) return status;
  return files;
}

template <typename Request, typename Response>
absl::Status ShardCalls::CallAndWait(Method<Request, Response> method,
                                     size_t shard, const Request& request,
                                     absl::Duration timeout,
                                     Response& response) {
  CallGroup call(1);
  repeated_.Start(
      {timeout},
      [&](absl::Duration left, CallDone attempted) {
        (shards_[shard].get()->*method)(request, &response, left,
                                        std::move(attempted));
      },
      call.Open(0));
  call.Wait();
  return call.status(0);
}

absl::StatusOr<std::string> ShardCalls::ReadPiece(size_t shard,
                                                  const std::string& name,
                                                  uint64_t offset_bytes,
                                                  absl::Time deadline) {
  const absl::Duration left = deadline - MonotonicNow();
  if (left <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError(absl::StrCat(
        shards_[shard]->description(), ": its file of ", name, " has not come ",
        absl::FormatDuration(limits::kCheckpointTimeout),
        " after the leader asked for it"));
  }
  v1::ReadCheckpointRequest request;
  request.set_name(name);
  request.set_offset(offset_bytes);
  v1::ReadCheckpointResponse response;
  RETURN_IF_ERROR(CallAndWait(&PsClient::ReadCheckpoint, shard, request,
                              std::min(left, limits::kPsTimeout), response));
  return std::move(*response.mutable_content());
}

void ShardCalls::Discard(absl::Span<const size_t> shards,
                         const std::string& name) {
  v1::DiscardCheckpointRequest request;
  request.set_name(name);
  for (const size_t shard : shards) {
    v1::DiscardCheckpointResponse response;
    const absl::Status status =
        CallAndWait(&PsClient::DiscardCheckpoint, shard, request,
                    limits::kPsTimeout, response);
    LOG_IF(WARNING, !status.ok())
        << "a file of the checkpoint " << name
        << " stays on its server: " << status.message();
  }
}

}  // namespace paceline
