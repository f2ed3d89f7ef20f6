// The compiled programs of a model, compiled on first use.
#ifndef PACELINE_WORKER_PROGRAM_CACHE_H_
#define PACELINE_WORKER_PROGRAM_CACHE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace paceline {

// One program for each mode and batch size that occurs: the full batch, and
// smaller ones at the ends of leases. Not thread-safe.
class ProgramCache {
 public:
  // `spec`: without mode and batch size. The device and the state must outlive
  // the cache.
  ProgramCache(const ProgramSpec& spec, Device& device, ModelState& state)
      : spec_(spec), device_(device), state_(state) {}

  absl::StatusOr<Program*> Get(Mode mode, int64_t batch_size);

 private:
  const ProgramSpec spec_;
  Device& device_;
  ModelState& state_;
  std::map<std::pair<Mode, int64_t>, std::unique_ptr<Program>> programs_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_PROGRAM_CACHE_H_
