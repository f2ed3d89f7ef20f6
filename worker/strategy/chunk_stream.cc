#include "worker/strategy/chunk_stream.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/limits.h"

namespace paceline {
namespace {

// Between two attempts to reach a chunk.
constexpr absl::Duration kRetryPause = absl::Milliseconds(50);
// How long a server may be unavailable where calls have no deadline by which it
// must answer. With the time in which gRPC notices, less than a job's failure
// may take.
constexpr absl::Duration kUnavailable = absl::Seconds(3);
// A call that ends later than this had a connection.
constexpr absl::Duration kConnectAttempt = absl::Seconds(2);

}  // namespace

ChunkStream::ChunkStream(ChunkStreamOptions options,
                         absl::Span<ChunkServer> servers,
                         absl::Span<ChunkCalls> chunks)
    : options_(std::move(options)),
      servers_(servers),
      chunks_(chunks),
      calls_(static_cast<int>(chunks.size())) {}

ChunkStream::~ChunkStream() {
  for (const ChunkServer& server : servers_) {
    if (server.under_way > 0) server.client->Cancel();
  }
  calls_.Wait();
}

void ChunkStream::Begin(const std::string& what, Chunks chunks, Start start) {
  what_ = &what;
  start_ = std::move(start);
  for (ChunkServer& server : servers_) {
    server.waiting = server.*chunks;
    for (size_t c = server.waiting.begin; c < server.waiting.end; ++c) {
      chunks_[c].is_released = false;
    }
  }
}

void ChunkStream::Release(ChunkCalls& chunk) {
  chunk.is_released = true;
  for (int ended = calls_.TakeEnded(); ended >= 0; ended = calls_.TakeEnded()) {
    HandleEnd(ended);
  }
  StartThoseReleased(*chunk.server);
}

absl::Status ChunkStream::Finish() {
  options_.on_waiting(*what_);
  for (ChunkServer& server : servers_) {
    for (size_t c = server.waiting.begin; c < server.waiting.end; ++c) {
      chunks_[c].is_released = true;
    }
    StartThoseReleased(server);
  }
  for (int ended = calls_.WaitForOne(); ended >= 0;
       ended = calls_.WaitForOne()) {
    HandleEnd(ended);
  }
  if (failure_.ok()) options_.on_waiting("");
  return failure_;
}

void ChunkStream::StartThoseReleased(ChunkServer& server) {
  while (failure_.ok() && server.under_way < options_.calls_per_server &&
         server.waiting.begin < server.waiting.end) {
    ChunkCalls& chunk = chunks_[server.waiting.begin];
    if (!chunk.is_released) return;
    ++server.waiting.begin;
    ++server.under_way;
    chunk.attempts = 0;
    chunk.first_began = MonotonicNow();
    chunk.unavailable_since = absl::InfiniteFuture();
    Call(chunk);
  }
}

void ChunkStream::Call(ChunkCalls& chunk) {
  ++chunk.attempts;
  chunk.began = MonotonicNow();
  const absl::Duration timeout =
      options_.waits_for_others
          ? limits::kCollectiveTimeout
          : std::max(chunk.first_began + options_.timeout - chunk.began,
                     kRetryPause);
  start_(chunk, timeout,
         calls_.Open(static_cast<int>(&chunk - chunks_.data())));
}

void ChunkStream::HandleEnd(int index) {
  ChunkCalls& chunk = chunks_[index];
  const absl::Status& status = calls_.status(index);
  if (absl::IsUnavailable(status) && failure_.ok() && MayCallAgain(chunk)) {
    absl::SleepFor(kRetryPause);
    Call(chunk);
    return;
  }
  --chunk.server->under_way;
  if (status.ok()) {
    StartThoseReleased(*chunk.server);
  } else if (failure_.ok()) {
    failure_ = status;
    for (const ChunkServer& server : servers_) server.client->Cancel();
  }
}

bool ChunkStream::MayCallAgain(ChunkCalls& chunk) const {
  const absl::Time now = MonotonicNow();
  if (!options_.waits_for_others) {
    return now < chunk.first_began + options_.timeout;
  }
  const bool was_open = now - chunk.began > kConnectAttempt;
  if (was_open || chunk.unavailable_since == absl::InfiniteFuture()) {
    chunk.unavailable_since = now;
  }
  return now - chunk.unavailable_since < kUnavailable;
}

}  // namespace paceline
