// Streams and events: the order of work on a device.
#ifndef PACELINE_WORKER_DEVICE_STREAM_H_
#define PACELINE_WORKER_DEVICE_STREAM_H_

#include "absl/status/status.h"

namespace paceline {

// A queue of work on a device, processed in order. Not thread-safe.
class Stream {
 public:
  virtual ~Stream() = default;

  // Blocks until all enqueued work is done; returns its first error.
  virtual absl::Status Synchronize() = 0;
};

// A point in a stream.
class Event {
 public:
  virtual ~Event() = default;

  // Whether the stream has reached it. Does not block.
  virtual bool HasPassed() const = 0;

  // Blocks until the stream has reached it; returns the first error before it.
  virtual absl::Status Wait() = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_STREAM_H_
