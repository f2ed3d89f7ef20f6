#include "worker/strategy/chunk_stream.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "common/limits.h"

namespace paceline {
namespace {

// How long a server may be unavailable, for calls without a timeout of their
// own. Short, since a failed job must end within 15 s, and gRPC needs some of
// that time to notice that a server is unavailable.
constexpr absl::Duration kUnavailable = absl::Seconds(3);
// Waits wake up at this interval; the deadlines are those of the calls, which
// wake the waiting thread when they end.
constexpr absl::Duration kLookAgain = absl::Seconds(1);

}  // namespace

ChunkStream::ChunkStream(ChunkStreamOptions options,
                         absl::Span<ChunkServer> servers,
                         absl::Span<ChunkCalls> chunks)
    : options_(std::move(options)),
      servers_(servers),
      chunks_(chunks),
      queues_(servers.size()),
      released_(chunks.size()) {}

ChunkStream::~ChunkStream() { CancelAll(); }

void ChunkStream::Begin(std::string what, Chunks chunks, Start start) {
  MutexLock lock(mutex_);
  CHECK(!has_waiting_chunks() && !has_open_calls())
      << what << " begins before the round before has ended: " << what_;
  what_ = std::move(what);
  start_ = std::move(start);
  for (size_t s = 0; s < servers_.size(); ++s) {
    queues_[s].waiting = servers_[s].*chunks;
    for (size_t c = queues_[s].waiting.begin; c < queues_[s].waiting.end; ++c) {
      released_[c] = false;
    }
  }
}

void ChunkStream::Release(ChunkCalls& chunk) {
  MutexLock lock(mutex_);
  released_[IndexOf(chunk)] = true;
  StartThoseReleased(QueueOf(chunk));
}

bool ChunkStream::is_released(const ChunkCalls& chunk) const {
  MutexLock lock(mutex_);
  return released_[IndexOf(chunk)];
}

absl::Status ChunkStream::status() const {
  MutexLock lock(mutex_);
  return failure_;
}

bool ChunkStream::has_ended() const {
  MutexLock lock(mutex_);
  return !has_waiting_chunks() && !has_open_calls();
}

absl::Status ChunkStream::Finish() {
  options_.on_waiting(what_);
  const absl::Status status = WaitForAnswers();
  if (status.ok()) {
    options_.on_waiting("");
  } else {
    CancelAll();
  }
  return status;
}

absl::Status ChunkStream::WaitForAnswers() {
  MutexLock lock(mutex_);
  for (Queue& queue : queues_) {
    for (size_t c = queue.waiting.begin; c < queue.waiting.end; ++c) {
      released_[c] = true;
    }
    StartThoseReleased(queue);
  }
  while (failure_.ok() && (has_waiting_chunks() || has_open_calls())) {
    answered_.WaitFor(mutex_, kLookAgain);
  }
  return failure_;
}

bool ChunkStream::MayStartNext(const Queue& queue) const {
  const size_t next = queue.waiting.begin;
  if (!failure_.ok() || next == queue.waiting.end || !released_[next]) {
    return false;
  }
  if (queue.under_way == 0) return true;
  return queue.under_way < options_.calls_per_server &&
         queue.bytes_under_way + chunks_[next].bytes <=
             options_.bytes_per_server;
}

void ChunkStream::StartThoseReleased(Queue& queue) {
  while (MayStartNext(queue)) {
    ChunkCalls& chunk = chunks_[queue.waiting.begin++];
    ++queue.under_way;
    queue.bytes_under_way += chunk.bytes;
    Trace(queue);
    ++starting_;
    mutex_.Unlock();
    Call(chunk);
    mutex_.Lock();
    --starting_;
  }
  answered_.NotifyAll();
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
      [this, &chunk](const absl::Status& status) { Answered(chunk, status); });
}

void ChunkStream::Answered(ChunkCalls& chunk, const absl::Status& status) {
  MutexLock lock(mutex_);
  Queue& queue = QueueOf(chunk);
  --queue.under_way;
  queue.bytes_under_way -= chunk.bytes;
  if (failure_.ok()) failure_ = status;
  StartThoseReleased(queue);
  Trace(queue);
}

void ChunkStream::Trace(Queue& queue) {
  if (options_.lanes.empty()) return;
  TraceLane& lane = *options_.lanes[&queue - queues_.data()];
  if (queue.under_way > 0) {
    if (!queue.busy_since && lane.is_on()) queue.busy_since = lane.Now();
  } else if (queue.busy_since) {
    // "Push", of "Push to ps-0 at …".
    lane.Add(what_.substr(0, what_.find(' ')), *queue.busy_since, lane.Now());
    queue.busy_since.reset();
  }
}

void ChunkStream::CancelAll() {
  {
    MutexLock lock(mutex_);
    if (failure_.ok()) failure_ = absl::CancelledError("the step was given up");
  }
  // Cancel repeats first; otherwise calls that the clients cancel would be
  // repeated.
  repeated_.Cancel();
  for (const ChunkServer& server : servers_) server.client->Cancel();
  MutexLock lock(mutex_);
  while (has_open_calls()) answered_.WaitFor(mutex_, kLookAgain);
}

bool ChunkStream::has_open_calls() const {
  return starting_ > 0 ||
         std::any_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.under_way > 0; });
}

bool ChunkStream::has_waiting_chunks() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const Queue& queue) {
    return queue.waiting.begin < queue.waiting.end;
  });
}

}  // namespace paceline
