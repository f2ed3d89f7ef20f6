// The calls of one step to the chunks of all parameter servers.
//
//   stream.Begin(what, &ChunkServer::updated, start);
//   stream.Release(chunk);   this one may leave; does not wait
//   …
//   stream.Finish();         all may leave; waits until all are answered
//
// Synchronous workers, and workers under bounded staleness, wait for each other
// at the servers. Two invariants keep them from waiting in a circle:
//  * Chunks leave for each server in their order, whatever the order in which
//    they are released.
//  * A call that a server holds until other workers push never keeps back a
//    call that those workers wait for. In synchronous steps all workers call in
//    the same order, so a few calls to a server may be under way. Under bounded
//    staleness all calls may be under way at once.
//
// The thread of the step releases chunks, and looks at answers whenever it
// does: an answer makes room for the next call. gRPC's threads repeat a call
// whose server is unavailable, under the same sequence number, until the server
// was unavailable for too long (common/rpc/repeated_calls.h). So the time in
// which a section computes never counts as a server's.
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

// Chunks [begin, end) of all.
struct ChunkRange {
  size_t begin = 0;
  size_t end = 0;
};

// A parameter server and its chunks.
struct ChunkServer {
  int shard = 0;
  std::unique_ptr<PsClient> client;
  ChunkRange updated;
  ChunkRange frozen;
};

// What goes to and comes from one chunk; reused from step to step.
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
  // Of the last call. The stream counts them.
  int attempts = 0;
};

struct ChunkStreamOptions {
  // For the answer of a server that waits for nobody, repeats included.
  absl::Duration timeout;
  // Servers may hold answers until other workers have pushed. Then calls have
  // no timeout of their own: the leader tells a long step from one that is
  // stuck.
  bool waits_for_others = false;
  // Calls to one server that may be under way.
  int calls_per_server = 1;
  // Called with what the worker waits for, and with "" when it no longer waits.
  std::function<void(const std::string&)> on_waiting;
};

// Not thread-safe.
class ChunkStream {
 public:
  // One of the ranges of each server.
  using Chunks = ChunkRange ChunkServer::*;
  // Makes one attempt at calling a chunk; returns at once. Runs on the thread
  // of the step, and for a repeat on one of gRPC's.
  using Start = std::function<void(ChunkCalls& chunk, absl::Duration timeout,
                                   CallDone done)>;

  // `servers` and `chunks` outlive the stream and stay where they are.
  ChunkStream(ChunkStreamOptions options, absl::Span<ChunkServer> servers,
              absl::Span<ChunkCalls> chunks);
  // Ends calls that are open, and waits for that.
  ~ChunkStream();

  // Begins the calls to the given chunks; nothing leaves yet. No other calls
  // are open. `what` describes the calls to people, and stays valid until
  // Finish.
  void Begin(const std::string& what, Chunks chunks, Start start);
  // Lets one of those chunks leave, as soon as others before it have left.
  void Release(ChunkCalls& chunk);
  bool is_released(const ChunkCalls& chunk) const {
    return released_[IndexOf(chunk)];
  }
  // Looks at the answers that have come; does not wait. The error of the call
  // that failed first, which names its server. After an error the stream is of
  // no further use.
  absl::Status Poll();
  // Releases all chunks, and waits until all are answered. Errors as of Poll.
  absl::Status Finish();

  // Begin and Finish.
  absl::Status Run(const std::string& what, Chunks chunks, Start start) {
    Begin(what, chunks, std::move(start));
    return Finish();
  }

 private:
  // The calls to one server.
  struct Queue {
    // Chunks that have not left.
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
