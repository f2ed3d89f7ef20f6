// The calls of one step to the chunks of all parameter servers.
//
//   stream.Begin(what, &ChunkServer::updated, start);
//   stream.Release(chunk);   may leave now; does not wait
//   …
//   stream.Finish();         all may leave; waits until all are answered
//
// Invariants, by which workers that wait for each other at the servers do not
// wait in a circle:
//  * To each server chunks leave in their order, whatever the order in which
//    they are released.
//  * A call that a server holds for other workers never keeps back a call that
//    those wait for: under bounded staleness all may be under way at once, and
//    in synchronous steps all workers call in the same order. Otherwise so many
//    are under way to a server at most.
//
// A call whose server is unavailable is repeated under the same sequence
// number, until the server was unavailable for too long.
#ifndef PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_
#define PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/rpc/call_group.h"
#include "common/rpc/dense_values.h"
#include "common/rpc/ps_client.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// Chunks [begin, end) of all.
struct ChunkRange {
  size_t begin = 0;
  size_t end = 0;
};

// One that holds variables, and its chunks.
struct ChunkServer {
  int shard = 0;
  std::unique_ptr<PsClient> client;
  ChunkRange updated;
  ChunkRange frozen;
  // Of the stream: those that have not left, and calls under way.
  ChunkRange waiting;
  int under_way = 0;
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
  std::vector<DensePlace> variables;
  // Buckets of its blocks, each once; those that are not final yet.
  int bucket_count = 0;
  int open_buckets = 0;
  // Of the stream: whether it may leave; of the call under way, or the last:
  // its attempts, when the first of them began, and the latest.
  bool is_released = false;
  int attempts = 0;
  absl::Time first_began;
  absl::Time began;
  absl::Time unavailable_since;
};

struct ChunkStreamOptions {
  // For the answer of a server that waits for nobody, repeats included.
  absl::Duration timeout;
  // Servers may hold answers until other workers have pushed. Then the leader
  // tells a step that takes long from one that is stuck.
  bool waits_for_others = false;
  // Calls to one server that may be under way.
  int calls_per_server = 1;
  // Told what the worker waits for, and "" when it no longer does.
  std::function<void(const std::string&)> on_waiting;
};

// Not thread-safe. Allocates only when made.
class ChunkStream {
 public:
  // One of the ranges of each server.
  using Chunks = ChunkRange ChunkServer::*;
  // Calls a chunk; returns at once.
  using Start = std::function<void(ChunkCalls& chunk, absl::Duration timeout,
                                   CallDone done)>;

  // `servers` and `chunks` outlive the stream and stay where they are.
  ChunkStream(ChunkStreamOptions options, absl::Span<ChunkServer> servers,
              absl::Span<ChunkCalls> chunks);
  // Ends calls that are open, and waits for that.
  ~ChunkStream();

  // No other calls are open. `what` is for people, and stays valid until
  // Finish.
  void Begin(const std::string& what, Chunks chunks, Start start);
  // One of those chunks may be called. Also takes note of calls that have
  // ended, so that others follow them.
  void Release(ChunkCalls& chunk);
  // The error of the call that failed first, which names its server. After one
  // the stream is of no further use.
  absl::Status Finish();

  // Begin and Finish.
  absl::Status Run(const std::string& what, Chunks chunks, Start start) {
    Begin(what, chunks, std::move(start));
    return Finish();
  }

 private:
  void StartThoseReleased(ChunkServer& server);
  void Call(ChunkCalls& chunk);
  void HandleEnd(int index);
  bool MayCallAgain(ChunkCalls& chunk) const;

  const ChunkStreamOptions options_;
  const absl::Span<ChunkServer> servers_;
  const absl::Span<ChunkCalls> chunks_;
  CallGroup calls_;
  const std::string* what_ = nullptr;
  Start start_;
  absl::Status failure_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_CHUNK_STREAM_H_
