#include "worker/strategy/chunk_stream.h"

#include <glog/logging.h>

#include <utility>

#include "common/limits.h"

namespace paceline {
namespace {

// If calls have no timeout of their own: how long a server may be unavailable.
// Together with the time in which gRPC notices it, less than the 15 s in which
// a failed job ends.
constexpr absl::Duration kUnavailable = absl::Seconds(3);

}  // namespace

ChunkStream::ChunkStream(ChunkStreamOptions options,
                         absl::Span<ChunkServer> servers,
                         absl::Span<ChunkCalls> chunks)
    : options_(std::move(options)),
      servers_(servers),
      chunks_(chunks),
      queues_(servers.size()),
      released_(chunks.size()),
      calls_(static_cast<int>(chunks.size())) {}

ChunkStream::~ChunkStream() {
  CancelAll();
  calls_.Wait();
}

void ChunkStream::Begin(const std::string& what, Chunks chunks, Start start) {
  what_ = &what;
  start_ = std::move(start);
  for (size_t s = 0; s < servers_.size(); ++s) {
    queues_[s].waiting = servers_[s].*chunks;
    for (size_t c = queues_[s].waiting.begin; c < queues_[s].waiting.end; ++c) {
      released_[c] = false;
    }
  }
}

void ChunkStream::Release(ChunkCalls& chunk) {
  released_[IndexOf(chunk)] = true;
  StartThoseReleased(QueueOf(chunk));
}

absl::Status ChunkStream::Poll() {
  for (int ended = calls_.TakeEnded(); ended >= 0; ended = calls_.TakeEnded()) {
    HandleEnd(ended);
  }
  return failure_;
}

absl::Status ChunkStream::Finish() {
  CHECK(what_ != nullptr);
  options_.on_waiting(*what_);
  for (Queue& queue : queues_) {
    for (size_t c = queue.waiting.begin; c < queue.waiting.end; ++c) {
      released_[c] = true;
    }
    StartThoseReleased(queue);
  }
  for (int ended = calls_.WaitForOne(); ended >= 0;
       ended = calls_.WaitForOne()) {
    HandleEnd(ended);
  }
  if (failure_.ok()) options_.on_waiting("");
  return failure_;
}

void ChunkStream::StartThoseReleased(Queue& queue) {
  while (failure_.ok() && queue.under_way < options_.calls_per_server &&
         queue.waiting.begin < queue.waiting.end &&
         released_[queue.waiting.begin]) {
    ++queue.under_way;
    Call(chunks_[queue.waiting.begin++]);
  }
}

void ChunkStream::Call(ChunkCalls& chunk) {
  RepeatLimits limits;
  if (options_.waits_for_others) {
    limits.timeout = limits::kCollectiveTimeout;
    limits.unavailable = kUnavailable;
  } else {
    limits.timeout = options_.timeout;
  }
  chunk.attempts = 0;
  repeated_.Start(
      limits,
      [this, &chunk](absl::Duration timeout, CallDone done) {
        ++chunk.attempts;
        start_(chunk, timeout, std::move(done));
      },
      calls_.Open(static_cast<int>(IndexOf(chunk))));
}

void ChunkStream::HandleEnd(size_t index) {
  const absl::Status& status = calls_.status(static_cast<int>(index));
  Queue& queue = QueueOf(chunks_[index]);
  --queue.under_way;
  if (status.ok()) {
    StartThoseReleased(queue);
  } else if (failure_.ok()) {
    failure_ = status;
    CancelAll();
  }
}

void ChunkStream::CancelAll() {
  // Cancel repeats first; otherwise calls that the clients cancel would be
  // repeated.
  repeated_.Cancel();
  for (const ChunkServer& server : servers_) server.client->Cancel();
}

}  // namespace paceline
