// The parts of a program that are the same on every device: tensors with their
// offsets in the arena, and sections.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_LAYOUT_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/device/device.h"
#include "worker/device/program/memory_plan.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// A block of the arena.
struct ArenaBlock {
  Memory* memory = nullptr;
  Lifetime lifetime = {};
  int64_t offset = 0;
  // Index in ProgramLayout::owners.
  int owner = 0;
};

struct ProgramLayout {
  struct SectionEnd {
    Section section;
    // One past the section's last operation.
    int end = 0;
  };
  std::vector<SectionEnd> sections;
  // These own the objects to which operations point.
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<ArenaBlock> arena;
  int64_t arena_size_bytes = 0;
  // The memory of the batch, by input and output of the model. The program sets
  // the addresses.
  std::vector<Memory*> features;
  std::vector<Memory*> labels;
  std::vector<Memory*> weights;
  // The model's outputs. In evaluation their memory is not reused before the
  // next batch.
  std::vector<const Tensor*> outputs;
  // Owners of operations and blocks: "layer conv2d", "loss".
  std::vector<std::string> owners;
  // By operation: index in `owners`.
  std::vector<int> operation_owners;

  // The section's operations [first, second).
  std::pair<int, int> OperationsOf(int section) const;

  // Sets the addresses of the blocks, for an arena at `start`.
  void PlaceArena(std::byte* start) const;
};

// The largest use of the arena at a time.
struct ArenaPeak {
  // The owner whose blocks are the largest then, and their size.
  std::string owner;
  int64_t owner_bytes = 0;
};
ArenaPeak FindPeak(const ProgramLayout& layout);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_LAYOUT_H_
