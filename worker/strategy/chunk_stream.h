// The calls of one step to the chunks of all parameter servers.
//
//   stream.Begin(what, &ChunkServer::updated, start);
//   stream.Release(chunk);   the chunk may be sent now; does not block
//   …
//   stream.Finish();         all may be sent; blocks until all are answered
//
// Synchronous workers, and workers under bounded staleness, wait for each other
// at the servers. Two invariants prevent a deadlock:
//  * Chunks are taken for each server in their order, whatever the order in
//    which they are released, and the call of a chunk that was taken starts
//    without waiting. So the first chunk that is not answered is under way at
//    each worker that has released it.
//  * A call that a server holds back until other workers push never delays a
//    call for which those workers wait. In synchronous steps all workers call
//    in the same order, so the number of calls to a server that are under way,
//    and their bytes, may be limited. Under bounded staleness no server holds
//    the slowest worker, so its calls are answered in turn. But a worker that
//    has just joined may be ahead at some chunks and behind at others. So it
//    sends all calls at once; those beyond limits::kMaxCallsPerConnection wait
//    in gRPC. If workers still wait for each other there, one of them lapses
//    (ps_server/aggregator.h).
//
// The thread of the step releases chunks. An answer makes room for the next
// call, which starts on the thread that received the answer, one of gRPC's or a
// mailbox's. gRPC's threads repeat a call whose server is unavailable, under
// the same sequence number, until the server has been unavailable for too long
// (common/rpc/repeated_calls.h). So chunks travel while a section computes, and
// its time never counts as a server's.
#ifndef PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_
#define PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/rpc/call_group.h"
#include "common/rpc/dense_values.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/repeated_calls.h"
#include "paceline/v1/ps.pb.h"
#include "worker/trace/trace_recorder.h"

namespace paceline {

// A range [begin, end) of the list of all chunks.
struct ChunkRange {
  size_t begin = 0;
  size_t end = 0;
};

// A parameter server that has variables, and its chunks.
struct ChunkServer {
  int shard = 0;
  std::unique_ptr<PsClient> client;
  ChunkRange updated;
  ChunkRange frozen;
};

// The requests and responses of a chunk; reused in each step.
struct ChunkCalls {
  ChunkServer* server = nullptr;
  v1::PullRequest pull_request;
  v1::PullResponse pull_response;
  v1::PushRequest push_request;
  v1::PushResponse push_response;
  v1::ApplyRequest apply_request;
  v1::ApplyResponse apply_response;
  // Size of its variables.
  int64_t bytes = 0;
  // By block.
  std::vector<DenseValues> gradients;
  std::vector<DenseBuffer> variables;
  // Number of attempts at the last call; set by ChunkStream.
  int attempts = 0;
};

struct ChunkStreamOptions {
  // Deadline of a call to a server that does not wait for other workers,
  // including repeats.
  absl::Duration timeout;
  // Whether servers may hold answers back until other workers have pushed. Then
  // calls have no timeout of their own: the leader tells a long step from a
  // stalled worker.
  bool waits_for_others = false;
  // Calls to one server that may be under way at a time, and the size of their
  // chunks; by default all. A chunk that is larger is sent alone.
  int calls_per_server = std::numeric_limits<int>::max();
  int64_t bytes_per_server = std::numeric_limits<int64_t>::max();
  // Called with what the worker waits for, and with "" when the wait ends.
  std::function<void(const std::string&)> on_waiting;
  // By server: gets the times in which calls to it are under way. Empty:
  // nothing is recorded.
  std::vector<TraceLane*> lanes;
};

// Not thread-safe: for the thread of the step.
class ChunkStream {
 public:
  // A member of ChunkServer: `updated` or `frozen`.
  using Chunks = ChunkRange ChunkServer::*;
  // Starts an attempt at a call to a chunk; must not block. May run on several
  // threads at once, but for different chunks.
  using Start = std::function<void(ChunkCalls& chunk, absl::Duration timeout,
                                   CallDone done)>;

  // `servers` and `chunks` must outlive the stream, and must not move.
  ChunkStream(ChunkStreamOptions options, absl::Span<ChunkServer> servers,
              absl::Span<ChunkCalls> chunks);
  // Cancels open calls, and blocks until they have ended.
  ~ChunkStream();

  // Starts a round of calls to the given chunks, of which none is sent yet. The
  // round before must have ended. `what` describes the calls to people.
  void Begin(std::string what, Chunks chunks, Start start);
  // The chunk may be sent, after those before it. Does not block. The caller
  // must not touch the chunk until the round has ended.
  void Release(ChunkCalls& chunk);
  bool is_released(const ChunkCalls& chunk) const;
  // The error of the call that failed first, which names its server. After an
  // error no further calls start, and the stream cannot be used any more.
  absl::Status status() const;
  // Whether all chunks of the round are answered.
  bool has_ended() const;
  // Releases all chunks, and blocks until all are answered or one has failed.
  // Errors: see status.
  absl::Status Finish();

  // Begin, then Finish.
  absl::Status Run(std::string what, Chunks chunks, Start start) {
    Begin(std::move(what), chunks, std::move(start));
    return Finish();
  }

 private:
  // The calls to one server.
  struct Queue {
    // The chunks that were not sent yet.
    ChunkRange waiting;
    // Calls that were sent and not answered yet, and the size of their chunks.
    int under_way = 0;
    int64_t bytes_under_way = 0;
    // While some are, if that is recorded.
    std::optional<absl::Time> busy_since;
  };

  size_t IndexOf(const ChunkCalls& chunk) const {
    return &chunk - chunks_.data();
  }
  Queue& QueueOf(const ChunkCalls& chunk)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return queues_[chunk.server - servers_.data()];
  }
  // Releases all chunks, and blocks like Finish.
  absl::Status WaitForAnswers();
  // Whether the next chunk was released, and the limits allow another call.
  bool MayStartNext(const Queue& queue) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Releases the lock while it starts a call.
  void StartThoseReleased(Queue& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records, once no call to the server is under way, when some were. Call it
  // when one has ended, and when one begins.
  void Trace(Queue& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Call(ChunkCalls& chunk);
  // Runs on the thread that received the answer.
  void Answered(ChunkCalls& chunk, const absl::Status& status);
  void CancelAll();
  bool has_open_calls() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool has_waiting_chunks() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ChunkStreamOptions options_;
  const absl::Span<ChunkServer> servers_;
  const absl::Span<ChunkCalls> chunks_;
  RepeatedCalls repeated_;
  // Written only while no call is open.
  std::string what_;
  Start start_;

  mutable Mutex mutex_;
  CondVar answered_;
  // By server.
  std::vector<Queue> queues_ ABSL_GUARDED_BY(mutex_);
  // By chunk.
  std::vector<bool> released_ ABSL_GUARDED_BY(mutex_);
  // Threads that are starting calls, and will take the lock again.
  int starting_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_
