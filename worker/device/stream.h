// Order in the work of a device.
#ifndef PACELINE_WORKER_DEVICE_STREAM_H_
#define PACELINE_WORKER_DEVICE_STREAM_H_

#include "absl/status/status.h"

namespace paceline {

// Work on a device in order. Not thread-safe.
class Stream {
 public:
  virtual ~Stream() = default;

  // Waits until all that was enqueued is done; returns its first error.
  virtual absl::Status Synchronize() = 0;
};

// A point in a stream.
class Event {
 public:
  virtual ~Event() = default;

  // Whether the stream has passed it. Does not block.
  virtual bool HasPassed() const = 0;

  // Waits until the stream has passed it; returns the first error before it.
  virtual absl::Status Wait() = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_STREAM_H_
