// The calls of one step to the chunks of all parameter servers.
//
//   stream.Begin(what, &ChunkServer::updated, start);
//   stream.Release(chunk);   the chunk may be sent now; does not block
//   …
//   stream.Finish();         all may be sent; blocks until all are answered
//
// Synchronous workers, and workers under bounded staleness, wait for each other
// at the servers. Two invariants prevent a deadlock:
//  * Chunks are sent to each server in their order, whatever the order in which
//    they are released.
//  * A call that a server holds back until other workers push never delays a
//    call for which those workers wait. In synchronous steps all workers call
//    in the same order, so a few calls to a server may be under way at a time
//    (calls_per_server). Under bounded staleness all calls may be under way at
//    once.
//
// The thread of the step releases chunks, and handles answers whenever it calls
// Poll or Finish: an answer makes room for the next call. gRPC's threads repeat
// a call whose server is unavailable, under the same sequence number, until the
// server has been unavailable for too long (common/rpc/repeated_calls.h). So
// the time in which a section computes never counts as a server's.
#ifndef PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_
#define PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/rpc/call_group.h"
#include "common/rpc/dense_values.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/repeated_calls.h"
#include "paceline/v1/ps.pb.h"

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
  // Calls to one server that may be under way at a time.
  int calls_per_server = 1;
  // Called with what the worker waits for, and with "" when the wait ends.
  std::function<void(const std::string&)> on_waiting;
};

// Not thread-safe.
class ChunkStream {
 public:
  // A member of ChunkServer: `updated` or `frozen`.
  using Chunks = ChunkRange ChunkServer::*;
  // Starts an attempt at a call to a chunk; must not block. Runs on the thread
  // of the step; a repeat runs on one of gRPC's threads.
  using Start = std::function<void(ChunkCalls& chunk, absl::Duration timeout,
                                   CallDone done)>;

  // `servers` and `chunks` must outlive the stream, and must not move.
  ChunkStream(ChunkStreamOptions options, absl::Span<ChunkServer> servers,
              absl::Span<ChunkCalls> chunks);
  // Cancels open calls, and blocks until they have ended.
  ~ChunkStream();

  // Starts a round of calls to the given chunks, of which none is sent yet. All
  // earlier calls must have ended. `what` describes the calls to people, and
  // must stay valid until Finish.
  void Begin(const std::string& what, Chunks chunks, Start start);
  // The chunk may be sent, after those before it. Does not block.
  void Release(ChunkCalls& chunk);
  bool is_released(const ChunkCalls& chunk) const {
    return released_[IndexOf(chunk)];
  }
  // Handles the answers that have arrived, so that further chunks are sent.
  // Does not block. Returns the error of the call that failed first, which
  // names its server. After an error the stream cannot be used any more.
  absl::Status Poll();
  // Releases all chunks, and blocks until all are answered. Errors: see Poll.
  absl::Status Finish();

  // Begin, then Finish.
  absl::Status Run(const std::string& what, Chunks chunks, Start start) {
    Begin(what, chunks, std::move(start));
    return Finish();
  }

 private:
  // The calls to one server.
  struct Queue {
    // The chunks that were not sent yet.
    ChunkRange waiting;
    int under_way = 0;
  };

  size_t IndexOf(const ChunkCalls& chunk) const {
    return &chunk - chunks_.data();
  }
  Queue& QueueOf(const ChunkCalls& chunk) {
    return queues_[chunk.server - servers_.data()];
  }
  void StartThoseReleased(Queue& queue);
  void Call(ChunkCalls& chunk);
  void HandleEnd(size_t index);
  void CancelAll();

  const ChunkStreamOptions options_;
  const absl::Span<ChunkServer> servers_;
  const absl::Span<ChunkCalls> chunks_;
  // By server.
  std::vector<Queue> queues_;
  // By chunk.
  std::vector<bool> released_;
  CallGroup calls_;
  RepeatedCalls repeated_;
  const std::string* what_ = nullptr;
  Start start_;
  absl::Status failure_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_
